package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// repository is the top of the tree, as tests of this package see it.
const repository = ".."

func architecture(t *testing.T) string {
	t.Helper()
	return read(t, "ARCHITECTURE.md")
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// ours calls fn with each file that people here wrote, by its name in the repository.
// The top itself is not listed: what is built there would have go test run again.
func ours(t *testing.T, fn func(name string)) {
	t.Helper()
	for _, top := range []string{
		".deploy", "bench", "cmd", "handlers", "migrations", "models", "static", "views", "workers",
		"main.go", ".golangci.yml", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "DECISIONS.md", "README.md", "SECURITY.md",
	} {
		err := fs.WalkDir(os.DirFS(repository), top, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir():
				if d.Name() == "testdata" || d.Name() == "vendor" {
					return fs.SkipDir
				}
			case slices.Contains([]string{".go", ".templ", ".sql", ".md", ".yml", ".js", ".css"}, path.Ext(name)) && !strings.HasSuffix(name, "_templ.go"):
				fn(name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Every `file.go: Name` of the flows, and of what to put where, is a function or method in that file.
func TestFunctionsOfTheArchitectureExist(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`([\\w./]+\\.go): ([\\w.]+)`").FindAllStringSubmatch(architecture(t)+read(t, "CONTRIBUTING.md"), -1)
	if len(named) < 50 {
		t.Errorf("%d functions are named: the flows are not read", len(named))
	}
	for _, n := range named {
		if !slices.Contains(functions(t, n[1]), n[2]) {
			t.Errorf("there is no %s in %s", n[2], n[1])
		}
	}
}

// functions are the names in a file, a method's with its receiver's.
func functions(t *testing.T, name string) (out []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository, name), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return nil
	}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if fn.Recv == nil {
			out = append(out, fn.Name.Name)
			continue
		}
		receiver := fn.Recv.List[0].Type
		if pointer, ok := receiver.(*ast.StarExpr); ok {
			receiver = pointer.X
		}
		if kind, ok := receiver.(*ast.Ident); ok {
			out = append(out, kind.Name+"."+fn.Name.Name)
		}
	}
	return out
}

// Files and folders that are named there exist.
func TestFilesOfTheArchitectureExist(t *testing.T) {
	t.Parallel()
	for _, n := range regexp.MustCompile("`((?:cmd|models|handlers|views|static|migrations|workers)/?[\\w./]*|[\\w.]+\\.(?:go|md|yml))`").FindAllStringSubmatch(architecture(t)+read(t, "CONTRIBUTING.md"), -1) {
		if strings.Contains(n[1], "NNNN") || path.Dir(n[1]) == "." && path.Ext(n[1]) == ".go" && n[1] != "main.go" {
			continue // an example
		}
		if slices.Contains([]string{"cmd.Execute", "models.ResponseID", "models.Error", "guide.md", "views/pages/name.go", "handlers/web/name.go", "handlers.Render"}, n[1]) {
			continue // names in the code, and examples of files
		}
		if _, err := os.Stat(filepath.Join(repository, n[1])); err != nil {
			t.Errorf("%s: %v", n[1], err)
		}
	}
}

// Every invariant that is cited is defined, and every one that is defined is named
// by a test.
func TestInvariantsAreDefinedAndTested(t *testing.T) {
	t.Parallel()
	text := architecture(t)
	defined := map[string]bool{}
	for _, n := range regexp.MustCompile(`(?m)^- \*\*(I\d+) `).FindAllStringSubmatch(text, -1) {
		defined[n[1]] = true
	}
	if len(defined) != 15 {
		t.Errorf("%d invariants are defined, want I1 to I15", len(defined))
	}
	tested := map[string]bool{}
	cited := regexp.MustCompile(`(?:\b|Test)(I\d+)(?:\b|[A-Z])`)
	ours(t, func(name string) {
		for _, n := range cited.FindAllStringSubmatch(read(t, name), -1) {
			if !defined[n[1]] {
				t.Errorf("%s cites %s, which ARCHITECTURE.md does not define", name, n[1])
			}
			tested[n[1]] = tested[n[1]] || strings.HasSuffix(name, "_test.go") && name != "cmd/architecture_test.go"
		}
	})
	for number := range defined {
		if !tested[number] {
			t.Errorf("no test names %s", number)
		}
	}
}

// A section that is cited by its name is there.
func TestCitedSectionsExist(t *testing.T) {
	t.Parallel()
	text := architecture(t)
	ours(t, func(name string) {
		for _, n := range regexp.MustCompile(`ARCHITECTURE\.md, "([^"]+)"`).FindAllStringSubmatch(read(t, name), -1) {
			if !strings.Contains(text, "\n## "+n[1]+"\n") && name != "cmd/architecture_test.go" {
				t.Errorf("%s cites a section %s", name, n[1])
			}
		}
	})
}

// Every folder with code has its row, and imports no more of ours than it says.
func TestFoldersImportWhatTheArchitectureSays(t *testing.T) {
	t.Parallel()
	allowed := map[string][]string{}
	for _, n := range regexp.MustCompile("(?m)^\\| (`[\\w./]+`(?:, `[\\w./]+`)*) \\| [^|]+ \\| ([^|]+) \\|$").FindAllStringSubmatch(architecture(t), -1) {
		for folder := range strings.SplitSeq(n[1], ", ") {
			allowed[strings.TrimSuffix(strings.Trim(folder, "`"), "/")] = strings.Split(n[2], ", ")
		}
	}
	earlier := areas(t)
	ours(t, func(name string) {
		folder := path.Dir(name)
		if folder == "." {
			folder = name
		}
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return
		}
		row, ok := allowed[folder]
		before, area := earlier[folder]
		if !ok && area {
			row, ok = allowed[path.Dir(folder)], true
		}
		if !ok {
			t.Errorf("ARCHITECTURE.md has no row for %s", folder)
			allowed[folder] = []string{"everything"}
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository, name), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imported, own := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "countersign/")
			switch {
			case !own || row[0] == "everything" || row[0] == "everything but commands" && !isCommand(imported):
			case strings.HasPrefix(imported, "views/pages/"), strings.HasPrefix(imported, "handlers/web/"):
				all, sibling := path.Dir(imported)+"/…", area && path.Dir(imported) == path.Dir(folder)
				if !slices.Contains(row, all) || sibling && !slices.Contains(before, imported) {
					t.Errorf("%s imports %s, which is not before it", name, imported)
				}
			case !slices.Contains(row, imported):
				t.Errorf("%s imports %s, which its row leaves out", name, imported)
			}
		}
	})
	for folder := range allowed {
		if _, err := os.Stat(filepath.Join(repository, folder)); err != nil {
			t.Errorf("a row names %s: %v", folder, err)
		}
	}
}

