package store_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

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
