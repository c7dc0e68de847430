package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/policy"
	"countersign/models/storetest"
)

// TestNoSecondWayPastTheCount: neither a template that limits who approves, nor an edit into a stricter rule, nor the
// budget beside a signature, nor running without an answer.
func TestNoSecondWayPastTheCount(t *testing.T) {
	t.Parallel()
	t.Run("a template that the agent names", func(t *testing.T) {
		t.Parallel()
		s := newSigners(t, `,"reviewers":["ann@example.com"],"self_approval":"not_alone"`,
			`"templates":[{"name":"cy","reviewers":["cy@example.com","ann@example.com"],"reviewers_only":true},{"name":"only-cy","reviewers":["owner@example.com"],"reviewers_only":true}],`)
		a := s.AskFor(t, models.AskInput{ToolName: "payment.send", Input: []byte(`{"amount":1}`), Template: "only-cy"})
		if a.Status() != models.StatusRejected || a.Cause != models.CauseNoReviewer {
			t.Errorf("nobody but the owner may approve it: %s %s", a.Status(), a.Cause)
		}
		a = s.AskFor(t, models.AskInput{ToolName: "payment.send", Input: []byte(`{"amount":2}`), Template: "cy"})
		s.refused(t, s.Admin, a, storetest.Yes(), models.CodeNotAReviewer, "not one of those who sign")
		s.votes(t, s.ann, a, storetest.Yes(), models.StatusApproved)
	})
	t.Run("a risk that only the template raises", func(t *testing.T) {
		t.Parallel()
		s := newSigners(t, `,"approvals":[{"from":["owner@example.com","ann@example.com"],"count":1}]`, `"templates":[{"name":"grave","risk":"high"}],`)
		a := s.AskFor(t, models.AskInput{ToolName: "payment.send", Input: []byte(`{"amount":1}`), Template: "grave"})
		yes := storetest.Yes()
		yes.Digest = a.Digest
		s.refused(t, s.Owner, a, yes, models.CodeNotAReviewer, "You own this agent")
	})
	t.Run("an edit", func(t *testing.T) {
		t.Parallel()
		base := `,"effect":"require","reviewers":["ann@example.com"],"self_approval":"not_alone"`
		for _, large := range []string{base + `,"reviewers_only":true`, base + `,"substitutes":false`, `,"effect":"require","substitutes":false`} {
			s := newSigners(t, ``)
			s.UsePolicy(t, `{"rules":[{"name":"Large","tools":["payment.send"],"when":"input.amount > 100"`+large+`},{"name":"Small","tools":["payment.send"]`+base+`}]}`)
			edit := storetest.Yes()
			edit.Input = []byte(`{"amount":5000}`)
			s.refused(t, s.Admin, s.pay(t, 5), edit, models.CodeInvalid, "other people sign")
		}
	})
	t.Run("without an answer", func(t *testing.T) {
		t.Parallel()
		for rule, want := range map[string]bool{twoAndOne: false, `,"self_approval":"not_alone"`: false, ``: true} {
			p, err := policy.Parse([]byte(`{"fallback_auto_approve":true,"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require"` + rule + `}]}`))
			storetest.Must(t, err)
			if got := p.FallbackFor(policy.Call{Kind: models.KindToolCall, ToolName: "payment.send", At: time.Now()}); got != want {
				t.Errorf("%q may run without an answer: %v", rule, got)
			}
		}
	})
	t.Run("in the database", func(t *testing.T) {
		t.Parallel()
		s := newSigners(t, twoAndOne)
		a := s.pay(t, 1)
		if _, err := storetest.Tamper(t, s.Store).ExecContext(t.Context(), `UPDATE responses SET quorum = '' WHERE id = '`+string(a.ID)+`'`); err == nil {
			t.Error("who must sign a request that waits can be changed")
		}
	})
}