// isCommand is whether a folder has a command: what no other but the root knows.
func isCommand(folder string) bool {
	return folder == "cmd" || path.Dir(folder) == "cmd" && !slices.Contains([]string{"cmd/terminal", "cmd/config", "cmd/data", "cmd/remote", "cmd/server"}, folder)
}

// areas are the folders of pages that views/pages/doc.go and handlers/web/doc.go list in their
// order, with those before each, which are all of their kind that it may know.
func areas(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{"views/pages": {}, "views/pages/browser": {}, "handlers/web/browser": {}}
	for parent, least := range map[string]int{"views/pages": 18, "handlers/web": 16} {
		list := regexp.MustCompile(`(?:never one behind it|only those before it): ([a-z, \n/]+)\.`).FindStringSubmatch(read(t, parent+"/doc.go"))
		if list == nil {
			t.Fatalf("%s/doc.go lists no areas", parent)
		}
		var before []string
		for name := range strings.SplitSeq(strings.ReplaceAll(list[1], "\n//", ""), ",") {
			folder := parent + "/" + strings.TrimSpace(name)
			out[folder] = slices.Clone(before)
			before = append(before, folder)
		}
		if len(before) < least {
			t.Errorf("%s: only %d areas are read", parent, len(before))
		}
	}
	return out
}

// Links between the documents lead to files, and to headings where they name one.
func TestLinksBetweenDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#\s]*)(#[\w-]+)?\)`)
	checked := 0
	ours(t, func(name string) {
		if path.Ext(name) != ".md" {
			return
		}
		for _, n := range link.FindAllStringSubmatch(read(t, name), -1) {
			if strings.Contains(n[1], "://") || n[1]+n[2] == "" {
				continue
			}
			target := name
			if n[1] != "" {
				target = path.Join(path.Dir(name), n[1])
			}
			checked++
			if _, err := os.Stat(filepath.Join(repository, target)); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if n[2] != "" && !slices.Contains(headings(read(t, target)), n[2]) {
				t.Errorf("%s leads to %s%s, which is not there", name, target, n[2])
			}
		}
	})
	if checked < 30 {
		t.Errorf("%d links: the documents are not read", checked)
	}
}

// headings are the places in a document that a link may name.
func headings(text string) (out []string) {
	for _, n := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		words := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(n[1]), "")
		out = append(out, "#"+strings.ReplaceAll(words, " ", "-"))
	}
	return out
}

// Decisions are numbered without a gap, each has its line in the index, and every number that is
// cited is a decision's.
func TestDecisionsAreNumberedAndIndexed(t *testing.T) {
	t.Parallel()
	text := read(t, "DECISIONS.md")
	cited, checked := regexp.MustCompile(`DECISIONS(?:\.md)?,? (D\d+)|\b(D\d+) in .?DECISIONS|\((D\d+)\)`), 0
	decided := map[string]int{}
	for _, n := range regexp.MustCompile(`(?m)^### (D\d+)\. `).FindAllStringSubmatch(text, -1) {
		decided[n[1]]++
	}
	for i := range len(decided) {
		if number := "D" + strconv.Itoa(i+1); decided[number] != 1 || strings.Count(text, "\n- ["+number+"](#"+strings.ToLower(number)+"-") != 1 {
			t.Errorf("%s: %d records, want one with one line in the index", number, decided[number])
		}
	}
	ours(t, func(name string) {
		for _, n := range cited.FindAllStringSubmatch(read(t, name), -1) {
			number := n[1] + n[2] + n[3]
			checked++
			if decided[number] == 0 {
				t.Errorf("%s cites %s, which is no decision", name, number)
			}
		}
	})
	if checked < 6 {
		t.Errorf("%d citations: they are not read", checked)
	}
}

