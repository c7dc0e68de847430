package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// signers is a bench with people and groups who sign payments.
type signers struct {
	*bench

	ann, bo, cy, dee models.Actor
}

// newSigners has ann, bo and cy in finance, and cy and dee in oncall.
func newSigners(t *testing.T, rule string, settings ...string) *signers {
	t.Helper()
	b := newBench(t)
	s := &signers{bench: b}
	for _, one := range []struct {
		name string
		who  *models.Actor
	}{{"ann", &s.ann}, {"bo", &s.bo}, {"cy", &s.cy}, {"dee", &s.dee}} {
		*one.who = storetest.Reviewer(t, b.Store, one.name+"@example.com")
	}
	b.group(t, "finance", s.ann, s.bo, s.cy)
	b.group(t, "oncall", s.cy, s.dee)
	b.UsePolicy(t, "{"+strings.Join(settings, "")+strings.TrimPrefix(payments(rule), "{"))
	return s
}

// votes has somebody vote, and wants a status after it.
func (s *signers) votes(t *testing.T, who models.Actor, a *models.Approval, in models.DecisionInput, want models.Status) *models.Approval {
	t.Helper()
	got, err := s.Decide(t.Context(), who, a.ID, in)
	if err != nil {
		t.Fatalf("%s: %v", who.Name, err)
	}
	if got.Status() != want {
		t.Fatalf("after %s the request is %s, want %s", who.Name, got.Status(), want)
	}
	return got
}

func (s *signers) refused(t *testing.T, who models.Actor, a *models.Approval, in models.DecisionInput, code models.Code, why string) {
	t.Helper()
	before := storetest.Dump(t, s.Store)
	_, err := s.Decide(t.Context(), who, a.ID, in)
	wantCode(t, err, code)
	if !strings.Contains(fmt.Sprint(err, models.FieldsOf(err)), why) {
		t.Errorf("%s is told %q %v, want %q", who.Name, err, models.FieldsOf(err), why)
	}
	if after := storetest.Dump(t, s.Store); after != before {
		t.Error(storetest.Difference(before, after))
	}
}

const (
	twoAndOne = `,"approvals":[{"from":["group:finance"],"count":2},{"from":["group:oncall"],"count":1}]`
	staged    = twoAndOne + `,"stages":true`
)

// TestSeveralSign: all entries are met by distinct people, whoever comes first; each signature has its entry, and the
// outcome names them all.
func TestSeveralSign(t *testing.T) {
	t.Parallel()
	s := newSigners(t, twoAndOne)
	a := s.pay(t, 1)
	s.refused(t, s.Owner, a, storetest.Yes(), models.CodeNotAReviewer, "not one of those who sign")
	s.refused(t, s.Admin, a, storetest.Yes(), models.CodeNotAReviewer, "not one of those who sign")
	// cy is in both groups: with ann, cy and dee there is an assignment only if cy counts for finance.
	first := s.votes(t, s.cy, a, storetest.Yes(), models.StatusPending)
	if by, _ := first.Held(); by != models.HeldByQuorum {
		t.Errorf("a signature is held by %q", by)
	}
	again := s.votes(t, s.cy, a, storetest.Yes(), models.StatusPending)
	if again.Vote == nil || again.Vote.ID != first.Vote.ID {
		t.Errorf("a repeat is another signature: %+v", again.Vote)
	}
	s.votes(t, s.dee, a, storetest.Yes(), models.StatusPending)
	got := s.votes(t, s.ann, a, storetest.Yes(), models.StatusApproved)
	s.refused(t, s.bo, a, storetest.Yes(), models.CodeAlreadyDecided, "approved by ann")
	if n := storetest.Scalar[int](t, s.Store, `SELECT count(*) FROM ledger WHERE action = 'approval.voted'`); n != 3 {
		t.Errorf("%d entries for three signatures", n)
	}
	data := storetest.Scalar[string](t, s.Store, `SELECT data FROM ledger WHERE action = 'approval.approved'`)
	var outcome struct{ Votes []models.VoteID }
	if err := json.Unmarshal([]byte(data), &outcome); err != nil || len(outcome.Votes) != 3 || outcome.Votes[2] != got.Vote.ID {
		t.Errorf("the outcome says %s", data)
	}
}

