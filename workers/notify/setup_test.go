package notify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"countersign/models"
	"countersign/models/notices"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/notify"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedEnv); dir != "" {
		os.Exit(sendUntilKilled(dir))
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

// message is what has left the process.
type message struct {
	models.Notice

	to   string // the address
	when time.Time
}

func (m message) String() string { return fmt.Sprintf("%s %s %s", m.to, m.Kind, m.Request) }

// post takes messages, and answers as it is told.
type post struct {
	mu    sync.Mutex
	now   func() time.Time
	got   []message
	fails map[string]models.SendResult // by address; others are sent
	hook  func(message)
}

func (p *post) Send(_ context.Context, _ models.ChannelKind, to models.ChannelTarget, n models.Notice) models.SendResult {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := message{Notice: n, to: to.Address + to.URL, when: p.now()}
	if p.hook != nil {
		p.hook(m)
	}
	p.got = append(p.got, m)
	if r, ok := p.fails[m.to]; ok {
		return r
	}
	return models.SendResult{Class: models.SendSent, Status: 250}
}

// take returns what has come since, and forgets it.
func (p *post) take() []message {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.got
	p.got = nil
	return out
}

// place is an office with an admin, an agent and whoever else there is.
type place struct {
	*store.Store

	clock    *storetest.Clock
	admin    models.Actor
	agent    models.Actor
	post     *post
	notifier *notify.Notifier
	lease    *models.Lease
}

// notices are those of the place.
func (p *place) notices() *notices.Notices { return notices.New(p.Store) }

func newPlace(t *testing.T, opts ...storetest.Option) *place {
	t.Helper()
	p := &place{clock: storetest.NewClock()}
	p.Store = storetest.New(t, append([]storetest.Option{storetest.WithClock(p.clock), func(o *store.Options) { o.AsksPerMinute, o.PendingPerAgent = -1, -1 }}, opts...)...)
	p.admin = storetest.Admin(t, p.Store)
	p.agent, _ = storetest.AgentToken(t, p.Store, p.admin, "bot")
	p.post = &post{now: p.Now, fails: map[string]models.SendResult{}}
	p.open(t)
	t.Cleanup(func() {
		if _, err := p.Ledger.Head(context.WithoutCancel(t.Context())); err == nil && !t.Failed() { // else it is closed
			storetest.CheckRows(t, p.Store)
		}
	})
	return p
}

// open begins to work as a process of its own.
func (p *place) open(t *testing.T) {
	t.Helper()
	p.notifier = notify.New(notify.Options{
		Store: p.Store, Sender: p.post, RequestURL: func(id models.ResponseID) string { return "https://gate.example/approvals/" + string(id) },
		SettingsURL: "https://gate.example/account/notifications", Log: slog.New(slog.DiscardHandler),
	})
	var err error
	p.lease, err = p.Nodes.TakeLease(t.Context(), "notify", "test", 10_000*time.Hour)
	storetest.Must(t, err)
}

// rounds takes and sends all that is due now, and says when something is due next.
func (p *place) rounds(t *testing.T) time.Time {
	t.Helper()
	_, err := p.ExpireDue(t.Context(), 100_000)
	storetest.Must(t, err)
	for range 1000 {
		next, err := p.notices().Take(t.Context(), p.lease)
		storetest.Must(t, err)
		due, nextSend, err := p.notices().Due(t.Context(), 50)
		storetest.Must(t, err)
		for _, send := range due {
			storetest.Must(t, p.notifier.Once(t.Context(), p.lease, send.ID))
		}
		if len(due) > 0 {
			continue
		}
		if next.IsZero() || !nextSend.IsZero() && nextSend.Before(next) {
			next = nextSend
		}
		return next
	}
	t.Fatal("it never comes to an end")
	return time.Time{}
}

