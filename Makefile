# Countersign. `make` alone lists what there is.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-print-directory
.NOTPARALLEL:

export CGO_ENABLED := 1
# SQLite for one process that writes much: no lock at every allocation for statistics that
# nobody reads, no shared cache, small allocations from memory of the connection's own, and
# fdatasync where a commit waits for the disk. Prepared statements hold some 4,000 pieces of
# that memory for good: with less of it all others go to malloc, which make bench-loop shows.
# QPSG: a statement is planned when it is prepared, and not again for each value that is bound.
# Otherwise each `= ?` on a table with a partial index has the whole statement planned again.
export CGO_CFLAGS ?= -O2 -DSQLITE_DEFAULT_MEMSTATUS=0 -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_DEFAULT_LOOKASIDE=512,3000 -DHAVE_FDATASYNC=1 -DSQLITE_ENABLE_QPSG

# The same flags for all that is built: SQLite and the modules are compiled once, and once more for the race detector.
# The version is stamped by LDFLAGS; Go's own stamping fails where the checkout belongs to someone else.
export GOFLAGS := -trimpath -buildvcs=false $(filter-out -trimpath -buildvcs=false,$(GOFLAGS))

GO       ?= go
BIN      := bin/countersign
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X countersign/cmd/data.Version=$(VERSION)
TAGS     :=
# STATIC=1 links the C library in, for a container that holds nothing else. Names are looked up by
# Go then, and SQLite loads no extensions: both would want the C library's own files at run time.
ifdef STATIC
LDFLAGS  += -linkmode external -extldflags '-static'
TAGS     := netgo,osusergo,sqlite_omit_load_extension
endif

LINT_VERSION := 2.15.0
LINT         := .bin/golangci-lint
VULN_VERSION := v1.9.0

# The same flags everywhere, so that a second run in `make check` is answered by Go's test cache.
# Without symbols for debuggers a test program is linked in half the time.
# Random tests have one seed, so that what is tested decides, not chance. With it the same cases
# come each time, so there are sixty of each (with forty, parts of models/store were not reached): make explore looks further.
# Vet runs in `make check`, once. The race detector has each program wait a second before it ends, unless told otherwise.
TEST := RAPID_SEED=1 RAPID_CHECKS=60 GORACE=atexit_sleep_ms=50 $(GO) test -vet=off -ldflags=-w -timeout 30m

# What the tools look at: the program, and the one that reads its words, which ./... leaves out.
PACKAGES := ./... ./.ci/words ./.ci/two

# What does things at once. With the detector a browser's tests take half as long again, for code that other tests
# have under it.
RACED   := ^countersign/(models|handlers|workers|cmd/(agent|ingest|server))(/|$$)
BROWSER := ^countersign/handlers/web/browser$$

TEMPL     := $(GO) tool templ
TEMPLATES := $(wildcard views handlers)

##@ Use

.PHONY: run
run: build ## build and start the demo: server, one admin, an agent that asks
	./$(BIN) demo

.PHONY: run-two
run-two: build ## two servers on one PostgreSQL database, behind a balancer, with the demo's agent: kill one and see
	.ci/postgres $(GO) run ./.ci/two ./$(BIN)

.PHONY: build
build: cc ## build bin/countersign, stripped and with its version
	@GO="$(GO)" OUT=$(BIN) .ci/build -tags "$(TAGS)" -ldflags "$(LDFLAGS)" .

##@ Work

.PHONY: dev
dev: cc ## the demo with live reload, on http://127.0.0.1:7331, and every page in every state at /dev/gallery
	$(TEMPL) generate -include-version=false -watch -open-browser=false \
		-proxy http://127.0.0.1:8080 -cmd "$(GO) run -tags gallery . demo"

.PHONY: generate
generate: ## make Go of the templates
	$(TEMPL) generate -include-version=false -log-level warn

.PHONY: fmt
fmt: $(LINT) ## format Go code and templates
	$(LINT) fmt
	$(if $(TEMPLATES),$(TEMPL) fmt -log-level warn $(TEMPLATES))

.PHONY: lint
lint: $(LINT) ## lint, import rules included
	$(LINT) run $(PACKAGES)

.PHONY: words
words: ## print wordings to avoid in texts, comments and names; ONLY=models/people picks files
	@ONLY="$(ONLY)" $(GO) run ./.ci/words

.PHONY: migration
migration: ## start a migration: make migration name=add_grants
	@.ci/migration sqlite "$(name)"

