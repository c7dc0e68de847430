package pages

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// PolicyDraftInput is what an admin is writing, valid or not.
type PolicyDraftInput struct {
	Base      int64 // the version that it began with
	Revision  int64 // 0: nothing is kept yet
	ChangedAt time.Time
	Undo      bool // there is something to go back to
	Settings  policy.Form
	Rules     []policy.Form
	Problems  map[string]string // by path
	Notice    string
	// Unreadable says why the draft can't be shown as a form; empty: it can.
	Unreadable string
	Page       int // of the rules, counted from 1
	// Warnings are what is perhaps not meant, of a draft that is valid.
	Warnings []policy.Warning
}

// PolicyDraft is an admin's draft as a form.
type PolicyDraft struct {
	Base, Revision string
	Kept           bool
	ChangedAt      views.Moment
	Undo           bool
	Began          string // the version that it began with
	Stale          string // the version that stands by now; empty: the same
	Notice         string
	Unreadable     string
	Groups         []PolicyFormGroup
	Rules          []PolicyRuleRow
	All            int        // rules, on all pages
	Page           string     // of the rules
	Pages          []RulePage // empty: there is only one
	Faulty         []RulePage // rules on other pages in which something is wrong
	Warnings       []string
	MoreWarnings   string
	Unmatched      PolicyFormField
	LetsThrough    bool             // everything else is allowed
	Examples       []policy.Example // to begin with, while there are no rules
	Others         []string         // faults that belong to no field of this page
}

// PolicyRuleRow is one rule in the list.
type PolicyRuleRow struct {
	Index              int
	Number, Name, Note string
	Tools, When, Then  string
	Effect, Risk       ui.Word
	Disabled           bool
	First, Last        bool
	Faults             []string
}

func newPolicyDraft(in PolicyDraftInput, standing int64, now time.Time) *PolicyDraft {
	v := &PolicyDraft{
		Base: strconv.FormatInt(in.Base, 10), Revision: strconv.FormatInt(in.Revision, 10),
		Kept: in.Revision > 0, ChangedAt: views.Ago(in.ChangedAt, now), Undo: in.Undo,
		Began: "v" + views.Number(in.Base), Notice: in.Notice, Unreadable: in.Unreadable,
	}
	if in.Base != standing {
		v.Stale = "v" + views.Number(standing)
	}
	if in.Unreadable != "" {
		return v
	}
	for _, g := range policyGroups {
		group := PolicyFormGroup{ID: g.id, Title: g.title, Help: g.help}
		for _, f := range g.fields {
			group.Fields = append(group.Fields, drawField(f, policy.Settings(), in.Settings, "", in.Problems))
		}
		v.Groups = append(v.Groups, group)
	}
	v.Unmatched = drawField(unmatchedField, policy.Settings(), in.Settings, "", in.Problems)
	v.Unmatched.Input.ID = "everything-else"
	v.LetsThrough = in.Settings["unmatched"] == string(policy.EffectAllow)
	v.rules(in)
	for i, w := range in.Warnings {
		if i == shownWarnings {
			v.MoreWarnings = views.Number(int64(len(in.Warnings)-i)) + " more are in the review."
			break
		}
		v.Warnings = append(v.Warnings, w.Path+": "+w.Text)
	}
	if len(in.Rules) == 0 {
		v.Examples = policy.Examples()
	}
	v.Others = otherProblems(in.Problems, "rules[", policy.Settings(), "")
	return v
}

// shownWarnings is how many remarks the form lists.
const shownWarnings = 10

// RulePage leads to a page of rules, or to one of them.
type RulePage struct {
	Label, URL string
	Current    bool
}

// shownFaulty is how many rules on other pages are named in which something is wrong.
const shownFaulty = 10