// TestWhatIsMetAgainCanBeSigned: somebody who had signed leaves and comes back, and all who must have signed; any of
// them settles it. What it rests on is named, and no other signature.
func TestWhatIsMetAgainCanBeSigned(t *testing.T) {
	t.Parallel()
	rule := `,"approvals":[{"from":["group:finance"],"count":2}]`
	s := newSigners(t, rule)
	a, b := s.pay(t, 1), s.pay(t, 2)
	for _, one := range []*models.Approval{a, b} {
		s.votes(t, s.ann, one, storetest.Yes(), models.StatusPending)
	}
	s.leaves(t, "finance", s.ann)
	for _, one := range []*models.Approval{a, b} {
		s.votes(t, s.bo, one, storetest.Yes(), models.StatusPending)
	}
	done := s.votes(t, s.cy, b, storetest.Yes(), models.StatusApproved)
	if got, err := s.Requests.Approval(t.Context(), s.Admin, done.ID); err != nil || len(got.Signatures) != 2 {
		t.Errorf("it rests on %+v, %v", got.Signatures, err)
	}
	s.joins(t, "finance", s.ann)
	rights, err := s.Rights(t.Context(), s.bo, a)
	if err != nil || !rights[a.ID].MayApprove || !rights[a.ID].After.Met {
		t.Errorf("%+v, %v", rights[a.ID], err)
	}
	s.votes(t, s.bo, a, storetest.Yes(), models.StatusApproved)
}

// TestAQuestionIsAnsweredOnce by one of those who would sign, and not by the owner who must not be alone.
func TestAQuestionIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	s := newSigners(t, ``, `"templates":[{"name":"signed","approvals":[{"from":["admin@example.com","ann@example.com"],"count":2}]},{"name":"shared","self_approval":"not_alone"}],`)
	answer := models.DecisionInput{Answer: new("yes"), Page: models.NoPage}
	ask := func(template string) *models.Approval {
		return s.AskFor(t, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "May I?"}, Template: template})
	}
	q := ask("signed")
	s.refused(t, s.Owner, q, answer, models.CodeNotAReviewer, "")
	if page, err := s.RequestPage(t.Context(), s.Admin, q.ID, false); err != nil || page.Substitution.Ballot != nil || !page.Substitution.MayApprove {
		t.Errorf("its page: %+v, %v", page.Substitution, err)
	}
	s.votes(t, s.Admin, q, answer, models.StatusApproved)
	q = ask("shared")
	s.refused(t, s.Owner, q, answer, models.CodeNotAReviewer, "")
	s.votes(t, s.Admin, q, answer, models.StatusApproved)
}

// TestThePageSaysThatOthersWouldSignNow, where the policy has changed since the ask.
func TestThePageSaysThatOthersWouldSignNow(t *testing.T) {
	t.Parallel()
	s := newSigners(t, twoAndOne)
	a := s.pay(t, 1)
	s.UsePolicy(t, payments(twoAndOne+`,"show_progress":false,"note":"as before"`))
	if around := s.around(t, s.ann, a.ID); around.Now.Differs {
		t.Errorf("the same rule: %+v", around.Now)
	}
	s.UsePolicy(t, payments(strings.Replace(twoAndOne, `"count":2`, `"count":1`, 1)))
	if around := s.around(t, s.ann, a.ID); !around.Now.Differs {
		t.Errorf("one of finance is enough by now: %+v", around.Now)
	}
}

// TestWhoHasSignedIsRemindedNoMore, unless somebody edits the input that they signed.
func TestWhoHasSignedIsRemindedNoMore(t *testing.T) {
	t.Parallel()
	s := newSigners(t, twoAndOne)
	session, _ := storetest.Session(t, s.Store, "ann@example.com")
	_, err := s.People.AddChannel(t.Context(), session, models.ChannelInput{Kind: models.ChannelWebPush, Target: models.ChannelTarget{
		URL: "https://push.example.com/x", P256dh: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", Auth: "tBHItJI5svbpez7KI4CCXg",
	}})
	storetest.Must(t, err)
	settings := models.DefaultNotificationSettings()
	settings.Moments[models.RiskMedium] = models.Moments{AtOnce: true, UnseenMinutes: 1, Half: true}
	storetest.Must(t, s.People.SetNotificationSettings(t.Context(), s.ann, settings))
	a := s.pay(t, 1)
	due := func() int {
		return storetest.Scalar[int](t, s.Store, `SELECT count(*) FROM notices WHERE response_id = ? AND recipient = ?`, a.ID, s.ann.UserID())
	}
	before := due()
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	signed := due()
	edit := storetest.Yes()
	edit.Input = []byte(`{"amount":9}`)
	s.votes(t, s.bo, a, edit, models.StatusPending)
	if again := due(); before == 0 || signed != 0 || again == 0 {
		t.Errorf("%d notices are due, %d after the signature, %d after the edit", before, signed, again)
	}
}

