package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"countersign/cmd/config"
	"countersign/handlers"
	"countersign/models"
	"countersign/models/notices"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
	"countersign/workers/notify"
)

// office is a store with the notifier that a server has, one webhook, and an agent that pays.
type office struct {
	*store.Store

	clock        *storetest.Clock
	admin, agent models.Actor
	notifier     *notify.Notifier
	lease        *models.Lease
	got          []string // what the webhook received since it was read
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o, dir := &office{clock: storetest.NewClock()}, storetest.Dir(t)
	o.Store = storetest.New(t, storetest.WithDir(dir), storetest.WithClock(o.clock))
	o.admin = storetest.Admin(t, o.Store)
	o.agent, _ = storetest.AgentToken(t, o.Store, o.admin, "bot")
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		o.got = append(o.got, string(body))
	}))
	t.Cleanup(sink.Close)
	public, err := url.Parse("https://sign.example.com")
	storetest.Must(t, err)
	o.notifier, _, err = newNotifier(config.Config{Data: dir}, public, o.Store, slog.New(slog.DiscardHandler), handlers.NewMetrics("test"))
	storetest.Must(t, err)
	o.lease, err = o.Nodes.TakeLease(t.Context(), "notify", "test", 10_000*time.Hour)
	storetest.Must(t, err)
	storetest.Must(t, o.People.AllowHost(t.Context(), o.admin, strings.TrimPrefix(sink.URL, "http://")))
	c, err := o.People.AddChannel(t.Context(), o.admin, models.ChannelInput{Kind: models.ChannelWebhook, Target: models.ChannelTarget{URL: sink.URL}})
	storetest.Must(t, err)
	code := regexp.MustCompile(`"code":"(\d+)"`).FindStringSubmatch(o.told(t))
	storetest.Must(t, o.People.VerifyChannel(t.Context(), o.admin, c.ID, code[1]))
	return o
}

// told is what leaves the process now.
func (o *office) told(t *testing.T) string {
	t.Helper()
	o.got = nil
	_, err := notices.New(o.Store).Take(t.Context(), o.lease)
	storetest.Must(t, err)
	due, _, err := notices.New(o.Store).Due(t.Context(), 10)
	storetest.Must(t, err)
	for _, send := range due {
		storetest.Must(t, o.notifier.Once(t.Context(), o.lease, send.ID))
	}
	if len(due) == 0 || len(o.got) != len(due) {
		t.Fatalf("%d messages left, of %d that were due", len(o.got), len(due))
	}
	return strings.Join(o.got, "\n")
}

func (o *office) rule(t *testing.T, members string) {
	t.Helper()
	_, err := o.ApplyPolicy(t.Context(), o.admin, []byte(`{"approval_enabled":true,"rules":[
	 {"name":"pay","tools":["Bash"],"effect":"require","risk":"high","timeout_minutes":60`+members+`}]}`), "test", 0)
	storetest.Must(t, err)
}

// A message carries the headline of a request where the rule said so when it was asked, and
// only as long as there is an input (I12).
func TestAHeadlineIsToldAsTheRuleSaidAtTheAskI12(t *testing.T) {
	t.Parallel()
	const allowed, command = `,"notify_headline":true`, "launch-the-rocket"
	for _, tt := range []struct {
		name, before, after string
		want                bool
	}{
		{"the rule says nothing", "", "", false},
		{"the rule refuses", `,"notify_headline":false`, `,"notify_headline":false`, false},
		{"the rule allows it", allowed, allowed, true},
		{"the rule allows it later", "", allowed, false},
		{"the rule no longer allows it", allowed, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.rule(t, tt.before)
			a, err := o.Ask(t.Context(), o.agent, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"` + command + `"}`)})
			storetest.Must(t, err)
			o.rule(t, tt.after)
			if got := o.told(t); strings.Contains(got, command) != tt.want || !strings.Contains(got, string(a.ID)) {
				t.Errorf("at once: %s", got)
			}
			o.clock.Step(30 * time.Minute)
			if got := o.told(t); strings.Contains(got, command) != tt.want {
				t.Errorf("later: %s", got)
			}
		})
	}
}

// What was removed is in no message, and who was told of it and has seen it is forgotten too.
func TestAPurgeTakesTheHeadlineAlong(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	other := storetest.Reviewer(t, o.Store, "ann@example.com")
	o.rule(t, `,"notify_headline":true,"reviewers":["ann@example.com"]`)
	a, err := o.Ask(t.Context(), o.agent, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"launch-the-rocket"}`)})
	storetest.Must(t, err)
	o.told(t)
	storetest.Must(t, o.Saw(t.Context(), other, a.ID))
	no := false
	_, err = o.Decide(t.Context(), other, a.ID, models.DecisionInput{Approved: &no, Reason: "no", Page: models.NoPage})
	storetest.Must(t, err)
	kept := func() int {
		return storetest.Scalar[int](t, o.Store, `SELECT (SELECT count(*) FROM told_headlines) + (SELECT count(*) FROM notified) + (SELECT count(*) FROM seen)`)
	}
	if n := kept(); n != 3 {
		t.Fatalf("%d rows are kept of who was told, who has seen it and that its headline may be told", n)
	}
	o.clock.Step(48 * time.Hour)
	purge, err := upkeep.New(o.Store).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: o.clock.Now()})
	storetest.Must(t, err)
	_, err = purge.All(t.Context())
	storetest.Must(t, err)
	if r, err := notices.New(o.Store).ForHeadline(t.Context(), a.ID); err != nil || r != nil || kept() != 0 {
		t.Errorf("after a purge %d rows are left, and a headline of %+v may be told, %v", kept(), r, err)
	}
	if got := o.told(t); strings.Contains(got, "rocket") || strings.Contains(got, `"headline"`) || !strings.Contains(got, "notice.settled") {
		t.Errorf("told %s", got)
	}
	storetest.CheckRows(t, o.Store)
}
