package deliver_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/outside"
	"countersign/workers/deliver"
	"countersign/workers/upstream/upstreamtest"
)

func TestARefusalIsToldWithTheUpstreamsOwnWords(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	u := p.upstream(t, "hub", upstreamtest.Options{Plan: upstreamtest.Script("c", upstreamtest.Fault{Status: 422})})
	id := u.call(t, "c", true)
	run(t, p.deliverer(t, deliver.Options{}))
	eventually(t, "it waits again", func() bool { return p.stands(t, id) == "pending, refused" })
	origins, err := p.Requests.Origins(t.Context(), p.owner, id)
	must(t, err)
	o := origins[id]
	if len(o.Withdrawals) != 1 || o.Delivery != nil {
		t.Fatalf("%+v", o)
	}
	if w := o.Withdrawals[0]; w.Kind != models.WithdrawalRefused || w.ByName != "hub" || w.Status != 422 || w.Said != "as planned" || w.Lost || w.Verdict != models.VerdictApprove {
		t.Errorf("%+v", w)
	}
	// It is decided again, and this time taken.
	no := false
	_, err = p.Decide(t.Context(), p.owner, id, models.DecisionInput{Approved: &no, Reason: "hub would not have it"})
	must(t, err)
	eventually(t, "the second decision is told", func() bool { return p.stands(t, id) == "rejected reviewer, delivered" })
	if v, ok := u.Outcome("c"); !ok || v.Approved {
		t.Errorf("%+v", v)
	}
}

// 401 to a decision pauses the upstream: nothing is sent until it has another key,
// and then the decision is told.
func TestAWrongKeyPausesDeliveries(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"a new key", "a button"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			u := p.upstream(t, "hub", upstreamtest.Options{Plan: upstreamtest.Script("c", upstreamtest.Fault{Status: 401})})
			first, second := u.call(t, "c", true), models.ResponseID("")
			run(t, p.deliverer(t, deliver.Options{}))
			eventually(t, "it is paused", func() bool {
				states, err := outside.New(p.Store).UpstreamStates(t.Context(), p.owner)
				must(t, err)
				return states[0].PausedAt != nil && states[0].Problem == "The upstream refuses the key (401)."
			})
			second = u.call(t, "d", true)
			if due, _, err := outside.New(p.Store).DueDeliveries(t.Context(), 10); len(due[u.id]) != 0 || err != nil {
				t.Errorf("due while it is paused: %v, %v", due, err)
			}
			if how == "a button" {
				must(t, outside.New(p.Store).ResumeUpstream(t.Context(), p.owner, u.id))
			} else {
				must(t, outside.New(p.Store).SetUpstreamKey(t.Context(), p.owner, u.id, key))
			}
			eventually(t, "both are told", func() bool {
				return p.stands(t, first) == "approved reviewer, delivered" && p.stands(t, second) == "approved reviewer, delivered"
			})
			if n := len(u.VerdictsOn("c")); n != 2 {
				t.Errorf("it was told %d times", n)
			}
			if strings.Contains(p.said.String(), key) {
				t.Error("the log holds the key")
			}
		})
	}
}

// A decision that may have arrived is not taken back by a refusal while the other
// system can't be asked: a wrong key pauses it, and a list that breaks off is asked
// for again.
func TestARefusalAfterALostAnswerTakesNothingBackUnasked(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{false, true} {
		for name, fault := range map[string]upstreamtest.Fault{"wrong key": {Status: 401}, "failing": {Status: 500}, "broken off": {Cut: true}} {
			t.Run(fmt.Sprintf("%s, cloud %t", name, cloud), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				verdicts, asked := upstreamtest.Script("c", lost, upstreamtest.Fault{Status: 422}), false
				u := p.upstream(t, "hub", upstreamtest.Options{Cloud: cloud, Plan: func(r upstreamtest.Request) upstreamtest.Fault {
					if !r.Act.Responds() && !asked {
						asked = true
						return fault
					}
					return verdicts(r)
				}})
				id := u.call(t, "c", true)
				run(t, p.deliverer(t, deliver.Options{}))
				if name == "wrong key" {
					eventually(t, "it is paused", func() bool {
						states, err := outside.New(p.Store).UpstreamStates(t.Context(), p.owner)
						must(t, err)
						return states[0].PausedAt != nil
					})
					must(t, outside.New(p.Store).ResumeUpstream(t.Context(), p.owner, u.id))
				}
				// The third attempt meets the decision that the first one brought.
				want := "approved reviewer, confirmed"
				if cloud {
					want = "approved reviewer, delivered"
				}
				eventually(t, want, func() bool { return p.stands(t, id) == want })
				var withdrawn int
				p.read(t, `SELECT count(*) FROM withdrawals`, nil, &withdrawn)
				if withdrawn != 0 {
					t.Error("the decision was taken back")
				}
			})
		}
	}
}
