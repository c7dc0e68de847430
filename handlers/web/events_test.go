package web_test

import (
	"bufio"
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/storetest"
)

// patience is after how long a test gives up on what ought to come at once.
const patience = time.Minute

// stream is an open stream of events.
type stream struct {
	tb     testing.TB
	header http.Header
	lines  chan string
	ended  chan struct{}
	close  context.CancelFunc
}

func (p *person) listen(path string) *stream {
	p.w.tb.Helper()
	ctx, cancel := context.WithCancel(p.w.tb.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.w.url+path, nil)
	if err != nil {
		p.w.tb.Fatal(err)
	}
	req.Header.Set("Accept", "text/html, text/event-stream")
	req.Header.Set("HX-Request", "true")
	client := *p.http
	client.Timeout = 0
	resp, err := client.Do(req) //nolint:bodyclose // closed by who reads it, below
	if err != nil {
		p.w.tb.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		cancel()
		return &stream{tb: p.w.tb, header: http.Header{"Status": {resp.Status}, "Retry-After": resp.Header["Retry-After"]}}
	}
	s := &stream{tb: p.w.tb, header: resp.Header, lines: make(chan string, 1000), ended: make(chan struct{}), close: cancel}
	go func() {
		defer close(s.ended)
		defer resp.Body.Close()
		for scan := bufio.NewScanner(resp.Body); scan.Scan(); {
			s.lines <- scan.Text()
		}
	}()
	p.w.tb.Cleanup(func() {
		cancel()
		<-s.ended
	})
	return s
}

// next is the name of the next event.
func (s *stream) next() string {
	s.tb.Helper()
	if s.lines == nil {
		s.tb.Fatalf("no stream: %s", s.header.Get("Status"))
	}
	for late := time.After(patience); ; {
		select {
		case line := <-s.lines:
			if name, ok := strings.CutPrefix(line, "event: "); ok && name != "beat" {
				return name
			}
		case <-late:
			s.tb.Fatal("no event came")
		}
	}
}

// opening reads the names that every stream begins with, in order.
func (s *stream) opening(names ...string) *stream {
	s.tb.Helper()
	for _, want := range names {
		if got := s.next(); got != want {
			s.tb.Fatalf("the stream opens with %q, want %q", got, want)
		}
	}
	return s
}

func (s *stream) ends() {
	s.tb.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.tb.Fatal("the stream goes on")
	}
}

// A page's stream begins with what has changed since the page was read, not with everything.
func TestStreamOpensWithWhatChangedSinceThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask()
	owner := w.signedIn(ownerEmail)
	url := func() string {
		found := regexp.MustCompile(`hx-sse:connect="([^"]+)"`).FindStringSubmatch(owner.get("/approvals/" + string(a.ID)).body)
		if found == nil {
			t.Fatal("the page has no stream")
		}
		return html.UnescapeString(found[1])
	}
	page := url()
	owner.listen(page).opening("presence:" + string(a.ID)) // told only to who listens
	w.applyPolicy(`{"default_timeout_minutes": 9}`)
	owner.listen(page).opening("policy", "presence:"+string(a.ID))
	if _, err := w.store.Decide(t.Context(), w.owner, a.ID, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	owner.listen(page).opening("approval:"+string(a.ID), "inbox", "policy", "presence:"+string(a.ID))
	owner.listen(url()).opening("presence:" + string(a.ID))
	w.store.Bus().Publish(events.Outside) // another process wrote: anything may have changed
	owner.listen(page).opening("approval:"+string(a.ID), "inbox", "policy", "presence:"+string(a.ID))
}

func TestStreamTellsNamesThatConcernItsReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask()
	topic := "approval:" + string(a.ID)
	owner := w.signedIn(ownerEmail).listen("/events?approval="+string(a.ID)).opening(topic, "inbox", "policy", "presence:"+string(a.ID))
	admin := w.signedIn("admin@example.com").listen("/events").opening("inbox", "policy")
	// Naming a request that one may not see does not make one hear of it.
	stranger := w.signedIn(strangerEmail).listen("/events?approval="+string(a.ID)+"&approval=nonsense").opening("inbox", "policy")
	if got := owner.header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type = %q", got)
	}

	w.ask()
	if got := owner.next(); got != "inbox" {
		t.Errorf("the owner hears %q, want inbox", got)
	}
	if got := admin.next(); got != "inbox" {
		t.Errorf("an admin hears %q, want inbox", got)
	}
	if _, err := w.store.Decide(t.Context(), w.owner, a.ID, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	if got := []string{owner.next(), owner.next()}; got[0] != topic && got[1] != topic {
		t.Errorf("the owner hears %q, want %q too", got, topic)
	}
	w.applyPolicy(`{"default_timeout_minutes": 9}`)
	if got := stranger.next(); got != "policy" {
		t.Errorf("the stranger hears %q before the policy's change", got)
	}
}

func TestStreamMergesBursts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.signedIn(ownerEmail).listen("/events").opening("inbox", "policy")
	for range 500 {
		w.store.Bus().Publish(events.InboxOf(w.owner.ID), events.Policy)
	}
	s.opening("inbox", "policy")
	w.store.Bus().Publish(events.Approval("x"), events.Policy)
	if got := s.next(); got != "inbox" && got != "policy" {
		t.Errorf("heard %q", got)
	}
	for more := 0; ; more++ {
		select {
		case line := <-s.lines:
			if more > 20 {
				t.Fatalf("500 changes were told one by one: %q", line)
			}
		case <-time.After(2 * 250 * time.Millisecond):
			return
		}
	}
}

func TestStreamEndsWithItsSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	operator := storetest.Operator()

	p := w.signedIn(ownerEmail)
	s := p.listen("/events").opening("inbox", "policy")
	elsewhere := w.signedIn(ownerEmail).listen("/events").opening("inbox", "policy")
	p.post("/signout", nil).redirects("/signin")
	s.ends()
	w.ask()
	if got := elsewhere.next(); got != "inbox" {
		t.Errorf("the other session hears %q", got)
	}
	if err := w.store.People.SetPassword(t.Context(), operator, w.owner.UserID(), "another long password"); err != nil {
		t.Fatal(err)
	}
	elsewhere.ends()

	s = w.signedIn(strangerEmail).listen("/events").opening("inbox", "policy")
	user, err := w.store.People.UserByEmail(t.Context(), operator, strangerEmail)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.People.DisableUser(t.Context(), operator, user.ID); err != nil {
		t.Fatal(err)
	}
	s.ends()

	// Another process: nothing is told but that something changed.
	admin, secret := storetest.Session(t, w.store, storetest.AdminEmail)
	s = (&person{w: w, http: &http.Client{Transport: withCookie("countersign=" + secret)}}).listen("/events").opening("inbox", "policy")
	beside := storetest.New(t, storetest.WithDir(strings.TrimSuffix(w.store.Path(), "/countersign.db")))
	if err := beside.People.SignOut(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	if err := w.store.CheckOutside(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.ends()
}

type withCookie string

func (c withCookie) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Cookie", string(c))
	return http.DefaultTransport.RoundTrip(r)
}

func TestStreamsAreLimitedAndStop(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, 2)
	w.admin = storetest.Admin(t, w.store)
	w.owner = storetest.Reviewer(t, w.store, ownerEmail)
	p := w.signedIn(ownerEmail)
	first := p.listen("/events").opening("inbox", "policy")
	second := p.listen("/events").opening("inbox", "policy")
	refused := p.listen("/events")
	if refused.header.Get("Status") != "429 Too Many Requests" || refused.header.Get("Retry-After") == "" {
		t.Fatalf("the third stream: %v", refused.header)
	}
	other := w.signedIn(storetest.AdminEmail).listen("/events").opening("inbox", "policy")
	first.close()
	first.ends()
	for w.streams.Open() > 2 {
		p.get("/audit") // until the server has seen that the reader is gone
	}
	p.listen("/events").opening("inbox", "policy")

	w.site.Stop()
	w.site.Stop()
	second.ends()
	other.ends()
	w.visitor().post("/signin", url.Values{}).is(http.StatusUnprocessableEntity)
}
