package models

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The agent's tools: the same for the built-in agent and, over the interfaces,
// for agents outside.
const (
	ToolRespond             = "respond"
	ToolRespondWithApproval = "respond_with_approval"
	ToolSetBudget           = "set_budget"
	ToolAdjustBudget        = "adjust_budget"
)

// ToolAllowEnergy is what rules call the request for more energy than the policy
// lets an agent spend (budget_per_agent). Agents do not call it.
const ToolAllowEnergy = "allow_agent_energy"

// AgentTool describes one of them. Schema is a JSON Schema of its arguments.
type AgentTool struct {
	Name        string
	Description string
	Schema      jsontext.Value
}

// AgentTools are the tools, in the order in which they are offered.
func AgentTools() []AgentTool {
	return []AgentTool{
		{
			ToolRespond, "Say something to the person. It is shown at once and needs no approval.",
			toolSchema(`"content":{"type":"string","description":"What to say, as Markdown."}`, `"content"`),
		},
		{
			ToolRespondWithApproval,
			"Propose something that needs the person's confirmation, and wait for it. It consumes energy even when it is rejected.",
			toolSchema(`"content":{"type":"string","description":"What is proposed: what exactly would be done, and why."},
 "energyBudget":{"type":"integer","minimum":0,"description":"The energy budget that you would like, if any. It is shown to the person, who decides."}`, `"content"`),
		},
		{
			ToolSetBudget,
			"Set the conversation's energy budget. A first budget and a lower one take effect at once; raising it asks the person.",
			toolSchema(`"budget":{"type":"integer","minimum":0,"description":"The whole budget, in units of energy."}`,
				`"budget"`),
		},
		{
			ToolAdjustBudget,
			"Change the conversation's energy budget by a step. A negative step lowers it at once and stops at 0; a positive one asks the person.",
			toolSchema(`"delta":{"type":"integer","description":"How much to add; negative to subtract."}`, `"delta"`),
		},
	}
}

func toolSchema(properties, required string) jsontext.Value {
	return jsontext.Value(`{"type":"object","properties":{"requestId":{"type":"string","format":"uuid","description":"The id of this conversation."},
 ` + properties + `},"required":["requestId",` + required + `],"additionalProperties":false}`)
}

// ToolCall is a call of one of the agent's tools, checked: it concerns the
// conversation that RequestID names.
type ToolCall struct {
	Name         string
	RequestID    ConversationID
	Content      string       // respond, respond_with_approval
	EnergyBudget *int64       // respond_with_approval
	Change       BudgetChange // set_budget, adjust_budget
}

