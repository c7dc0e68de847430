package store_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

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
