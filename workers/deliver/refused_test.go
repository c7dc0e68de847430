package deliver_test

import (
	"strings"
	"testing"

	"countersign/models"
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
	origins, err := p.Origins(t.Context(), p.owner, id)
	must(t, err)
	o := origins[id]
	if len(o.Withdrawals) != 1 || o.Told != nil {
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
				states, err := p.UpstreamStates(t.Context(), p.owner)
				must(t, err)
				return states[0].PausedAt != nil && states[0].Problem == "The upstream refuses the key (401)."
			})
			second = u.call(t, "d", true)
			if due, _, err := p.DueDeliveries(t.Context(), 10); len(due[u.id]) != 0 || err != nil {
				t.Errorf("due while it is paused: %v, %v", due, err)
			}
			if how == "a button" {
				must(t, p.ResumeUpstream(t.Context(), p.owner, u.id))
			} else {
				must(t, p.SetUpstreamKey(t.Context(), p.owner, u.id, key))
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
