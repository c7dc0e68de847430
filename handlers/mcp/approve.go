package mcp

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/models"
)

// metaToolUse is where Claude Code names the call that it asks about, besides the arguments.
const metaToolUse = "claudecode/toolUseId"

// toolQuestions is a coding agent's own tool to ask people. Its calls arrive at the
// permission prompt, and are answered there.
const toolQuestions = "AskUserQuestion"

func approveTool() *tool {
	return &tool{
		name: "approve", title: "Permission prompt",
		description: "For agent programs, not for models: asks a person whether a tool may run, and waits for the decision. " +
			"The text of the answer is JSON: {\"behavior\":\"allow\",\"updatedInput\":{…}}, with the input to run, or {\"behavior\":\"deny\",\"message\":\"…\"}. " +
			"Claude Code: --permission-prompt-tool mcp__countersign__approve.",
		input: openSchema([]string{"tool_name"}, schemaToolName, schemaAnyInput, schemaCallID),
		hints: sdk.ToolAnnotations{IdempotentHint: true, DestructiveHint: new(false)},
		call:  approve, answer: permission, limit: func(*Server) time.Duration { return noLimit },
	}
}

type approveArguments struct {
	ToolName  string         `json:"tool_name"`
	Input     jsontext.Value `json:"input"`
	ToolUseID string         `json:"tool_use_id"`
}

// approve asks and waits. The request names no conversation, so that it meets an earlier request about the same call in
// another way.
func approve(m *Server, x *exchange, params *sdk.CallToolParamsRaw) (*sdk.CallToolResult, error) {
	in, err := openArguments[approveArguments](params)
	if err != nil {
		return deny(err)
	}
	if kind := in.Input.Kind(); len(in.Input) == 0 || kind == 'n' {
		in.Input = jsontext.Value(`{}`) // a tool that is called with nothing
	}
	if !isObject(in.Input) {
		return deny(models.Invalid("input", "must be an object"))
	}
	if in.ToolUseID == "" {
		in.ToolUseID, _ = params.Meta[metaToolUse].(string)
	}
	asks := []models.AskInput{{ToolName: in.ToolName, Input: in.Input, AcceptsEdits: true}}
	if in.ToolName == toolQuestions {
		if asks, err = questions(in.Input); err != nil {
			return deny(err)
		}
	}
	rows := make([]*models.Approval, len(asks))
	for i, ask := range asks {
		ask.Explicit, ask.ToolUseID, ask.Taker = true, nthKey(in.ToolUseID, i), x.taker()
		if in.ToolUseID == "" {
			ask.ApprovalID = nthID(keyOf(params), i)
		}
		m.aside(func() { rows[i], err = m.store.Ask(x.ctx, x.actor, ask) })
		if err != nil {
			m.withdraw(x.ctx, x.actor, idsOf(rows[:i]), x.way())
			return deny(err)
		}
	}
	return m.settle(x, waiter{tool: m.tools["approve"], rows: rows, limit: noLimit})
}

func idsOf(rows []*models.Approval) []models.ResponseID {
	ids := make([]models.ResponseID, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return ids
}

// verdict is the answer to a permission prompt. A client may take one without updatedInput
// for an error, so that it is always there.
type verdict struct {
	Behavior     string          `json:"behavior"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	Message      string          `json:"message,omitempty"`
}

// permission answers a permission prompt by what became of its requests.
func permission(x *exchange, rows []*models.Approval) (*sdk.CallToolResult, error) {
	for _, a := range rows {
		if !a.MayRun() {
			return verdict{Behavior: "deny", Message: refusal(a)}.result()
		}
	}
	if rows[0].ToolUseID != nil {
		answers, err := x.m.store.TakeAnswers(x.ctx, x.taker(), idsOf(rows))
		if err != nil {
			return nil, err
		}
		if !answers {
			return verdict{
				Behavior: "deny",
				Message:  "The answer to this request was given to another call with the same tool_use_id, so this one may not run. Make the call again, to have a person asked.",
			}.result()
		}
	}
	if rows[0].Kind == models.KindQuestion {
		return answered(rows)
	}
	input, _, ok := releasedInput(rows[0])
	if !ok {
		return verdict{
			Behavior: "deny", Message: "The approved input is no longer kept, so it can't run. Ask again under a new id.",
		}.result()
	}
	return verdict{Behavior: "allow", UpdatedInput: input}.result()
}

// refusal is why a call may not run, for its agent: what the person or the rule said, and
// what to do next, in brackets. The policy's reason to ask is no reason of who rejected it.
func refusal(a *models.Approval) string {
	status := a.Status()
	text, reason := a.Advice(status), a.Said()
	switch {
	case status != models.StatusRejected:
		return text
	case a.Vote == nil:
		reason = cmp.Or(reason, a.PolicyReason)
	case a.SaidRemoved():
		reason = "Rejected by " + models.RevealName(a.Vote.UserName) + ", in words that were removed."
	case reason == "":
		reason = "Rejected by " + models.RevealName(a.Vote.UserName) + ", without a reason."
	}
	if reason == "" {
		return text
	}
	return reason + "\n\n(" + text + ")"
}

func (v verdict) result() (*sdk.CallToolResult, error) {
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(raw)}}}, nil
}

// deny answers that a call may not run since it could not be asked about (I11). An error that is not the caller's doing
// stays an error, which is a no as well.
func deny(err error) (*sdk.CallToolResult, error) {
	switch models.ErrorCode(err) { //nolint:exhaustive // all others are refusals of ours
	case models.CodeInternal, models.CodeUnavailable, models.CodeUnauthenticated:
		return nil, err
	default:
		return verdict{Behavior: "deny", Message: textOf(failed(err))}.result()
	}
}

func textOf(r *sdk.CallToolResult) string {
	if text, ok := r.Content[0].(*sdk.TextContent); ok {
		return text.Text
	}
	return ""
}