// TestASignatureThatIsNotNeeded is refused with the reason, and in stages whose turn it is.
func TestASignatureThatIsNotNeeded(t *testing.T) {
	t.Parallel()
	s := newSigners(t, staged)
	a := s.pay(t, 1)
	s.refused(t, s.dee, a, storetest.Yes(), models.CodeNotFound, "") // the second step is not asked yet
	if s.asks(t, s.dee, a.ID) || !s.asks(t, s.ann, a.ID) {
		t.Error("the wrong people are asked first")
	}
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	s.votes(t, s.bo, a, storetest.Yes(), models.StatusPending)
	if !s.asks(t, s.dee, a.ID) {
		t.Error("the second step is not asked")
	}
	s.votes(t, s.dee, a, storetest.Yes(), models.StatusApproved)

	s = newSigners(t, twoAndOne)
	a = s.pay(t, 2)
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	s.votes(t, s.bo, a, storetest.Yes(), models.StatusPending)
	s.votes(t, s.cy, a, storetest.Yes(), models.StatusApproved)
	b := s.pay(t, 3)
	s.votes(t, s.dee, b, storetest.Yes(), models.StatusPending)
	s.votes(t, s.ann, b, storetest.Yes(), models.StatusPending)
	s.votes(t, s.cy, b, storetest.Yes(), models.StatusApproved)

	s = newSigners(t, `,"approvals":[{"from":["group:finance"],"count":2},{"from":["dee@example.com"],"count":1}]`)
	a = s.pay(t, 4)
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	s.votes(t, s.bo, a, storetest.Yes(), models.StatusPending)
	s.refused(t, s.cy, a, storetest.Yes(), models.CodeNotAReviewer, "not needed")

	s = newSigners(t, twoAndOne+`,"any":true`)
	a = s.pay(t, 5)
	s.votes(t, s.dee, a, storetest.Yes(), models.StatusApproved)
}

// TestOneRejectionEnds a request that several sign, unless the rule wants more.
func TestOneRejectionEnds(t *testing.T) {
	t.Parallel()
	s := newSigners(t, twoAndOne)
	a := s.pay(t, 1)
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	s.votes(t, s.ann, a, storetest.No("a second look"), models.StatusRejected)

	s = newSigners(t, twoAndOne+`,"reject_count":2`)
	a = s.pay(t, 1)
	s.votes(t, s.ann, a, storetest.No("no"), models.StatusPending)
	s.votes(t, s.ann, a, storetest.No("no"), models.StatusPending)
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending) // in the place of the rejection
	s.votes(t, s.bo, a, storetest.No("no"), models.StatusPending)
	s.votes(t, s.Owner, a, storetest.No("nor I"), models.StatusRejected)
}

// TestAnEditIsSignedAnew: those who signed the older input have not signed the edit, and see why; an approval that
// has not seen the edit counts for neither.
func TestAnEditIsSignedAnew(t *testing.T) {
	t.Parallel()
	s := newSigners(t, twoAndOne)
	a := s.pay(t, 1)
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	edit := storetest.Yes()
	edit.Input = []byte(`{"amount":9}`)
	edited := s.votes(t, s.cy, a, edit, models.StatusPending)
	replaced := storetest.Scalar[string](t, s.Store, `SELECT replaced_by FROM votes WHERE user_id = ?`, s.ann.UserID())
	if replaced != string(edited.Vote.ID) {
		t.Errorf("ann's signature was replaced by %q, want cy's edit %q", replaced, edited.Vote.ID)
	}
	s.refused(t, s.bo, a, storetest.Yes(), models.CodeDigestMismatch, "cy@example.com approved this with another input")
	old := storetest.Yes()
	old.Digest = a.Digest
	s.refused(t, s.bo, a, old, models.CodeDigestMismatch, "another input")
	seen := storetest.Yes()
	seen.Digest = *edited.Vote.InputDigest
	s.votes(t, s.bo, a, seen, models.StatusPending)
	same := storetest.Yes()
	same.Input, same.Digest = []byte(`{ "amount": 9 }`), a.Digest
	got := s.votes(t, s.ann, a, same, models.StatusApproved)
	if input, other := got.Vote.ApprovedInput(); !other || !strings.Contains(input, "9") {
		t.Errorf("released %q", input)
	}

	// Back to what was asked: its own digest and input are an edit of the edit.
	b := s.pay(t, 2)
	s.votes(t, s.cy, b, edit, models.StatusPending)
	back := storetest.Yes()
	back.Input, back.Digest = []byte(`{"amount":2}`), b.Digest
	s.votes(t, s.ann, b, back, models.StatusPending)
	plain := storetest.Yes()
	plain.Digest = b.Digest
	s.votes(t, s.bo, b, plain, models.StatusPending)
	got = s.votes(t, s.dee, b, plain, models.StatusApproved)
	if _, other := got.Vote.ApprovedInput(); other {
		t.Error("the edit was released")
	}
}

