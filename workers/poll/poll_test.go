package poll_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/storetest"
	"countersign/workers/poll"
	"countersign/workers/upstream/upstreamtest"
)

var dialects = map[string]bool{"plain": false, "cloud": true}

func calls(ids ...string) []upstreamtest.Call {
	out := make([]upstreamtest.Call, len(ids))
	for i, id := range ids {
		out[i] = upstreamtest.Call{CallID: id, Fn: "bash", Kwargs: `{"of":"` + id + `"}`}
	}
	return out
}

func wantStand(t *testing.T, p *place, want map[string]string) {
	t.Helper()
	if got := p.stand(t); !maps.Equal(got, want) {
		t.Errorf("stands %v, want %v", got, want)
	}
}

func TestAPollTakesWhatIsListedAndSettlesWhatIsNoMore(t *testing.T) {
	t.Parallel()
	for name, cloud := range dialects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			s := p.upstream(t, "u", upstreamtest.Options{Cloud: cloud})
			made, _ := p.poller(t, poll.Options{})
			s.Ask(calls("a", "b", "c")...)
			s.AskHuman(upstreamtest.Contact{CallID: "q", Msg: "Why?"})
			p.once(t, made)
			wantStand(t, p, map[string]string{"a": "pending", "b": "pending", "c": "pending", "q": "pending"})
			s.Settle("b", true, "there")
			s.Remove("q")
			s.Ask(calls("d")...)
			p.clock.Step(time.Minute)
			p.once(t, made)
			wantStand(t, p, map[string]string{"a": "pending", "b": "resolved elsewhere", "c": "pending", "q": "resolved elsewhere", "d": "pending"})
			if u := p.state(t); u.Failures != 0 || u.Problem != "" || !u.SucceededAt.Equal(p.clock.Now()) || u.Waiting != 3 {
				t.Errorf("%+v", u)
			}
			if strings.Contains(p.said.String(), key) {
				t.Error("the key is logged")
			}
		})
	}
}

func TestAFetchThatFailsSettlesNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault  upstreamtest.Fault
		cloud  bool
		failed bool
	}{
		"500":             {upstreamtest.Fault{Status: 500}, false, true},
		"401":             {upstreamtest.Fault{Status: 401}, false, true},
		"403":             {upstreamtest.Fault{Status: 403}, false, true},
		"404":             {upstreamtest.Fault{Status: 404}, false, true},
		"elsewhere":       {upstreamtest.Fault{Status: 302}, false, true},
		"no answer":       {upstreamtest.Fault{Hang: true}, false, true},
		"dropped":         {upstreamtest.Fault{Drop: true}, false, true},
		"cut":             {upstreamtest.Fault{Cut: true}, false, true},
		"half":            {upstreamtest.Fault{Half: true}, false, true},
		"a proxy's page":  {upstreamtest.Fault{HTML: true}, true, true},
		"contradicts":     {upstreamtest.Fault{Contradict: true}, false, false},
		"promises more":   {upstreamtest.Fault{More: true}, true, false},
		"hides the end":   {upstreamtest.Fault{NoMore: true}, true, false},
		"skips":           {upstreamtest.Fault{Skip: 1}, true, false},
		"a list of twice": {upstreamtest.Fault{Duplicate: true}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			var faulty atomic.Bool
			s := p.upstream(t, "u", upstreamtest.Options{Cloud: tt.cloud, PageSize: 2, Plan: func(r upstreamtest.Request) upstreamtest.Fault {
				if faulty.Load() && r.Act == upstreamtest.ListCalls {
					return tt.fault
				}
				return upstreamtest.Fault{}
			}})
			s.Ask(calls("a", "b", "c", "d", "e")...)
			before, _ := p.poller(t, poll.Options{})
			p.once(t, before)
			pending := map[string]string{"a": "pending", "b": "pending", "c": "pending", "d": "pending", "e": "pending"}
			wantStand(t, p, pending)

			faulty.Store(true)
			s.AskHuman(upstreamtest.Contact{CallID: "q", Msg: "Why?"})
			p.clock.Step(time.Minute)
			made, _ := p.poller(t, poll.Options{Timeout: 200 * time.Millisecond})
			p.once(t, made)
			pending["q"] = "pending" // the other list is none the worse
			wantStand(t, p, pending)
			u := p.state(t)
			if (u.Failures == 1) != tt.failed || (u.Problem == "") != (name == "a list of twice") {
				t.Errorf("%d failures: %q", u.Failures, u.Problem)
			}
			if u.Problem != "" && (!strings.HasSuffix(u.Problem, ".") || strings.Contains(u.Problem+p.said.String(), "as planned") || strings.Contains(u.Problem, "127.0.0.1")) {
				t.Errorf("said: %q", u.Problem)
			}
			faulty.Store(false)
			s.Settle("c", true, "")
			p.clock.Step(time.Hour)
			if (u.PausedAt != nil) != (name == "401" || name == "403") {
				t.Errorf("paused at %v", u.PausedAt)
			}
			if u.PausedAt != nil {
				p.once(t, made) // it is left alone
				wantStand(t, p, pending)
				must(t, outside.New(p.Store).ResumeUpstream(t.Context(), p.owner, u.ID))
			}
			p.once(t, made)
			pending["c"] = "resolved elsewhere"
			wantStand(t, p, pending)
			if u := p.state(t); u.Failures != 0 || u.Problem != "" {
				t.Errorf("%+v", u)
			}
		})
	}
}

