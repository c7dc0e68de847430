package policies

import (
	"slices"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// policyField is how a member of the policy is shown in a form.
type policyField struct {
	path, label, help string
	choices           []ui.Choice // it is one of these
	least             string      // of a number
	rows              int         // of a text that has several lines
	optional          bool
	mono              bool // what a text says is code
	toggle            bool // it is drawn as the switch of Toggles that it is the flag of
	drawnThere        bool // it is the end of one, and drawn with it
}

// policyGroup is a group of fields in the form.
type policyGroup struct {
	id, title, help string
	fields          []policyField
}

const (
	enabledHelp = "Tool calls that need approval wait for a person. If off, none do, and every page says so in red."
	toolsHelp   = "Tools that need approval, one per line: an exact name, or a pattern between slashes such as /^git_/. Upper and lower case don't matter here."
	timeoutHelp = "How long a tool call waits for a decision. Then it expires and must not run."
	// What follows from it is said where it is typed, for it cannot be undone.
	policyApprovalsHelp = "With 2 or more, a change of the policy is proposed, and saved when as many admins agree to it. Lowering this takes them, too."
	policyAloneHelp     = "An admin without the others tells all of them why, and waits so long. 0 is 60 minutes."
	retentionHelp       = "How long after the end of a request or conversation its inputs, texts, answers and results are permanently removed. 0 keeps them. Pending requests are never touched; names, times, outcomes and digests stay."
	whenHelp            = "Limits the rule to calls for which this is true, such as input.amount > 100. It can read tool, input, agent, owner, conversation, kind and now. If the condition can't be checked, the call is not allowed, for example if a member is missing or \"101\" is compared with a number. Amounts that arrive as text are compared with decimal(), as in decimal(input.amount) > decimal(\"100\"); input.command.deletesOutside(\"/tmp\") is true if a command deletes something elsewhere. See the guide for more."
	zoneHelp            = "For hours and days in conditions: UTC, or a name such as Europe/Berlin."
	escalateHelp        = "If nobody decides within so many minutes, also ask: one step per line, such as 30: group:oncall, eve@example.com. At most five steps, each later than the one before, all before the request expires."
	signersHelp         = "Who must sign, and how many of them, one entry per row: e-mail addresses and groups such as group:finance, separated by commas. They take the place of the reviewers. Each step may have its minutes."
	breakGlassHelp      = "In an emergency one of these may decide alone, with a reason: people by e-mail and groups such as group:incident, one per line. All who are skipped and all admins are told at once, and another person must acknowledge it on Audit."
	readersHelp         = "These see the requests and decide nothing: people by e-mail and groups such as group:support, one per line. They are not asked, and nothing is sent to them."
	checklistHelp       = "Items to tick before approving, one per line; at most 20."
	// The switch, when off, takes nothing from those whom the rule names.
	substitutesHelp = "For approvers who are away or hand a request over. If off, only the approvers of the rule decide."
	whenBusyHelp    = "For low risk only: what happens if everybody who would be asked has had as many requests this hour as the settings allow."
	attentionHelp   = "How many requests a person is asked about in an hour. Above that, rules of low risk do what they say under “If everybody is busy”; all others still ask. 0: nobody is ever busy."
	floodHelp       = "How many requests of one agent may arrive in an hour and still be pending. Above that, the inbox shows those of low and medium risk in one line and notifies the agent's owner. 0 is 60."
	signalsHelp     = "Signals in a person's decisions of the last 90 days: approvals that came sooner than the input can be read, long streaks without a rejection, many decisions in the last minute. Each person sees their own, admins and auditors anyone's."
	fallbackHelp    = "If no server answers, our own clients run the call and report it afterwards. Every page says so in red."
)

// policyGroups are the members outside the rules, in the order of the page.
var policyGroups = []policyGroup{
	{id: "fields", title: "Tools and deadlines", fields: []policyField{
		{path: "required_approval_tools", label: "Tools that need approval", help: toolsHelp, rows: 5},
		{path: "default_timeout_minutes", label: "Minutes until a tool call expires", help: timeoutHelp, least: "1"},
		{
			path: "max_timeout_minutes", label: "Longest wait in minutes", help: "The longest that a rule or a request may set.",
			least: "1",
		},
		{
			path: "proposal_timeout_minutes", label: "Minutes until a question or proposal expires",
			help: "Also for budget requests. Empty: no deadline.", least: "1", optional: true,
		},
	}},
	{id: "budgets", title: "Budgets", fields: []policyField{
		{
			path: "auto_budget_increase", label: "Energy that the system may add without asking",
			help: "In total to one conversation's budget, since a person last set or decided it. With 0, every increase needs a person.", least: "0",
		},
		{
			path: "budget_per_agent.energy", label: "Energy that one agent may spend",
			help: "In all its conversations together. Leave this and the hours empty for no limit. At the limit, its owner is asked for more.", least: "1", optional: true,
		},
		{path: "budget_per_agent.hours", label: "In how many hours", help: "1 to 720.", least: "1", optional: true},
	}},
	{
		id: "desk", title: "Reviewer settings",
		help: "An approval is sent after some seconds. Until then, its approver can undo it, and the agent does not know of it. 0 sends it at once.", fields: []policyField{
			{path: "undo_seconds.low", label: "Seconds to undo: low risk", least: "0"},
			{path: "undo_seconds.medium", label: "Seconds to undo: medium risk", least: "0"},
			{path: "undo_seconds.high", label: "Seconds to undo: high risk", least: "0"},
			{path: "undo_seconds.critical", label: "Seconds to undo: critical risk", least: "0"},
			{
				path: "max_pause_minutes", label: "Minutes that a question may pause the timer",
				help: "How long a question to the agent may pause the timer of a request.", least: "1",
			},
			{
				path: "explicit_response_id", label: "Decisions over the API must name their request",
				help: "Where several proposals or budget requests wait in a conversation. If off, a decision without a responseId is about the latest.",
			},
			{
				path: "grants_enabled", label: "Calls may be pre-approved",
				help: "Owners and admins can pre-approve similar calls. If off, nobody can, and existing pre-approvals do not count.",
			},
			{path: "grant_max_hours", label: "Longest pre-approval in hours", least: "1"},
			{path: "grant_max_uses", label: "Most uses of a pre-approval", least: "1"},
		},
	},
	{id: "attention", title: "Attention", fields: []policyField{
		{path: "max_asks_per_reviewer_hour", label: "Requests per person and hour", help: attentionHelp, least: "0"},
		{path: "flood_per_hour", label: "Requests of one agent per hour before they are a flood", help: floodHelp, least: "0"},
		{path: "attention_signals", label: "Insights show people how they read", help: signalsHelp},
	}},
	{id: "time", title: "Time zone", fields: []policyField{
		{path: "time_zone", label: "Time zone of conditions", help: zoneHelp},
	}},
	{id: "retention", title: "Retention", fields: []policyField{
		{path: "retention_days", label: "Days until contents are removed", help: retentionHelp, least: "0"},
	}},
	{id: "changes", title: "Changes of the policy", fields: []policyField{
		{path: "policy_approvals", label: "Admins who agree to a change", help: policyApprovalsHelp, least: "0"},
		{path: "policy_alone_minutes", label: "Minutes until one admin may save alone", help: policyAloneHelp, least: "0"},
	}},
	{id: "switches", title: "Gate and fallback", fields: []policyField{
		{path: "approval_enabled", label: "Approval is on", toggle: true},
		{path: "approval_off_until", label: "The gate is off until", drawnThere: true},
		{path: "fallback_auto_approve", label: "Fallback: run calls when no server answers", toggle: true},
		{path: "fallback_until", label: "Fallback is on until", drawnThere: true},
	}},
}

// unmatchedField is the last row of the rules.
var unmatchedField = policyField{
	path: "unmatched", label: "Everything else",
	help: "Tools without a rule. Agents that ask through the API still wait for a person.",
	choices: []ui.Choice{
		{Value: string(policy.EffectRequire), Label: "waits for a person"},
		{Value: string(policy.EffectAllow), Label: "is allowed"},
	},
}

// rulePolicyFields are the members of a rule, in the order of its form.
var rulePolicyFields = []policyField{
	{path: "name", label: "Name", help: "Shown with each request that the rule decides."},
	{
		path: "tools", label: "Tools",
		help: "One per line: an exact name, or a pattern between slashes such as /^payment\\./. A pattern matches anywhere in the name, but under “runs without a person” it must match all of it.", rows: 4,
	},
	{path: "when", label: "Expression", help: whenHelp, rows: 2, optional: true, mono: true},
	{path: "effect", label: "What happens", choices: []ui.Choice{
		{Value: string(policy.EffectRequire), Label: "Waits for a person"},
		{Value: string(policy.EffectAllow), Label: "Runs freely"},
		{Value: string(policy.EffectDeny), Label: "Is denied"},
	}},
	{
		path: "template", label: "Template",
		help: "Fills in what the rule leaves empty. Only for rules that require approval.",
	},
	{
		path: "risk", label: "Risk",
		help:    "To approve high and critical risk, a client must repeat the digest of what it saw.",
		choices: append([]ui.Choice{{Value: "", Label: "not set (the template's, or medium)"}}, riskChoices()...),
	},
	{
		path: "timeout_minutes", label: "Minutes until it expires", help: "Empty: what the agent asks for, or the default.",
		least: "1", optional: true,
	},
	{
		path: "reviewers", label: "Reviewers",
		help: "E-mail addresses of people who may decide, or groups such as group:finance, in addition to the agent's owner and admins. Empty a line to remove one.", optional: true,
	},
	{
		path: "reviewers_only", label: "Only these reviewers may approve",
		help: "The owner and admins may still reject and cancel.",
	},
	{
		path: "self_approval", label: "The agent's owner",
		choices: []ui.Choice{
			{Value: "", Label: "may approve; not where several sign what is of high risk"},
			{Value: string(models.SelfAllowed), Label: "may approve"},
			{Value: string(models.SelfNotAlone), Label: "may approve, but not alone"},
			{Value: string(models.SelfNever), Label: "may not approve"},
		},
	},
	{path: "approvals", label: "Who must sign", help: signersHelp, optional: true},
	{path: "any", label: "One of these entries will do", help: "Otherwise all of them must be met, by different people."},
	{path: "stages", label: "In this order", help: "The next entry is asked when the one before it has signed."},
	{path: "reject_count", label: "How many reject it", help: "Empty: one rejection ends a request.", least: "1", optional: true},
	{path: "show_progress", label: "The agent sees how many have signed", help: "It never sees who."},
	{path: "break_glass", label: "Break glass", help: breakGlassHelp, rows: 2, optional: true},
	{path: "readers", label: "Readers", help: readersHelp, rows: 2, optional: true},
	{path: "checklist", label: "Checklist", help: checklistHelp, rows: 2, optional: true},
	{path: "escalate", label: "Escalate", help: escalateHelp, rows: 2, optional: true},
	{path: "substitutes", label: "Substitutes may act", help: substitutesHelp},
	{
		path: "when_busy", label: "If everybody is busy", help: whenBusyHelp,
		choices: []ui.Choice{
			{Value: "", Label: "they are asked all the same"},
			{Value: string(models.BusyBatch), Label: "it waits together with others, in one line of the inbox"},
			{Value: string(models.BusyEscalate), Label: "the first step of Escalate is asked at once"},
			{Value: string(models.BusyExpire), Label: "it expires at once"},
		},
	},
	{path: "reason", label: "Reason", help: "Shown to the reviewer and to the agent.", optional: true},
	{
		path: "reject_reasons", label: "Reasons to reject", help: "Offered when rejecting, one per line.", rows: 3,
		optional: true,
	},
	{
		path: "energy", label: "Minimum energy", help: "The least that such a call costs its conversation.", least: "0",
		optional: true,
	},
	{
		path: "notify_headline", label: "Notifications may show the headline",
		help: "The headline is made from the input. E-mail and chat services keep what they are sent.",
	},
	{path: "note", label: "Note", help: "For people who edit the policy.", rows: 2, optional: true},
	{path: "disabled", label: "Disabled", help: "The rule stays in the policy and has no effect."},
}

// effectHelp says what an effect means for the agent.
func effectHelp(effect string) string {
	switch policy.Effect(effect) {
	case policy.EffectRequire:
		return "The agent waits until somebody decides, or until the time is up."
	case policy.EffectAllow:
		return "The agent goes on at once. The call is recorded."
	case policy.EffectDeny:
		return "The call must not run, and the agent gets the reason."
	}
	return ""
}

func riskChoices() []ui.Choice {
	var out []ui.Choice
	for _, r := range models.Risks() {
		out = append(out, ui.Choice{Value: string(r), Label: string(r)})
	}
	return out
}

// FormField is one field as a form draws it.
type FormField struct {
	Input   ui.Field
	Choices []ui.Choice
	Switch  bool
	On      bool
	Toggle  *Switch // it is this, and nothing of the above
	Remarks []Remark
}

// FormGroup is a group of fields.
type FormGroup struct {
	ID, Title, Help string
	Fields          []FormField
}

// drawField fills a field in, with its error beside it.
func drawField(f policyField, kinds []policy.Field, form policy.Form, at string, problems map[string]string) FormField {
	text := form[f.path]
	in := ui.Field{
		Name: f.path, ID: strings.ReplaceAll(f.path, ".", "-"), Label: f.label, Help: f.help, Value: text,
		Optional: f.optional, Min: f.least, Error: problemAt(problems, at+f.path),
	}
	out := FormField{Choices: f.choices}
	i := slices.IndexFunc(kinds, func(k policy.Field) bool { return k.Path == f.path })
	switch kinds[i].Kind {
	case policy.FieldSwitch:
		out.Switch, out.On = true, text == "true"
	case policy.FieldLines, policy.FieldSteps, policy.FieldSigners:
		in.Type, in.Rows, in.Mono = "textarea", max(f.rows, 1+strings.Count(text, "\n")), true
		in.Rows = min(in.Rows, maxFieldRows)
	case policy.FieldNumber:
		in.Type = "number"
		if _, wrong := problems[at+f.path]; wrong {
			in.Type = "text" // a browser shows only valid numbers
		}
	case policy.FieldText, policy.FieldTime:
		in.Mono = f.mono
		if f.rows > 0 || strings.Contains(text, "\n") {
			in.Type, in.Rows = "textarea", max(f.rows, 2)
		}
	}
	if f.choices != nil && !slices.ContainsFunc(f.choices, func(c ui.Choice) bool { return c.Value == text }) {
		out.Choices = append([]ui.Choice{{Value: text, Label: text}}, f.choices...)
	}
	out.Input = in
	return out
}

// maxFieldRows is how tall a field grows; beyond that it scrolls.
const maxFieldRows = 20

// problemAt is the error of a member, or of the first of its wrong entries.
func problemAt(problems map[string]string, path string) string {
	if text := problems[path]; text != "" {
		return text
	}
	first, what := -1, ""
	for name, text := range problems {
		entry, ok := strings.CutPrefix(name, path+"[")
		number, _, _ := strings.Cut(entry, "]")
		if n, err := strconv.Atoi(number); ok && err == nil && (first < 0 || n < first || n == first && text < what) {
			first, what = n, text
		}
	}
	if first < 0 {
		return ""
	}
	return "Line " + strconv.Itoa(first+1) + ": " + what
}

// Section is one of the pages of the policy.
type Section int

// The pages, in their order. Readers have the first two.
const (
	Rules Section = iota
	Settings
	Templates
	Versions
)

// URL is the page's address.
func (s Section) URL() string {
	switch s {
	case Rules:
	case Settings:
		return views.PolicySettingsURL()
	case Templates:
		return views.PolicyTemplatesURL()
	case Versions:
		return views.PolicyVersionsURL(0)
	}
	return views.PolicyURL()
}

// SectionAt is the page at an address; the rules for any other.
func SectionAt(url string) Section {
	for s := Rules; s <= Versions; s++ {
		if s.URL() == url {
			return s
		}
	}
	return Rules
}

// SectionOf is the page that has the field of a setting.
func SectionOf(path string) Section {
	section, _ := sectionOfMember(path)
	return section
}

func (s Section) label() string {
	return [...]string{"Rules", "Settings", "Templates", "Versions"}[s]
}

// Tab leads to a page of the policy.
type Tab struct {
	Label, URL string
	Current    bool
	Faults     string // how many errors are there; empty: none
}

// tabs lead to all pages that somebody may see.
func tabs(in Input) []Tab {
	last := Versions
	faults := map[Section]int{}
	if in.Draft == nil {
		last = Settings
	} else {
		for path := range in.Draft.Problems {
			section, _ := sectionOfMember(path)
			faults[section]++
		}
	}
	var out []Tab
	for s := Rules; s <= Versions; s++ {
		if s > last && (!in.Whole || s != Versions) {
			continue
		}
		tab := Tab{Label: s.label(), URL: s.URL(), Current: s == in.Section}
		switch n := faults[s]; n {
		case 0:
		case 1:
			tab.Faults = "1 error"
		default:
			tab.Faults = strconv.Itoa(n) + " errors"
		}
		out = append(out, tab)
	}
	return out
}

// sectionOfMember is the page that shows a member of the document. known is false for members that the policy does not
// have: the rules' page names them.
func sectionOfMember(path string) (section Section, known bool) {
	member, _, _ := strings.Cut(path, "[")
	switch member {
	case "rules", unmatchedField.path:
		return Rules, true
	case "templates":
		return Templates, true
	}
	known = slices.ContainsFunc(policy.Settings(), func(f policy.Field) bool {
		return f.Path == member || strings.HasPrefix(f.Path, member+".")
	})
	if known {
		return Settings, true
	}
	return Rules, false
}
