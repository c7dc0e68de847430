package store_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// BenchmarkLoop is the main job in process: ask, wait, decide, told, each
// decision on the disk before anyone hears of it.
func BenchmarkLoop(b *testing.B) {
	for _, callers := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := storetest.New(b, noLimits)
			owner := storetest.Admin(b, s)
			agent, _ := storetest.AgentToken(b, s, owner, "bench")
			input := []byte(`{"n":"` + string(make200('x')) + `"}`)
			work := make(chan struct{}, b.N)
			for range b.N {
				work <- struct{}{}
			}
			close(work)
			var wg sync.WaitGroup
			b.ReportAllocs()
			store.TrustRemembered()
			before := usage(b)
			b.ResetTimer()
			for range callers {
				wg.Go(func() {
					for range work {
						a, err := s.Ask(b.Context(), agent, models.AskInput{ToolName: "bench", Input: input, Explicit: true})
						if err != nil {
							b.Errorf("ask: %v", err)
							return
						}
						told := make(chan struct{})
						go func() {
							defer close(told)
							if got, err := s.Await(b.Context(), agent, a.ID, time.Minute); err != nil || got.Status() != models.StatusApproved {
								b.Errorf("told %v, %v", got, err)
							}
						}()
						if _, err := s.Decide(b.Context(), owner, a.ID, yes()); err != nil {
							b.Errorf("decide: %v", err)
						}
						<-told
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "loops/s")
			now := usage(b)
			b.ReportMetric(float64((now.cpu-before.cpu).Microseconds())/float64(b.N), "cpu-µs/op")
			b.ReportMetric(float64(now.written-before.written)/1000/float64(b.N), "written-kB/op")
			b.ReportMetric(float64(now.writes-before.writes)/float64(b.N), "writes/op")
		})
	}
}

func make200(c byte) []byte {
	out := make([]byte, 200)
	for i := range out {
		out[i] = c
	}
	return out
}

// used is what this process has used so far. It hardly depends on what else runs.
type used struct {
	cpu             time.Duration
	written, writes int64 // bytes and calls; 0 where the system does not count them
}

func usage(b *testing.B) (u used) {
	b.Helper()
	var r syscall.Rusage
	storetest.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	counts, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return u
	}
	for line := range strings.Lines(string(counts)) {
		_, _ = fmt.Sscanf(line, "wchar: %d", &u.written)
		_, _ = fmt.Sscanf(line, "syscw: %d", &u.writes)
	}
	return u
}
