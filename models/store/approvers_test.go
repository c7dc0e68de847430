package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/requests"
	"countersign/models/storetest"
)

func payments(more string) string {
	return `{"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require"` + more + `}]}`
}

const (
	byStranger = `,"reviewers":["stranger@example.com"]`
	only       = `,"reviewers_only":true`
	never      = `,"self_approval":"never"`
)

func (b *bench) pay(t *testing.T, amount int) *models.Approval {
	t.Helper()
	return b.AskFor(t, models.AskInput{ToolName: "payment.send", Input: fmt.Appendf(nil, `{"amount":%d}`, amount)})
}

// TestOnlyWhoTheRuleNamesApproves, whatever the role; all who see a request may
// reject it.
func TestOnlyWhoTheRuleNamesApproves(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rule                   string
		owner, stranger, admin bool // may approve
	}{
		"no demand":                     {byStranger, true, true, true},
		"allowed, said":                 {byStranger + `,"self_approval":"allowed"`, true, true, true},
		"only finance":                  {byStranger + only, false, true, false},
		"never":                         {byStranger + never, false, true, true},
		"never, nobody named":           {never, false, false, true},
		"only, never":                   {byStranger + only + never, false, true, false},
		"only, the owner is named":      {`,"reviewers":["Owner@example.com","stranger@example.com"]` + only, true, true, false},
		"the owner is named, but never": {`,"reviewers":["owner@example.com","stranger@example.com"]` + only + never, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.UsePolicy(t, payments(tt.rule))
			for _, one := range []struct {
				role string
				who  models.Actor
				may  bool
				sees bool
			}{
				{"owner", b.Owner, tt.owner, true},
				{"admin", b.Admin, tt.admin, true},
				{"named", b.Stranger, tt.stranger, tt.rule != never},
			} {
				if !one.sees {
					continue
				}
				a := b.pay(t, 1)
				before := storetest.Dump(t, b.Store)
				_, err := b.Decide(t.Context(), one.who, a.ID, storetest.Yes())
				if !one.may {
					wantCode(t, err, models.CodeNotAReviewer)
					if after := storetest.Dump(t, b.Store); after != before {
						t.Errorf("%s: %s", one.role, storetest.Difference(before, after))
					}
					edited := storetest.Yes()
					edited.Input = []byte(`{"amount":2}`)
					wantCode(t, storetest.Err(b.Decide(t.Context(), one.who, a.ID, edited)), models.CodeNotAReviewer)
					bulk := storetest.Yes()
					bulk.Bulk, bulk.Digest = true, a.Digest
					wantCode(t, storetest.Err(b.Decide(t.Context(), one.who, a.ID, bulk)), models.CodeNotAReviewer)
				} else if err != nil {
					t.Errorf("%s: %v", one.role, err)
				}
				_, err = b.Decide(t.Context(), one.who, b.pay(t, 3).ID, storetest.No("no"))
				storetest.Must(t, err)
				if one.role != "named" {
					_, err = b.Cancel(t.Context(), one.who, b.pay(t, 4).ID)
					storetest.Must(t, err)
				}
			}
			if _, err := b.Ledger.Verify(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestI12WhoApprovesIsFrozen: a later policy changes nothing for what waits.
func TestI12WhoApprovesIsFrozen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, payments(byStranger+only))
	strict := b.pay(t, 1)
	b.UsePolicy(t, payments(""))
	lax := b.pay(t, 1)
	b.UsePolicy(t, payments(byStranger+only))
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, strict.ID, storetest.Yes())), models.CodeNotAReviewer)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, lax.ID, storetest.Yes())))
	got := b.Read(t, strict.ID)
	if w := got.Approvers(); !w.ReviewersOnly || w.SelfApproval != models.SelfAllowed || len(w.Named) != 1 || w.Must() != "Only stranger@example.com can approve" {
		t.Errorf("%+v", w)
	}
	if _, err := storetest.Tamper(t, b.Store).ExecContext(t.Context(), `UPDATE responses SET reviewers_only = FALSE WHERE id = ?`, strict.ID); err == nil {
		t.Error("who may approve was changed beside the store")
	}
}

