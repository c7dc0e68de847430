package store_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// TestI14SixtyFourOnOneBudget: responses, proposals and asks at once never spend
// one unit too much and leave one budget request; with two servers on one folder
// too.
func TestI14SixtyFourOnOneBudget(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d servers", servers), func(t *testing.T) {
			t.Parallel()
			const callers, each, budget = 64, 4, 101
			c := begun(t, budget, storetest.NoLimits)
			stores := []*store.Store{c.Store}
			if servers == 2 {
				stores = append(stores, storetest.Again(t, c.Store, storetest.WithClock(c.Clock), storetest.NoLimits))
			}
			var stored, refused atomic.Int64
			var requests sync.Map
			var wg sync.WaitGroup
			start := make(chan struct{})
			for i := range callers {
				wg.Go(func() {
					<-start
					for n := range each {
						s, cost := stores[i%len(stores)], int64(1+(i+n)%3)
						var err error
						switch i % 3 {
						case 0:
							_, err = s.Ask(context.WithoutCancel(t.Context()), c.Agent, c.In(models.AskInput{ToolName: "Bash", Energy: &cost}))
						case 1:
							_, err = s.Respond(context.WithoutCancel(t.Context()), c.Agent, models.ResponseInput{ConversationID: c.Conv, Kind: models.KindReply, Content: "x", Energy: &cost})
						default:
							_, err = s.Respond(context.WithoutCancel(t.Context()), c.Agent, models.ResponseInput{ConversationID: c.Conv, Kind: models.KindProposal, Content: "x", Energy: &cost})
						}
						e, _ := err.(*models.Error)
						switch {
						case err == nil:
							stored.Add(cost)
						case e != nil && e.Code == models.CodeBudgetExhausted && e.Approval != nil:
							refused.Add(1)
							requests.Store(e.Approval.ID, true)
						default:
							t.Errorf("it failed: %v", err)
						}
					}
				})
			}
			close(start)
			wg.Wait()
			v := c.View(t)
			sum := storetest.Scalar[int64](t, c.Store, `SELECT sum(energy) FROM responses WHERE conversation_id = ?`, c.Conv)
			if v.EnergyUsed > budget || v.EnergyUsed != stored.Load()+1 || sum != v.EnergyUsed {
				t.Errorf("%d used of %d; callers were told of %d, responses have %d", v.EnergyUsed, budget, stored.Load(), sum)
			}
			if v.EnergyUsed < budget-2 || refused.Load() == 0 {
				t.Errorf("only %d of %d used, %d refused", v.EnergyUsed, budget, refused.Load())
			}
			n := 0
			requests.Range(func(any, any) bool { n++; return true })
			if rows := storetest.Scalar[int](t, c.Store, `SELECT count(*) FROM responses WHERE kind = 'budget'`); n != 1 || rows != 1 {
				t.Errorf("%d budget requests are named, %d stand", n, rows)
			}
			if v.Status != models.ConversationWaitingInput {
				t.Errorf("the conversation is %s", v.Status)
			}
			if _, err := c.Ledger.Verify(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
}