// elapses are the places in tests that may sleep or compare how long something took, and why.
// Elsewhere a test waits for what it wants, and gives up on it after patience, or stuck.
var elapses = map[string]string{
	"cmd/agent/hook_test.go: TestHookDeniesBeforeItsTimeout":                      "the time is the promise: the agent ends the hook at its timeout, ten seconds later",
	"cmd/server/log_internal_test.go: TestLogLinesWaitForCompanyAndWarningsDoNot": "in fake time",
	"views/pages/browser/kept_test.go: forget":                                    "the age of a file of an earlier run",
}

// How fast a machine is decides no test: none sleeps, and none compares a time that it measured
// but with patience or stuck, which are half a minute at least.
func TestNoTestDependsOnSpeed(t *testing.T) {
	t.Parallel()
	used, limits := map[string]bool{}, 0
	ours(t, func(name string) {
		if !strings.HasSuffix(name, "_test.go") && path.Dir(name) != "cmd/process" { // which tests are written with
			return
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join(repository, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if fn, is := decl.(*ast.FuncDecl); is {
				for at, what := range speedIn(fn) {
					if place := name + ": " + fn.Name.Name; elapses[place] == "" {
						t.Errorf("%s:%d: %s", name, set.Position(at).Line, what)
					} else {
						used[place] = true
					}
				}
			}
		}
		for _, n := range regexp.MustCompile(`(?m)^\s*(?:const )?([Pp]atience|[Ss]tuck|browsing)\s+= (?:(\d+) \* )?time\.(Second|Minute)`).FindAllStringSubmatch(read(t, name), -1) {
			limits++
			if count, _ := strconv.Atoi(n[2]); n[3] == "Second" && count < 30 {
				t.Errorf("%s: %s is too short for a busy machine", name, n[1])
			}
		}
	})
	if limits < 8 {
		t.Errorf("only %d limits are read", limits)
	}
	for place := range elapses {
		if !used[place] {
			t.Errorf("%s depends on no speed any more", place)
		}
	}
}

// speedIn are the places in a function that sleep, or compare a time that was measured.
func speedIn(fn *ast.FuncDecl) map[token.Pos]string {
	out, measured := map[token.Pos]string{}, map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, value := range n.Rhs {
				if name, is := n.Lhs[min(i, len(n.Lhs)-1)].(*ast.Ident); is && measures(value, measured) {
					measured[name.Name] = true
				}
			}
		case *ast.CallExpr:
			if isOfTime(n.Fun, "Sleep") {
				out[n.Pos()] = "sleeps: wait for what is wanted, or drive a clock"
			}
		case *ast.BinaryExpr:
			short, long := n.X, n.Y
			if n.Op == token.GTR || n.Op == token.GEQ {
				short, long = long, short
			} else if n.Op != token.LSS && n.Op != token.LEQ {
				break
			}
			// A least time passes on any machine; a most time does not.
			if measures(long, measured) && !slices.Contains([]string{"patience", "stuck", "Patience", "Stuck"}, lastName(short)) {
				out[n.Pos()] = "compares how long something took: wait for an event, or count"
			}
		}
		return true
	})
	return out
}

// lastName is what an expression is called, without where it is from.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// measures reports whether an expression is a time that was measured.
func measures(e ast.Expr, measured map[string]bool) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return measured[e.Name]
	case *ast.CallExpr:
		return isOfTime(e.Fun, "Since")
	}
	return false
}

func isOfTime(fun ast.Expr, name string) bool {
	of, is := fun.(*ast.SelectorExpr)
	if !is || of.Sel.Name != name {
		return false
	}
	pkg, is := of.X.(*ast.Ident)
	return is && pkg.Name == "time"
}

// A headline is made at the ask, of all that was asked. Whoever shows one, or sends it, reads
// what was kept: a list that made it again would make it of a text that was cut. Only of a row from
// before headlines were kept, which is read whole, the reading room makes it.
func TestOnlyTheStoreMakesHeadlines(t *testing.T) {
	t.Parallel()
	makes, shows := regexp.MustCompile(`\bheadline\.Of(Item)?\b`), regexp.MustCompile(`\bheadline\.Shown\(`)
	shown := 0
	ours(t, func(name string) {
		if path.Ext(name) != ".go" && path.Ext(name) != ".templ" || strings.HasSuffix(name, "_test.go") {
			return
		}
		text := read(t, name)
		shown += len(shows.FindAllString(text, -1))
		if makes.MatchString(text) && path.Dir(name) != "models/store" && path.Dir(name) != "models/requests" {
			t.Errorf("%s makes a headline", name)
		}
	})
	if shown < 8 {
		t.Errorf("only %d places show one", shown)
	}
}