func TestWhatFailsIsPolledLessAndLessOften(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var healthy atomic.Bool
	p.upstream(t, "u", upstreamtest.Options{Plan: func(upstreamtest.Request) upstreamtest.Fault {
		if healthy.Load() {
			return upstreamtest.Fault{}
		}
		return upstreamtest.Fault{Status: 503}
	}})
	made, count := p.poller(t, poll.Options{})
	next := func(what string, most time.Duration) {
		t.Helper()
		n := count.n.Load()
		p.once(t, made)
		if count.n.Load() == n {
			t.Fatalf("%s: it is not due", what)
		}
		pause := p.state(t).NextPollAt.Sub(p.clock.Now())
		if pause > most || pause < most*9/10-time.Millisecond {
			t.Errorf("%s: the next poll is in %v, want %v or a little less", what, pause, most)
		}
		p.clock.Step(pause - time.Microsecond)
		n = count.n.Load()
		p.once(t, made)
		if count.n.Load() != n {
			t.Errorf("%s: it was polled before its time", what)
		}
		p.clock.Step(time.Microsecond)
	}
	for i, seconds := range []int{10, 20, 40, 80, 160, 300, 300, 300} {
		next(fmt.Sprintf("failure %d", i+1), time.Duration(seconds)*time.Second)
	}
	healthy.Store(true)
	next("success", 5*time.Second)
	healthy.Store(false)
	next("the next failure", 10*time.Second)
}

func TestOneThatCannotBeKeptDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.upstream(t, "u", upstreamtest.Options{})
	mend := storetest.Break(t, p.Store, `INSERT`, `outside_approvals`, `NEW.call_id = 'bad'`, "disk I/O error")
	s.Ask(calls("a", "bad", "z")...)
	made, _ := p.poller(t, poll.Options{})
	p.once(t, made)
	wantStand(t, p, map[string]string{"a": "pending", "z": "pending"})
	if said := p.said.String(); !strings.Contains(said, "disk I/O error") || !strings.Contains(said, "call=bad") {
		t.Errorf("said %s", said)
	}
	mend()
	mend = storetest.Break(t, p.Store, `UPDATE OF approval_status`, `responses`, `NEW.approval_status = 'resolved'`, "disk is full")
	s.Settle("a", true, "")
	p.clock.Step(time.Minute)
	p.once(t, made)
	wantStand(t, p, map[string]string{"a": "pending", "bad": "pending", "z": "pending"})
	if said := p.said.String(); !strings.Contains(said, "disk is full") || p.state(t).Failures != 0 {
		t.Errorf("said %s", said)
	}
	mend()
	p.clock.Step(time.Minute)
	p.once(t, made)
	wantStand(t, p, map[string]string{"a": "resolved elsewhere", "bad": "pending", "z": "pending"})
}

