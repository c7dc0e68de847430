package main

import (
	"bytes"
	"context"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, text string) source {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "some_test.go", "package some\n"+text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	s := source{}
	s.read(file)
	return s
}

func TestWhichTestsNeedTheRaceDetector(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		source string
		needs  bool
	}{
		"one thing after another": {`func TestIt(t *testing.T) { t.Parallel(); a(); b() }
			func a() {}`, false},
		"a goroutine in a helper's helper": {`func TestIt(t *testing.T) { a() }
			func a() { b() }
			func b() { go c() }`, true},
		"a goroutine that no test reaches": {`func TestIt(t *testing.T) {}
			func a() { go c() }`, false},
		"a goroutine in a method": {`func TestIt(t *testing.T) { w.start() }
			func (w *world) start() { go c() }`, true},
		"a method that only an interface calls": {`func TestIt(t *testing.T) { serve(server{}) }
			type server struct{}
			func (s server) ServeHTTP() { go c() }`, true},
		"a method is no variable of its name": {`func TestIt(t *testing.T) { start := 1; _ = start }
			func (w *world) start() { go c() }`, false},
		"a lock in the type of a variable": {`func TestIt(t *testing.T) { x.do() }
			var x shared
			type shared struct { mu sync.Mutex }`, true},
		"made once":              {`func TestIt(t *testing.T) { x() }; var x = sync.OnceValue(f)`, false},
		"a wait group":           {`func TestIt(t *testing.T) { group.Go(f) }`, true},
		"a callback":             {`func TestIt(t *testing.T) { time.AfterFunc(1, f) }`, true},
		"a channel":              {`func TestIt(t *testing.T) { <-make(chan int) }`, true},
		"atomics":                {`func TestIt(t *testing.T) { atomic.AddInt64(&n, 1) }`, true},
		"an invariant":           {`func TestIt(t *testing.T) {}; func TestI14It(t *testing.T) {}`, false},
		"a name":                 {`func TestItRaces(t *testing.T) {}; func TestIt(t *testing.T) { TestItRaces(t) }`, false},
		"subtests apart":         {`func TestIt(t *testing.T) { for _, n := range names { t.Run(n, func(t *testing.T) { t.Parallel(); w := new(t); w.do() }) } }`, false},
		"subtests of one world":  {`func TestIt(t *testing.T) { w := newWorld(t); t.Run("a", func(t *testing.T) { t.Parallel(); w.do() }) }`, true},
		"subtests elsewhere":     {`func TestIt(t *testing.T) { sub(t, w) }; func sub(t *testing.T, w *world) { t.Run("a", func(t *testing.T) { t.Parallel(); w.do() }) }`, true},
		"a helper that is apart": {"func TestIt(t *testing.T) { a() }\n// a helps.\n//\n//tests:apart it only reads the console\nfunc a() { go c() }", false},
		"apart without a reason": {"func TestIt(t *testing.T) { a() }\n//tests:apart\nfunc a() { go c() }", true},
		"a field that is apart":  {"func TestIt(t *testing.T) { a.b() }\nvar a struct {\n//tests:apart set once\nmu sync.Mutex\n}", false},
		"a comment says so":      {"func TestIt(t *testing.T) { a() }\n//tests:at-once two tabs\nfunc a() {}", true},
	} {
		if why := read(t, tt.source).why("TestIt"); (why != "") != tt.needs {
			t.Errorf("%s: it needs the race detector for %q", name, why)
		}
	}
	for _, name := range []string{"TestI14EnergyIsNeverOverspent", "TestReadingI9", "TestWhoeverRaces", "TestConcurrentRuns", "TestManyAtOnce"} {
		if read(t, `func `+name+`(t *testing.T) {}`).why(name) == "" {
			t.Errorf("%s is not under the race detector", name)
		}
	}
}

// withoutDetector are the tests of an invariant that may run plain, though their folder does things at once.
var withoutDetector = map[string]bool{"TestI4AgentsNeverDecide": true}

// Every test of the repository is in exactly one run, and those of invariants in one with the race
// detector where anything is done at once.
func TestEveryTestRunsOnce(t *testing.T) {
	t.Parallel()
	all, err := folders(t.Context(), "../..", "./...", "./.ci/words", "./.ci/tests")
	if err != nil {
		t.Fatal(err)
	}
	type count struct{ with, without int }
	counts := map[string]count{} // by folder and test
	for _, r := range plan(all) {
		run, skip := regexp.MustCompile("."), regexp.MustCompile("^$")
		for _, flag := range r.flags {
			if names, ok := strings.CutPrefix(flag, "-run="); ok {
				run = regexp.MustCompile(names)
			}
			if names, ok := strings.CutPrefix(flag, "-skip="); ok {
				skip = regexp.MustCompile(names)
			}
		}
		for _, f := range all {
			for name, d := range f.tests {
				if !d.isTest || !slices.Contains(r.packages, f.ImportPath) || !run.MatchString(name) || skip.MatchString(name) {
					continue
				}
				n := counts[f.name()+" "+name]
				if r.flags[0] == "-race" {
					n.with++
				} else {
					n.without++
				}
				counts[f.name()+" "+name] = n
			}
		}
	}
	tests, plain, invariant := 0, 0, regexp.MustCompile(`I\d`)
	for _, f := range all {
		pure := f.doesNothingAtOnce(all)
		for name, d := range f.tests {
			if !d.isTest {
				continue
			}
			n := counts[f.name()+" "+name]
			if tests, plain = tests+1, plain+n.without; n.with+n.without != 1 {
				t.Errorf("%s %s runs %d times with the race detector, %d times without", f.name(), name, n.with, n.without)
			}
			if invariant.MatchString(name) && n.without > 0 && !pure && !withoutDetector[name] {
				t.Errorf("%s %s is of an invariant and runs without the race detector", f.name(), name)
			}
		}
	}
	if tests < 1500 || plain < 500 {
		t.Errorf("%d tests, %d of them without the race detector: not all are read", tests, plain)
	}
}

// What failed is named again at the end, and the other runs go on.
func TestFailuresAreNamedAtTheEnd(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	failed := runAll(t.Context(), []string{"sh", "-c", `echo "--- FAIL: TestIt ($0)"; test "$0" = good`}, []run{
		{packages: []string{"bad"}}, {packages: []string{"good"}}, {packages: []string{"good"}},
	}, &out)
	last := out.String()[max(0, strings.Index(out.String(), "Failed")):]
	if !failed || strings.Count(out.String(), "(good)") != 2 || !strings.HasPrefix(last, "Failed") || !strings.Contains(last, "TestIt (bad)") || strings.Contains(last, "good") {
		t.Errorf("%v, %q", failed, out.String())
	}
	out.Reset()
	if runAll(t.Context(), []string{"echo", "ok"}, []run{{packages: []string{"good"}}}, &out) || out.String() != "ok good\n" {
		t.Errorf("it failed: %q", out.String())
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if !runAll(ended, []string{"echo"}, []run{{packages: []string{"x"}}}, &out) {
		t.Error("a run that was ended did not fail")
	}
}
