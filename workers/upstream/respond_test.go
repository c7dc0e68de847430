package upstream_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"countersign/models/storetest"
	"countersign/workers/upstream"
	"countersign/workers/upstream/upstreamtest"
)

func TestAVerdictArrivesAsItWasSaid(t *testing.T) {
	t.Parallel()
	for _, d := range both {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s, c := pair(t, d, upstreamtest.Options{})
			s.Ask(numbered(1, 3)...)
			s.AskHuman(upstreamtest.Contact{CallID: "h1", Msg: "Which?", Options: []string{"eu"}}, upstreamtest.Contact{CallID: "h2", Msg: "Why?"})
			for what, o := range map[string]upstream.Outcome{
				"approve":           c.RespondCall(t.Context(), "c1", true, ""),
				"reject":            c.RespondCall(t.Context(), "c2", false, "no \u202e \"way\"\n"),
				"reject, no reason": c.RespondCall(t.Context(), "c3", false, ""),
				"choose":            c.RespondContact(t.Context(), "h1", "Europe", "eu"),
				"answer":            c.RespondContact(t.Context(), "h2", "because", ""),
			} {
				if o.Delivery != upstream.Delivered || o.Status != http.StatusOK || o.Lost {
					t.Errorf("%s: %+v", what, o)
				}
			}
			noReason, option := "", ""
			if d == upstream.Cloud {
				noReason, option = "Rejected by the reviewer", "eu"
			}
			for id, want := range map[string]upstreamtest.Verdict{
				"c1": {Approved: true},
				"c2": {Reason: "no \u202e \"way\"\n"},
				"c3": {Reason: noReason},
				"h1": {Response: "Europe", Option: option},
				"h2": {Response: "because"},
			} {
				got, ok := s.Outcome(id)
				if !ok || got.Approved != want.Approved || got.Reason != want.Reason || got.Response != want.Response || got.Option != want.Option {
					t.Errorf("%s: %t %+v, want %+v", id, ok, got, want)
				}
			}
		})
	}
}

func TestIDsArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, d := range both {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s, c := pair(t, d, upstreamtest.Options{})
			for _, id := range []string{"a/b", "..", ".", "a?b=c#d", "ü %2F", "a b+c", "../../respond"} {
				s.Ask(upstreamtest.Call{CallID: id, Fn: "Bash"})
				if o := c.RespondCall(t.Context(), id, true, ""); o.Delivery != upstream.Delivered {
					t.Errorf("%q: %+v", id, o)
				}
				if v, ok := s.Outcome(id); !ok || v.CallID != id {
					t.Errorf("%q is not settled: %+v", id, s.Verdicts())
				}
			}
		})
	}
}

func TestWhatBecomesOfADelivery(t *testing.T) {
	t.Parallel()
	elsewhere := func(s *upstreamtest.Server) { s.Settle("c1", false, "elsewhere") }
	gone := func(s *upstreamtest.Server) { s.Remove("c1") }
	for _, c := range []struct {
		what    string
		before  func(*upstreamtest.Server)
		fault   upstreamtest.Fault
		want    upstream.Outcome
		applied bool
	}{
		{what: "told", want: upstream.Outcome{Delivery: upstream.Delivered, Status: 200}, applied: true},
		{what: "told, in half an answer", fault: upstreamtest.Fault{Cut: true}, want: upstream.Outcome{Delivery: upstream.Delivered, Status: 200}, applied: true},
		{what: "told, without a body that is JSON", fault: upstreamtest.Fault{HTML: true}, want: upstream.Outcome{Delivery: upstream.Delivered, Status: 200}, applied: true},
		{what: "accepted", fault: upstreamtest.Fault{Status: 202, Handled: true}, want: upstream.Outcome{Delivery: upstream.Delivered, Status: 202}, applied: true},
		{what: "decided elsewhere", before: elsewhere, want: upstream.Outcome{Delivery: upstream.Conflict, Status: 409}},
		{what: "gone", before: gone, want: upstream.Outcome{Delivery: upstream.Gone, Status: 404}},
		{what: "failed", fault: upstreamtest.Fault{Status: 500}, want: upstream.Outcome{Delivery: upstream.Retry, Status: 500, Lost: true}},
		{what: "failed after it took effect", fault: upstreamtest.Fault{Status: 504, Handled: true}, want: upstream.Outcome{Delivery: upstream.Retry, Status: 504, Lost: true}, applied: true},
		{what: "sent elsewhere", fault: upstreamtest.Fault{Status: 303, Handled: true}, want: upstream.Outcome{Delivery: upstream.Retry, Status: 303, Lost: true}, applied: true},
		{what: "sent elsewhere for good", fault: upstreamtest.Fault{Status: 308}, want: upstream.Outcome{Delivery: upstream.Retry, Status: 308, Lost: true}},
		{what: "too many requests", fault: upstreamtest.Fault{Status: 429}, want: upstream.Outcome{Delivery: upstream.Retry, Status: 429}},
		{what: "refused", fault: upstreamtest.Fault{Status: 422}, want: upstream.Outcome{Delivery: upstream.Refused, Status: 422, Words: "as planned"}},
		{what: "bad", fault: upstreamtest.Fault{Status: 400}, want: upstream.Outcome{Delivery: upstream.Refused, Status: 400, Words: "as planned"}},
		{what: "forbidden", fault: upstreamtest.Fault{Status: 403}, want: upstream.Outcome{Delivery: upstream.Refused, Status: 403, Words: "as planned"}},
		{what: "the key refused", fault: upstreamtest.Fault{Status: 401}, want: upstream.Outcome{Delivery: upstream.WrongKey, Status: 401}},
		{what: "no answer", fault: upstreamtest.Fault{Drop: true}, want: upstream.Outcome{Delivery: upstream.Retry, Lost: true}},
		{what: "no answer after it took effect", fault: upstreamtest.Fault{Drop: true, Handled: true}, want: upstream.Outcome{Delivery: upstream.Retry, Lost: true}, applied: true},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			for _, d := range both {
				t.Run(string(d), func(t *testing.T) {
					t.Parallel()
					s, client := pair(t, d, upstreamtest.Options{Plan: upstreamtest.Script("c1", c.fault)})
					s.Ask(numbered(1, 1)...)
					if c.before != nil {
						c.before(s)
					}
					got := client.RespondCall(t.Context(), "c1", true, "")
					keepsSecrets(t, c.what, got.Text)
					if got.Text == "" {
						t.Error("nothing is said to people")
					}
					got.Text = ""
					if got != c.want {
						t.Errorf("got %+v, want %+v", got, c.want)
					}
					if v, ok := s.Outcome("c1"); (ok && v.Approved) != c.applied {
						t.Errorf("the upstream has %t %+v", ok, v)
					}
					tried := 0
					for _, r := range s.Requests() {
						if r.Act.Responds() {
							tried++
						}
					}
					if tried != 1 {
						t.Errorf("it was told %d times", tried)
					}
				})
			}
		})
	}
}

