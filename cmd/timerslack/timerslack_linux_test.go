package timerslack_test

import (
	"runtime"
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
