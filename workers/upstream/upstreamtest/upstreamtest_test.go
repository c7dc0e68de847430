package upstreamtest_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"countersign/workers/upstream/upstreamtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheSameSeedGivesTheSameFaultsInAnyOrder(t *testing.T) {
	t.Parallel()
	rates := upstreamtest.Rates{Status500: 0.2, Lost500: 0.1, Hang: 0.1, Drop: 0.1, Lost: 0.1, Cut: 0.1, Half: 0.1, Duplicate: 0.1, Skip: 0.1}
	var requests []upstreamtest.Request
	for _, act := range []upstreamtest.Act{upstreamtest.ListCalls, upstreamtest.RespondCall, upstreamtest.ReadCall} {
		for n := range 100 {
			r := upstreamtest.Request{Act: act, Nth: n, CallID: "a"}
			if act.Lists() {
				r.CallID, r.Offset = "", n%3
			}
			requests = append(requests, r)
		}
	}
	faults := func(seed uint64, order []int) map[upstreamtest.Request]string {
		plan, out := upstreamtest.Random(seed, rates), map[upstreamtest.Request]string{}
		for _, i := range order {
			f := plan(requests[i])
			out[requests[i]] = strings.Join([]string{
				http.StatusText(f.Status), yes(f.Handled, "handled"), yes(f.Hang, "hang"), yes(f.Drop, "drop"), yes(f.Cut, "cut"),
				yes(f.Half, "half"), yes(f.Duplicate, "duplicate"), yes(f.Skip > 0, "skip"),
			}, "")
		}
		return out
	}
	straight := rand.New(rand.NewPCG(1, 1)).Perm(len(requests))
	first, again, other := faults(1, straight), faults(1, rand.New(rand.NewPCG(2, 2)).Perm(len(requests))), faults(2, straight)
	same, kinds := 0, map[string]int{}
	for r, f := range first {
		if again[r] != f {
			t.Errorf("%+v: %q, then %q", r, f, again[r])
		}
		if other[r] == f {
			same++
		}
		kinds[f]++
	}
	if same == len(first) {
		t.Error("another seed gives the same faults")
	}
	if len(kinds) < 10 {
		t.Errorf("few kinds of fault come: %v", kinds)
	}
}

func yes(is bool, what string) string {
	if is {
		return what
	}
	return ""
}

// post asks once; a fault may leave it without an answer.
func post(t *testing.T, s *upstreamtest.Server, path, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	if res, err := s.HTTP().Do(req); err == nil {
		_ = res.Body.Close()
	}
}

func TestVerdictsAreRecordedInOrderWithTheirEffect(t *testing.T) {
	t.Parallel()
	s := upstreamtest.New(t, upstreamtest.Options{Plan: upstreamtest.Script("a",
		upstreamtest.Fault{Status: 500}, upstreamtest.Fault{Drop: true, Handled: true})})
	s.Ask(upstreamtest.Call{CallID: "a", Fn: "f"}, upstreamtest.Call{CallID: "b", Fn: "f"})
	for _, path := range []string{"a", "a", "a", "b", "c"} {
		post(t, s, "/function_calls/"+path+"/respond", `{"decision":"deny","reason":"no"}`)
	}
	got := s.Verdicts()
	for i, want := range []struct {
		id      string
		status  int
		applied bool
	}{{"a", 500, false}, {"a", 0, true}, {"a", 409, false}, {"b", 200, true}, {"c", 404, false}} {
		if v := got[i]; v.N != i || v.CallID != want.id || v.Status != want.status || v.Applied != want.applied || v.Reason != "no" {
			t.Errorf("%d: %+v, want %+v", i, v, want)
		}
	}
	if len(got) != 5 || len(s.VerdictsOn("a")) != 3 || len(s.Waiting()) != 0 {
		t.Errorf("%+v", got)
	}
	if s.Settle("a", true, "") {
		t.Error("what is settled was settled again")
	}
}

func TestAwaitHearsOfEveryRequest(t *testing.T) {
	t.Parallel()
	s := upstreamtest.New(t, upstreamtest.Options{Cloud: true})
	s.Ask(upstreamtest.Call{CallID: "a", Fn: "f"})
	ctx, done := context.WithCancel(t.Context())
	go func() {
		defer done()
		post(t, s, "/agent/function_calls/a/respond", `{"approved":true}`)
	}()
	s.Await("the verdict", func(s *upstreamtest.Server) bool { _, ok := s.Outcome("a"); return ok })
	<-ctx.Done()
}
