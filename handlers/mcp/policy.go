package mcp

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/models"
	"countersign/models/policy"
)

func getPolicyTool() *tool {
	return &tool{
		name: "get_policy", title: "Read the policy",
		description: "What applies to your calls: which tools need a person's approval, which are allowed and which are denied, and how long requests wait. The first rule that matches a tool decides.",
		input:       objectSchema(nil),
		output: openSchema([]string{"version", "approval_enabled", "unmatched", "rules"},
			`"version":{"type":"integer"}`,
			`"approval_enabled":{"type":"boolean"}`,
			`"default_timeout_minutes":{"type":"integer"}`,
			`"required_approval_tools":{"type":"array","items":{"type":"string"}}`,
			`"unmatched":{"type":"string","description":"What happens to a tool that no rule names, unless you ask for approval."}`,
			`"templates":{"type":"array","items":{"type":"string"}}`,
			`"rules":{"type":"array","items":{"type":"object"}}`,
		),
		hints: sdk.ToolAnnotations{ReadOnlyHint: true},
		call:  getPolicy,
	}
}

// policyTold is what agents hear of the policy. Conditions, reviewers and notes are for
// people: an agent that knew a limit could stay just below it.
type policyTold struct {
	Version               int64         `json:"version"`
	ApprovalEnabled       bool          `json:"approval_enabled"`
	DefaultTimeoutMinutes int           `json:"default_timeout_minutes"`
	RequiredApprovalTools []string      `json:"required_approval_tools"`
	Unmatched             policy.Effect `json:"unmatched"`
	Templates             []string      `json:"templates"`
	Rules                 []ruleTold    `json:"rules"`
}

type ruleTold struct {
	Name           string        `json:"name"`
	Tools          []string      `json:"tools"`
	Effect         policy.Effect `json:"effect"`
	Conditional    bool          `json:"conditional,omitempty"` // only for some calls of these tools
	Risk           models.Risk   `json:"risk,omitempty"`
	TimeoutMinutes *int          `json:"timeout_minutes,omitempty"`
	Reason         string        `json:"reason,omitempty"`
}

func getPolicy(m *Server, x *exchange, params *sdk.CallToolParamsRaw) (*sdk.CallToolResult, error) {
	if _, err := arguments[struct{}](params); err != nil {
		return nil, err
	}
	v, err := m.store.CurrentPolicy(x.ctx)
	if err != nil {
		return nil, err
	}
	d, _, _ := v.Program.Document().Ended(m.store.Now())
	out := policyTold{
		Version: v.Version, ApprovalEnabled: d.ApprovalEnabled, DefaultTimeoutMinutes: d.DefaultTimeoutMinutes,
		RequiredApprovalTools: d.RequiredApprovalTools, Unmatched: d.Unmatched,
		Templates: append([]string{}, v.Program.TemplateNames()...), Rules: []ruleTold{},
	}
	for _, r := range d.Rules {
		if !r.Disabled {
			out.Rules = append(out.Rules,
				ruleTold{
					Name: r.Name, Tools: r.Tools, Effect: r.Effect, Conditional: r.When != "", Risk: r.Risk,
					TimeoutMinutes: r.TimeoutMinutes, Reason: r.Reason,
				})
		}
	}
	return structured(out)
}