.PHONY: golden
golden: ## rewrite the golden files; read the diff before you commit it
	@dirs=$$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -r -n1 dirname | sort -u); \
	if [ -z "$$dirs" ]; then echo "no golden files"; exit 0; fi; \
	$(GO) test $$dirs -run Golden -update

# One by one: a list of all modules fails where the list of versions of any of theirs can't be had.
.PHONY: deps
deps: ## list the direct dependencies of which there is a newer version
	@$(GO) list -m -f '{{if not (or .Main .Indirect)}}{{.Path}}{{end}}' all | while read -r module; do \
		$(GO) list -m -u -f '{{with .Update}}{{$$.Path}} {{$$.Version}} -> {{.Version}}{{end}}' "$$module"; done

.PHONY: hooks
hooks: ## check what is staged before each commit (.ci/pre-commit), and its message (.ci/commit-msg)
	@hooks=$$(git rev-parse --git-path hooks); mkdir -p "$$hooks"; \
	for hook in pre-commit commit-msg; do ln -sf "$(CURDIR)/.ci/$$hook" "$$hooks/$$hook"; done
	@echo "pre-commit and commit-msg are on; git commit --no-verify skips them"

##@ Check

.PHONY: test
test: build chromium ## all tests, with the race detector where the program itself does things at once
	$(TEST) -race $$($(GO) list ./... | grep -E '$(RACED)' | grep -v '$(BROWSER)')
	$(TEST) $$($(GO) list ./... | grep -Ev '$(RACED)') ./handlers/web/browser ./.ci/words

.PHONY: explore
explore: cc ## the random tests by chance instead of by the seed of make test; CHECKS=1000 cases each
	RAPID_CHECKS=$(or $(CHECKS),1000) $(GO) test -count=1 -timeout 2h \
		$$(grep -rl --include='*_test.go' 'rapid.Check' . | xargs -n1 dirname | sort -u)

.PHONY: test-firefox
test-firefox: cc ## a push notification end to end in a Firefox, at a push service on this computer; not part of CI
	@command -v firefox-esr xvfb-run >/dev/null || { echo "make test-firefox needs: apt-get install firefox-esr xvfb xauth"; exit 1; }
	FIREFOX=firefox-esr xvfb-run -a env $(TEST) -race -count=1 -v -run TestInFirefox ./handlers/web/browser

.PHONY: test-kill
test-kill: cc ## kill -9 of processes that send notifications and events, KILL_ROUNDS=100 times instead of the few of make test
	KILL_ROUNDS=$(or $(KILL_ROUNDS),100) $(TEST) -race -count=1 -v -run TestKilledWhileSendingI8 ./workers/notify ./workers/webhooks

.PHONY: faults
faults: cc ## kills, cuts and full disks under two nodes on PostgreSQL and one on SQLite, histories checked; FOR=10m, SEED=1
	.ci/postgres env -u COUNTERSIGN_TEST_POSTGRES FAULTS_FOR=$(or $(FOR),10m) FAULTS_SEED=$(SEED) \
		$(GO) test -count=1 -timeout 3h -v -run 'OnPostgres|OnSQLite' ./cmd/faults

.PHONY: faults-some
faults-some: ## as much of it as CI has time for: a minute, with what comes before and after
	@$(MAKE) faults FOR=30s

.PHONY: test-postgres
test-postgres: cc ## the tests of data, surfaces and workers on PostgreSQL, beside a server of its own (.ci/postgres): an hour
	.ci/postgres env $(ON_POSTGRES) ./models/... ./handlers/... ./workers/... ./cmd/scenario ./cmd/demo
	.ci/postgres env $(ON_POSTGRES) -run EachDocumentedCommand ./cmd

.PHONY: test-postgres-some
test-postgres-some: cc ## those of them that CI has time for: the schema, nodes, moving, grants, and of models the invariants I3, I8 and I9
	.ci/postgres env $(ON_POSTGRES) -run 'Node|Server|Lost|Gone|Schema|Served|Extension|OneState|Translate|OpenRows|Grant|Moved|TestI[389]' ./models/...
	.ci/postgres env $(ON_POSTGRES) -run EachDocumentedCommand ./cmd

# Each test has a database of its own there: random tests make fewer cases.
ON_POSTGRES := $(subst RAPID_CHECKS=60,RAPID_CHECKS=5,$(TEST)) -tags postgres -parallel 4 -timeout 2h

.PHONY: check
check: build drift fmt-check vet lint mod-check test test-postgres-some faults-some ## all that CI checks

