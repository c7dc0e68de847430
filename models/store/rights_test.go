package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// What a reader may do with many requests is read with as many statements as for one, and so
// is to whom one may be handed over, however many people there are.
func TestRightsOfManyTakeAsManyStatementsAsOfOne(t *testing.T) {
	t.Parallel()
	var statements atomic.Int64
	b := newBench(t, func(o *store.Options) { o.BeforeRead = func(string) { statements.Add(1) } })
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	storetest.Must(t, b.People.AddGroup(t.Context(), b.Admin, "finance", ""))
	storetest.Must(t, b.People.JoinGroup(t.Context(), b.Admin, "finance", b.Stranger.Name))
	b.UsePolicy(t, payments(`,"reviewers":["group:finance"]`+only))
	b.substitute(t, b.Stranger, eve)
	var rows []*models.Approval
	for n := range 12 {
		a := b.pay(t, n)
		b.handsOver(t, b.Stranger, a.ID, eve)
		rows = append(rows, a)
	}
	count := func(read func(context.Context) error) int64 {
		t.Helper()
		statements.Store(0)
		storetest.Must(t, read(t.Context()))
		return statements.Load()
	}
	of := func(rows []*models.Approval) int64 {
		return count(func(ctx context.Context) error {
			rights, err := b.Rights(ctx, eve, rows...)
			for _, a := range rows {
				if r := rights[a.ID]; r.Own || !r.MayApprove || r.OnBehalf.ID != b.Stranger.UserID() {
					t.Errorf("eve may %+v", r)
				}
			}
			return err
		})
	}
	if one, many := of(rows[:1]), of(rows); one == 0 || one != many {
		t.Errorf("%d statements for one, %d for %d", one, many, len(rows))
	}
	waits := func(rows []*models.Approval) int64 {
		return count(func(ctx context.Context) error { return storetest.Err(b.WaitsFor(ctx, b.Agent, rows...)) })
	}
	if one, many := waits(rows[:1]), waits(rows); one == 0 || one != many {
		t.Errorf("who decides: %d statements for one, %d for %d", one, many, len(rows))
	}
	to := func() int64 {
		return count(func(ctx context.Context) error { return storetest.Err(b.MayHandOverTo(ctx, b.Stranger, rows[0].ID)) })
	}
	few := to()
	for n := range 10 {
		b.substitute(t, b.Stranger, storetest.Reviewer(t, b.Store, fmt.Sprintf("s%d@example.com", n)))
	}
	if many := to(); few == 0 || few != many {
		t.Errorf("to whom it may be handed: %d statements for one, %d for many", few, many)
	}
}

// Whoever decides for others is named with for whom, and a name that reads so is quoted.
func TestWaitsForNamesWhoStandsIn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	b.UsePolicy(t, payments(byStranger+only))
	a := b.pay(t, 1)
	sub := b.substitute(t, b.Stranger, eve)
	b.handsOver(t, b.Stranger, a.ID, eve)
	names := func() []string {
		t.Helper()
		waits, err := b.WaitsFor(t.Context(), b.Agent, a)
		storetest.Must(t, err)
		return waits[0].Reviewers
	}
	storetest.SameStrings(t, "reviewers", names(), []string{b.Stranger.Name, eve.Name + " (on behalf of " + b.Stranger.Name + ")"})
	storetest.Must(t, b.RemoveSubstitute(t.Context(), b.Admin, sub))
	storetest.SameStrings(t, "after it was removed", names(), []string{b.Stranger.Name})
	if got := models.PersonReviewer("Eve (on behalf of Ann)"); got != "“Eve (on behalf of Ann)”" {
		t.Errorf("a name that reads as a stand-in: %s", got)
	}
}