func TestWhoLosesTheLeaseWhileItFetchesWritesNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var dump string
	steal := func(*upstreamtest.Server) {
		p.clock.Step(1001 * time.Hour)
		if _, err := p.Nodes.TakeLease(t.Context(), "poll", "another", time.Hour); err != nil {
			t.Error(err)
		}
		dump = storetest.Dump(t, p.Store)
	}
	s := p.upstream(t, "u", upstreamtest.Options{Plan: func(r upstreamtest.Request) upstreamtest.Fault {
		if r.Act == upstreamtest.ListCalls && r.Nth == 1 {
			return upstreamtest.Fault{Then: steal}
		}
		return upstreamtest.Fault{}
	}})
	s.Ask(calls("a")...)
	made, _ := p.poller(t, poll.Options{})
	p.once(t, made)
	s.Settle("a", true, "")
	s.Ask(calls("b")...)
	p.clock.Step(time.Minute)
	p.once(t, made)
	if now := storetest.Dump(t, p.Store); now != dump || dump == "" {
		t.Error("something was written")
	}
	wantStand(t, p, map[string]string{"a": "pending"})
}

func TestOnlyOneOfTwoPolls(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	p := newPlace(t, storetest.WithDir(dir))
	other := &place{Store: storetest.New(t, storetest.WithDir(dir)), said: &syncBuffer{}, owner: p.owner}
	pace := poll.Options{Every: 5 * time.Millisecond, LeaseTTL: 10 * time.Second}
	first, byFirst := p.poller(t, pace)
	pace.LeaseTTL = 40 * time.Millisecond
	second, bySecond := other.poller(t, pace)
	stop := run(t, first)
	s := p.upstream(t, "u", upstreamtest.Options{}) // it is woken for a new one
	eventually(t, "the first polls", func() bool { return byFirst.n.Load() > 4 })
	run(t, second)
	n := byFirst.n.Load()
	eventually(t, "the first goes on", func() bool { return byFirst.n.Load() > n+50 })
	if bySecond.n.Load() != 0 {
		t.Error("two poll")
	}
	stop()
	n = byFirst.n.Load()
	eventually(t, "the second takes over", func() bool { return bySecond.n.Load() > 10 })
	if byFirst.n.Load() != n {
		t.Error("the first still polls")
	}
	s.Ask(calls("a")...)
	eventually(t, "it takes what is asked", func() bool { return p.stand(t)["a"] == "pending" })
}

func TestASlowUpstreamHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	p := newPlace(t, storetest.WithDir(storetest.Dir(t)))
	slow := p.upstream(t, "slow", upstreamtest.Options{Plan: func(upstreamtest.Request) upstreamtest.Fault { return upstreamtest.Fault{Hang: true} }})
	quick := p.upstream(t, "quick", upstreamtest.Options{})
	made, _ := p.poller(t, poll.Options{Every: 5 * time.Millisecond})
	stop := run(t, made)
	slow.Await("the slow one is asked", func(s *upstreamtest.Server) bool { return len(s.Requests()) > 0 })
	quick.Ask(calls("a")...)
	eventually(t, "the quick one is polled", func() bool { return p.stand(t)["a"] == "pending" && len(quick.Requests()) > 20 })
	if n := len(slow.Requests()); n > 1 {
		t.Errorf("the slow one was asked %d times at once", n)
	}
	stop() // and does not wait for it
	if u := p.state(t); u.Name == "slow" && u.Failures != 0 {
		t.Errorf("a stop is taken for a failure: %+v", u)
	}
}

