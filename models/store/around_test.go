package store_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

func (b *bench) around(t *testing.T, who models.Actor, id models.ResponseID) *models.Around {
	t.Helper()
	got, err := b.RequestPage(t.Context(), who, id, false)
	if err != nil {
		t.Fatal(err)
	}
	return &got.Around
}

// TestWhatStandsAroundARequest: how its like went, what ran last and what was
// refused last, and that it was refused before.
func TestWhatStandsAroundARequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":1}`)})
	got := b.around(t, b.Owner, first.ID)
	if got.LastApproved != nil || got.LastRejected != nil || got.ReaskOf != nil || len(got.Earlier) > 0 || got.Counts.Approved+got.Counts.Rejected > 0 || got.PolicyChange {
		t.Errorf("around the first: %+v", got)
	}
	b.Settle(t, `{"sum":2}`, storetest.Yes())
	edited := storetest.Yes()
	edited.Input = []byte(`{"sum":3}`)
	ran := b.Settle(t, `{"sum":30}`, edited)
	refused := b.Settle(t, `{"sum":4}`, storetest.No("too much"))
	b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":5}`)}) // still waits
	other := b.AskFor(t, models.AskInput{ToolName: "other", Input: []byte(`{"sum":5}`)})
	again := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":4}`)})
	b.Settle(t, `{"sum":6}`, storetest.Yes()) // later, and none of its business

	got = b.around(t, b.Owner, again.ID)
	if got.Counts.Approved != 2 || got.Counts.Rejected != 1 || got.EarlierCap || len(got.Earlier) != 3 || got.Earlier[0].ID != refused.ID {
		t.Errorf("%d approved, %d rejected, %v", got.Counts.Approved, got.Counts.Rejected, storetest.IDList(got.Earlier))
	}
	if got.SameCounts != (models.CallCounts{Rejected: 1}) {
		t.Errorf("of calls with the same input: %+v", got.SameCounts)
	}
	if got.LastApproved == nil || got.LastApproved.ID != ran.ID || got.LastApproved.Released() != `{"sum":3}` || got.LastApproved.ToolInputJSON != `{"sum":30}` {
		t.Errorf("last approved: %+v", got.LastApproved)
	}
	if got.LastRejected == nil || got.LastRejected.ID != refused.ID || got.ReaskOf == nil || got.ReaskOf.ID != refused.ID {
		t.Errorf("last rejected %+v, re-ask of %+v", got.LastRejected, got.ReaskOf)
	}
	if got := b.around(t, b.Owner, other.ID); got.LastApproved != nil || got.ReaskOf != nil || len(got.Earlier) > 0 {
		t.Errorf("around another tool: %+v", got)
	}
	wantCode(t, second(b.RequestPage(t.Context(), b.Agent, again.ID, true)), models.CodeForbidden)
	wantCode(t, second(b.RequestPage(t.Context(), b.Stranger, again.ID, true)), models.CodeNotFound)
	page, err := b.Requests.Inbox(t.Context(), b.Owner, requests.InboxQuery{})
	if storetest.Must(t, err); page.ReaskOf[again.ID] != refused.ID || len(page.ReaskOf) != 1 {
		t.Errorf("the inbox marks %v", page.ReaskOf)
	}
}