// TestSignaturesAreTakenBack until the request is settled, also while the last one holds it.
func TestSignaturesAreTakenBack(t *testing.T) {
	t.Parallel()
	s := newSigners(t, twoAndOne, `"undo_seconds":{"medium":30},`)
	a := s.pay(t, 1)
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	s.votes(t, s.bo, a, storetest.Yes(), models.StatusPending)
	storetest.Must(t, storetest.Err(s.Undo(t.Context(), s.ann, a.ID)))
	storetest.Must(t, storetest.Err(s.Undo(t.Context(), s.ann, a.ID))) // a repeat changes nothing
	s.votes(t, s.dee, a, storetest.Yes(), models.StatusPending)
	held := s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	if held.HeldUntil == nil {
		t.Fatal("the last signature does not hold the request")
	}
	s.refused(t, s.cy, a, storetest.Yes(), models.CodeBeingDecided, "ann")
	wantCode(t, storetest.Err(s.Undo(t.Context(), s.cy, a.ID)), models.CodeBeingDecided)
	back, err := s.Undo(t.Context(), s.bo, a.ID)
	if err != nil || back.HeldUntil != nil || back.Status() != models.StatusPending {
		t.Fatalf("bo takes the signature back: %+v, %v", back, err)
	}
	s.Clock.Step(time.Minute)
	storetest.Must(t, storetest.Err(s.ReleaseDue(t.Context(), 10)))
	held = s.votes(t, s.bo, a, storetest.Yes(), models.StatusPending)
	if held.HeldUntil == nil || !held.Vote.UndoUntil.Equal(s.Now().Add(30*time.Second)) {
		t.Fatalf("the window does not begin with the last signature: %+v", held.Vote)
	}
	s.Clock.Step(time.Minute)
	storetest.Must(t, storetest.Err(s.ReleaseDue(t.Context(), 10)))
	got, err := s.Requests.Approval(t.Context(), s.Agent, a.ID)
	if err != nil || got.Status() != models.StatusApproved {
		t.Fatalf("%+v, %v", got, err)
	}
}

