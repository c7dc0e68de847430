package deliver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/storetest"
	"countersign/workers/deliver"
	"countersign/workers/upstream/upstreamtest"
)

var (
	fails  = upstreamtest.Fault{Status: 500}
	lost   = upstreamtest.Fault{Drop: true, Handled: true}
	hangs  = upstreamtest.Fault{Hang: true}
	taken  = upstreamtest.Fault{Hang: true, Handled: true}
	failed = upstreamtest.Fault{Status: 500, Handled: true}
	gone   = upstreamtest.Fault{Status: 404}
	broken = upstreamtest.Fault{Drop: true}
)

// settles lets somebody else decide in the upstream, after a request was handled
// and before it is answered.
func settles(approved bool, f upstreamtest.Fault) upstreamtest.Fault {
	f.Then = func(s *upstreamtest.Server) { s.Settle("c", approved, "there") }
	return f
}

func TestEveryAnswerMeansWhatItMeans(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		faults       []upstreamtest.Fault
		plain, cloud string
		attempts     int
	}{
		{"taken", nil, "approved reviewer, delivered", "", 1},
		{"a burst of 500", []upstreamtest.Fault{fails, fails, fails}, "approved reviewer, delivered", "", 4},
		{"no answer", []upstreamtest.Fault{hangs, hangs}, "approved reviewer, delivered", "", 3},
		{"not now, and then", []upstreamtest.Fault{{Status: 429}, {Status: 408}, {Status: 302}}, "approved reviewer, delivered", "", 4},
		{"refused as bad", []upstreamtest.Fault{fails, {Status: 400}}, "pending, refused", "", 2},
		{"refused as forbidden", []upstreamtest.Fault{{Status: 403}}, "pending, refused", "", 1},
		{"refused", []upstreamtest.Fault{{Status: 422}}, "pending, refused", "", 1},
		{"refused after the answer was lost", []upstreamtest.Fault{lost, {Status: 422}}, "resolved elsewhere, elsewhere", "approved reviewer, delivered", 2},
		{"refused after another's while ours was lost", []upstreamtest.Fault{settles(false, broken), {Status: 400}}, "resolved elsewhere, elsewhere", "", 2},
		{"refused after an attempt that had no effect", []upstreamtest.Fault{broken, {Status: 422}}, "pending, refused", "", 2},
		{"the answer was lost", []upstreamtest.Fault{lost}, "approved reviewer, confirmed", "approved reviewer, delivered", 2},
		{"the answer came too late", []upstreamtest.Fault{taken}, "approved reviewer, confirmed", "approved reviewer, delivered", 2},
		{"500 although it was taken", []upstreamtest.Fault{failed, fails, fails}, "approved reviewer, confirmed", "approved reviewer, delivered", 4},
		{"settled elsewhere before", []upstreamtest.Fault{settles(false, upstreamtest.Fault{Status: 429})}, "resolved elsewhere, elsewhere", "", 2},
		{"another verdict while ours was lost", []upstreamtest.Fault{settles(false, broken)}, "approved reviewer, confirmed", "resolved elsewhere, elsewhere", 2},
		{"the same verdict while ours was lost", []upstreamtest.Fault{settles(true, broken)}, "approved reviewer, confirmed", "approved reviewer, delivered", 2},
		{"gone", []upstreamtest.Fault{gone}, "resolved gone, gone", "", 1},
	} {
		for _, cloud := range []bool{false, true} {
			want := tt.plain
			if cloud && tt.cloud != "" {
				want = tt.cloud
			}
			t.Run(fmt.Sprintf("%s, cloud %t", tt.name, cloud), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				u := p.upstream(t, "u", upstreamtest.Options{Cloud: cloud, Plan: upstreamtest.Script("c", tt.faults...)})
				id := u.call(t, "c", true)
				run(t, p.deliverer(t, deliver.Options{Timeout: 300 * time.Millisecond}))
				eventually(t, want, func() bool { return p.stands(t, id) == want || strings.HasPrefix(p.stands(t, id), "resolved") })
				if got := p.stands(t, id); got != want {
					t.Errorf("%s, want %s", got, want)
				}
				ours := 0
				for _, v := range u.VerdictsOn("c") {
					if !v.Here {
						ours++
						if !v.Approved || v.Reason != "as decided" {
							t.Errorf("another verdict was told: %+v", v)
						}
					}
				}
				if ours != tt.attempts {
					t.Errorf("%d attempts, want %d", ours, tt.attempts)
				}
				var marked string
				p.read(t, `SELECT contradiction FROM responses WHERE id = ?`, []any{id}, &marked)
				if strings.HasPrefix(marked, "Confirmed by 409") != strings.HasSuffix(want, "confirmed") {
					t.Errorf("it is marked %q", marked)
				}
				for _, secret := range []string{key, "as planned", "127.0.0.1", "as decided"} {
					if strings.Contains(p.said.String(), secret) {
						t.Errorf("the log holds %q", secret)
					}
				}
				_, err := p.Ledger.Verify(t.Context(), nil)
				must(t, err)
			})
		}
	}
}

