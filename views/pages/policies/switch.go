package policies

import (
	"time"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// Toggle is a switch of the policy that lets calls through without a person. People
// set it by a red button that asks until when, not by a box among others.
type Toggle struct {
	ID          string // of its fields: gate_for, gate_at, gate_word
	Flag, Until string // its members in the document
	Open, Close string // the steps that its buttons send: to let calls through, and not to
	// Opened and Closed are what the form holds of Flag.
	Opened, Closed string

	title, safe, open, openLabel, changeLabel, closeLabel, confirm, help string
}

var policyToggles = []Toggle{
	{
		ID: "gate", Flag: "approval_enabled", Until: "approval_off_until", Open: "gate-off", Close: "gate-on", Opened: "",
		Closed: "true",
		title:  "The gate", safe: "on", open: "off", openLabel: "Switch the gate off…", changeLabel: "Change the end…",
		closeLabel: "Switch the gate on",
		confirm:    "Switch it off and review", help: enabledHelp,
	},
	{
		ID: "fallback", Flag: "fallback_auto_approve", Until: "fallback_until", Open: "fallback-on", Close: "fallback-off",
		Opened: "true", Closed: "",
		title: "Fallback", safe: "off", open: "on", openLabel: "Switch fallback on…", changeLabel: "Change the end…",
		closeLabel: "Switch fallback off",
		confirm:    "Switch it on and review", help: fallbackHelp,
	},
}

// Toggles are the switches that let calls through.
func Toggles() []Toggle { return policyToggles }

// What may be chosen as the end of a switch: so many minutes, or one of these.
const (
	UntilTime  = "until"
	UntilNever = "none"
	// NoEnd is the word to type for no end.
	NoEnd = "no end"
)

// TypedEnd is the text typed to set a switch, and its errors by field: "for", "at" or "word".
type TypedEnd struct {
	For, At, Word string
	Faults        map[string]string
}

// Switch is one switch as the form draws it.
type Switch struct {
	Toggle

	FlagValue, UntilValue string // what the draft says of both members
	On                    bool   // it lets calls through in the draft
	State                 string
	Ends                  views.Moment // zero: it has no end, or none that can be read
	Fault                 string
	Label                 string // of the button that asks until when
	Choices               []SwitchChoice
	ForError              string
	At, Word              ui.Field
	Unfold                bool
}

// SwitchChoice is one answer to the question until when.
type SwitchChoice struct {
	Value, Label string
	Chosen       bool
}

// newSwitch draws a switch of the draft. zone is whose time is typed.
func newSwitch(of Toggle, in DraftInput) Switch {
	end, sent := in.Ends[of.ID]
	v := Switch{
		Toggle: of, FlagValue: in.Settings[of.Flag], UntilValue: in.Settings[of.Until],
		State: of.safe, Label: of.openLabel, Unfold: sent, ForError: end.Faults["for"],
	}
	v.On = v.FlagValue != of.Closed
	if v.On {
		v.State, v.Label = of.open, of.changeLabel
		until, err := time.Parse(time.RFC3339, v.UntilValue)
		switch {
		case err == nil:
			v.State, v.Ends = of.open+" until", views.Exact(until)
		case v.UntilValue == "":
			v.State = of.open + ", with no end"
		}
	}
	for _, path := range []string{of.Until, of.Flag} {
		if text := in.Problems[path]; text != "" {
			v.Fault = path + " " + text
		}
	}
	if end.For == "" {
		end.For = "60"
	}
	for _, c := range []SwitchChoice{
		{Value: "60", Label: "60 minutes"},
		{Value: "240", Label: "4 hours"},
		{Value: UntilTime, Label: "Until a date and time"},
		{Value: UntilNever, Label: "No end"},
	} {
		c.Chosen = c.Value == end.For
		v.Choices = append(v.Choices, c)
	}
	v.At = ui.Field{
		Name: of.ID + "_at", Label: "Date and time (" + in.Zone + ")", Type: "datetime-local", Value: end.At,
		Error: end.Faults["at"],
	}
	if v.At.Error != "" {
		v.At.Type = "text" // a browser shows only valid times
	}
	v.Word = ui.Field{
		Name: of.ID + "_word", Label: "For no end, type “" + NoEnd + "”", Value: end.Word, Error: end.Faults["word"],
		Autocomplete: "off", MaxLength: "20",
	}
	return v
}

// Danger is what saving would open, or remove for good; with a time in the middle, or
// without one.
type Danger struct {
	Text string
	At   views.Moment
	Rest string
}

// openings says what the two switches would let through, and until when.
func openings(before, after policy.Document, now time.Time) []Danger {
	var out []Danger
	if !after.ApprovalEnabled && (before.ApprovalEnabled || !sameEnd(before.ApprovalOffUntil, after.ApprovalOffUntil)) {
		verb := "will be off"
		if !before.ApprovalEnabled {
			verb = "stays off"
		}
		out = append(out,
			opening("The gate "+verb, "no tool call waits for a person", "Pending requests stay pending.",
				after.ApprovalOffUntil, now))
	}
	if after.FallbackAutoApprove && (!before.FallbackAutoApprove || !sameEnd(before.FallbackUntil, after.FallbackUntil)) {
		verb := "will be on"
		if before.FallbackAutoApprove {
			verb = "stays on"
		}
		out = append(out,
			opening("Fallback "+verb, "clients run calls without asking anyone when no server answers",
				"They report them afterwards.", after.FallbackUntil, now))
	}
	return out
}

func opening(what, follows, rest string, until *time.Time, now time.Time) Danger {
	if until == nil {
		return Danger{Text: what + " with no end: " + follows + " until somebody changes it. " + rest}
	}
	left := max(0, until.Sub(now)+time.Minute-1).Truncate(time.Minute)
	return Danger{
		Text: what + ": " + follows + " from the moment you save until", At: views.Exact(*until),
		Rest: "(" + models.SpokenDuration(left) + "). " + rest,
	}
}

func sameEnd(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }
