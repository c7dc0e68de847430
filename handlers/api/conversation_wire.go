package api

import (
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/handlers"
	"countersign/models"
)

// WholeNumber is a JSON number without a fraction: 5, 5.0 and 5e0 are one.
type WholeNumber int64

// UnmarshalJSONFrom reads what is one and refuses all else.
func (n *WholeNumber) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	whole, err := models.WholeNumber("", raw)
	*n = WholeNumber(whole)
	return err
}

func (n *WholeNumber) value() *int64 {
	if n == nil {
		return nil
	}
	return new(int64(*n))
}

// Budget is what a conversation may spend and has spent, in units of energy.
type Budget struct {
	Total     *int64 `json:"total" doc:"Null: unlimited"`
	Used      int64  `json:"used"`
	Reserved  int64  `json:"reserved" doc:"For model calls that are under way"`
	Remaining *int64 `json:"remaining" doc:"Null: unlimited"`
}

// Named is an agent or a person.
type Named[T ~string] struct {
	ID   T      `json:"id"`
	Name string `json:"name"`
}

// Conversation is one agent's run.
type Conversation struct {
	ID          models.ConversationID     `json:"id"`
	Title       string                    `json:"title"`
	Status      models.ConversationStatus `json:"status" enum:"running,waiting_input,completed,failed"`
	Agent       Named[models.AgentID]     `json:"agent"`
	Owner       Named[models.UserID]      `json:"owner"`
	RunID       *string                   `json:"runId"`
	ParentRunID *string                   `json:"parentRunId" doc:"The run that started this one; null: none did"`
	OnReject    string                    `json:"onReject" enum:"cascade,continue" doc:"What a rejection does to the rest of its batch"`
	Pending     int                       `json:"pending" doc:"Requests that wait for a person, at most 1,000"`
	PausedAt    *time.Time                `json:"pausedAt" doc:"Null: not paused"`
	ArchivedAt  *time.Time                `json:"archivedAt" doc:"Null: not archived"`
	CreatedAt   time.Time                 `json:"createdAt"`
	UpdatedAt   time.Time                 `json:"updatedAt"`
	Budget      Budget                    `json:"budget"`
}

// ConversationResponse is one thing an agent put forward, and where its approval
// stands.
type ConversationResponse struct {
	ResponseID       models.ResponseID     `json:"responseId" doc:"The approvalId of /v1/approvals"`
	RequestID        models.ConversationID `json:"requestId" doc:"The conversation"`
	Sequence         int64                 `json:"sequence" doc:"Its place in the conversation"`
	Kind             models.Kind           `json:"kind" enum:"all"`
	Content          string                `json:"content" doc:"The text of a reply or proposal"`
	ToolName         string                `json:"toolName"`
	ToolUseID        *string               `json:"toolUseId" doc:"The agent's own name for a call; null: none"`
	BatchID          *string               `json:"batchId" doc:"Shared by the calls that the agent queued at once; null: none"`
	IsCompleted      bool                  `json:"isCompleted" doc:"A call: it has a result, or the run went on without"`
	Input            json.RawMessage       `json:"input" doc:"As sent; of a budget request, the budget it asks for; null where there is none. Where another system asks with another input than its agent reported, that input, which runs: as a text where it is kept cut or may be read in two ways"`
	ReportedInput    json.RawMessage       `json:"reportedInput,omitempty" doc:"What the agent reported, only where another system asks with another input, and runs that. The digest is over this one"`
	Options          []models.Option       `json:"options,omitempty"`
	Description      string                `json:"description"`
	Energy           int64                 `json:"energy" doc:"What it cost"`
	EnergyBudget     *int64                `json:"energyBudget" doc:"The budget that it proposes; not applied"`
	ModelUsed        string                `json:"modelUsed"`
	Digest           string                `json:"digest" doc:"SHA-256 over the canonical JSON of what is decided; where there is a reportedInput, over that instead of the input"`
	Risk             models.Risk           `json:"risk" enum:"all"`
	RequiresApproval bool                  `json:"requiresApproval"`
	Status           *models.Status        `json:"status" enum:"all" doc:"Null: a reply, which needs no approval, or a call that was only reported"`
	Cause            models.Cause          `json:"cause"`
	Advice           string                `json:"advice" doc:"One sentence for the model"`
	Timestamp        time.Time             `json:"timestamp"`
	TimeoutAt        *time.Time            `json:"timeoutAt" doc:"Null: no deadline"`
	Decision         *Decision             `json:"decision" doc:"Null while pending, and with a reply"`
	Waiting          *bool                 `json:"waiting,omitempty" doc:"For people, while pending: whether its agent waits for the outcome now"`
	Held             *Held                 `json:"held,omitempty" doc:"Set while a verdict that was taken is not yet the outcome"`
	OpenNote         *OpenNote             `json:"openNote,omitempty" doc:"A question that a reviewer asks back, answered at /v1/approvals/{responseId}/notes"`
	URL              string                `json:"url,omitempty" doc:"The page on which a person decides; not with a reply"`
	Removed          string                `json:"removed,omitempty" doc:"Set when the contents were removed: the text that stands in their place, in an input as {\"removed\": text}. Run no such input"`
}