func TestADisabledUpstreamIsNotPolled(t *testing.T) {
	t.Parallel()
	p := newPlace(t, storetest.WithDir(storetest.Dir(t)))
	p.upstream(t, "u", upstreamtest.Options{})
	made, count := p.poller(t, poll.Options{Every: 5 * time.Millisecond})
	run(t, made)
	eventually(t, "it polls", func() bool { return count.n.Load() > 4 })
	u := p.state(t)
	must(t, outside.New(p.Store).EnableUpstream(t.Context(), p.owner, u.ID, false))
	eventually(t, "the last poll is over", func() bool {
		due, _, err := outside.New(p.Store).DueUpstreams(t.Context())
		return err == nil && len(due) == 0
	})
	must(t, outside.New(p.Store).EnableUpstream(t.Context(), p.owner, u.ID, true))
	n := count.n.Load()
	eventually(t, "it polls again", func() bool { return count.n.Load() > n })
}

func TestAWrongKeyFileIsSaidAndNothingIsAsked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.upstream(t, "u", upstreamtest.Options{})
	_, err := storetest.Beside(t, p.Store).ExecContext(t.Context(), `UPDATE upstreams SET key_sealed = x'00'`)
	must(t, err)
	made, count := p.poller(t, poll.Options{})
	p.once(t, made)
	if u := p.state(t); u.Failures != 1 || u.Problem == "" || count.n.Load() != 0 {
		t.Errorf("%+v, %d requests", u, count.n.Load())
	}
}

func TestWithoutUpstreamsNobodyTakesTheLease(t *testing.T) {
	t.Parallel()
	p := newPlace(t, storetest.WithDir(storetest.Dir(t)))
	made, _ := p.poller(t, poll.Options{LeaseTTL: 20 * time.Millisecond})
	before := storetest.Dump(t, p.Store)
	run(t, made)()
	if now := storetest.Dump(t, p.Store); now != before {
		t.Error("something was written")
	}
	var in outside.NewUpstream
	_, err := outside.New(p.Store).AddUpstream(t.Context(), p.owner, in)
	if models.ErrorCode(err) != models.CodeInvalid {
		t.Error(err)
	}
}

// An entry that cannot be read stops the reconciling of no other, nor settles a
// call that it may be about.
func TestOneThatCannotBeReadDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var list atomic.Value
	list.Store(`[{"call_id":"a","function_name":"f","function_args":{"x":1}},{"call_id":"b","function_name":"f","function_args":{}},{"call_id":"c","function_name":"f","function_args":{}}]`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := list.Load().(string)
		if r.URL.Path != "/function_calls" {
			body = `[]`
		}
		_, _ = io.WriteString(w, body) // the client went away
	}))
	t.Cleanup(s.Close)
	_, err := outside.New(p.Store).AddUpstream(t.Context(), p.owner, outside.NewUpstream{Name: "u", BaseURL: s.URL, Dialect: "plain", Key: key, OwnerID: p.owner.OwnerID})
	must(t, err)
	made, _ := p.poller(t, poll.Options{})
	p.once(t, made)
	wantStand(t, p, map[string]string{"a": "pending", "b": "pending", "c": "pending"})
	list.Store(`[{"call_id":"b","call_id":"b","function_name":"f"},{"call_id":"c","function_name":"f","function_args":{}},7,null,[],{"no":"id"}]`)
	p.clock.Step(time.Minute)
	p.once(t, made)
	wantStand(t, p, map[string]string{"a": "resolved elsewhere", "b": "pending", "c": "pending"})
	if u := p.state(t); u.Failures != 0 || !strings.HasPrefix(u.Problem, "5 entries of its lists can't be read") {
		t.Errorf("%+v", u)
	}
}