func TestAnAnswerIsAnApproval(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"rules":[{"name":"q","tools":["question"],"effect":"require","reviewers":["stranger@example.com"],"reviewers_only":true}]}`)
	a := b.AskFor(t, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "Pay?"}})
	yesText := "yes"
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, models.DecisionInput{Answer: &yesText})), models.CodeNotAReviewer)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Stranger, a.ID, models.DecisionInput{Answer: &yesText})))
}

// TestNoReviewerIsLeft: at the ask, and when the last one goes.
func TestNoReviewerIsLeft(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cfo := storetest.Reviewer(t, b.Store, "cfo@example.com")
	b.UsePolicy(t, payments(`,"reviewers":["stranger@example.com","cfo@example.com"]`+only))
	a := b.pay(t, 1)
	storetest.Must(t, second(b.People.DisableUser(t.Context(), b.Admin, b.Stranger.UserID())))
	b.standsAs(t, a.ID, models.StatusPending)
	storetest.Must(t, second(b.People.DisableUser(t.Context(), b.Admin, cfo.UserID())))
	got := b.standsAs(t, a.ID, models.StatusRejected)
	if got.Cause != models.CauseNoReviewer || got.DecidedBy != nil {
		t.Errorf("%s by %v", got.Cause, got.DecidedBy)
	}
	if late := b.pay(t, 2); late.Status() != models.StatusRejected || late.Cause != models.CauseNoReviewer {
		t.Errorf("at the ask: %s %s", late.Status(), late.Cause)
	}
	storetest.Must(t, b.People.EnableUser(t.Context(), b.Admin, cfo.UserID()))
	b.standsAs(t, a.ID, models.StatusRejected)
	if next := b.pay(t, 3); next.Status() != models.StatusPending {
		t.Errorf("after enabling: %s", next.Status())
	}

	// An admin who is none any more, where the owner never approves.
	helper := storetest.User(t, b.Store, "helper@example.com", models.RoleAdmin)
	own, _ := storetest.AgentToken(t, b.Store, b.Admin, "admins")
	b.UsePolicy(t, payments(never))
	asked, err := b.Ask(t.Context(), own, models.AskInput{ToolName: "payment.send", Explicit: true})
	storetest.Must(t, err)
	storetest.Must(t, b.People.SetRole(t.Context(), b.Admin, helper.UserID(), models.RoleReviewer))
	if got, err := b.Requests.Approval(t.Context(), b.Admin, asked.ID); err != nil || got.Status() != models.StatusRejected || got.Cause != models.CauseNoReviewer {
		t.Errorf("after the role: %+v, %v", got, err)
	}
	if _, err := b.Ledger.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// TestAHeldApprovalEndsWithItsGiver: at the end of its window it is withdrawn, as an undo
// would; with nobody left to approve, the request ends.
func TestAHeldApprovalEndsWithItsGiver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cfo := storetest.Reviewer(t, b.Store, "cfo@example.com")
	b.UsePolicy(t, `{"undo_seconds":{"low":0,"medium":60,"high":0,"critical":0},"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require","reviewers":["cfo@example.com"],"reviewers_only":true}]}`)
	kept, taken := b.pay(t, 1), b.pay(t, 2)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), cfo, kept.ID, storetest.Yes())))
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), cfo, taken.ID, storetest.Yes())))
	storetest.Must(t, second(b.People.DisableUser(t.Context(), b.Admin, cfo.UserID())))
	b.standsAs(t, taken.ID, models.StatusPending)
	storetest.Must(t, storetest.Err(b.Undo(t.Context(), cfo, taken.ID)))
	if got := b.standsAs(t, taken.ID, models.StatusRejected); got.Cause != models.CauseNoReviewer {
		t.Errorf("taken back: %s", got.Cause)
	}
	b.Clock.Step(time.Minute)
	b.release(t, 0)
	if got := b.standsAs(t, kept.ID, models.StatusRejected); got.Cause != models.CauseNoReviewer {
		t.Errorf("at the end of the window: %s", got.Cause)
	}
}

// TestGrantsOfOthersDoNotCover what only a rule's people may approve.
func TestGrantsOfOthersDoNotCover(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, payments(byStranger))
	grant := func(who models.Actor, a *models.Approval) error {
		_, err := b.MakeGrant(t.Context(), who, a.ID, models.GrantInput{Hours: 1, Uses: 5, Digest: a.Digest})
		return err
	}
	first := b.pay(t, 1)
	g, err := b.MakeGrant(t.Context(), b.Owner, first.ID, models.GrantInput{Hours: 1, Uses: 5, Digest: first.Digest})
	storetest.Must(t, err)
	if got := b.pay(t, 2); got.Cause != models.CauseGrant {
		t.Fatalf("covered: %q", got.Cause)
	}
	for _, rule := range []string{byStranger + only, never} {
		b.UsePolicy(t, payments(rule))
		a := b.pay(t, 3)
		if a.Status() != models.StatusPending {
			t.Errorf("%s: %s %s", rule, a.Status(), a.Cause)
		}
		wantCode(t, grant(b.Owner, a), models.CodeNotAReviewer)
		wantCode(t, grant(b.Owner, first), models.CodeNotAReviewer) // an older request, and the rule of now
	}
	b.UsePolicy(t, payments(`,"reviewers":["owner@example.com"]`+only))
	if got := b.pay(t, 5); got.Cause != models.CauseGrant {
		t.Errorf("the owner's grant, who is named: %s %q", got.Status(), got.Cause)
	}
	storetest.Must(t, second(b.RevokeGrant(t.Context(), b.Owner, g.ID)))
	b.UsePolicy(t, payments(never))
	// Under never an admin may approve, and pre-approve.
	storetest.Must(t, grant(b.Admin, b.pay(t, 3)))
	if got := b.pay(t, 4); got.Cause != models.CauseGrant {
		t.Errorf("by the admin's grant: %s %q", got.Status(), got.Cause)
	}
}

// An edit that waits for a second person is not offered where the client takes no edits, as of
// a request from before clients said so: the store would refuse it.
func TestAnEditThatWaitsIsOfferedOnlyWhereItIsTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, payments(""))
	a := b.pay(t, 1)
	b.UsePolicy(t, payments(byStranger+only))
	edited := storetest.Yes()
	edited.Input = []byte(`{"amount":9}`)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, edited)))
	offered := func() bool {
		t.Helper()
		page, err := b.RequestPage(t.Context(), b.Stranger, a.ID, false)
		storetest.Must(t, err)
		return page.Substitution.Releases[page.Around.Proposals[0].ID]
	}
	if !offered() {
		t.Error("the second person is not offered the edit")
	}
	beside := storetest.Beside(t, b.Store)
	dbtest.Forge(t, beside, `UPDATE responses SET accepts_edits = FALSE`)
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Stranger, a.ID, edited)), models.CodeTakesNoEdits)
	if offered() {
		t.Error("the second person is offered what is refused")
	}
	dbtest.Forge(t, beside, `UPDATE responses SET accepts_edits = TRUE`) // as the ledger has it
}

// TestAnEditUnderAStricterRuleWaitsForThatRulesPeople who then approve the same
// edit; the agent hears of nothing before.
func TestAnEditUnderAStricterRuleWaitsForThatRulesPeople(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, payments(""))
	a, other := b.pay(t, 1), b.pay(t, 2)
	b.UsePolicy(t, payments(byStranger+only))
	edited := storetest.Yes()
	edited.Input = []byte(`{"amount":9}`)
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Stranger, a.ID, edited)), models.CodeNotFound)
	got, err := b.Decide(t.Context(), b.Owner, a.ID, edited)
	storetest.Must(t, err)
	if got.Status() != models.StatusPending || got.HeldUntil != nil || got.Vote == nil || got.Vote.WaitsFor == "" {
		t.Fatalf("%+v", got.Response)
	}
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, edited))) // sent again
	around := b.around(t, b.Stranger, a.ID)                                        // it went to their inbox
	if len(around.Proposals) != 1 || *around.Proposals[0].Input != `{"amount":9}` || around.Proposals[0].UserName != "owner@example.com" {
		t.Fatalf("proposed: %+v", around.Proposals)
	}
	done, err := b.Decide(t.Context(), b.Stranger, a.ID, edited)
	storetest.Must(t, err)
	if done.Status() != models.StatusApproved || done.Vote.UserID != b.Stranger.UserID() || *done.Vote.Input != `{"amount":9}` {
		t.Errorf("%+v, %+v", done.Response, done.Vote)
	}

	// Undone, nothing waits, and the original may be approved as it was judged.
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, other.ID, edited)))
	storetest.Must(t, storetest.Err(b.Undo(t.Context(), b.Owner, other.ID)))
	if around := b.around(t, b.Owner, other.ID); len(around.Proposals) != 0 {
		t.Errorf("after the undo: %+v", around.Proposals)
	}
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, other.ID, storetest.Yes())))

	// Where the request's own rule names others than the rule of now, both sign.
	cfo := storetest.Reviewer(t, b.Store, "cfo@example.com")
	strict := b.pay(t, 1)
	b.UsePolicy(t, payments(`,"reviewers":["cfo@example.com"]`+only))
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Stranger, strict.ID, edited)))
	another := storetest.Yes()
	another.Input = []byte(`{"amount":99}`)
	wantCode(t, storetest.Err(b.Decide(t.Context(), cfo, strict.ID, another)), models.CodeNotAReviewer)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), cfo, strict.ID, edited)))
	if _, err := b.Ledger.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// TestARuleThatNobodyCouldMeetIsRefused when it is saved.
func TestARuleThatNobodyCouldMeetIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, tt := range map[string]struct{ rule, field string }{
		"nobody named":  {only, "rules[0].reviewers_only"},
		"unknown":       {`,"reviewers":["gone@example.com"]` + only, "rules[0].reviewers"},
		"not that word": {`,"self_approval":"no"`, "rules[0].self_approval"},
	} {
		_, err := b.ApplyPolicy(t.Context(), b.Admin, []byte(payments(tt.rule)), "", 0)
		if e := refusal(t, err, models.CodeInvalid); e.Fields[tt.field] == "" {
			t.Errorf("%s: %v", name, e.Fields)
		}
	}
	storetest.Must(t, second(b.People.DisableUser(t.Context(), b.Admin, b.Stranger.UserID())))
	_, err := b.ApplyPolicy(t.Context(), b.Admin, []byte(payments(byStranger+only)), "", 0)
	wantCode(t, err, models.CodeInvalid)
	b.UsePolicy(t, payments(`,"reviewers":["gone@example.com"]`+never)) // an admin may
}

// TestI1DisablingRacesDeciding: one outcome, and never an approval after the end.
func TestI1DisablingRacesDeciding(t *testing.T) {
	t.Parallel()
	for range 8 {
		b := newBench(t)
		b.UsePolicy(t, payments(byStranger+only))
		a := b.pay(t, 1)
		var wg sync.WaitGroup
		var deciding error
		wg.Go(func() { _, deciding = b.Decide(t.Context(), b.Stranger, a.ID, storetest.Yes()) })
		wg.Go(func() { _, _ = b.People.DisableUser(t.Context(), b.Admin, b.Stranger.UserID()) })
		wg.Go(func() { _, _ = b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes()) })
		wg.Wait()
		want := models.StatusApproved
		if deciding != nil {
			want = models.StatusRejected
		}
		b.standsAs(t, a.ID, want)
	}
}

// TestReadersSeeAndDecideNothing: those whom a rule names as readers, also who joins such a group later, and no more when
// they leave it.
func TestReadersSeeAndDecideNothing(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]string{
		"one approves":   "",
		"a named person": byStranger + only,
		"several sign":   `,"approvals":[{"from":["stranger@example.com","owner@example.com"],"count":2}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			eve, cy, dee := storetest.Reviewer(t, b.Store, "eve@example.com"), storetest.Reviewer(t, b.Store, "cy@example.com"), storetest.Reviewer(t, b.Store, "dee@example.com")
			b.group(t, "support", cy)
			b.UsePolicy(t, payments(rule+`,"readers":["eve@example.com","group:support"]`))
			a := b.pay(t, 1)
			b.joins(t, "support", dee)
			edit := storetest.Yes()
			edit.Input = []byte(`{"amount":9}`)
			for _, reader := range []models.Actor{eve, cy, dee} {
				storetest.Must(t, storetest.Err(b.Requests.Approval(t.Context(), reader, a.ID)))
				inbox, err := b.Requests.Inbox(t.Context(), reader, requests.InboxQuery{Limit: 10})
				storetest.Must(t, err)
				if len(inbox.Items) > 0 {
					t.Errorf("%s is asked", reader.Name)
				}
				right, err := b.Rights(t.Context(), reader, a)
				storetest.Must(t, err)
				if right[a.ID].MayDecide() {
					t.Errorf("%s is offered to decide: %+v", reader.Name, right[a.ID])
				}
				for act, err := range map[string]error{
					"approve": storetest.Err(b.Decide(t.Context(), reader, a.ID, storetest.Yes())),
					"edit":    storetest.Err(b.Decide(t.Context(), reader, a.ID, edit)),
					"reject":  storetest.Err(b.Decide(t.Context(), reader, a.ID, storetest.No("no"))),
					"ask":     storetest.Err(b.AskBack(t.Context(), reader, a.ID, "why?")),
					"cancel":  storetest.Err(b.Cancel(t.Context(), reader, a.ID)),
				} {
					if code := models.ErrorCode(err); code != models.CodeNotAReviewer && code != models.CodeForbidden && code != models.CodeNotFound {
						t.Errorf("%s by %s: %v", act, reader.Name, err)
					}
				}
			}
			b.leaves(t, "support", cy)
			storetest.Refused(t, storetest.Err(b.Requests.Approval(t.Context(), cy, a.ID)), models.CodeNotFound)
			settled := b.pay(t, 2)
			storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, settled.ID, storetest.No("no"))))
			for reader, want := range map[*models.Actor]int{&eve: 1, &dee: 1, &cy: 0} {
				history, err := b.Requests.Settled(t.Context(), *reader, requests.SettledQuery{})
				storetest.Must(t, err)
				if len(history.Items) != want {
					t.Errorf("%s has %d requests in the history, want %d", reader.Name, len(history.Items), want)
				}
			}
			if got, err := b.Requests.Approval(t.Context(), b.Admin, a.ID); err != nil || got.Status() != models.StatusPending {
				t.Fatalf("%+v, %v", got, err)
			}
			storetest.CheckRows(t, b.Store)
		})
	}
}
