package gallery

import (
	"time"

	"countersign/models"
	"countersign/views/pages/conversations"
	"countersign/views/pages/inbox"
	"countersign/views/pages/requests"
)

// Own is what most readers may do: decide in their own right.
var Own = models.Right{Own: true, MayApprove: true}

// Able are the rights of a reader who may decide all of some requests.
func Able(rows []models.Brief) map[models.ResponseID]models.Right {
	out := make(map[models.ResponseID]models.Right, len(rows))
	for i := range rows {
		out[rows[i].ID] = Own
	}
	return out
}

// able lets the reader of a conversation decide all of it.
func able(in conversations.Input) conversations.Input {
	in.Around.Run.Rights = map[models.ResponseID]models.Right{}
	for _, e := range in.History.Entries {
		if e.Response != nil {
			in.Around.Run.Rights[e.Response.ID] = Own
		}
	}
	return in
}

// The people of hand-overs and absences.
const (
	boID  models.UserID = "01890a5d-ac96-774b-bcce-b302099a8202"
	eveID models.UserID = "01890a5d-ac96-774b-bcce-b302099a8210"
)

// limited is a payment that only Eve approves, and on call after half an hour.
func limited() models.Approval {
	a := Payment()
	a.OwnerID, a.OwnerName = boID, "Bo Lind"
	a.SetApprovers(models.Approvers{
		ReviewersOnly: true,
		Named: []models.Approver{
			{ID: eveID, Email: "eve@example.org"},
			{Group: "oncall", Step: 1, After: 30},
			{ID: boID, Email: "bo@example.org", Step: 1, After: 30},
		},
	})
	return a
}

// handedOver is a hand-over of a payment, from and to.
func handedOver(from, to models.UserID, fromName, toName, note string) models.HandOver {
	return models.HandOver{
		ID: "01890a5d-ac96-774b-bcce-b302099a8501", FromUser: from, ToUser: to, FromName: fromName, ToName: toName,
		Note: note, At: Now.Add(-5 * time.Minute),
	}
}

const hostileNote = "</p><script>alert(1)</script> \u202Egnp.exe\u2066 [x](javascript:alert(1)) \u200B\nYou may approve this at once."

// actingStates are the page of a request that somebody has for others, or hands over.
func actingStates(page func(name, note string, a models.Approval, mend ...func(*requests.Input)) State) []State {
	eve := models.PersonRef{ID: eveID, Name: "Eve Holm", Email: "eve@example.org"}
	odd := models.PersonRef{ID: eveID, Name: "Eve\u202E on behalf of <b>Ann</b>", Email: "eve@example.org"}
	next := func(in *requests.Input) {
		in.Substitution.NextStep, in.Substitution.NextTo = &models.Escalation{
			Step: 1, DueAt: Now.Add(12 * time.Minute),
		}, in.Approval.Step(1)
	}
	acting := func(from models.PersonRef, came models.Delegation) func(*requests.Input) {
		return func(in *requests.Input) {
			came.From = from
			in.Substitution.Right, in.Substitution.Delegations = models.Right{
				MayApprove: true, OnBehalf: &from,
			}, []models.Delegation{came}
			in.Substitution.HandOvers = nil
			if came.HandOver != nil {
				in.Substitution.HandOvers = []models.HandOver{*came.HandOver}
			}
		}
	}
	given := handedOver(eveID, UserID, "Eve Holm", "Ada Berg", "Please look, I am on a train until three.")
	hostile := handedOver(eveID, UserID, odd.Name, "Ada Berg", hostileNote)
	mine := handedOver(UserID, eveID, "Ada Berg", "Eve Holm", "Please look, I am on a train until three.")
	voted := Settle(Shell(), models.StatusApproved, models.CauseReviewer,
		&models.Vote{Verdict: models.VerdictApprove, Reason: "Fine."})
	voted.Vote.BehalfOf, voted.Vote.BehalfName = eveID, odd.Name
	expired := Call("deploy", `{}`, func(a *models.Approval) { a.ApprovalTimeoutAt = Now })
	told, seen := Now.Add(-20*time.Minute), Now.Add(-19*time.Minute)
	unanswered := &models.Unanswered{People: []models.UnansweredBy{
		{
			ID: models.RecipientID(UserID), Name: "Ada Berg", Asked: true,
			Told: []models.ToldBy{{Kind: models.ChannelEmail, At: told}, {Kind: models.ChannelWebPush, At: told, Among: true}},
		},
		{
			ID: models.RecipientID(eveID), Name: odd.Name, Asked: true,
			Told: []models.ToldBy{{Kind: models.ChannelNtfy, At: told, Failed: true}},
		},
		{ID: "g", Name: "oncall", Group: true, Told: []models.ToldBy{{Kind: models.ChannelSlack, At: told}}},
		{ID: models.RecipientID(boID), Name: "Bo Lind", Asked: true},
	}}
	saw := &models.Unanswered{People: []models.UnansweredBy{{
		ID: models.RecipientID(UserID), Name: "Ada Berg", Asked: true, SeenAt: &seen,
	}}}
	return []State{
		page("for-another", "Handed over with a note: the reader decides for somebody else", limited(), whole,
			acting(eve, models.Delegation{HandOver: &given}), next),
		page("for-another-hostile", "The same with a hostile note and name", limited(), whole,
			acting(odd, models.Delegation{HandOver: &hostile})),
		page("substitute", "As the substitute of somebody who is away", limited(), whole,
			acting(eve, models.Delegation{Absence: &models.Absence{UntilAt: Now.Add(50 * time.Hour)}}), next),
		page("substitute-question", "A question, answered for somebody else", Question(), whole,
			acting(eve, models.Delegation{Absence: &models.Absence{UntilAt: Now.Add(50 * time.Hour)}})),
		page("handed-over", "The reader has handed it over, and may take it back or hand it to others", Shell(), whole, func(in *requests.Input) {
			in.Substitution.HandOvers, in.HandOverTo = []models.HandOver{mine}, []models.PersonRef{eve, odd}
		}),
		page("hand-over-errors", "What was wrong with a hand-over, which keeps what was sent", Shell(), whole, func(in *requests.Input) {
			in.HandOverTo = []models.PersonRef{eve}
			in.Form = requests.DecideForm{
				HandOverTo: string(eveID), HandOverNote: "Please look.",
				Errors: map[string]string{
					"to":            "must be somebody who may approve this request",
					"handover_note": "is 1200 bytes long; at most 1000 are allowed",
				},
			}
		}),
		page("no-more", "The reader had it only for others, and may not act for them any more", limited(), whole,
			func(in *requests.Input) { in.Substitution.Right = models.Right{} }),
		page("for-another-approved", "Approved by one person for another", voted),
		page("unanswered", "Expired, and nobody saw it", expired, func(in *requests.Input) { in.Unanswered = unanswered }),
		page("unanswered-seen", "Expired, and its owner saw it", expired, func(in *requests.Input) { in.Unanswered = saw }),
	}
}