// TestSignaturesCountAtTheRelease: who left or was disabled since does not count, and the others need not sign again.
func TestSignaturesCountAtTheRelease(t *testing.T) {
	t.Parallel()
	for name, loses := range map[string]func(t *testing.T, s *signers){
		"left the group": func(t *testing.T, s *signers) { t.Helper(); s.leaves(t, "finance", s.bo) },
		"was disabled": func(t *testing.T, s *signers) {
			t.Helper()
			storetest.Must(t, storetest.Err(s.People.DisableUser(t.Context(), s.Admin, s.bo.UserID())))
		},
		"is an auditor": func(t *testing.T, s *signers) {
			t.Helper()
			storetest.Must(t, s.People.SetRole(t.Context(), s.Admin, s.bo.UserID(), models.RoleAuditor))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSigners(t, twoAndOne, `"undo_seconds":{"medium":30},`)
			a := s.pay(t, 1)
			s.votes(t, s.bo, a, storetest.Yes(), models.StatusPending)
			s.votes(t, s.dee, a, storetest.Yes(), models.StatusPending)
			s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
			loses(t, s)
			s.Clock.Step(time.Minute)
			storetest.Must(t, storetest.Err(s.ReleaseDue(t.Context(), 10)))
			got, err := s.Requests.Approval(t.Context(), s.Agent, a.ID)
			if err != nil || got.Status() != models.StatusPending || got.HeldUntil != nil {
				t.Fatalf("released on two signatures of three: %+v, %v", got, err)
			}
			s.votes(t, s.cy, a, storetest.Yes(), models.StatusPending)
			s.Clock.Step(time.Minute)
			storetest.Must(t, storetest.Err(s.ReleaseDue(t.Context(), 10)))
			if got, err := s.Requests.Approval(t.Context(), s.Agent, a.ID); err != nil || got.Status() != models.StatusApproved {
				t.Fatalf("%+v, %v", got, err)
			}
		})
	}
}

// TestTheOwnerDoesNotSignAlone: never, not alone, or as the rule says.
func TestTheOwnerDoesNotSignAlone(t *testing.T) {
	t.Parallel()
	one := `,"approvals":[{"from":["owner@example.com","group:finance"],"count":1}]`
	s := newSigners(t, one+`,"self_approval":"not_alone"`)
	a := s.pay(t, 1)
	s.votes(t, s.Owner, a, storetest.Yes(), models.StatusPending)
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusApproved)

	s = newSigners(t, `,"self_approval":"not_alone"`) // without entries, whoever may approve
	a = s.pay(t, 1)
	s.votes(t, s.Owner, a, storetest.Yes(), models.StatusPending)
	s.votes(t, s.Admin, a, storetest.Yes(), models.StatusApproved)
	s.votes(t, s.Admin, s.pay(t, 2), storetest.Yes(), models.StatusApproved)

	s = newSigners(t, one+`,"risk":"high"`) // never is what high risk means where people sign
	a = s.pay(t, 1)
	yes := storetest.Yes()
	yes.Digest = a.Digest
	s.refused(t, s.Owner, a, yes, models.CodeNotAReviewer, "You own this agent")
	s.votes(t, s.ann, a, yes, models.StatusApproved)

	s = newSigners(t, one+`,"risk":"high","self_approval":"allowed"`)
	a = s.pay(t, 1)
	yes.Digest = a.Digest
	s.votes(t, s.Owner, a, yes, models.StatusApproved)
}

// TestASubstituteSignsAsThePersonTheyStandFor: nobody signs through two hats.
func TestASubstituteSignsAsThePersonTheyStandFor(t *testing.T) {
	t.Parallel()
	s := newSigners(t, `,"approvals":[{"from":["ann@example.com","bo@example.com","cy@example.com"],"count":2}]`)
	sub, err := s.AskSubstitute(t.Context(), s.ann, s.ann.UserID(), s.dee.UserID())
	storetest.Must(t, err)
	storetest.Must(t, s.AcceptSubstitute(t.Context(), s.Admin, sub.ID))
	s.away(t, s.ann, s.dee)
	a := s.pay(t, 1)
	got := s.votes(t, s.dee, a, storetest.Yes(), models.StatusPending)
	if got.Vote.BehalfOf != s.ann.UserID() {
		t.Fatalf("dee signs for %q", got.Vote.BehalfOf)
	}
	s.refused(t, s.ann, a, storetest.Yes(), models.CodeNotAReviewer, "nobody signs twice")
	s.votes(t, s.bo, a, storetest.Yes(), models.StatusApproved)
}

