package store_test

import (
	"slices"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

const further = `,"escalate":[{"after_minutes":10,"to":["group:oncall","eve@example.com"]},{"after_minutes":20,"to":["zoe@example.com"]}]`

// passes lets time go by, and has done what is due, as the worker does.
func (b *bench) passes(t *testing.T, d time.Duration) {
	t.Helper()
	b.Clock.Step(d)
	storetest.Must(t, storetest.Err(b.ExpireDue(t.Context(), 100)))
	storetest.Must(t, storetest.Err(b.EscalateDue(t.Context(), 100)))
}

// Whom a rule asks later is frozen at the ask (I12): they neither see nor approve before, and
// approve as its reviewers do from then on.
func TestEscalationIsFrozenAndComesAtItsTimeI12(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve, zoe := storetest.Reviewer(t, b.Store, "eve@example.com"), storetest.Reviewer(t, b.Store, "zoe@example.com")
	cy, late := storetest.Reviewer(t, b.Store, "cy@example.com"), storetest.Reviewer(t, b.Store, "late@example.com")
	b.group(t, "oncall", cy)
	b.UsePolicy(t, payments(byStranger+only+`,"timeout_minutes":60`+further))
	a := b.pay(t, 1)
	b.UsePolicy(t, payments(byStranger+only+`,"escalate":[{"after_minutes":1,"to":["late@example.com"]}]`))
	if must := a.Approvers().Must(); must != "Only stranger@example.com can approve" {
		t.Errorf("at the ask: %q", must)
	}
	b.passes(t, 10*time.Minute-time.Second)
	for _, who := range []models.Actor{eve, zoe, cy, late} {
		if b.asks(t, who, a.ID) {
			t.Errorf("%s is asked before the time", who.Name)
		}
		wantCode(t, storetest.Err(b.Decide(t.Context(), who, a.ID, storetest.Yes())), models.CodeNotFound)
	}
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Admin, a.ID, storetest.Yes())), models.CodeNotAReviewer)

	after := b.VerifiedHead(t)
	b.passes(t, time.Second)
	b.WantActions(t, after, "approval.escalated_by_rule")
	if !b.asks(t, eve, a.ID) || !b.asks(t, cy, a.ID) || b.asks(t, zoe, a.ID) || b.asks(t, late, a.ID) {
		t.Error("the first step asks others than it names")
	}
	told := 0
	storetest.Must(t, storetest.Err(b.Requests.Feed(t.Context(), eve, 0, func(h *requests.FeedEvent) error {
		if h.Approval != nil && h.Approval.ID == a.ID {
			told++
		}
		return nil
	})))
	if told != 1 {
		t.Errorf("the stream of whom it asks tells of it %d times", told)
	}
	b.joins(t, "oncall", late) // as of any group that a request names
	if !b.asks(t, late, a.ID) {
		t.Error("who joins a group that was asked is not")
	}
	b.leaves(t, "oncall", late)

	b.passes(t, 10*time.Minute)
	if !b.asks(t, zoe, a.ID) {
		t.Error("the second step asks nobody")
	}
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), zoe, a.ID, storetest.Yes())))
	b.standsAs(t, a.ID, models.StatusApproved)
}

// Where a rule makes no demand, further people decide beside all others, and who has no right
// because they own the agent gets none by a step.
func TestEscalationGivesNoOwnerARightI12(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	b.UsePolicy(t, payments(never+`,"timeout_minutes":60,"escalate":[{"after_minutes":10,"to":["owner@example.com","eve@example.com"]}]`))
	a := b.pay(t, 1)
	b.passes(t, 10*time.Minute)
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())), models.CodeNotAReviewer)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), eve, a.ID, storetest.Yes())))
}

