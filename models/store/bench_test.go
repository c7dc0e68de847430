package store_test

import (
	"encoding/json"
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

// BenchmarkAskActing is an ask that is routed to one person and approved by its owner: where
// nobody acts for others, where another request was handed over, where somebody else is away, where the person whom it
// is routed to is, and where its rule asks further people later.
func BenchmarkAskActing(b *testing.B) {
	for _, state := range []string{"nobody", "handed", "other", "reviewer", "escalates"} {
		b.Run(state, func(b *testing.B) {
			s := storetest.New(b, storetest.NoLimits)
			admin, owner := storetest.Admin(b, s), storetest.Reviewer(b, s, "owner@example.com")
			ann, eve := storetest.Reviewer(b, s, "ann@example.com"), storetest.Reviewer(b, s, "eve@example.com")
			agent, _ := storetest.AgentToken(b, s, owner, "bench")
			more, away := "", ann
			switch state {
			case "escalates":
				more = `,"timeout_minutes":60,"escalate":[{"after_minutes":30,"to":["eve@example.com"]}]`
			case "other":
				away = admin
			}
			_, err := s.ApplyPolicy(b.Context(), admin, fmt.Appendf(nil, `{"rules":[{"name":"all","tools":["/.*/"],"effect":"require","reviewers":["ann@example.com"]%s}]}`, more), "bench", 0)
			storetest.Must(b, err)
			if state == "other" || state == "reviewer" {
				sub, err := s.AskSubstitute(b.Context(), admin, away.UserID(), eve.UserID())
				storetest.Must(b, err)
				storetest.Must(b, s.AcceptSubstitute(b.Context(), admin, sub.ID))
				storetest.Must(b, storetest.Err(s.PlanAbsence(b.Context(), admin, models.AbsenceInput{UserID: away.UserID(), Until: s.Now().Add(24 * time.Hour), Substitute: eve.UserID()})))
			}
			if state == "handed" {
				a, err := s.Ask(b.Context(), agent, models.AskInput{ToolName: "bench", Input: []byte(`{}`)})
				storetest.Must(b, err)
				storetest.Must(b, storetest.Err(s.HandOver(b.Context(), owner, a.ID, ann.UserID(), "")))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				a, err := s.Ask(b.Context(), agent, models.AskInput{ToolName: "bench", Input: fmt.Appendf(nil, `{"n":%d}`, n)})
				storetest.Must(b, err)
				storetest.Must(b, storetest.Err(s.Decide(b.Context(), owner, a.ID, storetest.Yes())))
			}
		})
	}
}

// BenchmarkAskTold is an ask that is routed to 20 people and rejected by one of them: where
// nobody has a channel, where the admin has one, and where each of them has one.
func BenchmarkAskTold(b *testing.B) {
	for _, channels := range []int{0, 1, 20} {
		b.Run(fmt.Sprintf("channels=%d", channels), func(b *testing.B) {
			s := storetest.New(b, storetest.NoLimits)
			admin := storetest.Admin(b, s)
			agent, _ := storetest.AgentToken(b, s, admin, "bench")
			people := []models.Actor{}
			emails := []string{}
			for i := range 20 {
				who := storetest.Reviewer(b, s, fmt.Sprintf("p%02d@example.com", i))
				people, emails = append(people, who), append(emails, who.Name)
			}
			if channels == 1 {
				people[0] = admin
			}
			for _, who := range people[:channels] {
				_, err := s.People.AddChannel(b.Context(), who, models.ChannelInput{Kind: models.ChannelEmail, Target: models.ChannelTarget{Address: who.Name + ".example"}})
				storetest.Must(b, err)
			}
			_, err := storetest.Beside(b, s).ExecContext(b.Context(), `UPDATE channels SET verified_at = created_at`)
			storetest.Must(b, err)
			list, err := json.Marshal(emails)
			storetest.Must(b, err)
			_, err = s.ApplyPolicy(b.Context(), admin, fmt.Appendf(nil, `{"approval_enabled":true,"rules":[{"name":"all","tools":["/.*/"],"effect":"require","risk":"high","reviewers":%s}]}`, list), "bench", 0)
			storetest.Must(b, err)
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				a, err := s.Ask(b.Context(), agent, models.AskInput{ToolName: "bench", Input: fmt.Appendf(nil, `{"n":%d}`, n)})
				storetest.Must(b, err)
				_, err = s.Decide(b.Context(), admin, a.ID, storetest.No("no"))
				storetest.Must(b, err)
			}
		})
	}
}
