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

func (b *bench) twinOf(t *testing.T, who models.Actor, a *models.Approval) *models.Twin {
	t.Helper()
	found, err := b.Requests.Twins(t.Context(), who, a)
	storetest.Must(t, err)
	if twin, ok := found[a.ID]; ok {
		return &twin
	}
	return nil
}

// TestATwinIsNoticed by what was released, of the same agent, and by a person.
func TestATwinIsNoticed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pay := func(input string) *models.Approval {
		return b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(input)})
	}
	if got := b.twinOf(t, b.Owner, pay(`{"sum":1}`)); got != nil {
		t.Errorf("the first has the twin %+v", got)
	}
	early := pay(`{"sum": 2}`)
	first := b.Settle(t, `{"sum":2}`, storetest.Yes())
	for name, a := range map[string]*models.Approval{"asked before": early, "asked after, spelled otherwise": pay(`{ "sum":2 }`)} {
		if got := b.twinOf(t, b.Owner, a); got == nil || got.ID != first.ID || got.By != b.Owner.Name || !got.At.Equal(*first.ApprovalTimestamp) || !a.TwinWarns(*got) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// An edit releases another input: that one counts.
	edited := storetest.Yes()
	edited.Input = []byte(`{"sum":3}`)
	ran := b.Settle(t, `{"sum":30}`, edited)
	if got := b.twinOf(t, b.Owner, pay(`{"sum":30}`)); got != nil {
		t.Errorf("what was asked and never ran has the twin %+v", got)
	}
	if got := b.twinOf(t, b.Owner, pay(`{"sum":3}`)); got == nil || got.ID != ran.ID {
		t.Errorf("what ran has the twin %+v", got)
	}
	b.Settle(t, `{"sum":4}`, storetest.No("never"))
	if got := b.twinOf(t, b.Owner, pay(`{"sum":4}`)); got != nil {
		t.Errorf("what was rejected is the twin %+v", got)
	}
	b.UsePolicy(t, `{"rules":[{"name":"let","tools":["pay"],"effect":"allow"}]}`)
	pay(`{"sum":5}`)
	b.UsePolicy(t, `{}`)
	if got := b.twinOf(t, b.Owner, pay(`{"sum":5}`)); got != nil {
		t.Errorf("what no person approved is the twin %+v", got)
	}
	other, _ := storetest.AgentToken(t, b.Store, b.Owner, "another")
	a, err := b.Ask(t.Context(), other, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":2}`), Explicit: true})
	if storetest.Must(t, err); b.twinOf(t, b.Owner, a) != nil {
		t.Error("another agent's call is a twin")
	}
	wantCode(t, second(b.Requests.Twins(t.Context(), b.Agent, early)), models.CodeForbidden)
}

// TestATwinOfHighRiskIsFoundHoweverLongAgo, and one of low risk within minutes; its
// own page finds that too.
func TestATwinOfHighRiskIsFoundHoweverLongAgo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"rules":[{"name":"money","tools":["pay"],"effect":"require","risk":"high"},{"name":"rest","tools":["list"],"effect":"require","risk":"low"}]}`)
	list := func() *models.Approval { return b.AskFor(t, models.AskInput{ToolName: "list"}) }
	paid := b.Settle(t, `{"sum":2}`, storetest.Yes())
	listed := list()
	if _, err := b.Decide(t.Context(), b.Owner, listed.ID, storetest.Yes()); err != nil {
		t.Fatal(err)
	}
	b.Clock.Step(9 * time.Minute)
	soon := list()
	if got := b.twinOf(t, b.Owner, soon); got == nil || !soon.TwinWarns(*got) {
		t.Errorf("after 9 minutes: %+v", got)
	}
	b.Clock.Step(2 * time.Minute)
	late := list()
	if got := b.twinOf(t, b.Owner, late); got != nil && late.TwinWarns(*got) {
		t.Errorf("after 11 minutes: %+v", got)
	}
	if got := b.around(t, b.Owner, late.ID).Twin; got == nil || got.ID != listed.ID || late.TwinWarns(*got) {
		t.Errorf("its page has the twin %+v", got)
	}
	if got := b.twinOf(t, b.Owner, soon); got == nil || !soon.TwinWarns(*got) {
		t.Error("the warning went while the request waited")
	}
	storetest.Seed(t, b.Store, b.Agent, storetest.Rows{Settled: 1000}) // long is what comes between
	b.Clock.Step(300 * 24 * time.Hour)
	again := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":2}`)})
	if got := b.twinOf(t, b.Owner, again); got == nil || got.ID != paid.ID || !again.TwinWarns(*got) {
		t.Errorf("of high risk, long ago: %+v", got)
	}
}

// TestATwinTellsNothingToWhoMayNotSeeBoth.
func TestATwinTellsNothingToWhoMayNotSeeBoth(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Settle(t, `{"sum":1}`, storetest.Yes()) // not routed to the other
	b.UsePolicy(t, `{"rules":[{"name":"money","tools":["pay"],"effect":"require","risk":"critical","reviewers":["`+b.Stranger.Name+`"]}]}`)
	a := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":1}`)})
	if got := b.twinOf(t, b.Stranger, a); got != nil || b.around(t, b.Stranger, a.ID).Twin != nil {
		t.Errorf("who was asked for help learns of %+v", got)
	}
	if b.twinOf(t, b.Owner, a) == nil || b.twinOf(t, b.Admin, a) == nil {
		t.Error("the owner or an admin is not told")
	}
	b.UsePolicy(t, `{"rules":[{"name":"rest","tools":["pay"],"effect":"require","risk":"high"}]}`)
	unseen := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":1}`)})
	if got := b.twinOf(t, b.Stranger, unseen); got != nil {
		t.Errorf("of a request that is not theirs to see: %+v", got)
	}
}