// TestThePolicyAroundARequest: the request stays as it was judged, and the page can
// say what would be said now.
func TestThePolicyAroundARequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"undo_seconds":{"low":0,"medium":0,"high":9,"critical":0},"max_pause_minutes":7,"max_timeout_minutes":90,"grant_max_hours":3,"grant_max_uses":4,
 "rules":[{"name":"money","tools":["pay"],"effect":"require","risk":"high","reason":"It is money.","reject_reasons":["Too much","Not now"]}]}`)
	a := b.AskFor(t, models.AskInput{ToolName: "pay"})
	got := b.around(t, b.Owner, a.ID)
	if got.PolicyChange || got.Now.Differs || got.Now.Rule != "money" || got.UndoFor != 9*time.Second || got.MaxPause != 7*time.Minute || got.MaxTimeout != 90*time.Minute ||
		!got.GrantsEnabled || got.GrantMaxHours != 3 || got.GrantMaxUses != 4 || !slices.Equal(got.RejectReasons, []string{"Too much", "Not now"}) {
		t.Errorf("%+v", got)
	}
	// Another rule changes: nothing would be said otherwise.
	b.UsePolicy(t, `{"rules":[{"name":"money","tools":["pay"],"effect":"require","risk":"high","reason":"It is money.","reject_reasons":["Never"]},{"name":"x","tools":["x"],"effect":"deny"}]}`)
	got = b.around(t, b.Owner, a.ID)
	if !got.PolicyChange || got.Now.Differs || got.Now.Version != a.PolicyVersion+1 || !slices.Equal(got.RejectReasons, []string{"Too much", "Not now"}) {
		t.Errorf("%+v", got)
	}
	b.UsePolicy(t, `{"grants_enabled":false,"rules":[{"name":"never","tools":["pay"],"effect":"deny","reason":"No more."}]}`)
	got = b.around(t, b.Owner, a.ID)
	if !got.PolicyChange || !got.Now.Differs || got.Now.Effect != "deny" || got.Now.Rule != "never" || got.Now.Reason != "No more." || got.GrantsEnabled {
		t.Errorf("%+v", got)
	}
	if again, err := b.Requests.Approval(t.Context(), b.Owner, a.ID); err != nil || again.PolicyRule != "money" || again.Status() != models.StatusPending {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestARoutedReviewerSeesAroundOnlyWhatWasRoutedToThem counts included.
func TestARoutedReviewerSeesAroundOnlyWhatWasRoutedToThem(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Settle(t, `{"sum":1}`, storetest.Yes())
	b.Settle(t, `{"sum":9}`, storetest.No("too much"))
	b.UsePolicy(t, `{"rules":[{"name":"money","tools":["pay"],"effect":"require","reviewers":["`+b.Stranger.Name+`"]}]}`)
	mine := b.Settle(t, `{"sum":2}`, storetest.Yes())
	a := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":9}`)})
	got := b.around(t, b.Stranger, a.ID)
	if got.Counts.Approved != 1 || got.Counts.Rejected != 0 || len(got.Earlier) != 1 || got.LastApproved == nil || got.LastApproved.ID != mine.ID || got.LastRejected != nil || got.ReaskOf != nil {
		t.Errorf("%+v", got)
	}
	page, err := b.Requests.Inbox(t.Context(), b.Stranger, requests.InboxQuery{})
	if storetest.Must(t, err); len(page.Items) != 1 || len(page.ReaskOf) > 0 {
		t.Errorf("%v, %v", storetest.IDList(page.Items), page.ReaskOf)
	}
	if got := b.around(t, b.Owner, a.ID); got.Counts.Approved != 2 || got.Counts.Rejected != 1 || got.ReaskOf == nil {
		t.Errorf("the owner: %+v", got)
	}
}

// TestARulesCallsAreNotCountedAsApprovedI10: a person's approvals are counted apart from
// what a rule allowed, a rule denied, and what ran while approval was off.
func TestARulesCallsAreNotCountedAsApprovedI10(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Settle(t, `{"sum":1}`, storetest.Yes())
	b.Settle(t, `{"sum":2}`, storetest.No("too much"))
	for sum, policy := range []string{
		`{"rules":[{"name":"small","tools":["pay"],"effect":"allow"}]}`,
		`{"rules":[{"name":"never","tools":["pay"],"effect":"deny","reason":"No more."}]}`,
		`{"approval_enabled":false}`,
	} {
		b.UsePolicy(t, policy)
		b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":` + strconv.Itoa(sum+3) + `}`)})
	}
	b.UsePolicy(t, `{"rules":[{"name":"money","tools":["pay"],"effect":"require"}]}`)
	got := b.around(t, b.Owner, b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":9}`)}).ID)
	if want := (models.CallCounts{Approved: 1, Rejected: 1, ByRule: 1, AutoRejected: 1, Unapproved: 1}); got.Counts != want {
		t.Errorf("counted %+v, want %+v", got.Counts, want)
	}
	if got.LastApproved == nil || got.LastApproved.Cause != models.CauseGateOff || len(got.Earlier) != 5 {
		t.Errorf("last allowed %+v, %v", got.LastApproved, storetest.IDList(got.Earlier))
	}
}

func TestOnlySoManyEarlierCallsAreCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	storetest.Seed(t, b.Store, b.Agent, storetest.Rows{Settled: 1000})
	got := b.around(t, b.Owner, b.AskFor(t, models.AskInput{ToolName: "Bash"}).ID)
	if got.Counts.Approved != 500 || !got.EarlierCap || len(got.Earlier) != 5 {
		t.Errorf("%d of 1000, capped %v, %d shown", got.Counts.Approved, got.EarlierCap, len(got.Earlier))
	}
}