func budgetOf(b models.Budget) Budget {
	return Budget{Total: b.Total, Used: b.Used, Reserved: b.Reserved, Remaining: b.Remaining()}
}

// conversationOf and responseOf are the one mapping from what is stored to this
// surface.
func conversationOf(v *models.ConversationView) Conversation {
	return Conversation{
		ID: v.ID, Title: v.Title, Status: v.Status, RunID: v.RunID, ParentRunID: v.ParentRunID, OnReject: v.OnReject, Pending: v.Pending,
		Agent: Named[models.AgentID]{ID: v.AgentID, Name: v.AgentName}, Owner: Named[models.UserID]{ID: v.OwnerID, Name: v.OwnerName},
		PausedAt: v.PausedAt, ArchivedAt: v.ArchivedAt, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, Budget: budgetOf(v.Budget()),
	}
}

func responseOf(kit handlers.Kit, a *models.Approval) *ConversationResponse {
	status := a.Status()
	input, reported := inputOf(a)
	out := &ConversationResponse{
		ResponseID: a.ID, RequestID: a.ConversationID, Sequence: a.Sequence, Kind: a.Kind, Content: a.Content, ToolName: a.ToolName,
		ToolUseID: a.ToolUseID, BatchID: a.BatchID, IsCompleted: a.IsCompleted,
		Input: input, ReportedInput: reported, Options: optionsOf(a.Options), Description: a.Description, Energy: a.Energy, EnergyBudget: a.EnergyBudget,
		ModelUsed: a.ModelUsed, Digest: a.Digest, Risk: a.Risk, RequiresApproval: a.RequiresApproval, Cause: a.Cause,
		Timestamp: a.CreatedAt, TimeoutAt: timeoutOf(a), Removed: a.RemovedText(),
	}
	if !needsNone(a) {
		out.URL, out.Advice = kit.ApprovalURL(a.ID), a.Advice(status)
		out.Status, out.Decision, out.Held, out.OpenNote = new(shown(status)), decisionOf(a, status), heldOf(a), openNoteOf(a)
	}
	return out
}

// needsNone reports whether nobody was ever to decide: a reply.
func needsNone(a *models.Approval) bool { return a.Status() == models.StatusNone && !a.LetThrough() }

// approvalStateOf says in short where a request stands; nil for none.
func approvalStateOf(a *models.Approval) *ApprovalState {
	if a == nil {
		return nil
	}
	return &ApprovalState{ResponseID: a.ID, Kind: a.Kind, Status: shown(a.Status()), Held: heldOf(a)}
}

func conversationPath(id models.ConversationID) string { return "/conversations/" + string(id) }