const inEmergency = twoAndOne + `,"break_glass":["group:incident"]`

func alone(reason string) models.DecisionInput {
	in := storetest.Yes()
	in.BreakGlass, in.Reason = true, reason
	return in
}

const why = "The disk of production is full, and nobody of finance answers."

// newIncident has eve in the group that may break glass, and dee too.
func newIncident(t *testing.T, rule string, settings ...string) (*signers, models.Actor) {
	t.Helper()
	s := newSigners(t, "")
	eve := storetest.Reviewer(t, s.Store, "eve@example.com")
	s.group(t, "incident", eve, s.dee)
	s.UsePolicy(t, "{"+strings.Join(settings, "")+strings.TrimPrefix(payments(rule), "{"))
	return s, eve
}

// TestGlassIsBroken by one whom the rule names for it: they see the request and are not asked, decide alone with a
// reason, and the ledger and the vote name whose signatures they did without.
func TestGlassIsBroken(t *testing.T) {
	t.Parallel()
	s, eve := newIncident(t, inEmergency)
	a := s.pay(t, 1)
	rights, err := s.Rights(t.Context(), eve, a)
	if r := rights[a.ID]; err != nil || r.Own || r.MayApprove || !r.BreaksGlass {
		t.Fatalf("eve may %+v, %v", r, err)
	}
	if rights, err = s.Rights(t.Context(), s.ann, a); err != nil || rights[a.ID].BreaksGlass || !rights[a.ID].MayApprove {
		t.Fatalf("ann may %+v, %v", rights[a.ID], err)
	}
	s.refused(t, eve, a, storetest.Yes(), models.CodeNotAReviewer, "not one of those who sign")
	s.refused(t, eve, a, storetest.No("stop"), models.CodeNotAReviewer, "not asked about this request")
	s.refused(t, s.ann, a, alone(why), models.CodeNotAReviewer, "not one of those who may break glass")
	s.refused(t, s.Admin, a, alone(why), models.CodeNotAReviewer, "not one of those who may break glass")
	s.refused(t, eve, a, alone("................ urgent"), models.CodeCommentRequired, "20 letters")
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	done := s.votes(t, eve, a, alone(why), models.StatusApproved)
	got, err := s.Requests.Approval(t.Context(), s.Admin, done.ID)
	storetest.Must(t, err)
	var skipped []string
	for _, p := range got.Vote.Skipped() {
		skipped = append(skipped, p.Name)
	}
	if !got.Vote.BrokeGlass() || strings.Join(skipped, " ") != "bo@example.com cy@example.com dee@example.com" {
		t.Errorf("skipped: %q of %+v", skipped, got.Vote)
	}
	if len(got.Signatures) != 2 {
		t.Errorf("the signatures on it: %+v", got.Signatures)
	}
	var entries []string
	all, err := s.Ledger.EntriesAfter(t.Context(), 0, 1000)
	storetest.Must(t, err)
	for _, e := range all {
		if e.ResponseID == a.ID && strings.Contains(e.Data, "broke_glass") {
			entries = append(entries, e.Action+" "+e.Data)
		}
	}
	if len(entries) != 2 || !strings.Contains(entries[0], `"skipped_count":3`) || !strings.Contains(entries[0], `"name":"dee@example.com"`) ||
		!strings.HasPrefix(entries[1], "approval.approved") {
		t.Errorf("the ledger says %q", entries)
	}
}