func TestWhoseVerdictItIsIsAskedUntilItIsKnown(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	verdicts := upstreamtest.Script("c", lost)
	u := p.upstream(t, "u", upstreamtest.Options{Cloud: true, Plan: func(r upstreamtest.Request) upstreamtest.Fault {
		if r.Act == upstreamtest.ReadCall && r.Nth < 3 {
			return []upstreamtest.Fault{fails, {Half: true}, broken}[r.Nth]
		}
		return verdicts(r)
	}})
	id := u.call(t, "c", false)
	run(t, p.deliverer(t, deliver.Options{}))
	eventually(t, "it is known", func() bool { return p.stands(t, id) == "rejected reviewer, delivered" })
}

func TestAnswersAreTold(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{false, true} {
		t.Run(fmt.Sprint("cloud ", cloud), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			u := p.upstream(t, "u", upstreamtest.Options{Cloud: cloud, Plan: upstreamtest.Script("words", lost)})
			words, option := "Because.\x07", "red"
			said := u.contact(t, "words", models.DecisionInput{Answer: &words})
			chosen := u.contact(t, "option", models.DecisionInput{Option: &option}, "red", "blue")
			run(t, p.deliverer(t, deliver.Options{}))
			eventually(t, "both are told", func() bool {
				return strings.HasPrefix(p.stands(t, said), "approved reviewer, ") && p.stands(t, chosen) == "approved reviewer, delivered"
			})
			if v, _ := u.Outcome("words"); v.Response != words {
				t.Errorf("%+v", v)
			}
			v, _ := u.Outcome("option")
			if v.Response != "red" || cloud != (v.Option == "red") {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestOneUpstreamThatHangsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	stuck := p.upstream(t, "stuck", upstreamtest.Options{Plan: func(upstreamtest.Request) upstreamtest.Fault { return hangs }})
	quick := p.upstream(t, "quick", upstreamtest.Options{})
	var ids []models.ResponseID
	for i := range 12 {
		stuck.call(t, fmt.Sprintf("s%d", i), true)
	}
	for i := range 12 {
		ids = append(ids, quick.call(t, fmt.Sprintf("q%d", i), i%2 == 0))
	}
	stop := run(t, p.deliverer(t, deliver.Options{Concurrency: 3}))
	stuck.Await("all that may be told at once", func(s *upstreamtest.Server) bool { return len(s.Verdicts()) == 3 })
	eventually(t, "the other's verdicts are told", func() bool {
		for _, id := range ids {
			if !strings.HasSuffix(p.stands(t, id), ", delivered") {
				return false
			}
		}
		return true
	})
	if n := len(stuck.Verdicts()); n != 3 {
		t.Errorf("%d attempts at once", n)
	}
	stop() // and does not wait for it
	var attempts, inFlight, lost int
	p.read(t, `SELECT sum(attempts), count(in_flight_at), count(*) FILTER (WHERE lost) FROM deliveries WHERE done_at IS NULL`, nil, &attempts, &inFlight, &lost)
	if attempts != 3 || inFlight != 0 || lost != 3 {
		t.Errorf("after the stop: %d attempts, %d in flight, %d perhaps arrived", attempts, inFlight, lost)
	}
}

func TestAVerdictIsToldAsSoonAsItIsGiven(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	run(t, p.deliverer(t, deliver.Options{}))
	u := p.upstream(t, "u", upstreamtest.Options{}) // the first one: nobody has the lease yet
	id := u.call(t, "c", true)
	eventually(t, "it is told", func() bool { return p.stands(t, id) == "approved reviewer, delivered" })
}

// Who has lost the lease in the middle of an attempt writes nothing, and the next
// holder knows that it may have arrived.
func TestALeaseThatIsLostDuringAnAttempt(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	p := newPlace(t, storetest.WithClock(clock))
	var second *models.Lease
	var dump string
	u := p.upstream(t, "u", upstreamtest.Options{Plan: func(r upstreamtest.Request) upstreamtest.Fault {
		if r.Nth > 0 {
			return upstreamtest.Fault{}
		}
		return upstreamtest.Fault{Then: func(*upstreamtest.Server) {
			clock.Step(time.Minute)
			var err error
			if second, err = p.Nodes.TakeLease(t.Context(), "deliver", "second", time.Minute); err != nil || second == nil {
				t.Errorf("%v, %v", second, err)
			}
			dump = storetest.Dump(t, p.Store)
		}}
	}})
	id := u.call(t, "c", true)
	first, err := p.Nodes.TakeLease(t.Context(), "deliver", "first", time.Minute)
	must(t, err)
	made := p.deliverer(t, deliver.Options{})
	made.Once(t.Context(), first, id)
	if now := storetest.Dump(t, p.Store); now != dump {
		t.Error("something was written")
	}
	if got := p.stands(t, id); got != "pending, " {
		t.Errorf("it stands as %q", got)
	}
	made.Once(t.Context(), second, id)
	if got := p.stands(t, id); got != "approved reviewer, confirmed" {
		t.Errorf("it stands as %q", got)
	}
	if v := u.VerdictsOn("c"); len(v) != 2 || !v[0].Applied || v[1].Applied || v[0].Raw != v[1].Raw {
		t.Errorf("%+v", v)
	}
}

func TestPausesGrowAndEnd(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	p := newPlace(t, storetest.WithClock(clock))
	u := p.upstream(t, "u", upstreamtest.Options{Plan: func(upstreamtest.Request) upstreamtest.Fault { return fails }})
	id := u.call(t, "c", true)
	l, err := p.Nodes.TakeLease(t.Context(), "deliver", "test", 1000*time.Hour)
	must(t, err)
	made := p.deliverer(t, deliver.Options{FirstRetry: time.Second})
	for _, seconds := range []int{1, 2, 4, 8, 16, 32, 64, 120, 120} {
		most := time.Duration(seconds) * time.Second
		made.Once(t.Context(), l, id)
		_, next, err := outside.New(p.Store).DueDeliveries(t.Context(), 1)
		must(t, err)
		if pause := next.Sub(clock.Now()); pause > most || pause < most*9/10-time.Millisecond {
			t.Errorf("the next attempt is in %v, want %v or a little less", pause, most)
		}
		clock.Step(most)
	}
	states, err := outside.New(p.Store).UpstreamStates(t.Context(), p.owner)
	must(t, err)
	if s := states[0]; s.Unsent != 1 || s.UnsentProblem != "The upstream failed (500)." {
		t.Errorf("%+v", s)
	}
	if said := p.said.String(); !strings.Contains(said, "a decision is not sent yet") || !strings.Contains(said, "attempt=9") {
		t.Errorf("said %s", said)
	}
}