// An absence ends by the clock: with its rows still there, the substitute sees the request, and
// neither list nor page lets them decide; their verdict is refused (I5).
func TestAfterAnAbsenceItsRowsGiveNoRight(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	b.UsePolicy(t, payments(byStranger+only+`,"timeout_minutes":600`))
	b.substitute(t, b.Stranger, eve)
	storetest.Must(t, storetest.Err(b.PlanAbsence(t.Context(), b.Stranger, models.AbsenceInput{UserID: b.Stranger.UserID(), Until: b.Now().Add(time.Hour), Substitute: eve.UserID()})))
	a := b.pay(t, 1)
	if rights, err := b.Rights(t.Context(), eve, a); err != nil || !rights[a.ID].MayApprove {
		t.Fatalf("while it runs: %+v, %v", rights, err)
	}
	b.Clock.Step(time.Hour) // and no worker runs
	if !b.asks(t, eve, a.ID) {
		t.Fatal("the rows are gone: the test shows nothing")
	}
	rights, err := b.Rights(t.Context(), eve, a)
	storetest.Must(t, err)
	page, err := b.RequestPage(t.Context(), eve, a.ID, false)
	storetest.Must(t, err)
	if rights[a.ID].MayDecide() || rights[a.ID].MayApprove || page.Substitution.MayDecide() || page.Substitution.MayApprove {
		t.Errorf("the list says %+v, the page %+v", rights[a.ID], page.Substitution.Right)
	}
	for _, in := range []models.DecisionInput{storetest.Yes(), {Approved: new(false)}} {
		_, err := b.Decide(t.Context(), eve, a.ID, in)
		wantCode(t, err, models.CodeNotAReviewer)
	}
	wantCode(t, storetest.Err(b.AskBack(t.Context(), eve, a.ID, "why?")), models.CodeNotAReviewer)
	wantCode(t, storetest.Err(b.Extend(t.Context(), eve, a.ID, a.ApprovalTimeoutAt.Add(time.Minute))), models.CodeNotAReviewer)
	storetest.Must(t, storetest.Err(b.Extend(t.Context(), b.Stranger, a.ID, a.ApprovalTimeoutAt.Add(time.Minute))))
	wantCode(t, storetest.Err(b.Rights(t.Context(), b.Agent, a)), models.CodeForbidden) // I4
}

// A verdict counts for whom its page said, or not at all (I6): not for another, after what it
// was handed over by was taken back, and not in one's own right after that came.
func TestAVerdictCountsForWhomItWasShownI6(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve, zoe := storetest.Reviewer(t, b.Store, "eve@example.com"), storetest.Reviewer(t, b.Store, "zoe@example.com")
	b.UsePolicy(t, payments(`,"reviewers":["stranger@example.com","zoe@example.com"]`+only))
	b.substitute(t, b.Stranger, eve)
	b.substitute(t, zoe, eve)
	a := b.pay(t, 1)
	first := b.handsOver(t, b.Stranger, a.ID, eve)
	b.handsOver(t, zoe, a.ID, eve)
	shown := func() *models.UserID {
		t.Helper()
		rights, err := b.Rights(t.Context(), eve, a)
		storetest.Must(t, err)
		if rights[a.ID].OnBehalf == nil {
			return new(models.UserID(""))
		}
		return &rights[a.ID].OnBehalf.ID
	}
	was := shown()
	if *was != b.Stranger.UserID() {
		t.Fatalf("eve decides for %s", *was)
	}
	storetest.Must(t, b.TakeBackHandOver(t.Context(), b.Stranger, first.ID))
	in := storetest.Yes()
	for _, behalf := range []*models.UserID{was, new(models.UserID("")), new(eve.UserID())} {
		in.Behalf = behalf
		_, err := b.Decide(t.Context(), eve, a.ID, in)
		wantCode(t, err, models.CodeInvalid)
		no := models.DecisionInput{Approved: new(false), Behalf: behalf}
		wantCode(t, storetest.Err(b.Decide(t.Context(), eve, a.ID, no)), models.CodeInvalid)
	}
	if n := storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM votes`); n != 0 {
		t.Fatalf("%d votes", n)
	}
	in.Behalf = shown()
	got, err := b.Decide(t.Context(), eve, a.ID, in)
	storetest.Must(t, err)
	if got.Vote.BehalfOf != zoe.UserID() {
		t.Errorf("it counts for %s", got.Vote.BehalfOf)
	}
}

// An absence passes on what asks the person who is away, not all that they may decide: the
// substitute of an admin has none of the requests that only an admin's role lets them decide.
func TestTheSubstituteOfAnAdminHasWhatAsksTheAdmin(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	b.UsePolicy(t, payments(byStranger+`,"timeout_minutes":600`))
	b.substitute(t, b.Admin, eve)
	storetest.Must(t, storetest.Err(b.PlanAbsence(t.Context(), b.Admin, models.AbsenceInput{UserID: b.Admin.UserID(), Until: b.Now().Add(time.Hour), Substitute: eve.UserID()})))
	a := b.pay(t, 1)
	rights, err := b.Rights(t.Context(), eve, a)
	storetest.Must(t, err)
	if r := rights[a.ID]; r.MayDecide() || r.MayApprove || b.asks(t, eve, a.ID) {
		t.Errorf("the substitute may %+v", r)
	}
	waits, err := b.WaitsFor(t.Context(), b.Agent, a)
	storetest.Must(t, err)
	if slices.ContainsFunc(waits[0].Reviewers, func(name string) bool { return strings.HasPrefix(name, eve.Name) }) {
		t.Errorf("it waits for %q", waits[0].Reviewers)
	}
	wantCode(t, storetest.Err(b.Decide(t.Context(), eve, a.ID, storetest.Yes())), models.CodeNotFound)
}