// rules shows one page of them, and leads to the others.
func (v *PolicyDraft) rules(in PolicyDraftInput) {
	v.All = len(in.Rules)
	pages := max(1, (len(in.Rules)+views.RulesOnAPage-1)/views.RulesOnAPage)
	page := min(max(1, in.Page), pages)
	v.Page = strconv.Itoa(page)
	first, last := (page-1)*views.RulesOnAPage, min(page*views.RulesOnAPage, len(in.Rules))
	for i := first; i < last; i++ {
		v.Rules = append(v.Rules, ruleRow(i, len(in.Rules), in.Rules[i], in.Problems))
	}
	if pages == 1 {
		return
	}
	for n := range pages {
		from, to := n*views.RulesOnAPage+1, min((n+1)*views.RulesOnAPage, len(in.Rules))
		v.Pages = append(v.Pages, RulePage{strconv.Itoa(from) + "–" + strconv.Itoa(to), views.PolicyRulesURL(n + 1), n+1 == page})
	}
	for i := range in.Rules {
		if i >= first && i < last || len(v.Faulty) == shownFaulty {
			continue
		}
		at := fmt.Sprintf("rules[%d]", i)
		for path := range in.Problems {
			if path == at || strings.HasPrefix(path, at+".") {
				v.Faulty = append(v.Faulty, RulePage{"Rule " + strconv.Itoa(i+1), views.PolicyRuleRowURL(i + 1), false})
				break
			}
		}
	}
}

// ruleRow shows a rule as it is written so far.
func ruleRow(i, of int, form policy.Form, problems map[string]string) PolicyRuleRow {
	row := PolicyRuleRow{
		Index: i, Number: strconv.Itoa(i + 1), Name: form["name"], Note: form["note"], Tools: form["tools"], When: form["when"],
		Disabled: form["disabled"] == "true", First: i == 0, Last: i == of-1,
		Effect: effectWord(form["effect"]), Then: thenText(form),
	}
	if form["effect"] == string(policy.EffectRequire) {
		row.Risk = ui.RiskWord(models.Risk(form["risk"]))
	}
	at := fmt.Sprintf("rules[%d]", i)
	for _, path := range slices.Sorted(maps.Keys(problems)) {
		if path == at || strings.HasPrefix(path, at+".") {
			row.Faults = append(row.Faults, strings.TrimPrefix(strings.TrimPrefix(path, at), ".")+" "+problems[path])
		}
	}
	return row
}

// otherProblems are those that stand at no field of a form whose members begin with at.
func otherProblems(problems map[string]string, but string, fields []policy.Field, at string) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(problems)) {
		if !strings.HasPrefix(path, at) || but != "" && strings.HasPrefix(path, but) {
			continue
		}
		member, _, _ := strings.Cut(strings.TrimPrefix(path, at), "[")
		if !slices.ContainsFunc(fields, func(f policy.Field) bool { return f.Path == member && f.Kind != policy.FieldSwitch }) {
			out = append(out, path+" "+problems[path])
		}
	}
	return out
}

func effectWord(effect string) ui.Word {
	w := ui.Word{Text: effect, Tone: views.ToneNeutral}
	switch policy.Effect(effect) {
	case policy.EffectDeny:
		w.Tone = views.ToneBad
	case policy.EffectRequire:
		w.Tone = views.ToneAccent
	case policy.EffectAllow:
		w.Tone = views.ToneGood
	}
	return w
}

// thenText says what else a rule does.
func thenText(form policy.Form) string {
	var then []string
	if minutes, err := strconv.Atoi(form["timeout_minutes"]); err == nil && minutes > 0 {
		then = append(then, "waits "+models.SpokenDuration(time.Duration(minutes)*time.Minute))
	}
	if reasons := form["reject_reasons"]; reasons != "" {
		then = append(then, "offers reasons to reject: "+strings.ReplaceAll(reasons, "\n", ", "))
	}
	if energy, err := strconv.ParseInt(form["energy"], 10, 64); err == nil && energy > 0 {
		then = append(then, "costs at least "+views.Number(energy)+" energy")
	}
	switch reviewers := strings.ReplaceAll(form["reviewers"], "\n", ", "); {
	case reviewers == "":
	case form["reviewers_only"] == "true":
		then = append(then, "only "+reviewers+" may approve (reviewers_only)")
	default:
		then = append(then, "also asks "+reviewers)
	}
	if form["self_approval"] == string(models.SelfNever) {
		then = append(then, "the agent's owner may not approve (self_approval: never)")
	}
	if form["reason"] != "" {
		then = append(then, "“"+form["reason"]+"”")
	}
	return strings.Join(then, "; ")
}

// PolicyRuleInput is what the form of one rule is made of.
type PolicyRuleInput struct {
	Index    int // in the draft; behind the last for a new one
	New      bool
	Base     int64
	Revision int64
	Was      string // its name as it is kept
	Form     policy.Form
	Problems map[string]string // by path in the document
	Notice   string
	People   []string         // e-mail addresses to pick reviewers from
	First    bool             // a new one goes before all others
	From     string           // the request that filled it in
	Seen     *policy.Practice // nil: nothing is known
}

