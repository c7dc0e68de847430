package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/events"
	"countersign/models/storetest"
)

// patience is how long a test waits for what ought to come at once.
const patience = time.Minute

const (
	queueStream = "/v1/approvals/stream"
	toolStream  = "/api/approval/events"
	eventStream = "/v1/events"
)

// told is one event as it came.
type told struct{ id, name, data string }

// at reads a member of the event's data.
func (e told) at(path string) any {
	var a answer
	dec := json.NewDecoder(strings.NewReader(e.data))
	dec.UseNumber()
	_ = dec.Decode(&a.object)
	return a.at(path)
}

// listener is an open stream.
type listener struct {
	tb     testing.TB
	res    *http.Response
	events chan told
	ended  chan struct{}
	begins chan string // the first id, with which every new stream begins
	cut    context.CancelFunc
}

// listen opens a stream, from the id on if one is given.
func (w *world) listen(token, path, from string) *listener {
	w.tb.Helper()
	ctx, cancel := context.WithCancel(w.tb.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, http.NoBody)
	if err != nil {
		w.tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if from != "" {
		req.Header.Set("Last-Event-ID", from)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.tb.Fatal(err)
	}
	l := &listener{tb: w.tb, res: res, events: make(chan told, 1000), ended: make(chan struct{}), begins: make(chan string, 1), cut: cancel}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		res.Body.Close()
		cancel()
		w.tb.Fatalf("%s from %q: %d %v", path, from, res.StatusCode, res.Header)
	}
	go l.read()
	w.tb.Cleanup(l.close)
	return l
}

func (l *listener) read() {
	defer close(l.ended)
	defer l.res.Body.Close()
	var e told
	scan := bufio.NewScanner(l.res.Body)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		line := scan.Text()
		field, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && e.data != "":
			l.events <- e
			e = told{}
		case line == "":
			e = told{}
		case field == "id":
			e.id = value
			select {
			case l.begins <- value:
			default:
			}
		case field == "event":
			e.name = value
		case field == "data":
			e.data += value
		}
	}
}

func (l *listener) close() {
	l.cut()
	<-l.ended
}

func (l *listener) next() told {
	l.tb.Helper()
	select {
	case e := <-l.events:
		return e
	case <-time.After(patience):
		l.tb.Fatal("no event came")
		return told{}
	}
}

// from waits until the stream says where it begins: what is done from then on, it
// tells.
func (l *listener) from() string {
	l.tb.Helper()
	select {
	case id := <-l.begins:
		return id
	case <-time.After(patience):
		l.tb.Fatal("the stream does not say where it begins")
		return ""
	}
}

func (l *listener) ends() {
	l.tb.Helper()
	select {
	case <-l.ended:
	case <-time.After(patience):
		l.tb.Fatal("the stream goes on")
	}
}

func (w *world) decide(id, verdict string) {
	w.tb.Helper()
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":`+verdict+`,"reason":"seen"}`).want(w.tb, 200, nil)
}

func TestStreamsTellInTheirOwnWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"deny","tools":["denied"],"effect":"deny"}]}`)
	open := map[string]*listener{}
	for _, path := range []string{queueStream, toolStream, eventStream} {
		open[path] = w.listen(w.agent, path, "")
		open[path].from()
	}
	id := w.ask(`{"toolUseId":"tu-1","runId":"run-1","toolName":"rm","description":"rm\nit","input":{
		"n": 9007199254740993,
		"s": "<a>"
	}}`)
	w.decide(id, "true")
	w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"tu-2","toolName":"denied"}`).want(t, 200, map[string]any{"status": "rejected"})
	session := w.call(w.agent, "GET", "/v1/approvals/"+id, "").text("conversationId")

	for path, want := range map[string][]struct {
		name    string
		members map[string]any
	}{
		queueStream: {
			{"approval_required", map[string]any{"approvalId": id, "toolName": "rm", "description": "rm\nit", "timeoutAt": "2026-03-02T12:05:00Z", "input.s": "<a>", "input.n": json.Number("9007199254740993")}},
			{"approval_settled", map[string]any{"approvalId": id, "status": "approved", "cause": "reviewer", "decision.by.name": "owner@example.com", "decision.reason": "seen"}},
			{"approval_settled", map[string]any{"toolName": "denied", "status": "rejected", "cause": "policy"}},
		},
		toolStream: {
			{"approval_requested", map[string]any{"tool_call_id": id, "tool_use_id": "tu-1", "session_id": "run-1", "tool_name": "rm", "requires_approval": true}},
			{"approval_decided", map[string]any{"tool_call_id": id, "status": "APPROVED", "reason": "seen"}},
			{"approval_requested", map[string]any{"tool_use_id": "tu-2", "tool_name": "denied"}},
			{"approval_decided", map[string]any{"tool_use_id": "tu-2", "status": "REJECTED"}},
		},
		eventStream: {
			{"", map[string]any{"type": "session_status_changed", "data.session_id": session, "data.old_status": "running", "data.new_status": "waiting_input"}},
			{"", map[string]any{"type": "new_approval", "timestamp": "2026-03-02T12:00:00Z", "data.run_id": "run-1"}},
			{"", map[string]any{"type": "session_status_changed", "data.session_id": session, "data.old_status": "waiting_input", "data.new_status": "running"}},
			{"", map[string]any{"type": "approval_resolved", "data.approval_id": id, "data.call_id": "tu-1", "data.run_id": "run-1", "data.decision": "approved", "data.session_id": session}},
			{"", map[string]any{"type": "approval_resolved", "data.call_id": "tu-2", "data.run_id": nil, "data.decision": "denied", "data.status": "rejected"}},
		},
	} {
		for _, event := range want {
			got := open[path].next()
			if got.name != event.name {
				t.Errorf("%s: event %q, want %q: %s", path, got.name, event.name, got.data)
			}
			for member, value := range event.members {
				if v := got.at(member); v != value {
					t.Errorf("%s: %s is %#v, want %#v: %s", path, member, v, value, got.data)
				}
			}
		}
	}
	again := w.listen(w.agent, eventStream, "1")
	again.next() // that the run waits
	replayed := again.next()
	approvals, _ := replayed.at("data.approvals").([]any)
	if len(approvals) != 1 || approvals[0].(map[string]any)["approval_id"] != id {
		t.Errorf("new_approval: %s", replayed.data)
	}

	waits := w.ask(`{"toolUseId":"tu-3","toolName":"rm","timeoutSeconds":1}`)
	w.clock.Step(time.Minute)
	if _, err := w.store.ExpireDue(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]map[string]any{
		queueStream: {"approvalId": waits, "status": "expired", "cause": "timeout", "decision.by": nil},
		toolStream:  {"tool_call_id": waits, "status": "TIMED_OUT"},
		eventStream: {"data.approval_id": waits, "data.decision": "denied", "data.status": "expired"},
	} {
		open[path].next()
		if path == eventStream { // the run waits, and goes on
			open[path].next()
			open[path].next()
		}
		got := open[path].next()
		if path == toolStream && got.name != "approval_timed_out" {
			t.Errorf("%s: %q", path, got.name)
		}
		for member, value := range want {
			if v := got.at(member); v != value {
				t.Errorf("%s: %s is %#v, want %#v: %s", path, member, v, value, got.data)
			}
		}
	}
}

