package mcp

import (
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/models"
	"countersign/models/runs"
)

func replyTool() *tool {
	return &tool{
		name: "reply", title: "Reply", description: textOfTool(models.ToolRespond),
		input: objectSchema([]string{"content"},
			`"content":{"type":"string","minLength":1,"description":"What to say, as Markdown."}`, schemaTalk),
		output: requestSchema,
		hints:  sdk.ToolAnnotations{DestructiveHint: new(false)},
		call: func(m *Server, x *exchange, params *sdk.CallToolParamsRaw) (*sdk.CallToolResult, error) {
			return m.respond(x, params, models.KindReply)
		},
	}
}

func respondWithApprovalTool() *tool {
	return &tool{
		name: models.ToolRespondWithApproval, title: "Propose",
		description: textOfTool(models.ToolRespondWithApproval) +
			" While the status is pending, go on waiting with check_approval.",
		input: objectSchema([]string{"content"},
			`"content":{"type":"string","minLength":1,"description":"What is proposed: what exactly would be done, and why."}`,
			`"energy_budget":{"type":"integer","minimum":0,"description":"The energy budget that you would like, if any. It is shown to the person, who decides."}`, schemaTalk),
		output: requestSchema,
		hints:  sdk.ToolAnnotations{DestructiveHint: new(false)},
		call: func(m *Server, x *exchange, params *sdk.CallToolParamsRaw) (*sdk.CallToolResult, error) {
			return m.respond(x, params, models.KindProposal)
		},
		answer: requestAnswer, limit: limitOfTools,
	}
}

// textOfTool is how one of the agent's tools is described wherever it is offered.
func textOfTool(name string) string {
	for _, t := range models.AgentTools() {
		if t.Name == name {
			return t.Description
		}
	}
	return ""
}

type sayArguments struct {
	Content        string         `json:"content"`
	EnergyBudget   jsontext.Value `json:"energy_budget"`
	ConversationID string         `json:"conversation_id"`
}

// respond says or proposes something.
func (m *Server) respond(x *exchange, params *sdk.CallToolParamsRaw, kind models.Kind) (*sdk.CallToolResult, error) {
	in, err := arguments[sayArguments](params)
	if err != nil {
		return nil, err
	}
	said := models.ResponseInput{Kind: kind, Content: in.Content, ResponseID: keyOf(params)}
	if in.EnergyBudget != nil {
		n, err := models.WholeNumber("energy_budget", in.EnergyBudget)
		if err != nil {
			return nil, err
		}
		said.EnergyBudget = &n
	}
	if said.ConversationID, err = m.conversation(x, in.ConversationID); err != nil {
		return nil, err
	}
	var row *models.Approval
	m.aside(func() { row, err = m.store.Respond(x.ctx, x.actor, said) })
	if err != nil {
		return nil, err
	}
	if kind == models.KindReply {
		return requestAnswer(x, []*models.Approval{row})
	}
	return m.settle(x, waiter{tool: m.tools[models.ToolRespondWithApproval], rows: []*models.Approval{row}, limit: m.wait})
}

// conversation is the one that a call names, or else the agent's own.
func (m *Server) conversation(x *exchange, name string) (models.ConversationID, error) {
	if name != "" {
		return models.ParseID[models.ConversationID]("conversation_id", name)
	}
	return runs.New(m.store).OwnConversation(x.ctx, x.actor)
}

// budgetSchema describes what became of a wish for a budget.
var budgetSchema = openSchema([]string{"conversation_id", "advice"},
	`"conversation_id":{"type":"string"}`,
	`"budget":{"type":["integer","null"],"description":"The current budget; null: unlimited."}`,
	`"used":{"type":"integer"}`,
	`"remaining":{"type":["integer","null"]}`,
	`"approval_id":{"type":"string","description":"The request that a person decides, if the budget would be raised: what check_approval takes."}`,
	`"status":{"type":"string"}`,
	`"advice":{"type":"string"}`,
)

type budgetTold struct {
	ConversationID models.ConversationID `json:"conversation_id"`
	Budget         *int64                `json:"budget"`
	Used           int64                 `json:"used"`
	Remaining      *int64                `json:"remaining"`
	ApprovalID     models.ResponseID     `json:"approval_id,omitempty"`
	Status         models.Status         `json:"status,omitempty"`
	Advice         string                `json:"advice"`
}

func setBudgetTool() *tool {
	return &tool{
		name: models.ToolSetBudget, title: "Set the budget", description: textOfTool(models.ToolSetBudget),
		input: objectSchema([]string{"budget"},
			`"budget":{"type":"integer","minimum":0,"description":"The whole budget, in units of energy."}`, schemaTalk),
		output: budgetSchema,
		hints:  sdk.ToolAnnotations{IdempotentHint: true, DestructiveHint: new(false)},
		call: func(m *Server, x *exchange, params *sdk.CallToolParamsRaw) (*sdk.CallToolResult, error) {
			return m.changeBudget(x, params, "budget")
		},
	}
}

func adjustBudgetTool() *tool {
	return &tool{
		name: models.ToolAdjustBudget, title: "Change the budget", description: textOfTool(models.ToolAdjustBudget),
		input: objectSchema([]string{"delta"},
			`"delta":{"type":"integer","description":"How much to add; negative to subtract."}`, schemaTalk),
		output: budgetSchema,
		hints:  sdk.ToolAnnotations{DestructiveHint: new(false)},
		call: func(m *Server, x *exchange, params *sdk.CallToolParamsRaw) (*sdk.CallToolResult, error) {
			return m.changeBudget(x, params, "delta")
		},
	}
}

// changeBudget lowers a budget, sets one where there is none, or asks a person for more (I4).
func (m *Server) changeBudget(x *exchange, params *sdk.CallToolParamsRaw, member string) (*sdk.CallToolResult, error) {
	in, err := arguments[map[string]jsontext.Value](params)
	if err != nil {
		return nil, err
	}
	for name := range in {
		if name != member && name != "conversation_id" {
			return nil, models.Invalid("arguments", "contain a member that this tool does not take")
		}
	}
	if in[member] == nil {
		return nil, models.Invalid(member, "is required")
	}
	n, err := models.WholeNumber(member, in[member])
	if err != nil {
		return nil, err
	}
	change := models.BudgetChange{Set: &n}
	if member == "delta" {
		change = models.BudgetChange{Delta: &n}
	}
	name := ""
	if raw := in["conversation_id"]; raw != nil {
		if err := decode(raw, &name); err != nil {
			return nil, models.Invalid("conversation_id", "is of the wrong type")
		}
	}
	conversation, err := m.conversation(x, name)
	if err != nil {
		return nil, err
	}
	got, err := m.store.ChangeBudget(x.ctx, x.actor, conversation, change, "")
	if err != nil {
		return nil, err
	}
	out := budgetTold{
		ConversationID: conversation, Budget: got.Budget.Total, Used: got.Budget.Used, Remaining: got.Budget.Remaining(),
		Advice: "The budget is changed.",
	}
	if a := got.Approval; a != nil {
		out.ApprovalID, out.Status, out.Advice = a.ID, a.Status(), a.Advice(a.Status())
	}
	return structured(out)
}
