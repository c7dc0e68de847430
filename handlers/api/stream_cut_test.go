package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"countersign/models/storetest"
)

// cuts is at how many events a stream is cut.
const cuts = 200

// history makes things happen, and knows what the owner's agent is to be told of
// them on toolStream: a name and a call each.
type history struct {
	w          *world
	routed     string // the token of whom some requests are routed to
	want       []string
	wantRouted []string
	n          int
}

func newHistory(w *world) *history {
	w.tb.Helper()
	routed := storetest.Reviewer(w.tb, w.store, "routed@example.com")
	h := &history{w: w}
	_, h.routed = storetest.ReviewerToken(w.tb, w.store, routed)
	w.policy(`{"rules":[{"name":"deny","tools":["denied"],"effect":"deny"},
		{"name":"route","tools":["routed"],"effect":"require","reviewers":["routed@example.com"]}]}`)
	return h
}

// step is one request and what becomes of it; strangers do the same beside it.
func (h *history) step() {
	h.n++
	tool := []string{"plain", "denied", "routed", "plain", "withdrawn"}[h.n%5]
	ask := func(token, tool string) string {
		a := h.w.call(token, "POST", "/v1/approvals", fmt.Sprintf(`{"toolUseId":"tu-%d","toolName":"%s"}`, h.n, tool))
		if a.status >= 300 {
			h.w.tb.Errorf("ask: %d %s", a.status, a.body)
		}
		return a.text("approvalId")
	}
	ask(h.w.foreign, "foreign")
	id := ask(h.w.agent, tool)
	told := []string{"approval_requested " + id, "approval_decided " + id}
	ask(h.w.second, "second")
	switch tool {
	case "plain":
		h.w.decide(id, fmt.Sprint(h.n%2 == 0))
	case "withdrawn":
		h.w.call(h.w.agent, "POST", "/v1/approvals/"+id+"/cancel", "").want(h.w.tb, 200, nil)
	case "routed":
		h.w.call(h.routed, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`).want(h.w.tb, 200, nil)
		h.wantRouted = append(h.wantRouted, told...)
	}
	h.want = append(h.want, told...)
}

func (e told) String() string { return fmt.Sprint(e.name, " ", e.at("tool_call_id")) }

// mark makes the last event, which all readers of the history hear.
func (h *history) mark() string {
	id := h.w.ask(`{"toolUseId":"last","toolName":"routed"}`)
	h.want = append(h.want, "approval_requested "+id)
	h.wantRouted = append(h.wantRouted, "approval_requested "+id)
	return id
}

// replay reads a stream from an id up to the event that holds mark.
func (w *world) replay(token, path, from, mark string) (all []told) {
	w.tb.Helper()
	l := w.listen(token, path, from)
	defer l.close()
	for {
		e := l.next()
		all = append(all, e)
		if strings.Contains(e.data, mark) {
			return all
		}
	}
}

// next are so many events after one.
func (w *world) next(token, path, from string, most int) (all []told) {
	w.tb.Helper()
	l := w.listen(token, path, from)
	defer l.close()
	for range most {
		all = append(all, l.next())
	}
	return all
}

func namesOf(all []told) []string {
	out := make([]string, 0, len(all))
	for _, e := range all {
		out = append(out, e.String())
	}
	return out
}

// A reader that is cut after every event hears all of what goes on meanwhile.
func TestStreamsCutWhileThingsHappen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := newHistory(w)
	l := w.listen(w.agent, toolStream, "")
	from := l.from()
	l.close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range cuts / 2 {
			h.step()
		}
	}()
	var got []told
	for range cuts {
		l := w.listen(w.agent, toolStream, from)
		e := l.next()
		got, from = append(got, e), e.id
		l.close()
	}
	<-done
	if names := namesOf(got); !slices.Equal(names, h.want) {
		t.Errorf("told\n%q, want\n%q", names, h.want)
	}
	inside := 0
	for _, e := range got {
		if _, part := w.place(e.id); part > 0 {
			inside++
		}
	}
	if inside == 0 {
		t.Error("no cut was inside an entry")
	}
}