// A question stops the time until further people are asked; a later deadline does not move it.
func TestEscalationWaitsWhileAQuestionIsOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	b.UsePolicy(t, payments(byStranger+`,"timeout_minutes":60,"escalate":[{"after_minutes":10,"to":["eve@example.com"]}]`))
	paused, extended := b.pay(t, 1), b.pay(t, 2)
	b.passes(t, 4*time.Minute)
	storetest.Must(t, storetest.Err(b.AskBack(t.Context(), b.Stranger, paused.ID, "Why?")))
	storetest.Must(t, storetest.Err(b.Extend(t.Context(), b.Stranger, extended.ID, b.Now().Add(2*time.Hour))))
	b.passes(t, 30*time.Minute)
	if b.asks(t, eve, paused.ID) || !b.asks(t, eve, extended.ID) {
		t.Error("the pause does not stop the step, or the extension moves it")
	}
	_, _, err := b.AnswerNote(t.Context(), b.Agent, paused.ID, "Because.")
	storetest.Must(t, err)
	b.passes(t, 6*time.Minute-time.Second)
	if b.asks(t, eve, paused.ID) {
		t.Error("the step comes early")
	}
	b.passes(t, time.Second)
	if !b.asks(t, eve, paused.ID) {
		t.Error("the step does not come")
	}
}

// What is settled or has expired asks nobody, and no row of it is left.
func TestEscalationEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	storetest.Reviewer(t, b.Store, "eve@example.com")
	b.UsePolicy(t, payments(byStranger+`,"timeout_minutes":60,"escalate":[{"after_minutes":10,"to":["eve@example.com"]}]`))
	decided := b.pay(t, 1)
	seconds := int64(60)
	b.UsePolicy(t, payments(byStranger+`,"escalate":[{"after_minutes":10,"to":["eve@example.com"]}]`))
	short := b.AskFor(t, models.AskInput{ToolName: "payment.send", TimeoutSeconds: &seconds})
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, decided.ID, storetest.Yes())))
	after := b.VerifiedHead(t)
	b.passes(t, time.Hour)
	b.WantActions(t, after, "approval.expired")
	b.standsAs(t, short.ID, models.StatusExpired)
	if n := storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM escalations`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// While somebody is to be asked who may approve, a request waits though nobody may yet.
func TestEscalationKeepsARequestThatNobodyMayApproveYet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	b.UsePolicy(t, payments(byStranger+only+`,"timeout_minutes":60,"escalate":[{"after_minutes":10,"to":["eve@example.com"]}]`))
	a := b.pay(t, 1)
	storetest.Must(t, storetest.Err(b.People.DisableUser(t.Context(), b.Admin, b.Stranger.UserID())))
	b.standsAs(t, a.ID, models.StatusPending)
	b.passes(t, 10*time.Minute)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), eve, a.ID, storetest.Yes())))
	b.standsAs(t, a.ID, models.StatusApproved)
}

// The steps that came while no server ran are taken at its start, in their order.
func TestEscalationAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve, zoe := storetest.Reviewer(t, b.Store, "eve@example.com"), storetest.Reviewer(t, b.Store, "zoe@example.com")
	b.group(t, "oncall")
	b.UsePolicy(t, payments(byStranger+`,"timeout_minutes":60`+further))
	a := b.pay(t, 1)
	after := b.VerifiedHead(t)
	b.passes(t, 25*time.Minute)
	b.WantActions(t, after, "approval.escalated_by_rule", "approval.escalated_by_rule")
	if !b.asks(t, eve, a.ID) || !b.asks(t, zoe, a.ID) {
		t.Error("a step is missing")
	}
}

// An edit of the step that a request has taken, or of whom its rule asks later, is found.
func TestAChangedEscalationIsFound(t *testing.T) {
	t.Parallel()
	for _, edit := range []string{
		`UPDATE responses SET escalation = 2`,
		`UPDATE responses SET approvers = replace(approvers, '"step":2,"after":20', '"step":1,"after":10')`,
		`UPDATE responses SET no_substitutes = TRUE`,
	} {
		b := newBench(t)
		storetest.Reviewer(t, b.Store, "eve@example.com")
		storetest.Reviewer(t, b.Store, "zoe@example.com")
		b.group(t, "oncall")
		b.UsePolicy(t, payments(byStranger+`,"timeout_minutes":60`+further))
		b.pay(t, 1)
		b.passes(t, 10*time.Minute)
		file := copyOf(t, b.Store)
		got := tampered(t, file, edit, true)
		if !slices.ContainsFunc(got.Faults, func(f models.RowFault) bool { return f.Table == "responses" }) {
			t.Errorf("%s: %+v", edit, got.Faults)
		}
	}
}