// PolicyRuleForm is the form of one rule.
type PolicyRuleForm struct {
	Title, URL, Was, Base, Revision, Notice, From string
	New, First                                    bool
	Fields                                        []PolicyFormField
	Reviewers                                     []string
	ReviewersError                                string
	Matches                                       []string
	People                                        []string
	Others                                        []string
}

// spareReviewers is how many empty fields there are for more people.
const spareReviewers = 2

// NewPolicyRuleForm makes the form of one rule.
func NewPolicyRuleForm(in PolicyRuleInput) PolicyRuleForm {
	at := fmt.Sprintf("rules[%d].", in.Index)
	v := PolicyRuleForm{
		Title: "Rule “" + in.Was + "”", URL: views.PolicyRuleURL(in.Index + 1), Was: in.Was, Notice: in.Notice, From: in.From,
		Base: strconv.FormatInt(in.Base, 10), Revision: strconv.FormatInt(in.Revision, 10),
		New: in.New, First: in.First, People: in.People,
	}
	if in.New {
		v.Title, v.URL = "A new rule", views.NewPolicyRuleURL("")
	}
	for _, f := range rulePolicyFields {
		v.Fields = append(v.Fields, drawField(f, policy.RuleFields(), in.Form, at, in.Problems))
	}
	if text := in.Form["reviewers"]; text != "" {
		v.Reviewers = strings.Split(text, "\n")
	}
	for range spareReviewers {
		v.Reviewers = append(v.Reviewers, "")
	}
	if in.Seen != nil {
		v.Matches = NewToolMatches(in.Form["tools"], in.Form["effect"], *in.Seen)
	}
	v.ReviewersError = problemAt(in.Problems, at+"reviewers")
	v.Others = otherProblems(in.Problems, "", policy.RuleFields(), at)
	return v
}

// PolicyReviewInput is what a review of the draft is made of.
type PolicyReviewInput struct {
	Base, Revision, Standing int64
	Changes                  []policy.Change
	Before, After            policy.Document
	Warnings                 []policy.Warning
	Note, NoteError, Error   string
	// By saved the version that stands, after the draft was begun; empty: it began with that.
	By     string
	Theirs []policy.Change // what that changed
	// Removal is what a retention that starts or gets shorter will remove; nil: it does neither.
	Removal *PolicyRemoval
	// Replayed is what the draft would have made of the last calls; nil: that is not known.
	Replayed *policy.Tally
	Clashes  []policy.Clash // what both changed
}

// PolicyReview shows what saving the draft would change.
type PolicyReview struct {
	Version, Began           string
	Revision                 string
	Changes, Theirs          []PolicyChange
	Clashes                  []PolicyClash
	Dangers                  []string
	Removal                  string // what a retention will remove; empty: it does not start or get shorter
	Typed                    ui.Field
	Replayed                 string // what it would have made of the last calls; empty: that is not known
	Warnings                 []string
	Note, NoteError, Problem string
	By                       string // saved another version meanwhile; empty: nobody did
}

// PolicyClash is what two people changed in different ways.
type PolicyClash struct{ What, Path, Base, Theirs, Mine string }

// NewPolicyReview makes the review.
func NewPolicyReview(in PolicyReviewInput) PolicyReview {
	v := PolicyReview{
		Version: "v" + views.Number(in.Standing), Began: "v" + views.Number(in.Base), Revision: strconv.FormatInt(in.Revision, 10),
		Changes: changesRead(in.Changes), Note: in.Note, NoteError: in.NoteError, Problem: in.Error,
	}
	for i, w := range in.Warnings {
		if i == shownPolicyChanges {
			v.Warnings = append(v.Warnings, views.Number(int64(len(in.Warnings)-i))+" more remarks, which `countersign policy check` lists")
			break
		}
		v.Warnings = append(v.Warnings, w.Path+": "+w.Text)
	}
	if in.Base != in.Standing {
		v.By = in.By
		v.Theirs = changesRead(in.Theirs)
		for _, c := range in.Clashes {
			v.Clashes = append(v.Clashes, PolicyClash{What: inWords(c.Path), Path: c.Path, Base: orNothing(c.Base), Theirs: orNothing(c.Theirs), Mine: orNothing(c.Mine)})
		}
		return v
	}
	if r := in.Removal; r != nil {
		days := strconv.Itoa(r.Days)
		v.Removal = removalText(r)
		v.Typed = ui.Field{Name: "retention_typed", Label: "Type " + days + " to confirm that contents are removed after " + days + " days", Value: r.Typed, Error: r.Error, Required: true}
	}
	v.Dangers, v.Replayed = dangers(in.Before, in.After), ReplayedInOneLine(in.Replayed)
	return v
}