// TestWhatTooFewCanSign is found at the save and at the ask; a request that waits says so at once, can be mended, and
// else expires as no_reviewer.
func TestWhatTooFewCanSign(t *testing.T) {
	t.Parallel()
	s := newSigners(t, twoAndOne)
	_, err := s.ApplyPolicy(t.Context(), s.Admin, []byte(payments(`,"approvals":[{"from":["group:oncall"],"count":3}]`)), "", 0)
	if text := models.FieldsOf(err)["rules[0].approvals"]; !strings.Contains(text, "not enough different people") {
		t.Errorf("saved: %v, %v", err, models.FieldsOf(err))
	}
	a, b := s.pay(t, 1), s.pay(t, 2)
	s.leaves(t, "finance", s.ann)
	s.leaves(t, "oncall", s.dee) // of bo and cy two are of finance, and then nobody is oncall
	row := func(id models.ResponseID) *models.Approval {
		got, err := s.Requests.Approval(t.Context(), s.Admin, id)
		storetest.Must(t, err)
		return got
	}
	if row(a.ID).StrandedAt == nil || row(a.ID).Status() != models.StatusPending {
		t.Fatalf("%+v", row(a.ID).Response)
	}
	if c := s.pay(t, 3); c.Status() != models.StatusRejected || c.Cause != models.CauseNoReviewer || !strings.Contains(c.Feedback(), "Not enough people") {
		t.Errorf("asked: %s %s %s", c.Status(), c.Cause, c.Feedback())
	}
	s.joins(t, "oncall", s.ann)
	if row(a.ID).StrandedAt != nil {
		t.Error("it is not signable again")
	}
	s.votes(t, s.bo, a, storetest.Yes(), models.StatusPending)
	s.votes(t, s.cy, a, storetest.Yes(), models.StatusPending)
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusApproved)
	storetest.Must(t, storetest.Err(s.People.DisableUser(t.Context(), s.Admin, s.bo.UserID())))
	s.passes(t, time.Hour)
	if got := row(b.ID); got.Status() != models.StatusExpired || got.Cause != models.CauseNoReviewer {
		t.Errorf("%s %s", got.Status(), got.Cause)
	}
}

// TestStepsHaveTimesOfTheirOwn within the request's deadline.
func TestStepsHaveTimesOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newSigners(t, `,"timeout_minutes":60,"stages":true,"approvals":[{"from":["group:finance"],"count":1,"minutes":10},{"from":["group:oncall"],"count":1,"minutes":20}]`)
	begin := s.Now()
	a, b := s.pay(t, 1), s.pay(t, 2)
	if !a.ApprovalTimeoutAt.Equal(begin.Add(10 * time.Minute)) {
		t.Fatalf("the first step ends at %s", a.ApprovalTimeoutAt)
	}
	s.Clock.Step(9 * time.Minute)
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	got, err := s.Requests.Approval(t.Context(), s.Agent, a.ID)
	if err != nil || !got.ApprovalTimeoutAt.Equal(begin.Add(29*time.Minute)) {
		t.Fatalf("the second step ends at %s, %v", got.ApprovalTimeoutAt, err)
	}
	s.passes(t, 10*time.Minute)
	if got, _ := s.Requests.Approval(t.Context(), s.Agent, b.ID); got.Status() != models.StatusExpired {
		t.Errorf("the first step's time is up: %s", got.Status())
	}
	s.votes(t, s.dee, a, storetest.Yes(), models.StatusApproved)
}

