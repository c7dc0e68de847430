// Package upstreamtest is another system that asks people for approvals, over
// real HTTP and in both dialects, with faults as a test plans them. It records
// every verdict that reaches it. It is imported by tests only.
package upstreamtest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Options say what the server is like. The zero value is a plain one without a
// key and without faults.
type Options struct {
	Cloud bool   // the cloud dialect; else the plain one
	Key   string // that requests must bear; empty: any

	// Plan says what goes wrong with a request; nil: nothing. It is called once for
	// each, from several goroutines if requests come at once. Random makes one.
	Plan func(Request) Fault

	PageSize int           // of the cloud's lists, at most; 0: 100
	Skew     time.Duration // how far its clock is ahead
	// Stamp writes its timestamps; nil: RFC 3339.
	Stamp func(time.Time) string
	// Now is the true time; nil: a fixed one.
	Now func() time.Time
}

// Server is the upstream. Its URL is the base URL for a client.
type Server struct {
	URL string

	t    testing.TB
	o    Options
	http *httptest.Server
	end  chan struct{} // closed when the test ends: lets go of answers that hang

	mu       sync.Mutex
	asked    []*asked // in the order of their asking, settled ones too
	byID     map[string]*asked
	verdicts []*Verdict
	requests []Request
	came     map[Request]int // with Nth and Limit left out
	changed  chan struct{}   // closed and replaced at every request that ends
}

// asked is a call or a contact.
type asked struct {
	kind    Kind
	id      string
	call    Call
	contact Contact
	at      time.Time
	removed bool
	settled *Verdict
}

// Kind is which of the two something is.
type Kind string

// The kinds.
const (
	KindCall    Kind = "function_call"
	KindContact Kind = "human_contact"
)

// Call is a function call that asks for approval.
type Call struct {
	CallID    string
	RunID     string // empty: none
	Fn        string
	Kwargs    string // JSON; empty: {}
	ToolUseID string // empty: none
	Extra     string // members of the whole item as JSON without braces, such as `"x":1`
}

// Contact is a question to a person.
type Contact struct {
	CallID  string
	RunID   string // empty: none
	Msg     string
	Subject string
	Options []string // the names of the offered answers
	Extra   string   // as of Call
}

// Verdict is one request to settle something, or what Settle did.
type Verdict struct {
	N        int // how many came before it
	Kind     Kind
	CallID   string
	Approved bool
	Reason   string
	Response string
	Option   string
	Applied  bool // it became the outcome
	Status   int  // that was answered; 0: the other side heard nothing
	Raw      string
	Here     bool // by Settle, not by a request
}

// New starts an upstream that lives as long as the test.
func New(tb testing.TB, o Options) *Server {
	tb.Helper()
	if o.PageSize == 0 {
		o.PageSize = 100
	}
	if o.Plan == nil {
		o.Plan = func(Request) Fault { return Fault{} }
	}
	if o.Stamp == nil {
		o.Stamp = func(at time.Time) string { return at.Format(time.RFC3339Nano) }
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }
	}
	s := &Server{
		t: tb, o: o, end: make(chan struct{}), changed: make(chan struct{}), byID: map[string]*asked{},
		came: map[Request]int{},
	}
	s.http = httptest.NewServer(s.routes())
	s.URL = s.http.URL
	if o.Cloud {
		s.URL += prefix
	}
	tb.Cleanup(s.http.Close)
	tb.Cleanup(func() { close(s.end) })
	return s
}

// HTTP is a client for the server; what it holds open ends with the test.
func (s *Server) HTTP() *http.Client { return s.http.Client() }

// Ask lets calls wait for approval, in this order.
func (s *Server) Ask(calls ...Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range calls {
		s.add(&asked{kind: KindCall, id: c.CallID, call: c, at: s.o.Now()})
	}
}

// AskHuman lets questions wait for an answer, in this order.
func (s *Server) AskHuman(contacts ...Contact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range contacts {
		s.add(&asked{kind: KindContact, id: c.CallID, contact: c, at: s.o.Now()})
	}
}

// Settle decides there what waits, as another client of it would: a call by the
// verdict, a contact by the text. It reports whether that became the outcome.
func (s *Server) Settle(callID string, approved bool, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.byID[callID]
	if a == nil {
		return false
	}
	v := &Verdict{Kind: a.kind, CallID: callID, Here: true, Status: http.StatusOK}
	if a.kind == KindCall {
		v.Approved, v.Reason = approved, text
	} else {
		v.Response = text
	}
	return s.record(v, true).Applied
}

// Remove forgets a call or contact: it is not listed, and a verdict on it is
// answered with 404.
func (s *Server) Remove(callID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.byID[callID]; a != nil {
		a.removed = true
	}
}

// Verdicts are all that have come so far, in order, those that were lost, refused
// or too late among them.
func (s *Server) Verdicts() []Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	verdicts := make([]Verdict, len(s.verdicts))
	for i, v := range s.verdicts {
		verdicts[i] = *v
	}
	return verdicts
}

// VerdictsOn are those on one call or contact.
func (s *Server) VerdictsOn(callID string) []Verdict {
	return slices.DeleteFunc(s.Verdicts(), func(v Verdict) bool { return v.CallID != callID })
}

// Outcome is the verdict that settled a call or contact; false while it waits.
func (s *Server) Outcome(callID string) (Verdict, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.byID[callID]; a != nil && a.settled != nil {
		return *a.settled, true
	}
	return Verdict{}, false
}

// Waiting are the ids of what is neither settled nor removed, in order.
func (s *Server) Waiting() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, a := range s.asked {
		if a.settled == nil && !a.removed {
			ids = append(ids, a.id)
		}
	}
	return ids
}

// Requests are what has come so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Await waits until done says so of the server; it is asked again after every
// request. The test fails when its context ends first.
func (s *Server) Await(what string, done func(*Server) bool) {
	s.t.Helper()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if done(s) {
			return
		}
		select {
		case <-changed:
		case <-s.t.Context().Done():
			s.t.Fatalf("the upstream waited in vain: %s", what)
		}
	}
}

func (s *Server) add(a *asked) {
	if s.byID[a.id] != nil {
		s.t.Errorf("%q is asked twice; Fault.Duplicate lists one twice", a.id)
	}
	s.asked = append(s.asked, a)
	s.byID[a.id] = a
}

// record keeps a verdict and, if it was handled, lets it settle what waits. Its
// status is what a server without faults answers.
func (s *Server) record(v *Verdict, handled bool) *Verdict {
	v.N = len(s.verdicts)
	a := s.byID[v.CallID]
	switch {
	case !handled:
	case a == nil || a.removed || a.kind != v.Kind:
		v.Status = http.StatusNotFound
	case a.settled != nil:
		v.Status = http.StatusConflict
	default:
		v.Status, v.Applied = http.StatusOK, true
		a.settled = v
	}
	s.verdicts = append(s.verdicts, v)
	return v
}
