package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/workers/upstream"
	"countersign/workers/upstream/upstreamtest"
)

func ids(calls []upstream.FunctionCall) []string {
	out := []string{}
	for i := range calls {
		out = append(out, calls[i].CallID)
	}
	return out
}

// numbered makes calls c1, c2 …
func numbered(from, to int) []upstreamtest.Call {
	var calls []upstreamtest.Call
	for n := from; n <= to; n++ {
		calls = append(calls, upstreamtest.Call{CallID: fmt.Sprintf("c%d", n), RunID: "run", Fn: "Bash", Kwargs: fmt.Sprintf(`{"n":%d}`, n)})
	}
	return calls
}

func TestWhatIsPendingIsListedAsSent(t *testing.T) {
	t.Parallel()
	for _, d := range both {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s, c := pair(t, d, upstreamtest.Options{})
			s.Ask(
				upstreamtest.Call{CallID: "call-1", RunID: "run/α 1", Fn: "odd name\u202e{}", Kwargs: `{"b": 1.0, "a": "\u0041"}`, ToolUseID: "toolu_1", Extra: `"x":{"y":[1]}`},
				upstreamtest.Call{CallID: "call-2", Fn: "Bash"},
				upstreamtest.Call{CallID: "call-3", Fn: "Bash"},
				upstreamtest.Call{CallID: "call-4", Fn: "Bash"},
			)
			s.AskHuman(upstreamtest.Contact{CallID: "human-1", RunID: "r", Msg: "Which region?", Subject: "Deploy", Options: []string{"eu", "us"}})
			s.Settle("call-3", true, "")
			s.Remove("call-4")
			calls, err := c.PendingCalls(t.Context())
			if err != nil || !calls.Complete || calls.Flaw != "" {
				t.Fatalf("%v %+v", err, calls)
			}
			if got := ids(calls.Items); !slices.Equal(got, []string{"call-1", "call-2"}) {
				t.Fatalf("listed: %q", got)
			}
			first, second := calls.Items[0], calls.Items[1]
			if first.RunID != "run/α 1" || first.ToolName != "odd name\u202e{}" || first.ToolUseID != "toolu_1" ||
				string(first.Arguments) != `{"b": 1.0, "a": "\u0041"}` || !strings.Contains(string(first.Raw), `"x":{"y":[1]}`) {
				t.Errorf("first: %+v\n%s", first, first.Raw)
			}
			if !first.RequestedAt.Equal(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)) || first.Timeout != nil {
				t.Errorf("asked at %s, left %v", first.RequestedAt, first.Timeout)
			}
			if second.RunID != "" || string(second.Arguments) != "{}" || second.ToolUseID != "" {
				t.Errorf("second: %+v", second)
			}
			contacts, err := c.PendingContacts(t.Context())
			if err != nil || !contacts.Complete || len(contacts.Items) != 1 {
				t.Fatalf("%v %+v", err, contacts)
			}
			if q := contacts.Items[0]; q.CallID != "human-1" || q.RunID != "r" || q.Message != "Which region?" || q.Subject != "Deploy" ||
				!slices.Equal(q.Options, []models.Option{{Name: "eu"}, {Name: "us"}}) {
				t.Errorf("contact: %+v", q)
			}
		})
	}
}

func TestAnEmptyListIsComplete(t *testing.T) {
	t.Parallel()
	for _, d := range both {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			_, c := pair(t, d, upstreamtest.Options{})
			l, err := c.PendingContacts(t.Context())
			if err != nil || !l.Complete || len(l.Items) != 0 {
				t.Errorf("%v %+v", err, l)
			}
		})
	}
}

func TestAFetchThatFailsIsNeverComplete(t *testing.T) {
	t.Parallel()
	for _, f := range []struct {
		what  string
		fault upstreamtest.Fault
		says  string
	}{
		{"a server's fault", upstreamtest.Fault{Status: http.StatusBadGateway}, "failed (502)"},
		{"a wrong key", upstreamtest.Fault{Status: http.StatusForbidden}, "refuses the key (403)"},
		{"too many requests", upstreamtest.Fault{Status: http.StatusTooManyRequests}, "too many requests"},
		{"an unknown path", upstreamtest.Fault{Status: http.StatusNotFound}, "no such list"},
		{"a redirect", upstreamtest.Fault{Status: http.StatusFound}, "which is not followed (302)"},
		{"a dropped connection", upstreamtest.Fault{Drop: true}, "cannot be reached"},
		{"a cut body", upstreamtest.Fault{Cut: true}, "in the middle of its answer"},
		{"half a body", upstreamtest.Fault{Half: true}, "not a list"},
		{"a page", upstreamtest.Fault{HTML: true}, "not a list"},
	} {
		t.Run(f.what, func(t *testing.T) {
			t.Parallel()
			for _, d := range both {
				t.Run(string(d), func(t *testing.T) {
					t.Parallel()
					s, c := pair(t, d, upstreamtest.Options{Plan: faulty(upstreamtest.ListCalls, f.fault)})
					s.Ask(numbered(1, 3)...)
					l, err := c.PendingCalls(t.Context())
					if err == nil || l.Complete || models.ErrorCode(err) != models.CodeUnavailable {
						t.Fatalf("%v %+v", err, l)
					}
					want := strings.Replace(f.says, "not a list", "something other than a JSON list", 1)
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q does not say %q", err, want)
					}
					keepsSecrets(t, f.what, err.Error())
					if n := len(s.Requests()); n != 1 {
						t.Errorf("%d requests were made", n)
					}
				})
			}
		})
	}
}

