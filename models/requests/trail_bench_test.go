package requests_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// BenchmarkTrail reads a person's audit trail where the ledger has a million
// entries, half of them their decisions: a page of 50, everything that they decided
// in a week on one page, and filters that leave little or nothing.
func BenchmarkTrail(b *testing.B) {
	s := storetest.New(b, storetest.NoLimits)
	admin, owner := storetest.Admin(b, s), storetest.Reviewer(b, s, "ada@example.com")
	agent, _ := storetest.AgentToken(b, s, owner, "bot")
	storetest.SeedLedger(b, s, agent, owner, 500_000)
	now := s.Now()
	week := requests.TrailQuery{Person: owner.UserID(), Part: requests.TrailDecisions, From: now.Add(-7 * 24 * time.Hour), Until: now.Add(time.Hour), Limit: requests.TrailMost}
	for name, q := range map[string]requests.TrailQuery{
		"newest":              {Person: owner.UserID()},
		"week of decisions":   week,
		"nothing fits":        {Person: owner.UserID(), Outcome: requests.TrailOutcome(models.StatusExpired)},
		"of an agent":         {Person: owner.UserID(), Agent: agent.AgentID()},
		"of an unknown agent": {Person: owner.UserID(), Agent: "x"},
		"far back":            {Person: owner.UserID(), Part: requests.TrailRequests, Before: 200_000},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Requests.Trail(b.Context(), admin, q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
