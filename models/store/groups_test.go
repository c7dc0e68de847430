package store_test

import (
	"slices"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

const byFinance = `,"reviewers":["group:finance"]`

// group makes a group with some members.
func (b *bench) group(t *testing.T, name string, members ...models.Actor) {
	t.Helper()
	storetest.Must(t, b.People.AddGroup(t.Context(), b.Admin, name, ""))
	for _, m := range members {
		b.joins(t, name, m)
	}
}

func (b *bench) joins(t *testing.T, name string, who models.Actor) {
	t.Helper()
	storetest.Must(t, b.People.JoinGroup(t.Context(), b.Admin, name, who.Name))
}

func (b *bench) leaves(t *testing.T, name string, who models.Actor) {
	t.Helper()
	storetest.Must(t, b.People.LeaveGroup(t.Context(), b.Admin, name, who.UserID()))
}

// asks reports whether a pending request is in somebody's inbox, which is whether they see
// it at all unless they own it or are an admin.
func (b *bench) asks(t *testing.T, who models.Actor, id models.ResponseID) bool {
	t.Helper()
	n := storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM deciders WHERE user_id = ? AND response_id = ?`, who.UserID(), id)
	_, err := b.Requests.Approval(t.Context(), who, id)
	if sees := err == nil; sees != (n == 1) {
		t.Fatalf("%s: in the inbox %d times, and seeing it gives %v", who.Name, n, err)
	}
	return n == 1
}

// The rule's group is frozen by name (I12), and who is in it is judged at the vote; who
// joins has what waits in their inbox at once, and who leaves has not.
func TestAGroupDecidesWithWhoIsInItI12(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bo, cy := storetest.Reviewer(t, b.Store, "bo@example.com"), storetest.Reviewer(t, b.Store, "cy@example.com")
	b.group(t, "finance", bo)
	b.UsePolicy(t, payments(byFinance+only))
	first, second, third := b.pay(t, 1), b.pay(t, 2), b.pay(t, 3)
	b.UsePolicy(t, payments("")) // what waits is not judged again
	if must := first.Approvers().Must(); must != "Only finance can approve" {
		t.Errorf("%q", must)
	}
	if !b.asks(t, bo, first.ID) || b.asks(t, cy, first.ID) {
		t.Error("it does not wait for who is in the group, and for nobody else")
	}
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Admin, first.ID, storetest.Yes())), models.CodeNotAReviewer)
	wantCode(t, storetest.Err(b.Decide(t.Context(), cy, first.ID, storetest.Yes())), models.CodeNotFound)

	b.joins(t, "finance", cy)
	if !b.asks(t, cy, first.ID) {
		t.Error("who joined has nothing to decide")
	}
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), cy, first.ID, storetest.Yes())))
	b.standsAs(t, first.ID, models.StatusApproved)

	b.leaves(t, "finance", bo)
	if b.asks(t, bo, second.ID) {
		t.Error("who left still has it in their inbox")
	}
	wantCode(t, storetest.Err(b.Decide(t.Context(), bo, second.ID, storetest.Yes())), models.CodeNotFound)
	if _, err := b.Requests.Approval(t.Context(), bo, first.ID); err != nil {
		t.Errorf("what was settled while they were in the group: %v", err)
	}

	b.leaves(t, "finance", cy)
	for _, id := range []models.ResponseID{second.ID, third.ID} {
		if got := b.standsAs(t, id, models.StatusRejected); got.Cause != models.CauseNoReviewer {
			t.Errorf("with nobody in the group: %s", got.Cause)
		}
	}
	if late := b.pay(t, 4); late.Status() == models.StatusRejected {
		t.Error("the policy of now names no group")
	}
	b.UsePolicy(t, payments(""))
}

// Each joining and leaving is an entry, and so is each request that it moves (I7); the stream
// of who has left tells nothing of it any more.
func TestJoiningAndLeavingAreInTheLedgerI7(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bo := storetest.Reviewer(t, b.Store, "bo@example.com")
	b.group(t, "finance")
	b.UsePolicy(t, payments(byFinance))
	a := b.pay(t, 1)
	other := b.AskFor(t, models.AskInput{ToolName: "other", Explicit: true})
	after := b.VerifiedHead(t)
	b.joins(t, "finance", bo)
	b.joins(t, "finance", bo) // twice is once
	b.WantActions(t, after, "group.joined", "approval.routed")
	told := func() (n int) {
		t.Helper()
		_, err := b.Requests.Feed(t.Context(), bo, 0, func(h *requests.FeedEvent) error {
			if h.Approval != nil && h.Approval.ID == a.ID {
				n++
			}
			return nil
		})
		storetest.Must(t, err)
		return n
	}
	if n := told(); b.asks(t, bo, other.ID) || !b.asks(t, bo, a.ID) || n != 1 {
		t.Errorf("their stream tells of it %d times", n)
	}
	after = b.VerifiedHead(t)
	b.leaves(t, "finance", bo)
	b.WantActions(t, after, "group.left", "approval.routed")
	if n := told(); b.asks(t, bo, a.ID) || n != 0 {
		t.Errorf("their stream still tells of it %d times", n)
	}
	wantCode(t, b.People.LeaveGroup(t.Context(), b.Admin, "finance", bo.UserID()), models.CodeNotFound)
}

// Whom an edit was routed to is asked until they leave its group, also when the edit was
// taken back, another took its place, or its proposer was disabled.
func TestLeavingBehindAnEditThatIsGone(t *testing.T) {
	t.Parallel()
	for name, goes := range map[string]func(*testing.T, *bench, models.ResponseID, models.DecisionInput){
		"taken back": func(t *testing.T, b *bench, id models.ResponseID, _ models.DecisionInput) {
			t.Helper()
			storetest.Must(t, storetest.Err(b.Undo(t.Context(), b.Owner, id)))
		},
		"replaced": func(t *testing.T, b *bench, id models.ResponseID, edit models.DecisionInput) {
			t.Helper()
			b.group(t, "board", b.Stranger)
			b.UsePolicy(t, payments(`,"reviewers":["group:board"]`+only))
			edit.Input = []byte(`{"amount":10}`)
			storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, id, edit)))
		},
		"of somebody disabled": func(t *testing.T, b *bench, _ models.ResponseID, _ models.DecisionInput) {
			t.Helper()
			storetest.Must(t, second(b.People.DisableUser(t.Context(), b.Admin, b.Owner.UserID())))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			bo, cy := storetest.Reviewer(t, b.Store, "bo@example.com"), storetest.Reviewer(t, b.Store, "cy@example.com")
			b.group(t, "finance", bo)
			b.UsePolicy(t, payments(""))
			a := b.pay(t, 1)
			b.UsePolicy(t, payments(byFinance+only))
			edit := storetest.Yes()
			edit.Input = []byte(`{"amount":9}`)
			storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, edit)))
			goes(t, b, a.ID, edit)
			b.joins(t, "finance", cy)
			b.leaves(t, "finance", bo)
			if b.asks(t, bo, a.ID) || !b.asks(t, cy, a.ID) {
				t.Error("the request does not follow who is in the group")
			}
			wantCode(t, storetest.Err(b.Decide(t.Context(), bo, a.ID, storetest.Yes())), models.CodeNotFound)
			storetest.Must(t, storetest.Err(b.Decide(t.Context(), cy, a.ID, storetest.Yes())))
		})
	}
}

// Whom the rule names by e-mail goes on deciding, whichever group they leave.
func TestSomebodyNamedLeavesTheGroupOfAnEdit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bo, cy := storetest.Reviewer(t, b.Store, "bo@example.com"), storetest.Reviewer(t, b.Store, "cy@example.com")
	b.group(t, "finance", bo, cy)
	b.UsePolicy(t, payments(`,"reviewers":["bo@example.com"]`))
	a := b.pay(t, 1)
	b.UsePolicy(t, payments(byFinance+only))
	edit := storetest.Yes()
	edit.Input = []byte(`{"amount":9}`)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, edit)))
	b.UsePolicy(t, payments(""))
	storetest.Must(t, b.People.RemoveGroup(t.Context(), b.Admin, "finance"))
	if !b.asks(t, bo, a.ID) || b.asks(t, cy, a.ID) {
		t.Error("the named one lost it, or the member kept it")
	}
}

// What has expired moves no more, whether or not that was written down (I3).
func TestWhatHasExpiredIsNotRoutedI3(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bo, cy := storetest.Reviewer(t, b.Store, "bo@example.com"), storetest.Reviewer(t, b.Store, "cy@example.com")
	b.group(t, "finance", bo)
	b.UsePolicy(t, payments(byFinance))
	a := b.AskFor(t, models.AskInput{ToolName: "payment.send", Input: []byte(`{"amount":1}`), TimeoutSeconds: new(int64(10))})
	b.Clock.Step(time.Minute)
	b.joins(t, "finance", cy)
	b.leaves(t, "finance", bo)
	wantCode(t, storetest.Err(b.Requests.Approval(t.Context(), cy, a.ID)), models.CodeNotFound)
	storetest.Must(t, storetest.Err(b.Requests.Approval(t.Context(), bo, a.ID)))
}

// Whoever has approved, and may still undo it, keeps the request when they leave the group, until
// they undo it or it is to take effect: it is then no longer theirs, and others may decide it.
func TestLeavingWhileOnesApprovalIsHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bo, cy := storetest.Reviewer(t, b.Store, "bo@example.com"), storetest.Reviewer(t, b.Store, "cy@example.com")
	b.group(t, "finance", bo, cy)
	b.UsePolicy(t, `{"undo_seconds":{"low":0,"medium":60,"high":0,"critical":0},"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require"`+byFinance+only+`}]}`)
	kept, taken := b.pay(t, 1), b.pay(t, 2)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), bo, kept.ID, storetest.Yes())))
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), bo, taken.ID, storetest.Yes())))
	b.leaves(t, "finance", bo)
	storetest.Must(t, storetest.Err(b.Undo(t.Context(), bo, taken.ID)))
	if b.asks(t, bo, taken.ID) || !b.asks(t, cy, taken.ID) {
		t.Error("what was taken back is still theirs, or nobody's")
	}
	b.Clock.Step(time.Minute)
	b.release(t, 0)
	if got := b.standsAs(t, kept.ID, models.StatusPending); got.HeldUntil != nil || b.asks(t, bo, kept.ID) || !b.asks(t, cy, kept.ID) {
		t.Errorf("what they approved is still held, or theirs: %+v", got)
	}
}

// Who is named besides, or is in another group that is, goes on deciding; the owner of the
// agent has it in any case.
func TestLeavingOneOfSeveralReasons(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bo, cy := storetest.Reviewer(t, b.Store, "bo@example.com"), storetest.Reviewer(t, b.Store, "cy@example.com")
	b.group(t, "finance", bo, cy, b.Owner)
	b.group(t, "board", cy)
	b.UsePolicy(t, payments(`,"reviewers":["group:finance","Bo@example.com","group:board","group:finance"]`+only))
	a := b.pay(t, 1)
	if must := a.Approvers().Must(); must != "Only bo@example.com, finance or board can approve" {
		t.Errorf("%q", must)
	}
	for _, who := range []models.Actor{bo, cy, b.Owner} {
		b.leaves(t, "finance", who)
		if !b.asks(t, who, a.ID) {
			t.Errorf("%s is not asked any more", who.Name)
		}
	}
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())), models.CodeNotAReviewer)
	b.leaves(t, "board", cy)
	if b.asks(t, cy, a.ID) {
		t.Error("cy is in none of the groups")
	}
	b.joins(t, "finance", b.Owner)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())))
}

// Who owns the agent may be in the group, and still not approve where the rule says never.
func TestAGroupOfNobodyButTheOwner(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bo := storetest.Reviewer(t, b.Store, "bo@example.com")
	b.group(t, "finance", b.Owner, bo)
	b.UsePolicy(t, payments(byFinance+only+never))
	a := b.pay(t, 1)
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())), models.CodeNotAReviewer)
	b.leaves(t, "finance", bo)
	if got := b.standsAs(t, a.ID, models.StatusRejected); got.Cause != models.CauseNoReviewer {
		t.Errorf("%s", got.Cause)
	}
	if late := b.pay(t, 2); late.Cause != models.CauseNoReviewer {
		t.Errorf("at the ask: %s %s", late.Status(), late.Cause)
	}
}

// Disabled members are asked nothing; enabled again they have what waits.
func TestDisabledMembers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bo, cy := storetest.Reviewer(t, b.Store, "bo@example.com"), storetest.Reviewer(t, b.Store, "cy@example.com")
	b.group(t, "finance", bo, cy)
	b.UsePolicy(t, payments(byFinance+only))
	storetest.Must(t, second(b.People.DisableUser(t.Context(), b.Admin, bo.UserID())))
	a := b.pay(t, 1)
	if b.asks(t, bo, a.ID) {
		t.Error("somebody is asked who may not sign in")
	}
	storetest.Must(t, b.People.EnableUser(t.Context(), b.Admin, bo.UserID()))
	if !b.asks(t, bo, a.ID) {
		t.Error("enabled again, they have nothing to decide")
	}
	storetest.Must(t, second(b.People.DisableUser(t.Context(), b.Admin, cy.UserID())))
	wantCode(t, b.People.JoinGroup(t.Context(), b.Admin, "finance", cy.Name), models.CodeInvalid)
	storetest.Must(t, second(b.People.DisableUser(t.Context(), b.Admin, bo.UserID())))
	if got := b.standsAs(t, a.ID, models.StatusRejected); got.Cause != models.CauseNoReviewer {
		t.Errorf("%s", got.Cause)
	}
}

// Members who become auditors are asked nothing; reviewers again, they have what waits.
func TestMembersWhoAreAuditors(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bo, cy := storetest.Reviewer(t, b.Store, "bo@example.com"), storetest.Reviewer(t, b.Store, "cy@example.com")
	b.group(t, "finance", bo, cy)
	b.UsePolicy(t, payments(byFinance+only))
	storetest.Must(t, b.People.SetRole(t.Context(), b.Admin, bo.UserID(), models.RoleAuditor))
	a := b.pay(t, 1)
	if b.asks(t, bo, a.ID) {
		t.Error("an auditor is asked")
	}
	storetest.Must(t, b.People.SetRole(t.Context(), b.Admin, bo.UserID(), models.RolePolicyEditor))
	if !b.asks(t, bo, a.ID) {
		t.Error("no auditor any more, they have nothing to decide")
	}
	wantCode(t, storetest.Err(b.Decide(t.Context(), cy, a.ID, storetest.Yes())), "")
	dee := storetest.User(t, b.Store, "dee@example.com", models.RoleAuditor)
	wantCode(t, b.People.JoinGroup(t.Context(), b.Admin, "finance", dee.Name), models.CodeInvalid)
	late := b.pay(t, 2)
	for _, one := range []models.Actor{bo, cy} {
		storetest.Must(t, b.People.SetRole(t.Context(), b.Admin, one.UserID(), models.RoleAuditor))
	}
	if got := b.standsAs(t, late.ID, models.StatusRejected); got.Cause != models.CauseNoReviewer {
		t.Errorf("%s", got.Cause)
	}
}

// An edit under a rule that wants a group waits for whoever is in it when they sign.
func TestAnEditWaitsForAGroup(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bo := storetest.Reviewer(t, b.Store, "bo@example.com")
	storetest.Must(t, b.People.AddGroup(t.Context(), b.Admin, "finance", ""))
	b.UsePolicy(t, payments(""))
	a := b.pay(t, 1)
	b.joins(t, "finance", b.Stranger)
	b.UsePolicy(t, payments(byFinance+only))
	edited := storetest.Yes()
	edited.Input = []byte(`{"amount":9}`)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, edited)))
	if !b.asks(t, b.Stranger, a.ID) {
		t.Error("the edit did not go to the group")
	}
	b.joins(t, "finance", bo)
	b.leaves(t, "finance", b.Stranger)
	if b.asks(t, b.Stranger, a.ID) || !b.asks(t, bo, a.ID) {
		t.Error("the edit did not follow who is in the group")
	}
	done, err := b.Decide(t.Context(), bo, a.ID, edited)
	storetest.Must(t, err)
	if done.Status() != models.StatusApproved || done.Vote.UserID != bo.UserID() {
		t.Errorf("%+v", done.Response)
	}
}

// A pre-approval covers while its maker is in the group, and no longer.
func TestAGrantOfAMember(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.group(t, "finance", b.Owner, b.Stranger)
	b.UsePolicy(t, payments(byFinance+only))
	a := b.pay(t, 1)
	storetest.Must(t, second(b.MakeGrant(t.Context(), b.Owner, a.ID, models.GrantInput{Hours: 1, Uses: 5, Digest: a.Digest})))
	if got := b.pay(t, 2); got.Cause != models.CauseGrant {
		t.Fatalf("%s %q", got.Status(), got.Cause)
	}
	b.leaves(t, "finance", b.Owner)
	if got := b.pay(t, 3); got.Status() != models.StatusPending {
		t.Errorf("%s %q", got.Status(), got.Cause)
	}
	wantCode(t, storetest.Err(b.MakeGrant(t.Context(), b.Owner, a.ID, models.GrantInput{Hours: 1, Uses: 5, Digest: a.Digest})), models.CodeNotAReviewer)
}

// What a group may be called, and what keeps it.
func TestGroupsAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"", "Finance", "a b", "group:x", "-x", "é", string(make([]byte, 64))} {
		if err := b.People.AddGroup(t.Context(), b.Admin, name, ""); models.FieldsOf(err)["name"] == "" {
			t.Errorf("%q: %v", name, err)
		}
	}
	b.group(t, "finance", b.Stranger)
	wantCode(t, b.People.AddGroup(t.Context(), b.Admin, "finance", ""), models.CodeConflict)
	storetest.Must(t, b.People.DescribeGroup(t.Context(), b.Admin, "finance", "Who pays."))
	for _, rule := range []string{`,"reviewers":["group:gone"]`, `,"reviewers":["group:finance","group:gone"]` + only} {
		_, err := b.ApplyPolicy(t.Context(), b.Admin, []byte(payments(rule)), "x", 0)
		if at := models.FieldsOf(err); len(at) != 1 || !slices.ContainsFunc([]string{"rules[0].reviewers[0]", "rules[0].reviewers[1]"}, func(path string) bool { return at[path] != "" }) {
			t.Errorf("%s: %v %v", rule, err, at)
		}
	}
	b.UsePolicy(t, payments(byFinance))
	wantCode(t, b.People.RemoveGroup(t.Context(), b.Admin, "finance"), models.CodeConflict)
	a := b.pay(t, 1)
	b.UsePolicy(t, payments(""))
	storetest.Must(t, b.People.RemoveGroup(t.Context(), b.Admin, "finance"))
	if b.asks(t, b.Stranger, a.ID) {
		t.Error("it still waits for who was in the group")
	}
	wantCode(t, b.People.JoinGroup(t.Context(), b.Admin, "finance", b.Stranger.Name), models.CodeNotFound)

	b.Clock.Step(time.Second)
	b.group(t, "finance", b.Stranger) // the name is free
	if !b.asks(t, b.Stranger, a.ID) {
		t.Error("the request froze the name, and the group of that name does not have it")
	}
	all, err := b.People.Groups(t.Context(), b.Owner)
	storetest.Must(t, err)
	if len(all) != 1 || all[0].Members != 1 || all[0].Note != "" {
		t.Errorf("%+v", all)
	}
	for who, actor := range storetest.WhoMayNot(t, b.Store) {
		for what, err := range map[string]error{
			"add":      b.People.AddGroup(t.Context(), actor, "x", ""),
			"describe": b.People.DescribeGroup(t.Context(), actor, "finance", "x"),
			"join":     b.People.JoinGroup(t.Context(), actor, "finance", b.Owner.Name),
			"leave":    b.People.LeaveGroup(t.Context(), actor, "finance", b.Stranger.UserID()),
			"remove":   b.People.RemoveGroup(t.Context(), actor, "finance"),
		} {
			if models.ErrorCode(err) != models.CodeForbidden {
				t.Errorf("%s may %s: %v", who, what, err)
			}
		}
	}
}