func TestStreamsRefuse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, from := range []string{"x", "-1", "1-", "1-0", "0-1", "1-1-1", "1.5", "99999999999999999999", strings.Repeat("9", 300)} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+queueStream, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+w.agent)
		req.Header.Set("Last-Event-ID", from)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("Last-Event-ID %q: %d, want 422", from, res.StatusCode)
		}
	}
	for range handlers.DefaultStreams {
		w.listen(w.agent, queueStream, "").from()
	}
	full := w.call(w.agent, "GET", eventStream, "")
	full.want(t, 429, map[string]any{"code": "too_many_requests"})
	if full.header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	w.listen(w.second, queueStream, "") // another agent, and the owner, have their own
	w.listen(w.reviewer, queueStream, "")
}

// A number that the ledger has not reached, as after a restored backup, and one
// that is too far back, begin anew.
func TestStreamsResetWhoIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{queueStream, toolStream, eventStream} {
		for _, ahead := range []string{"%d000", "%d0-1"} {
			from := fmt.Sprintf(ahead, w.head().Seq)
			l := w.listen(w.agent, path, from)
			got := l.next()
			if got.name != "reset" || seqOf(w, got.id) != w.head().Seq || got.at("x") != nil || !json.Valid([]byte(got.data)) {
				t.Errorf("%s from %s: %+v", path, from, got)
			}
			w.ask(`{"toolName":"rm"}`)
			if l.next().name == "reset" {
				t.Error("reset twice")
			}
		}
	}
}

func TestRevokingATokenClosesItsStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	beside := storetest.New(t, storetest.WithDir(filepath.Dir(w.store.Path())), storetest.WithClock(w.clock)) // as the command line is
	for name, revoke := range map[string]func(models.TokenID) error{
		"here": func(id models.TokenID) error {
			return w.store.People.RevokeToken(t.Context(), storetest.Operator(), id)
		},
		"from beside": func(id models.TokenID) error {
			if err := beside.People.RevokeToken(t.Context(), storetest.Operator(), id); err != nil {
				return err
			}
			return w.store.CheckOutside(t.Context()) // which the server does each second
		},
	} {
		actor, token := storetest.ReviewerToken(t, w.store, w.owner)
		doomed, other := w.listen(token, queueStream, ""), w.listen(w.reviewer, queueStream, "")
		doomed.from()
		other.from()
		if err := revoke(actor.TokenID); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		doomed.ends()
		w.ask(`{"toolName":"rm"}`)
		if got := other.next(); got.name != "approval_required" {
			t.Errorf("%s: the owner's other stream tells %q", name, got.name)
		}
		if len(doomed.events) != 0 {
			t.Errorf("%s: told after the token was revoked: %+v", name, <-doomed.events)
		}
	}
}

func TestStreamsEndAtAStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var open []*listener
	for range handlers.DefaultStreams {
		l := w.listen(w.agent, queueStream, "")
		l.from()
		open = append(open, l)
	}
	if got := w.streams.Open(); got != len(open) {
		t.Errorf("%d streams are counted, want %d", got, len(open))
	}
	w.streams.Stop()
	for _, l := range open {
		l.ends()
	}
	w.listen(w.agent, queueStream, "").ends()
	for w.streams.Open() > 0 {
		w.call(w.agent, "GET", "/v1/approvals/stats", "") // until the last has left
	}
	if n := w.store.Bus().Subscribers(events.Access); n != 0 {
		t.Errorf("%d subscriptions are left", n)
	}
}
