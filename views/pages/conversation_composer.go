package pages

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/views"
)

// How a composer's budget field is meant.
const (
	BudgetLeave = ""      // no change
	BudgetSet   = "set"   // the whole budget
	BudgetStep  = "step"  // a step from the one that stands
	BudgetGrant = "grant" // the whole budget, if the proposal is approved
)

// SayForm is what a person had filled in to say, decide and change, with what is
// wrong by field: content, decision, reason, budget, or "" for all.
type SayForm struct {
	Sent     bool   // the fields are as sent, not as they begin
	Response string // what Decision, Reason and Checked are about, as sent
	Digest   string // of what was shown of it
	Content  string
	Decision models.Verdict
	Reason   string
	Mode     string // one of the Budget words
	Amount   string
	Checked  []int  // as in DecideForm
	Notice   string // what stands instead of what was sent
	Errors   map[string]string
}

// Composer is the one form at the end of a conversation.
type Composer struct {
	URL, MoreURL, Topic string
	Label               string
	Note                string // what becomes of a message
	State               string
	Target              *ComposerTarget // what can be decided together with the message
	Form                SayForm
	Kept, Open          bool
	Stands              bool   // a budget stands that a step can start from
	Now                 string // the budget as it is
}

// ComposerTarget is the most recent proposal or budget request that waits.
type ComposerTarget struct {
	ID             models.ResponseID
	Digest         string
	Kind, Sequence string
	EntryURL       string
	Asks           string // the budget that the proposal would like; empty: none
	NoApprove      string // why the reader may not approve it; empty: they may
	Headline       string // in one line, a claim
	Arms           bool   // approving is confirmed
	Ends           string // names the ends that must be seen before
	Checklist      Checklist
}

// NewComposer makes the composer of a conversation; waiting is newest first.
func NewComposer(c *models.ConversationView, waiting []models.Approval, form SayForm) Composer {
	v := Composer{
		URL: views.SayURL(c.ID), MoreURL: views.ConversationPartURL(c.ID, "more"), Topic: views.ConversationTopic(c.ID),
		Label: "Message to " + models.RevealString(c.AgentName, false), Note: messageNote(c),
		Form: form, Kept: form.Sent, Stands: c.EnergyBudget != nil, Now: "no budget",
	}
	if c.EnergyBudget != nil {
		v.Now = views.Number(*c.EnergyBudget)
	}
	for i := range waiting {
		a := &waiting[i]
		switch {
		case a.Kind != models.KindProposal && a.Kind != models.KindBudget, a.HeldUntil != nil:
			continue
		case MayBeEarlier(&c.Conversation, a.Sequence):
			continue // may not be on the page: what is decided here is what is seen (I6)
		}
		v.Target = &ComposerTarget{
			ID: a.ID, Digest: a.Digest, Kind: a.Kind.Word(), Sequence: strconv.FormatInt(a.Sequence, 10),
			EntryURL:  "#" + EntryID(a.Sequence),
			NoApprove: models.RevealString(a.Approvers().Refusal(a.OwnerID, c.Reader), false),
			Headline:  summary(&a.Response), Arms: a.Risk.NeedsDigest(), Ends: endsOf(&a.Response),
		}
		if a.Kind == models.KindProposal && a.EnergyBudget != nil && v.Target.NoApprove == "" {
			v.Target.Asks = strconv.FormatInt(*a.EnergyBudget, 10)
		}
		v.Form.keepFor(v.Target)
		if v.Target.NoApprove == "" {
			v.Target.Checklist = newChecklist(&a.Response, v.Form.Checked, v.Form.Errors[CheckedField], "say-")
		}
		break
	}
	if v.Target != nil {
		v.State = string(v.Target.ID) + " " + v.Target.Digest
	}
	if !form.Sent && v.Target != nil && v.Target.Asks != "" {
		v.Form.Mode, v.Form.Amount = BudgetGrant, v.Target.Asks
	}
	if v.Form.Mode == BudgetGrant && v.Target == nil || v.Form.Mode == BudgetStep && !v.Stands {
		v.Form.Mode = BudgetLeave // no longer offered
	}
	if v.Target == nil {
		v.Form.keepFor(nil)
	}
	v.Open = v.Target != nil || form.Sent && (form.Mode != BudgetLeave || form.Decision != "")
	return v
}

// messageNote says what becomes of a message.
func messageNote(c *models.ConversationView) string {
	switch {
	case c.PausedAt != nil:
		return ", which waits until the conversation resumes; decisions take effect at once"
	case !c.BuiltIn:
		return ", which waits here until the agent fetches it"
	case c.Status == models.ConversationFailed:
		return ", which restarts the conversation"
	case c.Status == models.ConversationCompleted:
		return ", which reopens the conversation"
	}
	return ""
}

// Modes are the ways in which the budget may be changed here.
func (v Composer) modes() []composerMode {
	out := []composerMode{{BudgetLeave, "Keep budget"}}
	if v.Target != nil && v.Target.Kind == models.KindProposal.Word() && v.Target.NoApprove == "" {
		out = append(out, composerMode{BudgetGrant, "If approved, set to"})
	}
	out = append(out, composerMode{BudgetSet, "Set budget to"})
	if v.Stands {
		out = append(out, composerMode{BudgetStep, "Change budget by"})
	}
	return out
}

type composerMode struct{ Value, Label string }

// will says what sending does besides, by what is chosen.
func (v Composer) will() []composerMode {
	var out []composerMode
	if v.Target != nil {
		what := v.Target.Kind + " #" + v.Target.Sequence
		out = append(out, composerMode{"approve", "approves " + what + " exactly as shown"}, composerMode{"reject", "rejects " + what},
			composerMode{BudgetGrant, "sets the budget"})
	}
	return append(out, composerMode{BudgetSet, "sets the budget"}, composerMode{BudgetStep, "changes the budget by this amount"})
}

// asking is what the form has to know of its request to ask for a confirmation.
func (v Composer) asking() Approval {
	if v.Target == nil {
		return Approval{}
	}
	return Approval{Headline: v.Target.Headline, Arms: v.Target.Arms, Ends: v.Target.Ends}
}

// otherErrors is what is wrong beside the fields that the form has.
func (v Composer) otherErrors() string {
	placed := []string{"content", "budget"}
	if v.Target != nil {
		placed = append(placed, "reason", "decision")
		if len(v.Target.Checklist.Items) > 0 {
			placed = append(placed, CheckedField)
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(v.Form.Errors)) {
		switch {
		case name == "":
			out = append(out, v.Form.Errors[name])
		case !slices.Contains(placed, name):
			out = append(out, name+": "+v.Form.Errors[name])
		}
	}
	return strings.Join(out, " ")
}

// NewConversationForm begins a conversation.
type NewConversationForm struct {
	Content, Budget string
	Errors          map[string]string
}

func (f NewConversationForm) otherErrors() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(f.Errors)) {
		if name != "content" && name != "budget" {
			out = append(out, f.Errors[name])
		}
	}
	return strings.Join(out, " ")
}