// until has time go by up to a moment, with a round whenever something is due.
func (p *place) until(t *testing.T, end time.Time) {
	t.Helper()
	for {
		next := p.rounds(t)
		deadline, some, err := p.NextDeadline(t.Context())
		storetest.Must(t, err)
		if some && (next.IsZero() || deadline.Before(next)) {
			next = deadline
		}
		if next.IsZero() || next.After(end) {
			break
		}
		p.clock.Step(max(next.Sub(p.Now()), time.Microsecond))
	}
	if left := end.Sub(p.Now()); left > 0 {
		p.clock.Step(left)
	}
	p.rounds(t)
}

func (p *place) wait(t *testing.T, d time.Duration) {
	t.Helper()
	p.until(t, p.Now().Add(d))
}

// mail gives a person a verified e-mail channel.
func (p *place) mail(t *testing.T, who models.Actor) *models.Channel {
	t.Helper()
	return p.add(t, who, models.ChannelInput{Kind: models.ChannelEmail, Target: models.ChannelTarget{Address: who.Name}})
}

// add adds a channel and verifies it by the code that was sent to it.
func (p *place) add(t *testing.T, who models.Actor, in models.ChannelInput) *models.Channel {
	t.Helper()
	c, err := p.People.AddChannel(t.Context(), who, in)
	storetest.Must(t, err)
	if c.VerifiedAt != nil {
		return c
	}
	before := p.post.take()
	p.rounds(t)
	code := ""
	for _, m := range p.post.take() {
		if m.Kind == models.NoticeCode {
			code = m.Code
		} else {
			before = append(before, m)
		}
	}
	p.post.got = before
	storetest.Must(t, p.People.VerifyChannel(t.Context(), who, c.ID, code))
	p.clock.Step(models.CodesWindow + time.Second) // for others' codes
	return c
}

// settings changes a person's from the default ones.
func (p *place) settings(t *testing.T, who models.Actor, change func(*models.NotificationSettings)) {
	t.Helper()
	s := models.DefaultNotificationSettings()
	change(&s)
	storetest.Must(t, p.People.SetNotificationSettings(t.Context(), who, s))
}

// onlyAtOnce is told at once at every risk, and never again.
func onlyAtOnce(s *models.NotificationSettings) {
	for _, risk := range models.Risks() {
		s.Moments[risk] = models.Moments{AtOnce: true}
	}
}

// rule has all that is asked wait for some people, at a risk, for some minutes.
func (p *place) rule(t *testing.T, risk models.Risk, minutes int, reviewers ...string) {
	t.Helper()
	who, err := json.Marshal(reviewers)
	storetest.Must(t, err)
	doc := fmt.Sprintf(`{"approval_enabled":true,"rules":[{"name":"all","tools":["/.*/"],"effect":"require","risk":%q,"timeout_minutes":%d,"reviewers":%s}]}`, risk, minutes, who)
	_, err = p.ApplyPolicy(t.Context(), p.admin, []byte(doc), "test", 0)
	storetest.Must(t, err)
}

func (p *place) ask(t *testing.T) *models.Approval {
	t.Helper()
	a, err := p.Ask(t.Context(), p.agent, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"` + secret + `"}`), Explanation: models.Explanation{Description: secret, Context: secret, Preview: secret}})
	storetest.Must(t, err)
	if a.Status() != models.StatusPending {
		t.Fatalf("asked: %+v", a)
	}
	return a
}

// secret is in all that an agent sends, and in no message.
const secret = "sesame-4711"

func decision(approve bool) models.DecisionInput {
	return models.DecisionInput{Approved: &approve, Reason: "because", Page: models.NoPage}
}

// kinds are those of messages, with whom they went to, in order.
func kinds(got []message) []string {
	out := make([]string, len(got))
	for i, m := range got {
		name, _, _ := strings.Cut(m.to, "@")
		out[i] = name + " " + string(m.Kind)
	}
	return out
}

func wantKinds(t *testing.T, got []message, want ...string) {
	t.Helper()
	if have := kinds(got); !slices.Equal(have, want) {
		t.Fatalf("told %q, want %q", have, want)
	}
}