// shownPolicyChanges is how many changes a page lists.
const shownPolicyChanges = 300

func changesRead(changes []policy.Change) []PolicyChange {
	var out []PolicyChange
	for i, c := range changes {
		if i == shownPolicyChanges {
			return append(out, PolicyChange{What: views.Number(int64(len(changes)-i)) + " more changes", Path: "not listed here", Before: "…", After: "…"})
		}
		out = append(out, PolicyChange{What: inWords(c.Path), Path: c.Path, Before: orNothing(c.Before), After: orNothing(c.After)})
	}
	return out
}

// inWords names what a path leads to, as the forms do; empty: the path says it best.
func inWords(path string) string {
	if rest, ok := strings.CutPrefix(path, "rules["); ok {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return ""
		}
		name, err := strconv.Unquote(quoted)
		if err != nil {
			return ""
		}
		rule := "Rule “" + name + "”"
		if label := policyLabel(rulePolicyFields, strings.TrimPrefix(rest[len(quoted):], "].")); label != "" {
			return rule + ": " + label
		}
		return rule
	}
	for _, g := range policyGroups {
		if label := policyLabel(g.fields, path); label != "" {
			return label
		}
	}
	switch path {
	case "unmatched":
		return unmatchedField.label
	case "undo_seconds":
		return "Seconds to undo an approval"
	case "budget_per_agent":
		return "What one agent may spend"
	case "order of rules":
		return "Order of rules"
	}
	return ""
}

func policyLabel(fields []policyField, path string) string {
	if i := slices.IndexFunc(fields, func(f policyField) bool { return f.path == path }); i >= 0 {
		return fields[i].label
	}
	return ""
}

// dangers is what the changes would open, or remove for good.
func dangers(before, after policy.Document) []string {
	var out []string
	if before.ApprovalEnabled && !after.ApprovalEnabled {
		out = append(out, "The gate goes off: no tool call is held any more. What is pending stays pending.")
	}
	if before.Unmatched == policy.EffectRequire && after.Unmatched == policy.EffectAllow {
		out = append(out, "Everything else is allowed: a tool that no rule and no list names runs without a person.")
	}
	if !before.FallbackAutoApprove && after.FallbackAutoApprove {
		out = append(out, "Fallback goes on: clients run calls without asking anyone when no server answers.")
	}
	if days := after.RetentionDays; days > 0 && (before.RetentionDays == 0 || days < before.RetentionDays) {
		out = append(out, "Contents of what has been over for "+views.Number(int64(days))+" days or more are removed for good, also what is that old now. Only a backup brings them back.")
	}
	return out
}

// PolicyRemoval is what a retention will remove.
type PolicyRemoval struct {
	Days    int
	Rows    int64  // that are as old now
	AtLeast bool   // not all could be counted
	Typed   string // what was typed to confirm it
	Error   string
}

// removalText says what will be removed, and when.
func removalText(r *PolicyRemoval) string {
	count := views.Number(r.Rows)
	if r.AtLeast {
		count = "at least " + count
	}
	return "Removing begins 24 hours after you save, and can be cancelled until then on the page Policy. As old as that are now: " + count +
		" requests, messages and other texts."
}

// PolicyJSON is the draft as JSON.
type PolicyJSON struct {
	Base, Revision, Text string
	Notice               string
	Faults               []string
}

// NewPolicyJSON makes the page of the draft as JSON, as it was typed.
func NewPolicyJSON(base, revision int64, text, notice string, problems map[string]string) PolicyJSON {
	v := PolicyJSON{Base: strconv.FormatInt(base, 10), Revision: strconv.FormatInt(revision, 10), Text: text, Notice: notice}
	for _, path := range slices.Sorted(maps.Keys(problems)) {
		v.Faults = append(v.Faults, path+" "+problems[path])
	}
	return v
}
