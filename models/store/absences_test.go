package store_test

import (
	"slices"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// away has somebody be away for an hour from now on, with a substitute.
func (b *bench) away(t *testing.T, who, substitute models.Actor) *models.Absence {
	t.Helper()
	a, err := b.PlanAbsence(t.Context(), who, models.AbsenceInput{UserID: who.UserID(), Until: b.Now().Add(time.Hour), Substitute: substitute.UserID()})
	storetest.Must(t, err)
	return a
}

// While somebody is away, what waits for them and what comes goes to both; afterwards the
// substitute has nothing of it, and it goes by the clock, whether a server has noted it or not.
func TestWhatWaitsGoesToBothWhileSomebodyIsAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	b.substitute(t, b.Stranger, eve)
	b.UsePolicy(t, payments(byStranger+only+`,"timeout_minutes":1000`))
	before := b.pay(t, 1)
	from := b.Now().Add(time.Hour)
	a, err := b.PlanAbsence(t.Context(), b.Stranger, models.AbsenceInput{UserID: b.Stranger.UserID(), From: from, Until: from.Add(time.Hour), Substitute: eve.UserID()})
	storetest.Must(t, err)
	if b.asks(t, eve, before.ID) {
		t.Error("they have it before the time")
	}
	if next, some, err := b.NextAbsence(t.Context()); err != nil || !some || !next.Equal(a.FromAt) {
		t.Errorf("next at %v, %v, %v", next, some, err)
	}
	b.Clock.Step(time.Hour) // and no server notes it
	between := b.pay(t, 2)
	if !b.asks(t, eve, between.ID) || !b.asks(t, b.Stranger, between.ID) {
		t.Error("what is asked then does not go to both")
	}
	after := b.VerifiedHead(t)
	storetest.Must(t, storetest.Err(b.TakeAbsences(t.Context())))
	b.WantActions(t, after, "absence.begun", "approval.routed")
	if !b.asks(t, eve, before.ID) || !b.asks(t, b.Stranger, before.ID) {
		t.Error("what waits does not go to both")
	}
	got, err := b.Decide(t.Context(), eve, before.ID, storetest.Yes())
	storetest.Must(t, err)
	if got.Vote.BehalfOf != b.Stranger.UserID() {
		t.Errorf("on behalf of %q", got.Vote.BehalfOf)
	}
	list, err := b.Absences(t.Context(), eve)
	storetest.Must(t, err)
	if len(list) != 1 || !list[0].Accepted || list[0].UserName != b.Stranger.Name || list[0].SubstituteName != eve.Name {
		t.Errorf("%+v", list)
	}

	b.Clock.Step(time.Hour) // it is over, and no server notes it
	wantCode(t, storetest.Err(b.Decide(t.Context(), eve, between.ID, storetest.Yes())), models.CodeNotAReviewer)
	wantCode(t, storetest.Err(b.Decide(t.Context(), eve, between.ID, storetest.No("no"))), models.CodeNotAReviewer)
	late := b.pay(t, 3)
	if b.asks(t, eve, late.ID) {
		t.Error("what is asked after the end goes to the substitute")
	}
	after = b.VerifiedHead(t)
	storetest.Must(t, storetest.Err(b.TakeAbsences(t.Context())))
	b.WantActions(t, after, "absence.ended", "approval.routed")
	if b.asks(t, eve, between.ID) {
		t.Error("they still have it")
	}
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Stranger, between.ID, storetest.Yes())))
}

// An absence that began and ended while no server ran leaves nothing behind but its entries.
func TestAnAbsenceWhileNoServerRan(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	b.substitute(t, b.Stranger, eve)
	b.UsePolicy(t, payments(byStranger+`,"timeout_minutes":1000`))
	a := b.pay(t, 1)
	from := b.Now().Add(time.Hour)
	storetest.Must(t, storetest.Err(b.PlanAbsence(t.Context(), b.Admin, models.AbsenceInput{UserID: b.Stranger.UserID(), From: from, Until: from.Add(time.Hour), Substitute: eve.UserID()})))
	b.Clock.Step(3 * time.Hour)
	after := b.VerifiedHead(t)
	storetest.Must(t, storetest.Err(b.TakeAbsences(t.Context())))
	b.WantActions(t, after, "absence.begun", "absence.ended")
	if b.asks(t, eve, a.ID) {
		t.Error("the substitute has it")
	}
}

// A substitute whom nobody has accepted gets nothing; accepting and removing count at once.
// A substitute's own substitute gets nothing in any case.
func TestOnlyAcceptedSubstitutesGetWhatWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve, zoe := storetest.Reviewer(t, b.Store, "eve@example.com"), storetest.Reviewer(t, b.Store, "zoe@example.com")
	b.UsePolicy(t, payments(byStranger+`,"timeout_minutes":1000`))
	a := b.pay(t, 1)
	b.away(t, b.Stranger, eve)
	b.substitute(t, eve, zoe)
	b.away(t, eve, zoe)
	if b.asks(t, eve, a.ID) {
		t.Error("nobody has accepted them")
	}
	id := b.substitute(t, b.Stranger, eve)
	if !b.asks(t, eve, a.ID) || b.asks(t, zoe, a.ID) {
		t.Error("the accepted substitute has nothing, or theirs has it")
	}
	storetest.Must(t, b.RemoveSubstitute(t.Context(), eve, id))
	if b.asks(t, eve, a.ID) {
		t.Error("they still have it")
	}
}

