package mcp

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/models"
)

// What asks may say besides.
const (
	schemaDescription = `"description":{"type":"string","maxLength":2000,"description":"What this is about and why, for the person who decides."}`
	schemaContext     = `"context":{"type":"string","maxLength":16384,"description":"What the person should know besides, as Markdown."}`
	schemaPreview     = `"preview":{"type":"string","maxLength":16384,"description":"What will happen, as text: shown to the person as your claim."}`
	schemaTimeout     = `"timeout_seconds":{"type":"integer","minimum":1,"description":"When the request expires, unless the policy says."}`
	schemaTemplate    = `"template":{"type":"string","description":"A template of the policy, which can only make the request stricter."}`
	schemaOptions     = `"options":{"type":"array","maxItems":50,"items":` +
		`{"type":"object","properties":{"name":{"type":"string","maxLength":200},"title":{"type":"string","maxLength":200}},"required":["name"],"additionalProperties":false},` +
		`"description":"The answers to choose from. Answers in other words are possible too."}`
)

func requestApprovalTool() *tool {
	return &tool{
		name: "request_approval", title: "Request approval",
		description: "Ask a person to approve something before you do it: any act, with its input. Act only when the status is approved, and with the input of the answer. " +
			"It answers after a while even if nobody has decided, with the status pending: go on waiting with check_approval.",
		input: objectSchema([]string{"tool_name", "input"}, schemaToolName, schemaInput, schemaDescription, schemaContext,
			schemaPreview, schemaCallID, schemaTimeout, schemaTemplate, schemaTalk),
		output: requestSchema,
		hints:  sdk.ToolAnnotations{DestructiveHint: new(false)},
		call:   requestApproval, answer: requestAnswer, limit: limitOfTools,
	}
}

type askArguments struct {
	ToolName string         `json:"tool_name"`
	Input    jsontext.Value `json:"input"`
	models.Explanation

	ToolUseID      string `json:"tool_use_id"`
	TimeoutSeconds *int64 `json:"timeout_seconds"`
	Template       string `json:"template"`
	ConversationID string `json:"conversation_id"`
}

func requestApproval(m *Server, x *exchange, params *sdk.CallToolParamsRaw) (*sdk.CallToolResult, error) {
	in, err := arguments[askArguments](params)
	if err != nil {
		return nil, err
	}
	if !isObject(in.Input) {
		return nil, models.Invalid("input", "must be an object")
	}
	return m.ask(x, params, m.tools["request_approval"], models.AskInput{
		ToolName: in.ToolName, Input: in.Input, Explanation: in.Explanation,
		ToolUseID:      in.ToolUseID,
		TimeoutSeconds: in.TimeoutSeconds, Template: in.Template, ConversationID: in.ConversationID, AcceptsEdits: true,
	})
}

// ask asks and waits. Its key is the call's own name, or else the one that the pipe gave it.
func (m *Server) ask(
	x *exchange, params *sdk.CallToolParamsRaw, t *tool, in models.AskInput,
) (*sdk.CallToolResult, error) {
	in.Explicit = true
	if in.ToolUseID == "" {
		in.ApprovalID = keyOf(params)
	}
	var row *models.Approval
	var err error
	m.aside(func() { row, err = m.store.Ask(x.ctx, x.actor, in) })
	if err != nil {
		return nil, err
	}
	return m.settle(x, waiter{tool: t, rows: []*models.Approval{row}, limit: m.wait})
}

func checkApprovalTool() *tool {
	return &tool{
		name: "check_approval", title: "Check an approval",
		description: "See what became of a request, by approval_id or by your own tool_use_id, and wait for the decision for a while. Pending means that nobody has decided: call it again.",
		input: objectSchema(nil, schemaRequest,
			`"tool_use_id":{"type":"string","maxLength":200,"description":"Your own id of the call, in the place of approval_id."}`,
			`"wait_seconds":{"type":"integer","minimum":0,"description":"How long to wait at most; 0 answers at once."}`),
		output: requestSchema,
		hints:  sdk.ToolAnnotations{ReadOnlyHint: true},
		call:   checkApproval, answer: requestAnswer, limit: limitOfTools,
	}
}

type checkArguments struct {
	ApprovalID  string `json:"approval_id"`
	ToolUseID   string `json:"tool_use_id"`
	WaitSeconds *int64 `json:"wait_seconds"`
}

func checkApproval(m *Server, x *exchange, params *sdk.CallToolParamsRaw) (*sdk.CallToolResult, error) {
	in, err := arguments[checkArguments](params)
	if err != nil {
		return nil, err
	}
	limit := m.wait
	if s := in.WaitSeconds; s != nil {
		if *s < 0 {
			return nil, models.Invalid("wait_seconds", "must not be negative")
		}
		limit = min(limit, time.Duration(min(*s, int64(MaxWait/time.Second)))*time.Second)
	}
	row, err := m.named(x, in)
	if err != nil {
		return nil, err
	}
	w := waiter{tool: m.tools["check_approval"], rows: []*models.Approval{row}, limit: limit}
	if limit == 0 {
		return w.tool.answer(x, w.rows)
	}
	return m.settle(x, w)
}

// named finds the request that is checked, among the agent's own.
func (m *Server) named(x *exchange, in checkArguments) (*models.Approval, error) {
	if (in.ApprovalID == "") == (in.ToolUseID == "") {
		return nil, models.Invalid("approval_id", "is required, unless tool_use_id is sent")
	}
	if in.ToolUseID != "" {
		return m.store.FindInvocation(x.ctx, x.actor, in.ToolUseID, "")
	}
	id, err := models.ParseID[models.ResponseID]("approval_id", in.ApprovalID)
	if err != nil {
		return nil, err
	}
	return m.store.Requests.Approval(x.ctx, x.actor, id)
}

func askHumanTool() *tool {
	return &tool{
		name: "ask_human", title: "Ask a person",
		description: "Ask a person a question, with options to choose from or in free text. The answer is in answer or option. " +
			"It answers after a while even if nobody has, with the status pending: go on waiting with check_approval.",
		input: objectSchema([]string{"question"},
			`"question":{"type":"string","minLength":1,"maxLength":2000,"description":"The question, so that it can be answered without more."}`,
			schemaOptions, schemaContext, schemaPreview, schemaCallID, schemaTimeout, schemaTalk),
		output: requestSchema,
		hints:  sdk.ToolAnnotations{DestructiveHint: new(false)},
		call:   askHuman, answer: requestAnswer, limit: limitOfTools,
	}
}

type questionArguments struct {
	Question       string          `json:"question"`
	Options        []models.Option `json:"options"`
	Context        string          `json:"context"`
	Preview        string          `json:"preview"`
	ToolUseID      string          `json:"tool_use_id"`
	TimeoutSeconds *int64          `json:"timeout_seconds"`
	ConversationID string          `json:"conversation_id"`
}

func askHuman(m *Server, x *exchange, params *sdk.CallToolParamsRaw) (*sdk.CallToolResult, error) {
	in, err := arguments[questionArguments](params)
	if err != nil {
		return nil, err
	}
	if in.Question == "" {
		return nil, models.Invalid("question", "must not be empty")
	}
	return m.ask(x, params, m.tools["ask_human"], models.AskInput{
		Kind: models.KindQuestion, ToolName: "ask_human", Options: in.Options, ToolUseID: in.ToolUseID,
		Explanation:    models.Explanation{Description: in.Question, Context: in.Context, Preview: in.Preview},
		TimeoutSeconds: in.TimeoutSeconds, ConversationID: in.ConversationID,
	})
}
