package agents

import (
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

const (
	// grantMembers is how many members of an input can be left free on the page;
	// those behind them stay as they are.
	grantMembers = 100
	// grantValue is where a member's value is cut, in characters.
	grantValue = 240
	// What a form begins with.
	grantHours, grantUses = 1, 10
)

// GrantFormInput is what the form of a grant on one request is made of.
type GrantFormInput struct {
	Approval models.Approval
	// MaxHours and MaxUses are the most that the policy allows.
	MaxHours, MaxUses int
	Reach             *models.GrantReach // nil: not looked
	Form              GrantForm
	// Closed says why no grant can be made here; empty: one can.
	Closed string
	// Fold says that parts of a request of high risk must be opened first.
	Fold bool
}

// GrantForm keeps the form, with its errors by field: fixed, hours, uses, or "" for all.
type GrantForm struct {
	Sent        bool  // something was; else all stays as it is
	Kept        []int // the places of the members that stay as they are, of Shape.Members
	Hours, Uses string
	Errors      map[string]string
}

// Fixed are the names that the form means. CodeInvalid, naming fixed, for a place
// that the input does not have.
func (f GrantForm) Fixed(s models.Shape) ([]string, error) {
	var out []string
	if !f.Sent {
		for _, m := range s.Members {
			out = append(out, m.Name)
		}
		return out, nil
	}
	for _, i := range f.Kept {
		if i < 0 || i >= len(s.Members) {
			return nil, models.Invalid("fixed", "must be chosen from the arguments of the input")
		}
		out = append(out, s.Members[i].Name)
	}
	for i := grantMembers; i < len(s.Members); i++ {
		out = append(out, s.Members[i].Name)
	}
	return out, nil
}

// GrantFormView is the view model of the form.
type GrantFormView struct {
	URL, RequestURL string
	Tool, Agent     string
	Owner           string
	Conversation    string
	Risk            ui.Word
	Status          ui.Word
	Digest          string
	Warnings        []inputs.Warning
	Members         []GrantMember
	More            string // members that cannot be left free here
	Whole           string // the input, where it is not an object
	IsWhole         bool
	Anything        string // said while nothing stays as it is
	Reach           string
	Since           views.Moment
	Hours, Uses     ui.Field
	Error           string
	FixedError      string
	Closed          string
	Fold            bool
	Approve         bool    // the request can be approved too
	Source          ui.Code // all of the input, where its risk is high; empty else
}

// GrantMember is one member of the input: whether it stays as it is.
type GrantMember struct {
	ID, Place   string
	Name, Value string // in canonical JSON
	Kept        bool
}

// NewGrantForm makes the form as of now.
func NewGrantForm(in GrantFormInput, now time.Time) GrantFormView {
	a := in.Approval
	r := a.At(now)
	v := GrantFormView{
		URL: views.NewGrantURL(a.ID), RequestURL: views.ApprovalURL(a.ID), Tool: a.ToolName, Agent: a.AgentName,
		Owner:        a.OwnerName,
		Conversation: words.ConversationLabel(&a), Risk: ui.RiskWord(a.Risk), Status: ui.StatusWord(r.Status(), r.Cause),
		Digest: a.Digest,
		Error:  in.Form.Errors[""], FixedError: in.Form.Errors["fixed"], Closed: in.Closed,
		Fold:    in.Fold && in.Closed == "",
		Approve: r.Status() == models.StatusPending && a.HeldUntil == nil,
	}
	shape, err := models.ShapeOf([]byte(a.ToolInputJSON))
	if err != nil {
		v.Closed = "The stored input can't be read, so similar calls can't be pre-approved."
		return v
	}
	v.members(shape, in.Form)
	v.reach(in.Reach, now)
	if in.Closed == "" {
		input := inputs.New(r, inputs.Folding{})
		v.Warnings = inputs.Warnings(&a, "", input)
		if a.Risk.NeedsDigest() {
			v.Source = input.Whole
			v.Source.Opened = true
		}
	}
	v.Hours = limitField("hours", "Hours", in.Form, in.Form.Hours, min(grantHours, in.MaxHours), in.MaxHours,
		"It ends after that, however often it was used.")
	v.Uses = limitField("uses", "Number of calls", in.Form, in.Form.Uses, min(grantUses, in.MaxUses), in.MaxUses,
		"It ends after the last one.")
	return v
}

func limitField(name, label string, form GrantForm, value string, first, most int, help string) ui.Field {
	if !form.Sent {
		value = strconv.Itoa(first)
	}
	return ui.Field{
		ID: "grant-" + name, Name: name, Label: label, Type: "number", Required: true, Value: value, Min: "1",
		Max:   strconv.Itoa(most),
		Error: form.Errors[name], Help: "From 1 to " + views.Number(int64(most)) + ". " + help,
	}
}

func (v *GrantFormView) members(s models.Shape, form GrantForm) {
	if !s.Object {
		v.IsWhole, v.Whole = true, string(s.Whole)
		return
	}
	kept := make(map[int]bool, len(form.Kept))
	for _, i := range form.Kept {
		kept[i] = true
	}
	for i, m := range s.Members {
		if i == grantMembers {
			v.More = views.Number(int64(len(s.Members)-i)) + " more arguments are not shown. They must all match."
			break
		}
		place := strconv.Itoa(i)
		v.Members = append(v.Members,
			GrantMember{ID: "keep-" + place, Place: place, Name: m.Name, Value: string(m.Value), Kept: !form.Sent || kept[i]})
	}
	if len(v.Members) > 0 && v.More == "" {
		v.Anything = "No argument must match: any call of this tool by this agent is allowed, whatever is in " +
			namesOf(v.Members) + "."
	}
}

// namesOf lists the first members by name.
func namesOf(members []GrantMember) string {
	const most = 4
	var names []string
	for i, m := range members {
		if i == most {
			names = append(names, "and the others")
			break
		}
		name, _ := ui.Cut(m.Name, 40)
		names = append(names, "“"+models.RevealString(name, false)+"”")
	}
	return strings.ReplaceAll(strings.Join(names, ", "), ", and", " and")
}

func (v *GrantFormView) reach(r *models.GrantReach, now time.Time) {
	switch {
	case r == nil:
	case r.Sample == 0:
		v.Reach = "There is no earlier call of this tool by this agent to compare with."
	case r.Sample == 1:
		v.Reach = "It would not have covered the one earlier call,"
		if r.Covered == 1 {
			v.Reach = "It would have covered the one earlier call,"
		}
		v.Since = views.Ago(r.Since, now)
	default:
		v.Reach = "It would have covered " + views.Number(int64(r.Covered)) + " of the last " +
			views.Number(int64(r.Sample)) + " calls, the oldest"
		v.Since = views.Ago(r.Since, now)
	}
}