// TestGlassIsNotForTheAgentsOwner, nor for a question, nor for what one person decides, nor needed by the last signer,
// nor a way for a template that an agent names.
func TestGlassIsNotForTheAgentsOwner(t *testing.T) {
	t.Parallel()
	for self, code := range map[string]models.Code{
		"": "", "allowed": "", "not_alone": models.CodeNotAReviewer, "never": models.CodeNotAReviewer,
	} {
		rule := twoAndOne + `,"break_glass":["owner@example.com"]`
		if self != "" {
			rule += `,"self_approval":"` + self + `"`
		}
		s, _ := newIncident(t, rule)
		a := s.pay(t, 1)
		if code != "" {
			s.refused(t, s.Owner, a, alone(why), code, "may break glass")
			continue
		}
		s.votes(t, s.Owner, a, alone(why), models.StatusApproved)
	}
	s, eve := newIncident(t, inEmergency, `"templates":[{"name":"signed","approvals":[{"from":["admin@example.com","group:finance"],"count":2}],"break_glass":["group:incident"]}],`)
	q := s.AskFor(t, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "May I?"}, Template: "signed"})
	answer := models.DecisionInput{Answer: new("yes"), Page: models.NoPage, BreakGlass: true, Reason: why}
	s.refused(t, s.Admin, q, answer, models.CodeInvalid, "several people sign")
	s.refused(t, s.Admin, s.AskFor(t, models.AskInput{ToolName: "other", Explicit: true}), alone(why), models.CodeInvalid, "several people sign")
	a := s.pay(t, 1)
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	s.votes(t, s.bo, a, storetest.Yes(), models.StatusPending)
	s.refused(t, s.dee, a, alone(why), models.CodeInvalid, "not needed")
	s.votes(t, eve, a, alone(why), models.StatusApproved)
	s.UsePolicy(t, `{"templates":[{"name":"signed","approvals":[{"from":["group:finance"],"count":2}],"break_glass":["group:incident"]}],"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require"}]}`)
	a = s.AskFor(t, models.AskInput{ToolName: "payment.send", Input: []byte(`{"amount":9}`), Template: "signed"})
	if _, err := s.Decide(t.Context(), eve, a.ID, alone(why)); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("the template of an agent lets eve decide alone: %v", err)
	}
}

// TestGlassCountsAtTheRelease: who may not break it any more, when its undo window ends, has decided nothing; and no
// other's signature is needed, or ends it.
func TestGlassCountsAtTheRelease(t *testing.T) {
	t.Parallel()
	s, eve := newIncident(t, inEmergency, `"undo_seconds":{"medium":30},`)
	a, b := s.pay(t, 1), s.pay(t, 2)
	s.votes(t, s.ann, b, storetest.Yes(), models.StatusPending)
	for _, one := range []*models.Approval{a, b} {
		s.votes(t, eve, one, alone(why), models.StatusPending)
	}
	if _, err := s.Undo(t.Context(), s.ann, b.ID); models.ErrorCode(err) != models.CodeBeingDecided {
		t.Errorf("ann undoes it: %v", err)
	}
	s.leaves(t, "incident", eve)
	s.Clock.Step(time.Minute)
	storetest.Must(t, storetest.Err(s.ReleaseDue(t.Context(), 10)))
	for _, one := range []*models.Approval{a, b} {
		if got, err := s.Requests.Approval(t.Context(), s.Agent, one.ID); err != nil || got.Status() != models.StatusPending || got.HeldUntil != nil {
			t.Fatalf("released by one who had left: %+v, %v", got, err)
		}
	}
	if _, err := s.Decide(t.Context(), eve, a.ID, alone(why)); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("who has left sees it: %v", err)
	}
	s.joins(t, "incident", eve)
	s.votes(t, eve, a, alone(why), models.StatusPending)
	s.votes(t, s.dee, b, alone(why), models.StatusPending)
	s.Clock.Step(time.Minute)
	storetest.Must(t, storetest.Err(s.ReleaseDue(t.Context(), 10)))
	for _, one := range []*models.Approval{a, b} {
		if got, err := s.Requests.Approval(t.Context(), s.Agent, one.ID); err != nil || got.Status() != models.StatusApproved {
			t.Fatalf("%+v, %v", got, err)
		}
	}
}

