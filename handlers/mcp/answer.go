package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/handlers"
	"countersign/models"
)

var errInternal = errors.New("internal")

// reply is what an agent hears of a request. See requestSchema.
type reply struct {
	ApprovalID       models.ResponseID     `json:"approval_id"`
	ConversationID   models.ConversationID `json:"conversation_id"`
	Kind             models.Kind           `json:"kind"`
	Status           models.Status         `json:"status"`
	Approved         bool                  `json:"approved"`
	RequiresApproval bool                  `json:"requires_approval"`
	Cause            models.Cause          `json:"cause,omitempty"`
	Reason           string                `json:"reason,omitempty"`
	Input            json.RawMessage       `json:"input,omitempty"`
	Edited           bool                  `json:"edited,omitempty"`
	Suggestion       json.RawMessage       `json:"suggested_input,omitempty"`
	Answer           *string               `json:"answer,omitempty"`
	Option           *string               `json:"option,omitempty"`
	DecidedBy        string                `json:"decided_by,omitempty"`
	OnBehalfOf       string                `json:"on_behalf_of,omitempty"`
	DecidedAt        *time.Time            `json:"decided_at,omitempty"`
	TimeoutAt        *time.Time            `json:"timeout_at,omitempty"`
	Question         string                `json:"question,omitempty"`
	Reviewers        []string              `json:"reviewers,omitempty"`
	WaitingFor       string                `json:"waiting_for,omitempty"`
	Signatures       *signatures           `json:"signatures,omitempty"`
	URL              string                `json:"url"`
	Advice           string                `json:"advice"`
}

// signatures are how many have signed a request that several people sign, and how many must.
type signatures struct {
	Have int `json:"have"`
	Need int `json:"need"`
}

// requestAnswer tells of the one request of a call.
func requestAnswer(x *exchange, rows []*models.Approval) (*sdk.CallToolResult, error) {
	out := x.m.toldOf(rows[0])
	waits, err := x.m.store.WaitsFor(x.ctx, x.actor, rows[0])
	if err != nil {
		return nil, err
	}
	out.Reviewers, out.WaitingFor = waits[0].Reviewers, waits[0].Text
	if count := waits[0].Count; count != nil {
		out.Signatures = &signatures{count.Have, count.Need}
	}
	return structured(out)
}

// toldOf is the one mapping from a stored request to this surface, but for what it waits for.
func (m *Server) toldOf(a *models.Approval) reply {
	status := a.Status()
	out := reply{
		ApprovalID: a.ID, ConversationID: a.ConversationID, Kind: a.Kind, Status: status, RequiresApproval: a.NeedsApproval(),
		Approved: a.MayRun(), Cause: a.Cause, URL: m.kit.ApprovalURL(a.ID), Advice: a.Advice(status),
	}
	if status == models.StatusNone {
		out.Status = models.StatusResolved
		if out.Approved {
			out.Status = models.StatusApproved // no person was needed (I10)
		}
	}
	if status == models.StatusPending {
		if a.HasDeadline() {
			out.TimeoutAt = &a.ApprovalTimeoutAt
		}
		if a.Note != nil {
			out.Question = a.Note.Content
		}
		out.Advice = "Nobody has decided yet: call check_approval with this approval_id to wait, and do not act before it is approved."
		return out
	}
	out.Reason, out.DecidedAt = a.Feedback(), a.ApprovalTimestamp
	if (status == models.StatusNone || status == models.StatusRan) && out.Reason == "" {
		out.Reason = a.PolicyReason
	}
	if a.Vote != nil {
		out.DecidedBy, out.OnBehalfOf, out.Answer, out.Option = a.Vote.UserName, a.Vote.BehalfName, a.Vote.Answer, a.Vote.Option
	}
	if a.ContentsGone() {
		out.Answer, out.Option = nil, nil
	}
	if why := a.Withheld(); why != "" {
		out.Status, out.Reason = models.StatusResolved, why
	}
	if text, ok := a.Suggested(); ok {
		out.Suggestion = json.RawMessage(text)
	}
	if out.Approved && a.Kind == models.KindToolCall {
		out.Input, out.Edited, out.Approved = releasedInput(a)
		if !out.Approved {
			out.Status, out.Advice = models.StatusResolved, "The approved input is no longer kept: do not act, and ask again under a new id."
		}
	}
	return out
}

// releasedInput is what a request that was released lets run: the edited input if a person
// edited it (I6). It is not there once contents were removed.
func releasedInput(a *models.Approval) (input json.RawMessage, edit, ok bool) {
	text := a.InputThatRuns()
	_, edit = a.OtherInput()
	if approved, other := a.Vote.ApprovedInput(); other && a.Status() == models.StatusApproved {
		text, edit = approved, true
	}
	if a.IsRemoved() || a.InputBytes != nil || !json.Valid([]byte(text)) {
		return nil, false, false
	}
	return json.RawMessage(text), edit, true
}

// structured is an answer with structured content, and the same as text for clients that
// read only that.
func structured(v any) (*sdk.CallToolResult, error) {
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: string(raw)}}, StructuredContent: json.RawMessage(raw),
	}, nil
}

// failed is the answer of a call that went wrong, in words for its caller.
func failed(err error) *sdk.CallToolResult {
	if errors.Is(err, context.Canceled) {
		err = models.Errorf(models.CodeUnavailable, "The caller went away.")
	}
	p := handlers.ProblemOf(err)
	text := p.Detail + " (" + string(p.Code) + ")"
	if p.ApprovalID != "" {
		text += " A person is asked for more budget: wait for it by check_approval with approval_id " + string(p.ApprovalID) +
			", then make the same call again."
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: true}
}
