package live_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/events"
	"countersign/models/storetest"
)

// A page's stream begins with what has changed since the page was read, not with everything.
func TestStreamOpensWithWhatChangedSinceThePage(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	owner := w.SignIn(webtest.OwnerEmail)
	url := func() string {
		found := regexp.MustCompile(`hx-sse:connect="([^"]+)"`).FindStringSubmatch(owner.Get("/approvals/" + string(a.ID)).Body)
		if found == nil {
			t.Fatal("the page has no stream")
		}
		return html.UnescapeString(found[1])
	}
	page := url()
	owner.Listen(page).Opening("presence:" + string(a.ID)) // told only to who listens
	w.ApplyPolicy(`{"default_timeout_minutes": 9}`)
	owner.Listen(page).Opening("policy", "presence:"+string(a.ID))
	if _, err := w.Store.Decide(t.Context(), w.Owner, a.ID, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	owner.Listen(page).Opening("approval:"+string(a.ID), "inbox", "policy", "presence:"+string(a.ID))
	owner.Listen(url()).Opening("presence:" + string(a.ID))
	w.Store.Bus().Publish(events.Outside) // another process wrote: anything may have changed
	owner.Listen(page).Opening("approval:"+string(a.ID), "inbox", "policy", "presence:"+string(a.ID))
}

func TestStreamTellsNamesThatConcernItsReader(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	topic := "approval:" + string(a.ID)
	owner := w.SignIn(webtest.OwnerEmail).Listen("/events?approval="+string(a.ID)).Opening(topic, "inbox", "policy", "presence:"+string(a.ID))
	admin := w.SignIn("admin@example.com").Listen("/events").Opening("inbox", "policy")
	// Naming a request that one may not see does not make one hear of it.
	stranger := w.SignIn(webtest.StrangerEmail).Listen("/events?approval="+string(a.ID)+"&approval=nonsense").Opening("inbox", "policy")
	if got := owner.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type = %q", got)
	}

	w.Ask()
	if got := owner.Next(); got != "inbox" {
		t.Errorf("the owner hears %q, want inbox", got)
	}
	if got := admin.Next(); got != "inbox" {
		t.Errorf("an admin hears %q, want inbox", got)
	}
	if _, err := w.Store.Decide(t.Context(), w.Owner, a.ID, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	if got := []string{owner.Next(), owner.Next()}; got[0] != topic && got[1] != topic {
		t.Errorf("the owner hears %q, want %q too", got, topic)
	}
	w.ApplyPolicy(`{"default_timeout_minutes": 9}`)
	if got := stranger.Next(); got != "policy" {
		t.Errorf("the stranger hears %q before the policy's change", got)
	}
}

func TestStreamMergesBursts(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	s := w.SignIn(webtest.OwnerEmail).Listen("/events").Opening("inbox", "policy")
	for range 500 {
		w.Store.Bus().Publish(events.InboxOf(w.Owner.ID), events.Policy)
	}
	s.Opening("inbox", "policy")
	w.Store.Bus().Publish(events.Approval("x"), events.Policy)
	if got := s.Next(); got != "inbox" && got != "policy" {
		t.Errorf("heard %q", got)
	}
	for more := 0; ; more++ {
		select {
		case line := <-s.Lines:
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
	w := webtest.New(t)
	operator := storetest.Operator()

	p := w.SignIn(webtest.OwnerEmail)
	s := p.Listen("/events").Opening("inbox", "policy")
	elsewhere := w.SignIn(webtest.OwnerEmail).Listen("/events").Opening("inbox", "policy")
	p.Post("/signout", nil).Redirects("/signin")
	s.Ends()
	w.Ask()
	if got := elsewhere.Next(); got != "inbox" {
		t.Errorf("the other session hears %q", got)
	}
	if err := w.Store.People.SetPassword(t.Context(), operator, w.Owner.UserID(), "another long password"); err != nil {
		t.Fatal(err)
	}
	elsewhere.Ends()

	s = w.SignIn(webtest.StrangerEmail).Listen("/events").Opening("inbox", "policy")
	user, err := w.Store.People.UserByEmail(t.Context(), operator, webtest.StrangerEmail)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.People.DisableUser(t.Context(), operator, user.ID); err != nil {
		t.Fatal(err)
	}
	s.Ends()

	// Another process: nothing is told but that something changed.
	admin, secret := storetest.Session(t, w.Store, storetest.AdminEmail)
	s = (&webtest.Person{World: w, HTTP: &http.Client{Transport: withCookie("countersign=" + secret)}}).Listen("/events").Opening("inbox", "policy")
	beside := storetest.New(t, storetest.WithDir(strings.TrimSuffix(w.Store.Path(), "/countersign.db")))
	if err := beside.People.SignOut(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	if err := w.Store.CheckOutside(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Ends()
}

type withCookie string

func (c withCookie) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Cookie", string(c))
	return http.DefaultTransport.RoundTrip(r)
}

func TestStreamsAreLimitedAndStop(t *testing.T) {
	t.Parallel()
	w := webtest.Empty(t, 2)
	w.Admin = storetest.Admin(t, w.Store)
	w.Owner = storetest.Reviewer(t, w.Store, webtest.OwnerEmail)
	p := w.SignIn(webtest.OwnerEmail)
	first := p.Listen("/events").Opening("inbox", "policy")
	second := p.Listen("/events").Opening("inbox", "policy")
	refused := p.Listen("/events")
	if refused.Header.Get("Status") != "429 Too Many Requests" || refused.Header.Get("Retry-After") == "" {
		t.Fatalf("the third stream: %v", refused.Header)
	}
	other := w.SignIn(storetest.AdminEmail).Listen("/events").Opening("inbox", "policy")
	first.Close()
	first.Ends()
	for w.Streams.Open() > 2 {
		p.Get("/audit") // until the server has seen that the reader is gone
	}
	p.Listen("/events").Opening("inbox", "policy")

	w.Pages.Stop()
	w.Pages.Stop()
	second.Ends()
	other.Ends()
	w.Visitor().Post("/signin", url.Values{}).Is(http.StatusUnprocessableEntity)
}