// TestWhoMayBreakGlassFollowsItsGroup, and who is asked besides goes on being asked.
func TestWhoMayBreakGlassFollowsItsGroup(t *testing.T) {
	t.Parallel()
	s, eve := newIncident(t, inEmergency)
	a := s.pay(t, 1)
	right := func(who models.Actor) models.Right {
		t.Helper()
		rights, err := s.Rights(t.Context(), who, a)
		storetest.Must(t, err)
		return rights[a.ID]
	}
	s.joins(t, "finance", eve)
	if r := right(eve); !r.Own || !r.MayApprove || !r.BreaksGlass {
		t.Errorf("eve joined finance: %+v", r)
	}
	routed := func() int {
		return storetest.Scalar[int](t, s.Store, `SELECT count(*) FROM ledger WHERE action = 'approval.routed'`)
	}
	before := routed()
	s.joins(t, "oncall", eve)
	if n := routed() - before; n != 0 {
		t.Errorf("eve, who is asked, joined oncall: routed %d times more", n)
	}
	s.leaves(t, "oncall", eve)
	s.leaves(t, "finance", eve)
	if r := right(eve); r.Own || r.MayApprove || !r.BreaksGlass {
		t.Errorf("eve left finance: %+v", r)
	}
	s.leaves(t, "incident", s.dee)
	if r := right(s.dee); !r.Own || !r.MayApprove || r.BreaksGlass {
		t.Errorf("dee left incident: %+v", r)
	}
	s.leaves(t, "oncall", s.dee)
	if _, err := s.Requests.Approval(t.Context(), s.dee, a.ID); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("dee is in neither group and sees it: %v", err)
	}
}

// TestGlassRejectsAlone, where several people reject together.
func TestGlassRejectsAlone(t *testing.T) {
	t.Parallel()
	s, eve := newIncident(t, inEmergency+`,"reject_count":3`)
	a := s.pay(t, 1)
	s.votes(t, s.ann, a, storetest.No("no"), models.StatusPending)
	no := storetest.No(why)
	no.BreakGlass = true
	s.votes(t, eve, a, no, models.StatusRejected)
}

// TestAgentsHearOfNoSigner, and of how many have signed only where the rule says so; people hear of all.
func TestAgentsHearOfNoSigner(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{twoAndOne: "", twoAndOne + `,"show_progress":true`: "1 of 3"} {
		s := newSigners(t, rule)
		a := s.pay(t, 1)
		s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
		got, err := s.Requests.Approval(t.Context(), s.Agent, a.ID)
		storetest.Must(t, err)
		told, err := s.WaitsFor(t.Context(), s.Agent, got)
		storetest.Must(t, err)
		if count := told[0].Count; (count != nil) != (want != "") || count != nil && count.Progress() != want || told[0].Ballot != nil {
			t.Errorf("%s: the agent hears of %+v", rule, told[0])
		}
		if said := fmt.Sprint(told[0].Reviewers, told[0].Text); strings.Contains(said, "@") || strings.Contains(said, "finance") {
			t.Errorf("%s: the agent hears %q", rule, said)
		}
		seen, err := s.WaitsFor(t.Context(), s.Admin, got)
		storetest.Must(t, err)
		if b := seen[0].Ballot; b == nil || len(b.Votes) != 1 || !strings.Contains(seen[0].Text, "1 of finance and 1 of oncall (1 of 3)") {
			t.Errorf("%s: an admin hears of %+v", rule, seen[0])
		}
		s.votes(t, s.bo, a, storetest.Yes(), models.StatusPending)
		done := s.votes(t, s.dee, a, storetest.Yes(), models.StatusApproved)
		for i, who := range []models.Actor{s.Agent, s.Admin} {
			want := 3 * i
			if got, err := s.Requests.Approval(t.Context(), who, done.ID); err != nil || len(got.Signatures) != want {
				t.Errorf("%s: %s hears of %d signatures, want %d: %v", rule, who.Name, len(got.Signatures), want, err)
			}
		}
	}
}

// TestAStepTakesNoTimeAway that the request was given, and later steps have theirs if the first has none.
func TestAStepTakesNoTimeAway(t *testing.T) {
	t.Parallel()
	s := newSigners(t, `,"timeout_minutes":60,"stages":true,"approvals":[{"from":["group:finance"],"count":1},{"from":["group:oncall"],"count":1,"minutes":20}]`)
	begin := s.Now()
	a := s.pay(t, 1)
	storetest.Must(t, storetest.Err(s.Extend(t.Context(), s.ann, a.ID, begin.Add(110*time.Minute))))
	s.Clock.Step(70 * time.Minute)
	s.votes(t, s.ann, a, storetest.Yes(), models.StatusPending)
	got, err := s.Requests.Approval(t.Context(), s.Agent, a.ID)
	if err != nil || !got.ApprovalTimeoutAt.Equal(begin.Add(90*time.Minute)) {
		t.Errorf("the second step ends at %s, %v", got.ApprovalTimeoutAt.Sub(begin), err)
	}
}

