package gallery

import (
	"time"

	"countersign/models"
	"countersign/views"
)

// Now is the time of all fixtures.
var Now = time.Date(2026, 11, 20, 10, 30, 0, 0, time.UTC)

// Whose the fixtures are.
const (
	ConversationID = models.ConversationID("01890a5d-ac96-774b-bcce-b302099a8001")
	AgentID        = models.AgentID("01890a5d-ac96-774b-bcce-b302099a8101")
	UserID         = models.UserID("01890a5d-ac96-774b-bcce-b302099a8201")
)

// Frame is the shell around a page: an admin, for whom three requests wait.
func Frame(title, path string) views.Page {
	return views.Page{
		Title: title, Path: path, Now: Now, Inbox: 3,
		Viewer: &views.Viewer{ID: UserID, Name: "Ada Berg", Email: "ada@example.org", Admin: true},
	}
}

// Call is a pending tool call with consistent digest; mend changes it before the
// digest is made. It panics for an input that has no canonical form.
func Call(tool, input string, mend ...func(*models.Approval)) models.Approval {
	asked := Now.Add(-79 * time.Second)
	a := models.Approval{
		Response: models.Response{
			ID: "01890a5d-ac96-774b-bcce-b302099a8057", ConversationID: ConversationID, Sequence: 7, OwnerID: UserID,
			AgentID: AgentID,
			Kind:    models.KindToolCall, CreatedAt: asked, ToolUseID: new("toolu_01"),
			Risk: models.RiskMedium, RequiresApproval: true, ApprovalStatus: new(models.StatusPending),
			PolicyVersion: 7, ApprovalRequestedAt: &asked, ApprovalTimeoutAt: asked.Add(5 * time.Minute),
			ToolName: tool, ToolInputJSON: input, AcceptsEdits: true,
		},
		RunID: new("run-41"), AgentName: "release-bot", OwnerName: "Ada Berg", ConversationTitle: "Ship 1.4",
	}
	for _, m := range mend {
		m(&a)
	}
	digest(&a.Response)
	return a
}

// digest gives a response the digest that the store would; it panics for content
// that has no canonical form.
func digest(r *models.Response) {
	var err error
	r.DigestVersion = models.DigestVersion
	if r.Digest, err = r.DigestUnder(r.DigestVersion); err != nil {
		panic(err)
	}
}

// Shell is a command of high risk that the policy held with a reason.
func Shell() models.Approval {
	return Call("Bash", `{"description":"Clean and publish","command":"rm -rf build/ && git push --force origin main","timeout":120000}`, func(a *models.Approval) {
		a.Risk = models.RiskHigh
		a.PolicyRule, a.PolicyReason = "Force push", "History of a protected branch would be rewritten."
		a.Description = "The branch has diverged after the rebase."
		a.Context = "Step 4 of 6: publish."
	})
}

// Question is one with two options and no deadline.
func Question() models.Approval {
	return Call("question", `{}`, func(a *models.Approval) {
		a.ID = "01890a5d-ac96-774b-bcce-b302099a8058"
		a.Kind, a.Description = models.KindQuestion, "Which region should be migrated first?"
		a.Options = `[{"name":"eu","title":"Europe"},{"name":"us"}]`
		a.ApprovalTimeoutAt = models.NoDeadline
		a.AgentName, a.ConversationTitle = "planner", "Migration"
	})
}

// Payment is a critical one with a large number and little time left.
func Payment() models.Approval {
	return Call("pay", `{"amount":120.00,"currency":"EUR","to":"ACME SA","reference":9007199254740993}`, func(a *models.Approval) {
		a.ID = "01890a5d-ac96-774b-bcce-b302099a8059"
		a.Risk, a.AgentName, a.ConversationTitle = models.RiskCritical, "buyer", "Office order"
		a.ApprovalTimeoutAt = Now.Add(12 * time.Second)
	})
}

// Edit is a small change to a file.
func Edit() models.Approval {
	return Call("edit_file", `{"path":"src/pay.go","old_string":"func Round(x float64) int {\n\treturn int(x)\n}","new_string":"func Round(x float64) int {\n\treturn int(math.Round(x))\n}"}`, func(a *models.Approval) {
		a.ID = "01890a5d-ac96-774b-bcce-b302099a8060"
		a.Risk, a.AgentName, a.ConversationTitle = models.RiskLow, "fixer", "Rounding bug"
	})
}

// Settle gives a request its end, twelve seconds ago; a vote is of Bo Lind.
func Settle(a models.Approval, status models.Status, cause models.Cause, vote *models.Vote) models.Approval {
	at := Now.Add(-12 * time.Second)
	a.ApprovalStatus, a.Cause, a.ApprovalTimestamp = &status, cause, &at
	if vote != nil {
		vote.At, vote.UserID, vote.UserName = at, "01890a5d-ac96-774b-bcce-b302099a8202", "Bo Lind"
		a.Vote, a.VoteID, a.DecidedBy = vote, new(models.VoteID("01890a5d-ac96-774b-bcce-b302099a8301")), &vote.UserID
		a.ApprovalFeedback = models.FeedbackOf(vote.Reason)
	}
	return a
}

// Briefs are requests as lists have them.
func Briefs(of ...models.Approval) []models.Brief {
	out := make([]models.Brief, len(of))
	for i := range of {
		out[i].Approval = of[i]
	}
	return out
}

// Turns are what a conversation did before a request, and the request.
func Turns(last models.Approval) []models.Brief {
	one := Settle(Edit(), models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove})
	one.Sequence, one.CreatedAt = 5, Now.Add(-4*time.Minute)
	two := Call("read_file", `{"path":"CHANGELOG.md"}`)
	two.ID, two.Sequence, two.ApprovalStatus, two.Cause = "01890a5d-ac96-774b-bcce-b302099a8061", 6, nil, models.CausePolicy
	return Briefs(one, two, last)
}
