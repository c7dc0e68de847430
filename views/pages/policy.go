package pages

import (
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// PolicyFields are the four fields of the approval configuration.
type PolicyFields struct {
	ApprovalEnabled       bool
	RequiredApprovalTools []string
	DefaultTimeoutMinutes int64
	FallbackAutoApprove   bool
}

// PolicyChange is one difference that saving would make.
type PolicyChange struct {
	Path, Before, After string
}

// PolicyVersion is one entry of the policy's history.
type PolicyVersion struct {
	Version int64
	Author  string
	At      time.Time
	Note    string
}

// PolicyRule is one rule as readers see it.
type PolicyRule struct {
	Name, Note, Effect, Risk, Reason string
	Tools, Reviewers, RejectReasons  []string
	TimeoutMinutes                   int64 // 0: the default
	Energy                           int64 // the least that such a call costs; 0: what the agent says
	ReviewersOnly                    bool
	SelfApproval                     models.SelfApproval // empty: allowed
}

// PolicyForm is what the form holds, as typed.
type PolicyForm struct {
	ApprovalEnabled       bool
	RequiredApprovalTools string // one a line
	DefaultTimeoutMinutes string
	FallbackAutoApprove   bool
	RetentionDays         string
	Note                  string
	BaseVersion           int64             // the version that was on the page
	Errors                map[string]string // by member, with or without an index
}

// PolicyInput is what the policy page is made of.
type PolicyInput struct {
	Version  int64
	Fields   PolicyFields
	Rules    []PolicyRule
	Versions []PolicyVersion // newest first; admins only
	Admin    bool
	// AutoBudgetIncrease is how much energy the system may add to a conversation's
	// budget by itself; told to admins.
	AutoBudgetIncrease int64
	// Desk is the current document; what it says of how requests are decided is
	// told to admins.
	Desk policy.Document
	// Form is what an admin sent, to be corrected or confirmed; nil shows what
	// holds.
	Form *PolicyForm
	// Review asks for confirmation of Changes. Without changes the form says so.
	Review  bool
	Changes []PolicyChange
	// Stale says that another version was saved since the form was shown.
	Stale bool
}

// Policy is the view model of what needs approval.
type Policy struct {
	Version   string
	Fields    []PolicyField
	Rules     []PolicyRuleRow
	Versions  []PolicyVersionRow
	Admin     bool
	Unmatched string // what happens to a tool that no rule names
	Increase  string // what auto_budget_increase means, for admins
	PerAgent  string // what budget_per_agent means, for admins
	Desk      []PolicyField
	Form      PolicyForm
	Review    bool
	Changes   []PolicyChange
	Notice    string
	Dangers   []string // what the changes would open
}

// PolicyField is one field as read.
type PolicyField struct{ Name, Value, Help string }

// PolicyRuleRow is one rule in the list.
type PolicyRuleRow struct {
	Number, Name, Tools, Then, Note string
	Effect, Risk                    ui.Word
}

// PolicyVersionRow is one version in the list.
type PolicyVersionRow struct {
	Number, URL, Author, Note string
	At                        views.Moment
	Current                   bool
}

// NewPolicy makes the page as of now.
func NewPolicy(in PolicyInput, now time.Time) Policy {
	v := Policy{
		Version: "v" + views.Number(in.Version), Admin: in.Admin, Unmatched: unmatchedText(in), Fields: fieldsRead(in.Fields),
		Review: in.Review && len(in.Changes) > 0 && !in.Stale, Changes: in.Changes,
	}
	if in.Admin {
		v.Increase = increaseText(in.AutoBudgetIncrease)
		v.PerAgent = perAgentText(in.Desk.BudgetPerAgent)
		v.Desk = deskFields(in.Desk)
	}
	for i, r := range in.Rules {
		v.Rules = append(v.Rules, ruleRow(i, r))
	}
	for _, version := range in.Versions {
		v.Versions = append(v.Versions, PolicyVersionRow{
			Number: "v" + views.Number(version.Version), URL: views.PolicyVersionURL(version.Version),
			Author: version.Author, Note: version.Note, At: views.Ago(version.At, now), Current: version.Version == in.Version,
		})
	}
	if in.Form != nil {
		v.Form = *in.Form
	} else {
		v.Form = PolicyForm{
			ApprovalEnabled:       in.Fields.ApprovalEnabled,
			RequiredApprovalTools: strings.Join(in.Fields.RequiredApprovalTools, "\n"),
			DefaultTimeoutMinutes: strconv.FormatInt(in.Fields.DefaultTimeoutMinutes, 10),
			FallbackAutoApprove:   in.Fields.FallbackAutoApprove,
			RetentionDays:         strconv.Itoa(in.Desk.RetentionDays),
			BaseVersion:           in.Version,
		}
	}
	switch {
	case in.Stale:
		v.Notice = "Version " + views.Number(in.Version) + " was saved while you were editing. Look at it below, then review your changes again: nothing of yours was saved."
		v.Form.BaseVersion = in.Version
	case in.Review && len(in.Changes) == 0:
		v.Notice = "Nothing would change."
	}
	if v.Review {
		v.Dangers = dangers(in.Fields, in.Desk.RetentionDays, v.Form)
	}
	return v
}

func fieldsRead(f PolicyFields) []PolicyField {
	tools := "none"
	if len(f.RequiredApprovalTools) > 0 {
		tools = strings.Join(f.RequiredApprovalTools, "\n")
	}
	return []PolicyField{
		{"approval_enabled", strconv.FormatBool(f.ApprovalEnabled), enabledHelp},
		{"required_approval_tools", tools, toolsHelp},
		{"default_timeout_minutes", views.Number(f.DefaultTimeoutMinutes), timeoutHelp},
		{"fallback_auto_approve", strconv.FormatBool(f.FallbackAutoApprove), fallbackHelp},
	}
}

// unmatchedText says what happens to a call that neither a rule nor the list names.
func unmatchedText(in PolicyInput) string {
	const tool = "A tool that no rule and no list here names "
	switch {
	case !in.Fields.ApprovalEnabled:
		return "Approval is off: every tool runs that no rule denies."
	case in.Desk.Unmatched == policy.EffectAllow:
		return tool + "runs without approval, unless its agent asks for approval itself (unmatched: allow)."
	}
	return tool + "needs approval (unmatched: require)."
}

// increaseText says what auto_budget_increase means.
func increaseText(units int64) string {
	if units == 0 {
		return "Every raise of a budget that an agent asks for waits for a person."
	}
	return "The system adds up to " + views.Number(units) + " units of energy to one conversation's budget by itself, in all since a person last set or decided it. What goes beyond waits for a person."
}

// perAgentText says what budget_per_agent means.
func perAgentText(b *policy.BudgetPerAgent) string {
	if b == nil {
		return "There is no limit on what one agent may spend in all its conversations together."
	}
	window := views.Number(int64(b.Hours)) + " hours"
	if b.Hours == 1 {
		window = "1 hour"
	}
	return "All conversations of one agent together may spend " + views.Number(b.Energy) + " units of energy in any " + window + ". Beyond that its owner is asked for more."
}

const (
	enabledHelp = "Tool calls that need approval wait for a person. If off, none do, and every page says so in red."
	toolsHelp   = "Tools that need a person, one a line: an exact name, or a pattern between slashes such as /^git_/. A name that matches a pattern only in another letter case needs approval too."
	timeoutHelp = "How long a tool call waits for a decision. Then it expires and must not run."
	// What follows from it is said where it is typed, for it cannot be undone.
	retentionHelp = "Days after which inputs, texts, answers and results of what is over are removed for good. 0 keeps them. What is pending is never touched; names, times, outcomes and digests stay."
	fallbackHelp  = "If no server answers, our own clients run the call and report it afterwards. Every page says so in red."
)

func dangers(before PolicyFields, beforeDays int, after PolicyForm) []string {
	var out []string
	if before.ApprovalEnabled && !after.ApprovalEnabled {
		out = append(out, "The gate goes off: no tool call is held any more. What is pending stays pending.")
	}
	if !before.FallbackAutoApprove && after.FallbackAutoApprove {
		out = append(out, "Fallback goes on: clients run calls without asking anyone when no server answers.")
	}
	if days, err := strconv.Atoi(after.RetentionDays); err == nil && days > 0 && (beforeDays == 0 || days < beforeDays) {
		out = append(out, "Contents of what has been over for "+views.Number(int64(days))+" days or more are removed for good, also what is that old now. Only a backup brings them back.")
	}
	return out
}

func ruleRow(i int, r PolicyRule) PolicyRuleRow {
	row := PolicyRuleRow{
		Number: strconv.Itoa(i + 1), Name: r.Name, Note: r.Note, Tools: strings.Join(r.Tools, "\n"),
		Effect: ui.Word{Text: r.Effect, Tone: views.ToneNeutral}, Risk: ui.RiskWord(models.Risk(r.Risk)),
	}
	switch r.Effect {
	case "deny":
		row.Effect.Tone = views.ToneBad
	case "require":
		row.Effect.Tone = views.ToneAccent
	case "allow":
		row.Effect.Tone = views.ToneGood
	}
	if r.Effect != "require" {
		row.Risk = ui.Word{}
	}
	var then []string
	if r.TimeoutMinutes > 0 {
		then = append(then, "waits "+models.SpokenDuration(time.Duration(r.TimeoutMinutes)*time.Minute))
	}
	if len(r.RejectReasons) > 0 {
		then = append(then, "offers reasons to reject: "+strings.Join(r.RejectReasons, ", "))
	}
	if r.Energy > 0 {
		then = append(then, "costs at least "+views.Number(r.Energy)+" energy")
	}
	switch {
	case r.ReviewersOnly:
		then = append(then, "only "+strings.Join(r.Reviewers, ", ")+" may approve (reviewers_only)")
	case len(r.Reviewers) > 0:
		then = append(then, "also asks "+strings.Join(r.Reviewers, ", "))
	}
	if r.SelfApproval == models.SelfNever {
		then = append(then, "the agent's owner may not approve (self_approval: never)")
	}
	if r.Reason != "" {
		then = append(then, "“"+r.Reason+"”")
	}
	row.Then = strings.Join(then, "; ")
	return row
}

// errorFor gathers the errors of a member and of its elements.
func (f PolicyForm) errorFor(member string) string {
	if text := f.Errors[member]; text != "" {
		return text
	}
	for name, text := range f.Errors {
		if strings.HasPrefix(name, member+"[") {
			return name + ": " + text
		}
	}
	return ""
}

// otherErrors are those that belong to no field of the form.
func (f PolicyForm) otherErrors() string {
	for name, text := range f.Errors {
		member, _, _ := strings.Cut(name, "[")
		switch member {
		case "required_approval_tools", "default_timeout_minutes", "note":
		case "":
			return text
		default:
			return name + ": " + text
		}
	}
	return ""
}

// PolicyDocument is the view model of one version.
type PolicyDocument struct {
	Title   string
	Author  string
	Note    string
	At      views.Moment
	Current bool
	Code    ui.Code
}

// NewPolicyDocument makes the page of one version of the document.
func NewPolicyDocument(version PolicyVersion, document []byte, current bool, now time.Time) PolicyDocument {
	return PolicyDocument{
		Title: "Policy v" + views.Number(version.Version), Author: version.Author, Note: version.Note,
		At: views.Ago(version.At, now), Current: current,
		Code: ui.Code{ID: "document", Label: "Document", Text: indent(document), Numbers: true},
	}
}