// TestRacersReleaseNothingBelowTheCount: 64 at once vote, edit, take back, reject and change who may; each request has
// one outcome, and an approval rests on enough distinct people who signed the same input.
func TestRacersReleaseNothingBelowTheCount(t *testing.T) {
	t.Parallel()
	s, eve := newIncident(t, inEmergency)
	people := []models.Actor{s.ann, s.bo, s.cy, s.dee, s.Owner, s.Admin, eve}
	var asked []*models.Approval
	for i := range 12 {
		asked = append(asked, s.pay(t, i))
	}
	var racers sync.WaitGroup
	for i := range 64 {
		racers.Go(func() {
			who := people[i%len(people)]
			for k, a := range asked {
				in := storetest.Yes()
				in.Digest = a.Digest
				switch (i/len(people) + k) % 7 {
				case 4:
					in.Input = []byte(`{"amount":100}`)
				case 5:
					_, _ = s.Undo(t.Context(), who, a.ID)
				case 6:
					if i == 60 {
						_ = s.People.LeaveGroup(t.Context(), s.Admin, "finance", s.bo.UserID())
						_ = s.People.JoinGroup(t.Context(), s.Admin, "finance", s.bo.Name)
					}
					if k%4 == 3 {
						in = storetest.No("no")
					}
				}
				if who.ID == eve.ID {
					if k%3 != 0 {
						continue
					}
					in = alone(why)
				}
				_, _ = s.Decide(t.Context(), who, a.ID, in)
			}
		})
	}
	racers.Wait()
	approved, broke := 0, 0
	for _, a := range asked {
		got, err := s.Requests.Approval(t.Context(), s.Admin, a.ID)
		storetest.Must(t, err)
		if n := storetest.Scalar[int](t, s.Store, `SELECT count(*) FROM ledger WHERE response_id = ? AND action IN ('approval.approved', 'approval.rejected')`, a.ID); n > 1 || (n == 1) != got.Status().Final() {
			t.Errorf("%s has %d outcomes", got.Status(), n)
		}
		if got.Status() != models.StatusApproved {
			continue
		}
		approved++
		if got.Vote.BrokeGlass() {
			if broke++; got.Vote.UserID != eve.UserID() {
				t.Errorf("%s broke glass", got.Vote.UserName)
			}
			continue
		}
		who := storetest.Column(t, s.Store, `SELECT user_id FROM votes WHERE response_id = ? AND withdrawn_at IS NULL AND verdict = 'approve' ORDER BY user_id`, a.ID)
		if inputs := storetest.Scalar[int](t, s.Store, `SELECT count(DISTINCT coalesce(input_digest, '')) FROM votes WHERE response_id = ? AND withdrawn_at IS NULL AND verdict = 'approve'`, a.ID); len(who) != 3 || len(slices.Compact(who)) != 3 || inputs != 1 {
			t.Errorf("released on %v, of %d inputs", who, inputs)
		}
	}
	if approved == broke {
		t.Errorf("of %d approvals %d broke glass", approved, broke)
	}
}

// TestNobodyBreaksGlassForAnother, as their substitute or by a hand-over: it takes one's own right.
func TestNobodyBreaksGlassForAnother(t *testing.T) {
	t.Parallel()
	s, eve := newIncident(t, inEmergency)
	sub, err := s.AskSubstitute(t.Context(), eve, eve.UserID(), s.bo.UserID())
	storetest.Must(t, err)
	storetest.Must(t, s.AcceptSubstitute(t.Context(), s.Admin, sub.ID))
	s.away(t, eve, s.bo)
	a := s.pay(t, 1)
	s.refused(t, s.bo, a, alone(why), models.CodeNotAReviewer, "may break glass")
	s.votes(t, eve, a, alone(why), models.StatusApproved)
}
