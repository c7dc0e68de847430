# Sourced by the scripts of this folder: a fresh server of BIN on loopback, and what its tests
# need. WORK and all in it are removed at the end.
: "${BIN:?the program to test}"
BIN=$(realpath "$BIN")
WORK=$(mktemp -d)
DATA=$WORK/data

stop_server() {
	if [[ -n ${SERVER:-} ]]; then
		kill "$SERVER" 2>/dev/null || true
		wait "$SERVER" 2>/dev/null || true
	fi
	rm -rf "$WORK"
}
trap stop_server EXIT

# ran notes which versions a script has just seen pass, in last-run, which a test compares with
# what the scripts install and what pages and documents say.
ran() { # package@version...
	local one package version file
	file=$(dirname "${BASH_SOURCE[0]}")/last-run
	for one in "$@"; do
		package=${one%@*} version=${one##*@}
		{ grep -v "^$package $version " "$file" || true; echo "$package $version $(date -u +%F)"; } | LC_ALL=C sort >"$file.new"
		mv "$file.new" "$file"
	done
}

# start_server makes a reviewer, owner@example.com, and sets ADDRESS.
start_server() {
	local port
	port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
	ADDRESS=http://127.0.0.1:$port
	echo 'correct horse battery staple' | "$BIN" user add owner@example.com --name Owner --role reviewer --password-stdin --data "$DATA" >/dev/null
	"$BIN" serve --data "$DATA" --addr "127.0.0.1:$port" >"$WORK/server.log" 2>&1 &
	SERVER=$!
	for _ in $(seq 100); do
		if curl -fs "$ADDRESS/readyz" >/dev/null; then
			return
		fi
		sleep 0.1
	done
	cat "$WORK/server.log" >&2
	echo "the server did not start" >&2
	return 1
}