# In a copy: `make test` has read these folders, and need not run again in `make check`.
.PHONY: drift
drift: ## fail if generated code is not what the templates give
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	{ echo go.mod; find . -name '*.templ'; } | xargs -r cp -t "$$fresh" --parents; \
	$(TEMPL) generate -include-version=false -log-level warn -path "$$fresh"; \
	generated() { (cd "$$1" && find . -name '*_templ.go' | sort | xargs -r sha256sum); }; \
	if ! stale=$$(diff <(generated .) <(generated "$$fresh")); then \
		echo "generated code is stale, run make generate and commit it:"; sed -n 's/^[<>].* /  /p' <<<"$$stale" | sort -u; exit 1; fi

.PHONY: fmt-check
fmt-check: $(LINT) ## fail if anything is not formatted
	$(LINT) fmt --diff
	$(if $(TEMPLATES),$(TEMPL) fmt -fail -log-level warn $(TEMPLATES))

.PHONY: vet
vet: cc ## go vet
	$(GO) vet $(PACKAGES)

.PHONY: mod-check
mod-check: ## fail if go.mod or go.sum are not tidy, or a module is not what go.sum says
	$(GO) mod tidy -diff
	$(GO) mod verify

.PHONY: cover
cover: cc chromium ## coverage, function by function; coverage.out holds the rest
	$(GO) test -timeout 15m -coverpkg=./... -coverprofile=coverage.out ./...
	$(GO) tool cover -func=coverage.out

.PHONY: bench
bench: cc ## benchmarks; BENCH=Ask picks by name
	@dirs=$$(grep -rl --include='*_test.go' '^func Benchmark' . | sort | xargs -r -n1 dirname | sort -u || true); \
	if [ -z "$$dirs" ]; then echo "no benchmarks"; exit 0; fi; \
	$(GO) test -run '^$$' -bench '$(or $(BENCH),.)' -benchmem -timeout 30m $$dirs

.PHONY: bench-loop
bench-loop: build ## the loop beside a yardstick on SQLite and PostgreSQL, a table; PAIRS=5, BEFORE=another binary
	PG_DURABLE=1 .ci/postgres env BENCH_LOOP=$(or $(PAIRS),5) BENCH_LOOP_SECONDS=$(or $(SECONDS_EACH),3) BENCH_LOOP_BEFORE=$(if $(BEFORE),$(abspath $(BEFORE))) \
		$(GO) test -run '^$$' -bench '^BenchmarkLoopAgainstYardstick$$' -benchtime 1x -timeout 60m ./cmd/process

.PHONY: bench-lists
bench-lists: cc ## what a page of each list, and of insights, takes, of more and more rows; MOST=1000000, POSTGRES=1 on PostgreSQL
	$(if $(POSTGRES),PG_DURABLE=1 .ci/postgres) env BENCH_LISTS=$(or $(MOST),1000000) \
		$(GO) test -run '^$$' -bench '^Benchmark(Lists|Report)$$' -benchtime 1x -timeout 60m ./models/requests ./models/insights

.PHONY: test-clients
test-clients: build ## real agents and SDKs from npm, offline, against this build; CLIENT=mcp.sh picks one
	@for client in $(or $(addprefix .ci/clients/,$(CLIENT)),$(shell find .ci/clients -maxdepth 1 -type f -perm -u+x | sort)); do \
		echo "== $$client"; BIN=$(BIN) $$client; \
	done

.PHONY: lighthouse
lighthouse: build ## Lighthouse's performance of six pages on a slow phone, median of RUNS=5 (from npm; ten minutes)
	@BIN=$(BIN) .ci/lighthouse $(PAGES)

.PHONY: vuln
vuln: ## known vulnerabilities (needs the vulnerability database, so not part of check)
	$(GO) run golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION) ./...

##@ Tools

.PHONY: chromium
chromium: ## find the browser for tests, or install it
	@.ci/chromium

.PHONY: tools
tools: $(LINT) ## install golangci-lint at its pinned version into .bin

# Rebuilt when it is another version, which a file's date does not tell.
.PHONY: lint-version
$(LINT): lint-version
lint-version:
	@if [ "$$($(LINT) version --short 2>/dev/null)" != "$(LINT_VERSION)" ]; then \
		echo "installing golangci-lint $(LINT_VERSION) into .bin (some minutes, once)"; \
		GOBIN="$(CURDIR)/.bin" $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(LINT_VERSION); \
	fi

.PHONY: cc
cc:
	@set -- $$($(GO) env CC); command -v "$$1" >/dev/null || { \
		echo "a C compiler is needed for SQLite: apt-get install gcc libc6-dev" >&2; exit 1; }

.PHONY: help
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@ / {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z][a-z-]*:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