func TestALaterPageThatFailsLeavesTheListIncomplete(t *testing.T) {
	t.Parallel()
	s, c := pair(t, upstream.Cloud, upstreamtest.Options{PageSize: 2, Plan: func(r upstreamtest.Request) upstreamtest.Fault {
		if r.Offset == 4 {
			return upstreamtest.Fault{Cut: true}
		}
		return upstreamtest.Fault{}
	}})
	s.Ask(numbered(1, 6)...)
	l, err := c.PendingCalls(t.Context())
	if err == nil || l.Complete || l.Flaw == "" {
		t.Errorf("%v %+v", err, l)
	}
	if got := ids(l.Items); !slices.Equal(got, []string{"c1", "c2", "c3", "c4"}) {
		t.Errorf("what was read before: %q", got)
	}
}

func TestAnAnswerWithoutEndIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for _, d := range both {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s := upstreamtest.New(t, upstreamtest.Options{Cloud: d == upstream.Cloud, Plan: faulty(upstreamtest.ListCalls, upstreamtest.Fault{Hang: true})})
			c := client(t, upstream.Options{BaseURL: s.URL, Dialect: d, Timeout: 30 * time.Millisecond})
			if l, err := c.PendingCalls(t.Context()); err == nil || !strings.Contains(err.Error(), "did not answer within") || l.Complete {
				t.Errorf("%v %+v", err, l)
			}
		})
	}
}

func TestAnAnswerWithoutBoundsIsNotRead(t *testing.T) {
	t.Parallel()
	for _, d := range both {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s := upstreamtest.New(t, upstreamtest.Options{Cloud: d == upstream.Cloud})
			s.Ask(numbered(1, 20)...)
			c := client(t, upstream.Options{BaseURL: s.URL, Dialect: d, MaxBody: 500})
			if l, err := c.PendingCalls(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 500 bytes") || l.Complete || len(l.Items) != 0 {
				t.Errorf("%v %+v", err, l)
			}
		})
	}
}

func TestAnAnswerThatNeverEndsIsNotReadOn(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for { // until the client goes away
			if _, err := w.Write([]byte(`[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[`)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	c := client(t, upstream.Options{BaseURL: s.URL, Dialect: upstream.Plain, MaxBody: 10_000, Timeout: 5 * time.Second})
	if _, err := c.PendingCalls(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 10000 bytes") {
		t.Errorf("%v", err)
	}
	if o := c.RespondCall(t.Context(), "c1", true, ""); o.Delivery != upstream.Delivered {
		t.Errorf("%+v", o)
	}
}

func TestOneIDWithTwoRequestsIsNotShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what     string
		fault    upstreamtest.Fault
		want     []string
		complete bool // in the plain dialect; the cloud one counts
	}{
		{"the same twice", upstreamtest.Fault{Duplicate: true}, []string{"c1", "c2"}, true},
		{"with another request", upstreamtest.Fault{Contradict: true}, []string{"c2"}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			for _, d := range both {
				t.Run(string(d), func(t *testing.T) {
					t.Parallel()
					s, client := pair(t, d, upstreamtest.Options{Plan: faulty(upstreamtest.ListCalls, c.fault)})
					s.Ask(numbered(1, 2)...)
					l, err := client.PendingCalls(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if got := ids(l.Items); !slices.Equal(got, c.want) {
						t.Errorf("listed: %q", got)
					}
					if l.Complete != (c.complete && d == upstream.Plain) || l.Complete == (l.Flaw != "") {
						t.Errorf("complete: %t, %q", l.Complete, l.Flaw)
					}
				})
			}
		})
	}
}

func TestACancelledFetchSaysSo(t *testing.T) {
	t.Parallel()
	s, c := pair(t, upstream.Cloud, upstreamtest.Options{})
	s.Ask(numbered(1, 1)...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l, err := c.PendingCalls(ctx); !errors.Is(err, context.Canceled) || l.Complete {
		t.Errorf("%v %+v", err, l)
	}
}
