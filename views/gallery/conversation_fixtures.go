package gallery

import (
	"strconv"
	"time"

	"countersign/models"
	"countersign/views/pages/conversations"
)

// Conversation is one of the built-in agent.
func Conversation(title string) models.ConversationView {
	return models.ConversationView{
		Conversation: models.Conversation{
			ID: ConversationID, OwnerID: UserID, AgentID: AgentID, Title: title, Status: models.ConversationRunning,
			NextSequence: 14,
			EnergyBudget: new(int64(50)), EnergyUsed: 12, CreatedAt: Now.Add(-time.Hour), UpdatedAt: Now.Add(-time.Minute),
		},
		AgentName: models.BuiltIn, OwnerName: "Ada Berg", BuiltIn: true,
	}
}

// ConversationInput has one of everything that has settled.
func ConversationInput() conversations.Input {
	approved := Settle(Proposal(5, "Shall I **look** at the logs?"), models.StatusApproved, models.CauseReviewer,
		&models.Vote{Verdict: models.VerdictApprove, Reason: "But only look."})
	approved.EnergyBudget = new(int64(50))
	rejected := Settle(Proposal(6, "Then I delete them all."), models.StatusRejected, models.CauseReviewer,
		&models.Vote{Verdict: models.VerdictReject, Reason: "Keep the audit logs."})
	passed := Call("read_file", `{"path":"/var/log/app/1.log"}`)
	passed.ID, passed.Sequence, passed.ApprovalStatus, passed.Cause = "01890a5d-ac96-774b-bcce-b302099a8061", 7, nil, models.CausePolicy
	answered := Settle(Question(), models.StatusApproved, models.CauseReviewer,
		&models.Vote{Verdict: models.VerdictAnswer, Option: new("eu")})
	answered.Sequence = 8
	more := Settle(BudgetRequest(9, 80), models.StatusExpired, models.CauseTimeout, nil)
	reply := Proposal(10, "# Done\n\n| what | how many |\n|-|-:|\n| logs | 12 |\n")
	reply.Kind, reply.ApprovalStatus, reply.RequiresApproval = models.KindReply, nil, false
	message := func(sequence int64, kind models.ActorKind, who, text string) models.HistoryEntry {
		at := Now.Add(-time.Duration(60-sequence) * time.Minute)
		return models.HistoryEntry{
			Sequence: sequence, At: at,
			Message: &models.Message{Sequence: sequence, AuthorKind: kind, AuthorName: who, Content: text, CreatedAt: at},
		}
	}
	return conversations.Input{
		Conversation: Conversation("Old logs"),
		History: models.History{After: 11, Entries: []models.HistoryEntry{
			message(3, models.ActorUser, "Ada Berg", "Please clean up the old logs.\nThere are many."),
			{
				Sequence: 4, At: Now.Add(-50 * time.Minute),
				Budget: &models.BudgetStep{
					Sequence: 4, ActorKind: models.ActorUser, ActorName: "Ada Berg", New: 50, Reason: "To begin with",
				},
			},
			ResponseEntry(approved), ResponseEntry(rejected), ResponseEntry(passed), ResponseEntry(answered),
			ResponseEntry(more), ResponseEntry(reply),
			message(11, models.ActorSystem, "built-in",
				"The model's endpoint does not answer; nothing is lost. Send a message to try again."),
		}},
	}
}

// ResponseEntry is a response in the history.
func ResponseEntry(a models.Approval) models.HistoryEntry {
	return models.HistoryEntry{Sequence: a.Sequence, At: a.CreatedAt, Response: &a}
}

// Proposal is a pending one with consistent digest; it panics for content that has
// no canonical form.
func Proposal(sequence int64, content string) models.Approval {
	asked := Now.Add(-time.Duration(60-sequence) * time.Minute)
	a := models.Approval{
		Response: models.Response{
			ID:             models.ResponseID("01890a5d-ac96-774b-bcce-b302099a9" + strconv.FormatInt(100+sequence, 10)),
			ConversationID: ConversationID, Sequence: sequence,
			OwnerID: UserID, AgentID: AgentID, Kind: models.KindProposal, CreatedAt: asked, RequiresApproval: true,
			ApprovalStatus: new(models.StatusPending), ApprovalRequestedAt: &asked, ApprovalTimeoutAt: models.NoDeadline,
			Risk: models.RiskMedium, PolicyVersion: 7, Content: content, ToolName: models.ToolRespondWithApproval, Energy: 2,
			ModelUsed: "demo-model",
		},
		AgentName: models.BuiltIn, OwnerName: "Ada Berg", ConversationTitle: "Old logs",
	}
	digest(&a.Response)
	return a
}

// BudgetRequest is a pending one of the built-in agent.
func BudgetRequest(sequence, sum int64) models.Approval {
	a := Call(models.ToolSetBudget, models.BudgetInput(sum), func(a *models.Approval) {
		a.Kind, a.ApprovalTimeoutAt = models.KindBudget, models.NoDeadline
		a.Description = "Spent 48 of 50: 40 on replies, 8 on proposals. The next step needs more."
		a.AgentName, a.ConversationTitle = models.BuiltIn, "Old logs"
	})
	a.ID, a.Sequence = models.ResponseID("01890a5d-ac96-774b-bcce-b302099a9"+strconv.FormatInt(100+sequence, 10)), sequence
	return a
}
