package upstream_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"countersign/workers/upstream"
	"countersign/workers/upstream/upstreamtest"
)

// Whatever goes wrong on the way, what an attempt reports is enough to bring each
// verdict to the upstream once, and to know that it arrived.
func TestOutcomesAreEnoughToTellEachVerdictOnce(t *testing.T) {
	t.Parallel()
	for _, d := range both {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			rates := upstreamtest.Rates{Status500: 0.1, Lost500: 0.1, Drop: 0.1, Lost: 0.1, Hang: 0.02, Cut: 0.1, Half: 0.1}
			s := upstreamtest.New(t, upstreamtest.Options{Cloud: d == upstream.Cloud, Plan: upstreamtest.Random(7, rates)})
			c := client(t, upstream.Options{BaseURL: s.URL, Dialect: d, Timeout: 100 * time.Millisecond})
			const n = 150
			s.Ask(numbered(1, n)...)
			confirmed := 0
			for i := range n {
				id, approved := fmt.Sprintf("c%d", i+1), i%3 != 0
				if i%10 == 9 {
					s.Settle(id, !approved, "elsewhere")
				}
				delivered, sure := tell(t, c, id, approved)
				if !sure {
					confirmed++
				}
				at, ok := s.Outcome(id)
				if !ok || delivered != (at.Approved == approved) && sure {
					t.Errorf("%s: delivered %t, and the upstream has %t %+v", id, delivered, ok, at)
				}
				applied := 0
				for _, v := range s.VerdictsOn(id) {
					if v.Applied {
						applied++
					}
					if !v.Here && v.Approved != approved {
						t.Errorf("%s: another verdict was told: %+v", id, v)
					}
				}
				if applied != 1 {
					t.Errorf("%s: %d verdicts took effect", id, applied)
				}
			}
			if confirmed > 0 == (d == upstream.Cloud) {
				t.Errorf("%d were confirmed by 409 alone", confirmed)
			}
			if len(s.Verdicts()) < n+20 {
				t.Errorf("only %d attempts: nothing went wrong", len(s.Verdicts()))
			}
		})
	}
}

// tell tries until the upstream has a verdict. sure is false if that it is ours
// rests on a conflict after a lost answer, in a dialect that cannot read back.
func tell(t *testing.T, c *upstream.Client, id string, approved bool) (delivered, sure bool) {
	t.Helper()
	lost := false
	for range 50 {
		o := c.RespondCall(t.Context(), id, approved, "as decided")
		switch o.Delivery {
		case upstream.Delivered:
			return true, true
		case upstream.Retry:
			lost = lost || o.Lost
		case upstream.Conflict:
			if !lost {
				return false, true
			}
			for range 50 {
				at, err := c.ReadBackCall(t.Context(), id)
				if errors.Is(err, upstream.ErrCannot) {
					return true, false
				}
				if err == nil {
					return at.HasDecision && at.Approved == approved, true
				}
			}
			t.Fatalf("%s is never read back", id)
		case upstream.Gone, upstream.Refused, upstream.WrongKey:
			t.Fatalf("%s: %+v", id, o)
		}
	}
	t.Fatalf("%s is never told", id)
	return false, false
}