// What is handed over or asked by the rule stays when an absence ends, and what a person is
// asked themselves is never voted on for others.
func TestWhoHasItForAnotherReasonKeepsIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	b.group(t, "oncall")
	b.substitute(t, b.Stranger, eve)
	b.UsePolicy(t, payments(`,"reviewers":["stranger@example.com","group:oncall"],"timeout_minutes":1000`))
	handed, named := b.pay(t, 1), b.pay(t, 2)
	absence := b.away(t, b.Stranger, eve)
	h := b.handsOver(t, b.Stranger, handed.ID, eve)
	storetest.Must(t, b.EndAbsence(t.Context(), b.Stranger, absence.ID))
	if !b.asks(t, eve, handed.ID) || b.asks(t, eve, named.ID) {
		t.Error("the hand-over does not outlast the absence, or something else does")
	}
	b.joins(t, "oncall", eve)
	storetest.Must(t, b.TakeBackHandOver(t.Context(), b.Stranger, h.ID))
	if !b.asks(t, eve, handed.ID) || !b.asks(t, eve, named.ID) {
		t.Error("who is in the group is not asked")
	}
	got, err := b.Decide(t.Context(), eve, named.ID, storetest.Yes())
	storetest.Must(t, err)
	if got.Vote.BehalfOf != "" {
		t.Errorf("in their own right, and on behalf of %s", got.Vote.BehalfOf)
	}
	b.away(t, b.Stranger, eve)
	b.leaves(t, "oncall", eve) // and has it for the other again
	if !b.asks(t, eve, handed.ID) {
		t.Error("who left the group does not have it for somebody else")
	}
}

// The owner's substitute may act where the owner may; where the owner may not approve, neither
// may who acts for them.
func TestTheOwnersSubstitute(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	b.substitute(t, b.Owner, eve)
	b.away(t, b.Owner, eve)
	b.UsePolicy(t, payments(""))
	free := b.pay(t, 1)
	b.UsePolicy(t, payments(byStranger+never))
	strict := b.pay(t, 2)
	if !b.asks(t, eve, free.ID) || b.asks(t, eve, strict.ID) {
		t.Error("the owner's substitute has other than what the owner may approve")
	}
	got, err := b.Decide(t.Context(), eve, free.ID, storetest.Yes())
	storetest.Must(t, err)
	if got.Vote.BehalfOf != b.Owner.UserID() {
		t.Errorf("on behalf of %q", got.Vote.BehalfOf)
	}
}

// What can't be an absence names the field; agents plan none (I4), and people only their own.
func TestAnAbsenceThatCannotBe(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	now := b.Now()
	for name, tt := range map[string]struct {
		actor models.Actor
		in    models.AbsenceInput
		code  models.Code
		field string
	}{
		"over":          {b.Stranger, models.AbsenceInput{Until: now}, models.CodeInvalid, "until"},
		"backwards":     {b.Stranger, models.AbsenceInput{From: now.Add(2 * time.Hour), Until: now.Add(time.Hour)}, models.CodeInvalid, "until"},
		"too long":      {b.Stranger, models.AbsenceInput{Until: now.Add(models.MaxAbsence + time.Hour)}, models.CodeInvalid, "until"},
		"too far":       {b.Stranger, models.AbsenceInput{From: now.Add(models.MaxAbsence + time.Hour), Until: now.Add(models.MaxAbsence + 2*time.Hour)}, models.CodeInvalid, "from"},
		"themselves":    {b.Stranger, models.AbsenceInput{Until: now.Add(time.Hour), Substitute: b.Stranger.UserID()}, models.CodeInvalid, "substitute"},
		"nobody":        {b.Stranger, models.AbsenceInput{Until: now.Add(time.Hour), Substitute: "x"}, models.CodeInvalid, "substitute"},
		"another's":     {b.Owner, models.AbsenceInput{Until: now.Add(time.Hour)}, models.CodeForbidden, ""},
		"of an agent's": {b.Other, models.AbsenceInput{Until: now.Add(time.Hour)}, models.CodeForbidden, ""},
	} {
		tt.in.UserID = b.Stranger.UserID()
		_, err := b.PlanAbsence(t.Context(), tt.actor, tt.in)
		wantCode(t, err, tt.code)
		if e, ok := err.(*models.Error); tt.field != "" && (!ok || e.Fields[tt.field] == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	a := b.away(t, b.Stranger, b.Owner)
	_, err := b.PlanAbsence(t.Context(), b.Stranger, models.AbsenceInput{UserID: b.Stranger.UserID(), Until: now.Add(time.Hour)})
	wantCode(t, err, models.CodeConflict)
	wantCode(t, b.EndAbsence(t.Context(), b.Owner, a.ID), models.CodeNotFound)
	wantCode(t, b.EndAbsence(t.Context(), b.Agent, a.ID), models.CodeForbidden)
	file := copyOf(t, b.Store)
	for _, edit := range []string{
		`UPDATE absences SET until_at = '2036-01-01 00:00:00+00:00'`,
		`UPDATE absences SET substitute_id = (SELECT id FROM users WHERE email LIKE 'admin%')`,
	} {
		found := tampered(t, file, edit, true)
		if !slices.ContainsFunc(found.Faults, func(f models.RowFault) bool { return f.Table == "absences" }) {
			t.Errorf("%s: %+v", edit, found.Faults)
		}
	}
	storetest.Must(t, b.EndAbsence(t.Context(), b.Admin, a.ID))
}
