package models

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Allowance is what the owner of an agent may let it spend before Until, beyond
// what the policy allows (budget_per_agent).
type Allowance struct {
	Energy int64
	Until  time.Time // a whole minute
}

// AsksForAllowance reports whether a budget request asks for its agent, in all its
// conversations, not for the conversation in which it was made.
func (r *Response) AsksForAllowance() bool {
	return r.Kind == KindBudget && r.ToolName == ToolAllowEnergy
}

// Input is the input of the request for the allowance.
func (a Allowance) Input() string {
	return fmt.Sprintf(`{"energy":%d,"until":%q}`, a.Energy, a.Until.UTC().Format(time.RFC3339))
}

// AllowanceAsked reads the input of a request, as sent or as edited. CodeInvalid
// names the member.
func AllowanceAsked(input []byte) (Allowance, error) {
	var in struct {
		Energy jsontext.Value `json:"energy"`
		Until  *time.Time     `json:"until"`
	}
	err := json.Unmarshal(input, &in, json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(false))
	if err != nil || in.Energy == nil || in.Until == nil {
		return Allowance{}, Invalid("input",
			`must be an object with two members, as in {"energy": 100, "until": "2026-01-02T15:04:00Z"}`)
	}
	n, err := WholeNumber("input.energy", in.Energy)
	if err != nil {
		return Allowance{}, err
	}
	if n < 0 || n > MaxBudget {
		return Allowance{}, Invalid("input.energy", "must be from 0 to %d", int64(MaxBudget))
	}
	return Allowance{Energy: n, Until: in.Until.UTC()}, nil
}

// EditedAllowance reads the edited input of a request: the sum may be another,
// the time may not.
func (r *Response) EditedAllowance(edited []byte) (Allowance, error) {
	request, err := AllowanceAsked([]byte(r.ToolInputJSON))
	if err != nil {
		return Allowance{}, err
	}
	a, err := AllowanceAsked(edited)
	if err != nil {
		return Allowance{}, err
	}
	if !a.Until.Equal(request.Until) {
		return Allowance{}, Invalid("input.until", "must stay %s: only the energy can be changed",
			request.Until.Format(time.RFC3339))
	}
	return a, nil
}

// AgentBudget is what an agent may spend in all its conversations in a window of
// some hours, and has spent.
type AgentBudget struct {
	Energy   int64 // what the policy allows
	Hours    int
	Allowed  int64 // what people allow besides, for now
	Spent    int64
	Reserved int64 // for model calls that are under way
}

// Total is what may be spent in the window.
func (b AgentBudget) Total() int64 { return b.Energy + b.Allowed }

// Remaining is what may still be spent: never below 0, also where an allowance
// has ended that was spent.
func (b AgentBudget) Remaining() int64 { return max(0, b.Total()-b.Spent-b.Reserved) }

// Window is how far back spending counts, in words.
func (b AgentBudget) Window() string {
	if b.Hours == 1 {
		return "1 hour"
	}
	return fmt.Sprintf("%d hours", b.Hours)
}
