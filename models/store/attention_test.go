package store_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// busyPolicy lets a person be asked about three requests an hour. The rules of low risk do what their names say, and the
// stranger is asked beside the owner.
const busyPolicy = `{"max_asks_per_reviewer_hour":3,"rules":[
 {"name":"expire","tools":["expire"],"effect":"require","risk":"low","when_busy":"expire"},
 {"name":"batch","tools":["batch"],"effect":"require","risk":"low","timeout_minutes":600,"when_busy":"batch"},
 {"name":"short","tools":["short"],"effect":"require","risk":"low","timeout_minutes":20,"when_busy":"batch"},
 {"name":"escalate","tools":["escalate"],"effect":"require","risk":"low","timeout_minutes":600,"when_busy":"escalate","escalate":[{"after_minutes":30,"to":["eve@example.com"]},{"after_minutes":60,"to":["zoe@example.com"]}]},
 {"name":"routed","tools":["routed"],"effect":"require","risk":"low","reviewers":["stranger@example.com"],"when_busy":"expire"},
 {"name":"limited","tools":["limited"],"effect":"require","risk":"low","reviewers":["stranger@example.com"],"reviewers_only":true,"when_busy":"expire"},
 {"name":"plain","tools":["plain"],"effect":"require","risk":"low"},
 {"name":"template","tools":["template"],"effect":"require","risk":"low","when_busy":"expire"}],
 "templates":[{"name":"careful","risk":"high"}]}`

func (b *bench) ask(t *testing.T, tool string) *models.Approval {
	t.Helper()
	return b.AskFor(t, models.AskInput{ToolName: tool, Explicit: true, Input: fmt.Appendf(nil, `{"id":%q}`, models.NewID[string]())})
}

// TestBusyPeopleAreNotAskedAboutLowRisk, and about all else they are.
func TestBusyPeopleAreNotAskedAboutLowRisk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve, zoe := storetest.Reviewer(t, b.Store, "eve@example.com"), storetest.Reviewer(t, b.Store, "zoe@example.com")
	b.UsePolicy(t, busyPolicy)
	for range 3 {
		if a := b.ask(t, "expire"); a.Status() != models.StatusPending || a.WhenBusy != "" {
			t.Fatalf("before the owner is busy: %s, %q", a.Status(), a.WhenBusy)
		}
	}
	after := b.VerifiedHead(t)
	a := b.ask(t, "expire")
	b.WantActions(t, after, "approval.expired")
	if a.Status() != models.StatusExpired || a.Cause != models.CauseNoReviewer || a.Feedback() != a.BusyText() || a.BusyText() == "" {
		t.Errorf("expire: %s by %q: %q", a.Status(), a.Cause, a.Feedback())
	}
	if got := b.ask(t, "plain"); got.Status() != models.StatusPending || got.WhenBusy != "" {
		t.Errorf("a rule that does not say: %s, %q", got.Status(), got.WhenBusy)
	}
	if got := b.ask(t, "routed"); got.Status() != models.StatusPending {
		t.Errorf("one of those who are asked is not busy, and it is %s", got.Status())
	}
	if got := b.ask(t, "limited"); got.Status() != models.StatusPending {
		t.Errorf("the only one who may approve is not busy, and it is %s", got.Status())
	}
	if got := b.AskFor(t, models.AskInput{ToolName: "template", Explicit: true, Template: "careful"}); got.Status() != models.StatusPending ||
		got.Risk != models.RiskHigh || got.WhenBusy != "" {
		t.Errorf("the agent's template raises the risk: %s, %s, %q", got.Status(), got.Risk, got.WhenBusy)
	}
	if got := b.ask(t, "other"); got.Status() != models.StatusPending {
		t.Errorf("medium risk: %s", got.Status())
	}
	b.ask(t, "limited")
	b.ask(t, "limited")
	if got := b.ask(t, "limited"); got.Status() != models.StatusExpired {
		t.Errorf("the stranger has had three, and it is %s", got.Status())
	}

	a = b.ask(t, "escalate")
	b.passes(t, 0)
	if !b.asks(t, eve, a.ID) || b.asks(t, zoe, a.ID) || a.WhenBusy != models.BusyEscalate {
		t.Errorf("escalate asks others than those of its first step: %q", a.WhenBusy)
	}
	b.passes(t, time.Hour)
	if !b.asks(t, zoe, a.ID) {
		t.Error("the second step does not come at its time")
	}
	if got := b.ask(t, "expire"); got.Status() != models.StatusPending {
		t.Errorf("an hour later it is %s", got.Status())
	}
}

// TestABatchIsToldTogether at the end of the hour, or when half of its time is over.
func TestABatchIsToldTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, busyPolicy)
	b.channel(t, "owner@example.com")
	settings := models.DefaultNotificationSettings()
	settings.Moments[models.RiskLow] = models.Moments{AtOnce: true}
	storetest.Must(t, b.People.SetNotificationSettings(t.Context(), b.Owner, settings))
	for range 3 {
		b.ask(t, "batch")
	}
	due := func(a *models.Approval) time.Time {
		return storetest.Scalar[time.Time](t, b.Store, `SELECT due_at FROM notices WHERE response_id = ?`, a.ID)
	}
	for range 2 {
		a := b.ask(t, "batch")
		if a.Status() != models.StatusPending || a.WhenBusy != models.BusyBatch || !b.asks(t, b.Owner, a.ID) {
			t.Errorf("%s, %q", a.Status(), a.WhenBusy)
		}
		if at := due(a); !at.Equal(b.Now().Truncate(time.Hour).Add(time.Hour)) {
			t.Errorf("told at %s", at)
		}
	}
	a := b.ask(t, "short")
	if at := due(a); !at.Equal(a.CreatedAt.Add(10 * time.Minute)) {
		t.Errorf("one with twenty minutes is told of at %s", at)
	}
}

// TestWhoIsAskedAtOnceAboutMoreStaysAtTheLimit: many requests at once do not keep a person busy for longer than an hour.
func TestWhoIsAskedAtOnceAboutMoreStaysAtTheLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, busyPolicy)
	for range 20 {
		b.ask(t, "plain")
	}
	if got := b.ask(t, "expire"); got.Status() != models.StatusExpired {
		t.Errorf("busy: %s", got.Status())
	}
	b.passes(t, 20*time.Minute)
	if got := b.ask(t, "expire"); got.Status() != models.StatusPending {
		t.Errorf("a third of an hour later: %s", got.Status())
	}
	if got := b.ask(t, "expire"); got.Status() != models.StatusExpired {
		t.Errorf("one more: %s", got.Status())
	}
}