func TestAnUpstreamThatHangsMayHaveHeard(t *testing.T) {
	t.Parallel()
	for _, d := range both {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s := upstreamtest.New(t, upstreamtest.Options{Cloud: d == upstream.Cloud, Plan: upstreamtest.Script("c1", upstreamtest.Fault{Hang: true, Handled: true})})
			s.Ask(numbered(1, 1)...)
			c := client(t, upstream.Options{BaseURL: s.URL, Dialect: d, Timeout: 30 * time.Millisecond})
			if o := c.RespondCall(t.Context(), "c1", true, ""); o.Delivery != upstream.Retry || !o.Lost || o.Status != 0 {
				t.Errorf("%+v", o)
			}
			if o := c.RespondCall(t.Context(), "c1", true, ""); o.Delivery != upstream.Conflict {
				t.Errorf("then: %+v", o)
			}
		})
	}
}

func TestAnUpstreamThatIsNotReachedHasNotHeard(t *testing.T) {
	t.Parallel()
	for what, url := range map[string]string{"nobody listens": "http://" + storetest.ClosedPort(t), "no such name": "http://nowhere.invalid", "no TLS": ""} {
		if url == "" {
			s := upstreamtest.New(t, upstreamtest.Options{})
			url = "https" + s.URL[len("http"):]
		}
		c := client(t, upstream.Options{BaseURL: url, Key: key, Dialect: upstream.Cloud})
		o := c.RespondCall(t.Context(), "c1", true, "")
		if o.Delivery != upstream.Retry || o.Lost || o.Status != 0 {
			t.Errorf("%s: %+v", what, o)
		}
		keepsSecrets(t, what, o.Text)
	}
}

func TestAServerThatStopsDoesNotKnowWhatWasHeard(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	plan := upstreamtest.Script("c1", upstreamtest.Fault{Hang: true, Handled: true, Then: func(*upstreamtest.Server) { cancel() }})
	s, c := pair(t, upstream.Plain, upstreamtest.Options{Plan: plan})
	s.Ask(numbered(1, 1)...)
	if o := c.RespondCall(ctx, "c1", true, ""); o.Delivery != upstream.Retry || !o.Lost {
		t.Errorf("%+v", o)
	}
	if o := c.RespondCall(ctx, "c1", true, ""); o.Delivery != upstream.Retry || o.Lost {
		t.Errorf("once it has stopped: %+v", o)
	}
}

func TestWhatCannotBeToldIsNotSent(t *testing.T) {
	t.Parallel()
	for _, d := range both {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s, c := pair(t, d, upstreamtest.Options{})
			s.AskHuman(upstreamtest.Contact{CallID: "h1", Msg: "Which?"})
			if o := c.RespondContact(t.Context(), "h1", "", ""); o.Delivery != upstream.Refused {
				t.Errorf("an empty answer: %+v", o)
			}
			if o := c.RespondCall(t.Context(), "", true, ""); o.Delivery != upstream.Refused {
				t.Errorf("no id: %+v", o)
			}
			if n := len(s.Requests()); n != 0 {
				t.Errorf("%d requests", n)
			}
		})
	}
}