// TestAQuestionStopsTheStepsAfterItToo: the request's own time stands still while one is open, whether its step ends
// before the answer or after it.
func TestAQuestionStopsTheStepsAfterItToo(t *testing.T) {
	t.Parallel()
	for name, signsFirst := range map[string]bool{"signed after the answer": false, "signed before it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSigners(t, `,"timeout_minutes":60,"stages":true,"approvals":[{"from":["group:finance"],"count":1,"minutes":20},{"from":["group:oncall"],"count":1},{"from":["group:finance"],"count":1,"minutes":40}]`)
			a := s.pay(t, 1)
			begin := s.Now()
			s.Clock.Step(10 * time.Minute)
			storetest.Must(t, storetest.Err(s.AskBack(t.Context(), s.ann, a.ID, "Which invoice?")))
			s.Clock.Step(5 * time.Minute)
			storetest.Must(t, storetest.Err(s.AskBack(t.Context(), s.ann, a.ID, "And whose?"))) // the same pause goes on
			s.Clock.Step(10 * time.Minute)
			if signsFirst {
				s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
			}
			s.Clock.Step(5 * time.Minute)
			_, _, err := s.AnswerNote(t.Context(), s.Agent, a.ID, "It is in the input.")
			storetest.Must(t, err)
			if !signsFirst {
				s.Clock.Step(9 * time.Minute)
				s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
			}
			ends := func(want time.Duration) {
				got, err := s.Requests.Approval(t.Context(), s.Agent, a.ID)
				if err != nil || !got.ApprovalTimeoutAt.Equal(begin.Add(want)) || got.PausedLeft != nil {
					t.Errorf("the step ends after %s, want %s: %v", got.ApprovalTimeoutAt.Sub(begin), want, err)
				}
			}
			ends(80 * time.Minute)
			s.Clock.Step(15 * time.Minute)
			s.votes(t, s.dee, a, storetest.Yes(), models.StatusPending)
			ends(80 * time.Minute) // 40 minutes would be more than the request has
		})
	}
}

// TestNoGrantForWhatSeveralSign: neither made nor used, also by a grant from before the rule.
func TestNoGrantForWhatSeveralSign(t *testing.T) {
	t.Parallel()
	s := newSigners(t, ``)
	a := s.pay(t, 1)
	in := models.GrantInput{Digest: a.Digest, Hours: 1, Uses: 5, Page: models.NoPage}
	storetest.Must(t, storetest.Err(s.MakeGrant(t.Context(), s.Admin, a.ID, in)))
	if b := s.pay(t, 1); b.Status() != models.StatusNone {
		t.Fatalf("the grant does not cover: %s", b.Status())
	}
	s.UsePolicy(t, payments(twoAndOne))
	b := s.pay(t, 1)
	if b.Status() != models.StatusPending {
		t.Fatalf("a grant let through what several sign: %s", b.Status())
	}
	in.Digest = b.Digest
	wantCode(t, storetest.Err(s.MakeGrant(t.Context(), s.Admin, b.ID, in)), models.CodeWrongDecisionKind)
	in.Digest = a.Digest
	wantCode(t, storetest.Err(s.MakeGrant(t.Context(), s.Admin, a.ID, in)), models.CodeWrongDecisionKind)
}

// TestAnEditMayNotMeetOtherSigners: neither out of a count nor into another.
func TestAnEditMayNotMeetOtherSigners(t *testing.T) {
	t.Parallel()
	s := newSigners(t, ``)
	s.UsePolicy(t, `{"rules":[
 {"name":"Large","tools":["payment.send"],"when":"input.amount > 100","effect":"require","approvals":[{"from":["group:oncall"],"count":2}]},
 {"name":"Small","tools":["payment.send"],"when":"input.amount > 10","effect":"require"`+twoAndOne+`},
 {"name":"Tiny","tools":["payment.send"],"effect":"require"}]}`)
	edit := storetest.Yes()
	for amount, becomes := range map[int]int{50: 500, 5: 50} {
		a := s.pay(t, amount)
		edit.Input = fmt.Appendf(nil, `{"amount":%d}`, becomes)
		who := map[int]models.Actor{50: s.ann, 5: s.Owner}[amount]
		s.refused(t, who, a, edit, models.CodeInvalid, "other people sign")
	}
	edit.Input = []byte(`{"amount":51}`)
	a := s.pay(t, 50)
	s.votes(t, s.ann, a, edit, models.StatusPending)
}

// TestSignaturesSurviveARestart: what was signed is counted from rows.
func TestSignaturesSurviveARestart(t *testing.T) {
	t.Parallel()
	s := newSigners(t, twoAndOne)
	a := s.pay(t, 1)
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	s.votes(t, s.bo, a, storetest.Yes(), models.StatusPending)
	s.Use(storetest.Again(t, s.Store, storetest.WithClock(s.Clock)))
	s.votes(t, s.dee, a, storetest.Yes(), models.StatusApproved)
}
