package pages_test

import (
	"strconv"
	"testing"
	"time"

	"countersign/models"
	"countersign/views/pages"
)

// conversationScreens are the page of one conversation in its states, and the
// form that begins one.
func conversationScreens(t *testing.T) []screen {
	t.Helper()
	draw := func(name string, in pages.ConversationInput) screen {
		v := pages.NewConversation(in, now)
		p := page("Old logs", "/conversations/"+string(conversationID))
		p.Conversation = conversationID
		return screen{name, pages.ConversationPage(p, v)}
	}
	panel := func(in *pages.ConversationInput) {
		in.Budget = pages.BudgetPanel(pages.NewBudgetPanel(pages.BudgetPanelInput{Conversation: in.Conversation, Embedded: true}, now))
	}
	empty := pages.ConversationInput{Conversation: conversationOf("Old logs")}
	panel(&empty)

	whole := conversationInput(t)
	panel(&whole)

	waiting := conversationInput(t)
	panel(&waiting)
	waits := proposal(t, 12, "Remove every log **older than 30 days** from `/var/log/app`.\n\n1. list them\n2. delete them\n")
	waits.EnergyBudget = new(int64(100))
	tool := shell(t)
	tool.Sequence = 13
	older := question(t)
	older.Sequence = 2
	waiting.History.Entries = append(waiting.History.Entries, responseEntry(waits), responseEntry(tool))
	waiting.History.Before = 3
	waiting.Waiting = []models.Approval{tool, waits, older}
	waiting.Conversation.Status, waiting.Conversation.Pending = models.ConversationWaitingInput, 3

	wrong := waiting
	wrong.Say = pages.SayForm{
		Sent: true, Content: "Go on, but keep the audit logs.", Decision: models.VerdictApprove, Reason: "fine", Mode: pages.BudgetSet, Amount: "-3",
		Errors: map[string]string{"budget": "must be from 0 to 1000000000000", "content": "is too long", "reason": "is too long", "": "approved: is required"},
	}
	wrong.Rename = pages.RenameForm{Title: "x", Error: "is 200 characters long; at most 120 are taken"}
	wrong.Around.Decided = &pages.DecidedHere{ID: tool.ID, Form: pages.DecideForm{Reason: "because", Input: "{", Errors: map[string]string{"input": "must be one JSON value"}}}

	late := conversationInput(t)
	panel(&late)
	late.Say = pages.SayForm{Sent: true, Content: "And the rest?", Notice: "Already approved by Bo Lind. Your rejection changed nothing. Nothing else of what you sent was taken either: it stands in the form."}
	late.Around.Decided = &pages.DecidedHere{ID: late.History.Entries[2].Response.ID, Late: models.VerdictReject}

	earlier := conversationInput(t)
	panel(&earlier)
	earlier.Before, earlier.History.Before = 12, 3

	hostile := conversationInput(t)
	panel(&hostile)
	hostile.Conversation.Title = "<b>Old</b> \u202Esgol"
	hostile.Conversation.AgentName = "rele\u0430se\u200B-bot"
	evil := "</p><script>alert(1)</script> \u202E# gnp.exe\u2066 [x](javascript:alert(1)) \u200B"
	for i := range hostile.History.Entries {
		switch e := &hostile.History.Entries[i]; {
		case e.Message != nil:
			m := *e.Message
			m.Content, m.AuthorName, e.Message = evil, "Ada\u202E", &m
		case e.Budget != nil:
			b := *e.Budget
			b.Reason, e.Budget = evil, &b
		case e.Response != nil:
			a := *e.Response
			a.Content, a.Description, a.ModelUsed, a.AgentName, e.Response = evil, evil, "m\u200B", "x\u202E", &a
		}
	}
	waitsToo := proposal(t, 12, evil)
	hostile.History.Entries = append(hostile.History.Entries, responseEntry(waitsToo))
	hostile.Waiting = []models.Approval{waitsToo}
	hostile.Draft = &pages.Draft{Text: evil, Model: "m\u202E"}

	paused := conversationInput(t)
	panel(&paused)
	paused.Conversation.PausedAt, paused.Conversation.ArchivedAt = new(now.Add(-time.Hour)), new(now.Add(-time.Minute))
	paused.Draft = &pages.Draft{Text: "I shall look at the\nlogs first", Model: "demo"}

	begin := page("New conversation", "/conversations/new")
	return []screen{
		draw("conversation", whole), draw("conversation-empty", empty), draw("conversation-waiting", waiting), draw("conversation-errors", wrong),
		draw("conversation-late", late), draw("conversation-earlier", earlier), draw("conversation-hostile", hostile), draw("conversation-paused", paused),
		{"conversation-new", pages.NewConversationPage(begin, pages.NewConversationForm{})},
		{"conversation-new-errors", pages.NewConversationPage(begin, pages.NewConversationForm{Content: "Clean up", Budget: "x", Errors: map[string]string{"content": "is too long", "budget": "must be a whole number of units"}})},
	}
}

