package store_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// BenchmarkLoop is the main job in process: ask, wait, decide, told, each
// decision on the disk before anyone hears of it.
func BenchmarkLoop(b *testing.B) {
	for _, callers := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := storetest.New(b, storetest.NoLimits)
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
			before, told := storetest.UsedBy(os.Getpid())
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
						if _, err := s.Decide(b.Context(), owner, a.ID, storetest.Yes()); err != nil {
							b.Errorf("decide: %v", err)
						}
						<-told
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "loops/s")
			if now, _ := storetest.UsedBy(os.Getpid()); told {
				b.ReportMetric(float64((now.CPU-before.CPU).Microseconds())/float64(b.N), "cpu-µs/op")
				b.ReportMetric(float64(now.Written-before.Written)/1000/float64(b.N), "written-kB/op")
				b.ReportMetric(float64(now.Writes-before.Writes)/float64(b.N), "writes/op")
			}
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
