package timerslack_test

import (
	"go/parser"
	"go/token"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	_ "countersign/cmd/timerslack"
)

// Every thread has the slack, also those that the runtime starts.
func TestThreadsInheritTheSlack(t *testing.T) {
	t.Parallel()
	const threads = 8
	var wg sync.WaitGroup
	var locked sync.WaitGroup
	locked.Add(threads)
	for range threads {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			locked.Done()
			locked.Wait() // all at once, each on a thread of its own
			if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || slack != 500_000 {
				t.Errorf("the slack is %d ns (%v)", slack, err)
			}
		})
	}
	wg.Wait()
}

// The program has the slack too: its main imports this package, as nothing else does.
func TestTheProgramHasTheSlack(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../../main.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var imports []string
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		imports = append(imports, name)
	}
	if !slices.Contains(imports, "countersign/cmd/timerslack") {
		t.Errorf("main.go imports %q", imports)
	}
}
