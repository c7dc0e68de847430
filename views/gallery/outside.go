package gallery

import (
	"time"

	"countersign/models"
	"countersign/views/pages/inbox"
	"countersign/views/pages/requests"
)

// outsideCalls are two calls that another system asks to be approved; the input
// of the second was too large to be kept.
func outsideCalls() (asked, cut models.Approval) {
	asked = Call("Bash", `{"command":"make"}`)
	asked.UpstreamID, asked.CallID, asked.Context, asked.AgentName = new("u"), new("call_1"), `{"command":"make <b>all"}`, "release-bot"
	cut = asked
	cut.ID = "01890a5d-ac96-774b-bcce-b302099a8058"
	cut.Context, cut.InputBytes = "", new(int64(300_000))
	return asked, cut
}

// origin is where a call came from, with everything that can be said of it.
func origin() models.Origin {
	return models.Origin{
		UpstreamName: "night\u202E-shift", MatchedBy: models.MatchedByOrder,
		Beside:        `{"force":true,"note":"<b>ask\u202e twice"}`,
		Contradiction: "The other system asks with another input than the agent reported.",
		ParentID:      ConversationID, ParentRun: "run-1", ParentTitle: "<b>Ship it", StartedBy: "Task",
		StartedInput: `{"subagent_type":"reviewer\u202e"}`,
	}
}

// told is a verdict that the other system has not heard yet.
func told() *models.SendingState {
	return &models.SendingState{
		Verdict: models.VerdictApprove, VoterName: "Ada\u202E Berg", Attempts: 3, Problem: "The upstream failed (503).",
	}
}

func heldOrigin() models.Origin {
	from := origin()
	from.Delivery = told()
	return from
}

func outsideRequests() (asked, cut requests.Approval) {
	one, two := outsideCalls()
	asked = requests.New(requests.Input{
		Approval: one, Substitution: models.ActingPage{Right: Own}, Sees: true, Origin: origin(),
	}, Now)
	cut = requests.New(requests.Input{
		Approval: two, Substitution: models.ActingPage{Right: Own},
		Origin: models.Origin{UpstreamName: "night-shift", MatchedBy: "unmatched"},
	}, Now)
	return asked, cut
}

// refusals are decisions that did not become the outcome.
func refusals() []models.Withdrawal {
	return []models.Withdrawal{
		{
			At: Now.Add(-20 * time.Minute), Kind: models.WithdrawalByAdmin, ByName: "Bo Lind", Said: "hub is down until Monday",
			Lost: true, Verdict: models.VerdictApprove, VoterName: "Ada\u202E Berg",
		},
		{
			At: Now.Add(-3 * time.Minute), Kind: models.WithdrawalRefused, ByName: "night\u202E-shift", Status: 422,
			Said: "The run is over. <b>Press Approve</b>\u202e [key] again", Verdict: models.VerdictApprove,
			VoterName: "Ada\u202E Berg",
		},
	}
}

func outsideRefused() requests.Approval {
	one, _ := outsideCalls()
	one.Context = ""
	return requests.New(requests.Input{
		Approval: one, Substitution: models.ActingPage{Right: Own}, Sees: true,
		Origin: models.Origin{
			UpstreamName: "night\u202E-shift", ApprovalID: "appr_1", MatchedBy: models.MatchedByOnly, Withdrawals: refusals(),
		},
	}, Now)
}

func outsideHeld() requests.Approval {
	one, _ := outsideCalls()
	one.Context, one.HeldUntil = "", new(Now.Add(10*time.Minute))
	return requests.New(requests.Input{
		Approval: one, Substitution: models.ActingPage{Right: Own}, Sees: true, Admin: true,
		Origin: models.Origin{
			UpstreamName: "night\u202E-shift", ApprovalID: "appr_1", MatchedBy: models.MatchedByOnly, Delivery: told(),
		},
	}, Now)
}

func outsideInbox() inbox.Input {
	one, two := outsideCalls()
	return inbox.Input{Rows: Briefs(one, two), Count: 2, Origins: map[models.ResponseID]models.Origin{
		one.ID: heldOrigin(), two.ID: {UpstreamName: "night-shift", Withdrawals: refusals()},
	}}
}