func conversationOf(title string) models.ConversationView {
	return models.ConversationView{
		Conversation: models.Conversation{
			ID: conversationID, OwnerID: userID, AgentID: agentID, Title: title, Status: models.ConversationRunning, NextSequence: 14,
			EnergyBudget: new(int64(50)), EnergyUsed: 12, CreatedAt: now.Add(-time.Hour), UpdatedAt: now.Add(-time.Minute),
		},
		AgentName: models.BuiltIn, OwnerName: "Ada Berg", BuiltIn: true,
	}
}

// conversationInput has one of everything that has settled.
func conversationInput(t *testing.T) pages.ConversationInput {
	t.Helper()
	approved := settle(proposal(t, 5, "Shall I **look** at the logs?"), models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove, Reason: "But only look."})
	approved.EnergyBudget = new(int64(50))
	rejected := settle(proposal(t, 6, "Then I delete them all."), models.StatusRejected, models.CauseReviewer, &models.Vote{Verdict: models.VerdictReject, Reason: "Keep the audit logs."})
	passed := call(t, "read_file", `{"path":"/var/log/app/1.log"}`)
	passed.ID, passed.Sequence, passed.ApprovalStatus, passed.Cause = "01890a5d-ac96-774b-bcce-b302099a8061", 7, nil, models.CausePolicy
	answered := settle(question(t), models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictAnswer, Option: new("eu")})
	answered.Sequence = 8
	more := settle(budgetRequest(t, 9, 80), models.StatusExpired, models.CauseTimeout, nil)
	reply := proposal(t, 10, "# Done\n\n| what | how many |\n|-|-:|\n| logs | 12 |\n")
	reply.Kind, reply.ApprovalStatus, reply.RequiresApproval = models.KindReply, nil, false
	message := func(sequence int64, kind models.ActorKind, who, text string) models.HistoryEntry {
		at := now.Add(-time.Duration(60-sequence) * time.Minute)
		return models.HistoryEntry{Sequence: sequence, At: at, Message: &models.Message{Sequence: sequence, AuthorKind: kind, AuthorName: who, Content: text, CreatedAt: at}}
	}
	return pages.ConversationInput{
		Conversation: conversationOf("Old logs"),
		History: models.History{After: 11, Entries: []models.HistoryEntry{
			message(3, models.ActorUser, "Ada Berg", "Please clean up the old logs.\nThere are many."),
			{Sequence: 4, At: now.Add(-50 * time.Minute), Budget: &models.BudgetStep{Sequence: 4, ActorKind: models.ActorUser, ActorName: "Ada Berg", New: 50, Reason: "To begin with"}},
			responseEntry(approved), responseEntry(rejected), responseEntry(passed), responseEntry(answered), responseEntry(more), responseEntry(reply),
			message(11, models.ActorSystem, "built-in", "The model's endpoint does not answer; nothing is lost. Send a message to try again."),
		}},
	}
}

func responseEntry(a models.Approval) models.HistoryEntry {
	return models.HistoryEntry{Sequence: a.Sequence, At: a.CreatedAt, Response: &a}
}

// proposal is a pending one with consistent digest.
func proposal(t *testing.T, sequence int64, content string) models.Approval {
	t.Helper()
	asked := now.Add(-time.Duration(60-sequence) * time.Minute)
	canonical, err := models.CanonicalContent(models.KindProposal, content)
	if err != nil {
		t.Fatal(err)
	}
	return models.Approval{
		Response: models.Response{
			ID: models.ResponseID("01890a5d-ac96-774b-bcce-b302099a9" + strconv.FormatInt(100+sequence, 10)), ConversationID: conversationID, Sequence: sequence,
			OwnerID: userID, AgentID: agentID, Kind: models.KindProposal, CreatedAt: asked, RequiresApproval: true,
			ApprovalStatus: new(models.StatusPending), ApprovalRequestedAt: &asked, ApprovalTimeoutAt: models.NoDeadline,
			Risk: models.RiskMedium, PolicyVersion: 7, Content: content, ToolName: models.ToolRespondWithApproval, Digest: models.Digest(canonical),
			Energy: 2, ModelUsed: "demo-model",
		},
		AgentName: models.BuiltIn, OwnerName: "Ada Berg", ConversationTitle: "Old logs",
	}
}

func budgetRequest(t *testing.T, sequence, sum int64) models.Approval {
	t.Helper()
	a := call(t, models.ToolSetBudget, models.BudgetInput(sum), func(a *models.Approval) {
		a.Kind, a.ApprovalTimeoutAt = models.KindBudget, models.NoDeadline
		a.Description = "Spent 48 of 50: 40 on replies, 8 on proposals. The next step needs more."
		a.AgentName, a.ConversationTitle = models.BuiltIn, "Old logs"
	})
	a.ID, a.Sequence = models.ResponseID("01890a5d-ac96-774b-bcce-b302099a9"+strconv.FormatInt(100+sequence, 10)), sequence
	return a
}