// ParseToolCall reads the arguments of a call in the conversation own. A mistake is CodeInvalid and names the field; an
// id of another conversation is CodeNotFound and says nothing about that one.
func ParseToolCall(own ConversationID, name string, arguments []byte) (*ToolCall, error) {
	var in struct {
		RequestID    *string        `json:"requestId"`
		Content      *string        `json:"content"`
		EnergyBudget jsontext.Value `json:"energyBudget"`
		Budget       jsontext.Value `json:"budget"`
		Delta        jsontext.Value `json:"delta"`
	}
	err := json.Unmarshal(arguments, &in, json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(false))
	if err != nil {
		return nil, argumentsProblem(err)
	}
	if in.RequestID == nil {
		return nil, Invalid("requestId", "is required: the id of this conversation")
	}
	id, err := ParseID[ConversationID]("requestId", *in.RequestID)
	if err != nil {
		return nil, err
	}
	if id != own {
		return nil, &Error{
			Code: CodeNotFound, Text: "No such conversation.",
			Fields: map[string]string{"requestId": "must be the id of this conversation"},
		}
	}
	call := &ToolCall{Name: name, RequestID: id}
	takes := map[string]bool{}
	switch name {
	case ToolRespond, ToolRespondWithApproval:
		takes["content"], takes["energyBudget"] = true, name == ToolRespondWithApproval
		if in.Content == nil {
			return nil, Invalid("content", "is required")
		}
		call.Content = *in.Content
		if err := CheckContent("content", call.Content); err != nil {
			return nil, err
		}
	case ToolSetBudget:
		takes["budget"] = true
	case ToolAdjustBudget:
		takes["delta"] = true
	default:
		return nil, Invalid("name", "must be respond, respond_with_approval, set_budget or adjust_budget")
	}
	for _, member := range [...]struct {
		name     string
		value    jsontext.Value
		to       **int64
		required bool
	}{
		{"energyBudget", in.EnergyBudget, &call.EnergyBudget, false},
		{"budget", in.Budget, &call.Change.Set, true},
		{"delta", in.Delta, &call.Change.Delta, true},
	} {
		switch {
		case !takes[member.name] && member.value != nil:
			return nil, Invalid(member.name, "is not an argument of this tool")
		case !takes[member.name]:
		case member.value == nil && member.required:
			return nil, Invalid(member.name, "is required")
		case member.value != nil:
			n, err := WholeNumber(member.name, member.value)
			if err != nil {
				return nil, err
			}
			*member.to = &n
		}
	}
	if !takes["content"] && in.Content != nil {
		return nil, Invalid("content", "is not an argument of this tool")
	}
	if b := call.EnergyBudget; b != nil && (*b < 0 || *b > MaxBudget) {
		return nil, Invalid("energyBudget", "must be from 0 to %d", int64(MaxBudget))
	}
	if b := call.Change.Set; b != nil && (*b < 0 || *b > MaxBudget) {
		return nil, Invalid("budget", "must be from 0 to %d", int64(MaxBudget))
	}
	return call, nil
}

// CheckContent checks what an agent or a person says.
func CheckContent(field, content string) error {
	if content == "" {
		return Invalid(field, "must not be empty")
	}
	return CheckText(field, content, MaxContent)
}

// WholeNumber reads a JSON number without a fraction that an int64 holds; 5.0
// and 5e0 are such numbers too.
func WholeNumber(field string, value jsontext.Value) (int64, error) {
	var f float64
	if err := json.Unmarshal(value, &f); err != nil || value.Kind() != '0' {
		return 0, Invalid(field, "must be a whole number")
	}
	var n int64
	if err := json.Unmarshal(value, &n); err == nil {
		return n, nil
	}
	if f > MaxBudget || f < -MaxBudget || !whole(string(value)) {
		return 0, Invalid(field, "must be a whole number, at most %d", int64(MaxBudget))
	}
	return int64(f), nil
}

// whole reports whether a JSON number has no fraction, however small: as a float
// it may have lost one.
func whole(literal string) bool {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimSpace(literal)), "e")
	integer, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimRight(strings.TrimPrefix(integer, "-")+fraction, "0")
	if digits == "" {
		return true // nought, whatever its exponent
	}
	power := 0
	if exponent != "" {
		var err error
		if power, err = strconv.Atoi(exponent); err != nil {
			return false
		}
	}
	// Behind the point is the rest of the fraction's digits.
	behind := len(digits) - len(strings.TrimPrefix(integer, "-"))
	return power >= behind
}

// argumentNames are what the tools take; any other name is a stranger's text.
var argumentNames = [...]string{"requestId", "content", "energyBudget", "budget", "delta"}

// argumentsProblem describes a mistake in a tool's arguments as a whole.
func argumentsProblem(err error) error {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok && !errors.Is(err, jsontext.ErrDuplicateName) {
		// A number such as NaN is not JSON: say at least where it is.
		if field, ok := strings.CutPrefix(string(syntax.JSONPointer), "/"); ok && slices.Contains(argumentNames[:], field) {
			return Invalid(field, "is not a JSON value: %s", jsonProblem(err))
		}
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok && semantic.JSONPointer != "" {
		field := semantic.JSONPointer.LastToken()
		if errors.Is(err, json.ErrUnknownName) {
			return Invalid("arguments", "contain a member that this tool does not take")
		}
		return Invalid(field, "is of the wrong type")
	}
	return Invalid("arguments", "must be one JSON object: %s", jsonProblem(err))
}
