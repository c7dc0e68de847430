package webhooks

import (
	"encoding/hex"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
	"countersign/models/ledger"
)

// body is what an event tells, as Standard Webhooks have it.
type body struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      data      `json:"data"`
}

// data has names, outcomes and digests, and inputs where the endpoint has that right. Nothing
// else of what a request is about: no description, reason, title, headline or answer.
type data struct {
	ID           string                    `json:"id"`
	Sequence     int64                     `json:"sequence,omitzero"`
	Actor        *actor                    `json:"actor,omitempty"`
	Owner        *named                    `json:"owner,omitempty"`
	Conversation *conversation             `json:"conversation,omitempty"`
	Details      map[string]jsontext.Value `json:"details,omitempty"`
	Request      *request                  `json:"request,omitempty"`
	Webhook      *named                    `json:"webhook,omitempty"` // of a test
}

type actor struct {
	Kind models.ActorKind `json:"kind"`
	ID   string           `json:"id"`
	Name string           `json:"name"`
}

type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type conversation struct {
	ID models.ConversationID `json:"id"`
}

// request is a request as it is when the event is sent, spelled as the API spells it.
type request struct {
	ID               models.ResponseID `json:"id"`
	URL              string            `json:"url,omitempty"`
	Kind             models.Kind       `json:"kind"`
	ToolName         string            `json:"toolName"`
	Agent            named             `json:"agent"`
	Risk             models.Risk       `json:"risk"`
	Status           models.Status     `json:"status"`
	Cause            models.Cause      `json:"cause"`
	Digest           string            `json:"digest,omitzero"`
	RequiresApproval bool              `json:"requiresApproval"`
	RequestedAt      time.Time         `json:"requestedAt"`
	TimeoutAt        *time.Time        `json:"timeoutAt"`
	Decision         *decision         `json:"decision"`
	Removed          bool              `json:"removed,omitzero"`

	Input         jsontext.Value `json:"input,omitempty"` // as sent
	TooLarge      bool           `json:"tooLarge,omitzero"`
	ReportedInput jsontext.Value `json:"reportedInput,omitempty"`
}

type decision struct {
	Approved bool           `json:"approved"`
	By       *named         `json:"by"`
	At       time.Time      `json:"at"`
	Edited   bool           `json:"edited"`
	Digest   string         `json:"digest,omitzero"` // of the edited input
	Input    jsontext.Value `json:"input,omitempty"` // that runs, if it was edited
	TooLarge bool           `json:"tooLarge,omitzero"`

	SuggestedInput jsontext.Value `json:"suggestedInput,omitempty"` // that would be approved
}

// idOf is the same for an entry wherever and whenever it is sent. Its hash is no other's, not
// even after a backup was restored and numbers are used again.
func idOf(e *models.Entry) string { return "evt_" + hex.EncodeToString(e.Hash[:min(16, len(e.Hash))]) }

// bodyOf writes an event. a is the request that it is about, as it is now; nil: none.
func bodyOf(e *models.Entry, a *models.Approval, owner, url string, inputs bool) ([]byte, error) {
	d := data{ID: idOf(e), Sequence: e.Seq, Actor: &actor{e.ActorKind, e.ActorID, e.ActorName}}
	if e.OwnerID != "" {
		d.Owner = &named{string(e.OwnerID), owner}
	}
	if e.ConversationID != "" {
		d.Conversation = &conversation{e.ConversationID}
	}
	var err error
	if d.Details, err = detailsOf(e, a); err != nil {
		return nil, err
	}
	if a != nil {
		d.Request = requestOf(a, url, inputs)
	}
	return json.Marshal(body{Type: e.Action, Timestamp: ledger.TimeOf(*e), Data: d}, json.Deterministic(true),
		jsontext.AllowInvalidUTF8(true))
}

func requestOf(a *models.Approval, url string, inputs bool) *request {
	status := a.Status()
	out := &request{
		ID: a.ID, URL: url, Kind: a.Kind, ToolName: a.ToolName, Agent: named{string(a.AgentID), a.AgentName}, Risk: a.Risk,
		Status: status, Cause: a.Cause,
		RequiresApproval: a.NeedsApproval(), RequestedAt: a.CreatedAt, Removed: a.IsRemoved(),
	}
	if provesInput(a) {
		out.Digest = a.Digest
	}
	if status == models.StatusNone {
		out.Status = models.StatusApproved // I10: it was let through
	}
	if out.Status == models.StatusApproved && a.Withheld() != "" {
		out.Status = models.StatusResolved // nothing is to be done on its account
	}
	if a.ApprovalRequestedAt != nil {
		out.RequestedAt = *a.ApprovalRequestedAt
	}
	if a.HasDeadline() {
		out.TimeoutAt = &a.ApprovalTimeoutAt
	}
	if status != models.StatusPending {
		out.Decision = &decision{Approved: out.Status == models.StatusApproved, At: a.CreatedAt}
		if a.ApprovalTimestamp != nil {
			out.Decision.At = *a.ApprovalTimestamp
		}
		out.Decision.of(a, inputs && !out.Removed)
	}
	if inputs && !out.Removed && a.Kind == models.KindToolCall {
		out.Input, out.TooLarge = inputOf(a.InputThatRuns())
		if _, other := a.OtherInput(); other {
			out.ReportedInput, _ = inputOf(a.ToolInputJSON)
		}
	}
	return out
}

// of adds who decided, and with which input.
func (d *decision) of(a *models.Approval, inputs bool) {
	v := a.Vote
	if v == nil {
		return
	}
	d.By = &named{string(v.UserID), v.UserName}
	if v.Input == nil || !d.Approved {
		if suggestion, ok := a.Suggested(); ok && inputs {
			d.SuggestedInput, d.TooLarge = inputOf(suggestion)
		}
		return
	}
	d.Edited = true
	if v.InputDigest != nil {
		d.Digest = *v.InputDigest
	}
	if inputs {
		d.Input, d.TooLarge = inputOf(*v.Input)
	}
}

// inputOf is an input as it was sent; as a text if it is not JSON, because it is kept cut.
func inputOf(stored string) (input jsontext.Value, tooLarge bool) {
	if len(stored) > models.MaxWebhookInput {
		return nil, true
	}
	if raw := jsontext.Value(stored); raw.IsValid() {
		return raw, false
	}
	quote, err := json.Marshal(stored, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, false
	}
	return quote, false
}

// testBody is an event that nothing has caused.
func testBody(id string, h *models.Webhook, now time.Time) ([]byte, error) {
	return json.Marshal(body{
		Type: models.WebhookTest, Timestamp: now, Data: data{ID: id, Webhook: &named{string(h.ID), h.Name}},
	})
}