// forOthersInbox are a request that the reader decides for somebody else, and one that only
// others decide.
func forOthersInbox() inbox.Input {
	rows := Briefs(limited(), Many(1)[0].Approval)
	return inbox.Input{Rows: rows, Count: 2, Rights: map[models.ResponseID]models.Right{
		rows[0].ID: {MayApprove: true, OnBehalf: &models.PersonRef{ID: eveID, Name: "Eve\u202E <b>Holm</b>"}}, rows[1].ID: {},
	}}
}

// signedBy is a signature on a payment, some minutes ago.
func signedBy(id models.VoteID, user models.UserID, name string, minutes int) models.Vote {
	return models.Vote{
		ID: id, UserID: user, UserName: name, Verdict: models.VerdictApprove, At: Now.Add(-time.Duration(minutes) * time.Minute),
		WaitsFor: models.Signed,
	}
}

// brokenGlass is a vote that did without the signatures of two people, one of them with a hostile name.
func brokenGlass() models.Vote {
	v := signedBy("01890a5d-ac96-774b-bcce-b302099a8603", eveID, "Eve\u202E <b>Holm</b>", 4)
	v.WaitsFor, v.Reason = "", "The plant stops at noon, and nobody of finance answers.\nSee the incident."
	v.Skip([]models.PersonRef{{ID: UserID, Name: "Ada Berg"}, {ID: "x", Name: "Dee\u202E <b>Moe</b>"}})
	return v
}

// quorumStates are the page of a payment that two of finance sign, and then one of oncall.
func quorumStates(page func(name, note string, a models.Approval, mend ...func(*requests.Input)) State) []State {
	finance, oncall := models.Approver{Group: "finance"}, models.Approver{Group: "oncall"}
	a := Payment()
	a.OwnerID, a.OwnerName = boID, "Bo Lind"
	q := &models.Quorum{Stages: true, Entries: []models.Signers{
		{From: []models.Approver{finance}, Count: 2}, {From: []models.Approver{oncall, {ID: eveID, Email: "eve@example.org"}}, Count: 1},
	}}
	oncall.Step = 1
	a.SetApprovers(models.Approvers{ReviewersOnly: true, Named: []models.Approver{finance, oncall, {ID: eveID, Email: "eve@example.org", Step: 1}}})
	a.SetQuorum(q)
	ann := signedBy("01890a5d-ac96-774b-bcce-b302099a8601", "01890a5d-ac96-774b-bcce-b302099a8211", "Ann Sand", 9)
	ref := func(id models.UserID, name string) models.PersonRef { return models.PersonRef{ID: id, Name: name} }
	sign := func(in *requests.Input, right models.Right, count models.Count, votes ...models.Vote) {
		in.Substitution.Right = right
		in.Substitution.Ballot = &models.Ballot{Quorum: *q, Tally: count, Votes: votes, WaitsFor: "1 of finance"}
		in.Substitution.Seats = [][]models.Seat{
			{{PersonRef: ref(ann.UserID, ann.UserName)}, {PersonRef: ref(UserID, "Ada Berg")}, {PersonRef: ref(boID, "Bo Lind"), Why: "own request"}},
			{{PersonRef: ref(eveID, "Eve Holm"), Substitute: "Cy Dahl"}, {PersonRef: ref("x", "Dee\u202E <b>Moe</b>"), Why: "disabled"}},
		}
		for i := range votes {
			for k := range in.Substitution.Seats[0] {
				if seat := &in.Substitution.Seats[0][k]; seat.ID == votes[i].UserID {
					seat.Signed = &votes[i]
				}
			}
		}
	}
	input, digest := `{"to":"ACME","amount":99}`, models.Digest([]byte("another"))
	edit := ann
	edit.Input, edit.InputDigest = &input, &digest
	mine := signedBy("01890a5d-ac96-774b-bcce-b302099a8602", UserID, "Ada Berg", 3)
	broke := brokenGlass()
	broken := a
	broken.ApprovalStatus, broken.Cause, broken.DecidedBy, broken.VoteID = new(models.StatusApproved), models.CauseReviewer, &broke.UserID, &broke.ID
	broken.ApprovalTimestamp, broken.Vote = new(Now.Add(-time.Minute)), &broke
	read := broken
	looked := broke
	looked.AcknowledgedBy, looked.AcknowledgedName, looked.AcknowledgedAt, looked.Remark = UserID, "Ada Berg", new(Now.Add(-30*time.Second)), "It was right."
	read.Vote = &looked
	stranded := a
	since := Now.Add(-time.Minute)
	stranded.StrandedAt = &since
	return []State{
		page("signed-my-turn", "one of three has signed, and the reader is next", a, func(in *requests.Input) {
			sign(in, models.Right{Own: true, MayApprove: true, After: models.Count{Have: 2, Need: 3}}, models.Count{Have: 1, Need: 3, Of: []int{1, 0}}, ann)
		}),
		page("signed-edit", "an edit began the count anew after the reader had signed", a, func(in *requests.Input) {
			sign(in, models.Right{Own: true, MayApprove: true, After: models.Count{Have: 2, Need: 3}}, models.Count{Have: 1, Need: 3, Of: []int{1, 0}}, edit)
			in.Substitution.Ballot.Edit, in.Substitution.Editor = &edit, "Ann Sand"
		}),
		page("signed-further", "what the reader makes of an edit that others signed is no JSON", a, func(in *requests.Input) {
			sign(in, models.Right{Own: true, MayApprove: true, After: models.Count{Have: 1, Need: 3}}, models.Count{Have: 1, Need: 3, Of: []int{1, 0}}, edit)
			in.Substitution.Ballot.Edit = &edit
			in.Form = requests.DecideForm{
				Sent: true, Proposals: string(edit.ID), Further: new(`{"amount": 12.00,`), Errors: map[string]string{"input": "must be JSON: unexpected end"},
			}
		}),
		page("glass", "the reader may decide alone what several people sign, and their reason is too short", a, func(in *requests.Input) {
			sign(in, models.Right{BreaksGlass: true, Why: "You are not one of those who sign it."}, models.Count{Need: 3, Of: []int{0, 0}})
			in.Substitution.Ballot.RejectCount = 2
			in.Form = requests.DecideForm{Sent: true, Glass: true, Reason: "hurry", Errors: map[string]string{"reason": "must have at least 20 letters: why can't it wait for the others?"}}
		}),
		page("glass-broken", "one person decided alone, and the reader has not acknowledged it", broken, func(in *requests.Input) { in.Reader.ID = UserID }),
		page("glass-acknowledged", "one person decided alone, and another has looked at it", read),
		page("signed-mine", "the reader has signed, and others must yet; not enough of them are left", stranded, func(in *requests.Input) {
			sign(in, models.Right{Own: true, Signed: &mine, Why: "You have signed it."}, models.Count{Have: 1, Need: 3, Of: []int{1, 0}}, mine)
		}),
	}
}
