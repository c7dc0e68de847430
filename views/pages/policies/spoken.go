package policies

import (
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// Phrase is a piece of a sentence.
type Phrase struct {
	Text    string
	Strong  bool // it is seen first
	Written bool // somebody wrote it, as the strong ones
}

// ruleSentence draws a rule's name and what it says.
func ruleSentence(r RuleRow) templ.Component {
	return templ.Join(templ.Raw(`<strong class="rule-name">`), ui.UntrustedCut(r.Name, 200), templ.Raw(`</strong>: `),
		phrases(r.Says))
}

// ruleSays says in a sentence, behind the rule's name, what happens to its calls.
func ruleSays(form policy.Form, templates []policy.Form) []Phrase {
	switch policy.Effect(form["effect"]) {
	case policy.EffectAllow:
		return []Phrase{{Text: "calls "}, {Text: "run without a person", Strong: true}}
	case policy.EffectDeny:
		return []Phrase{{Text: "calls "}, {Text: "are denied", Strong: true}}
	case policy.EffectRequire:
	}
	says := append([]Phrase{{Text: "calls wait for "}}, whoIsAsked(form)...)
	rest := ", " + string(ruleRisk(form, templates)) + " risk"
	if minutes := minutesOf(form["timeout_minutes"]); minutes > 0 {
		rest += ", " + models.SpokenDuration(minutes)
	}
	return append(says, Phrase{Text: rest})
}

// whoIsAsked names those whom a rule asks.
func whoIsAsked(form policy.Form) []Phrase {
	if signers := signersSay(form); signers != "" {
		return []Phrase{{Text: "the signatures of "}, {Text: signers, Strong: true}}
	}
	var names []Phrase
	if form["reviewers"] != "" {
		for reviewer := range strings.SplitSeq(form["reviewers"], "\n") {
			names = append(names, Phrase{Text: reviewerName(reviewer), Strong: true})
		}
	}
	only := len(names) > 0 && form["reviewers_only"] == "true"
	switch {
	case only:
	case form["self_approval"] == string(models.SelfNever):
		names = append(names, Phrase{Text: "an admin"})
	default:
		names = append(names, Phrase{Text: "the agent's owner"}, Phrase{Text: "an admin"})
	}
	var out []Phrase
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			out = append(out, Phrase{Text: " or "})
		case i > 0:
			out = append(out, Phrase{Text: ", "})
		}
		out = append(out, name)
	}
	switch {
	case form["self_approval"] == string(models.SelfNever):
		return append(out, Phrase{Text: ", but not the agent's owner"})
	case form["self_approval"] == string(models.SelfNotAlone):
		return append(out, Phrase{Text: ", but not the agent's owner alone"})
	case only:
		return append(out, Phrase{Text: " only"})
	}
	return out
}

// reviewerName is a reviewer without the mark of a group.
func reviewerName(reviewer string) string {
	if group, ok := models.GroupOf(reviewer); ok {
		return group
	}
	return reviewer
}

// ruleRest is what else a rule or template does, beside whom it asks, its risk and its time.
func ruleRest(form policy.Form) []string {
	var rest []string
	if form["template"] != "" {
		rest = append(rest, "template “"+form["template"]+"”")
	}
	if items := form["checklist"]; items != "" {
		rest = append(rest, "checklist: "+strings.ReplaceAll(items, "\n", ", "))
	}
	if reasons := form["reject_reasons"]; reasons != "" {
		rest = append(rest, "offers reasons to reject: "+strings.ReplaceAll(reasons, "\n", ", "))
	}
	if energy, err := strconv.ParseInt(form["energy"], 10, 64); err == nil && energy > 0 {
		rest = append(rest, "costs at least "+views.Number(energy)+" energy")
	}
	if count := form["reject_count"]; count != "" && count != "1" {
		rest = append(rest, count+" people reject together")
	}
	if form["show_progress"] == "true" {
		rest = append(rest, "the agent sees how many have signed")
	}
	if who := form["break_glass"]; who != "" {
		rest = append(rest, "break glass: "+strings.ReplaceAll(who, "\n", ", "))
	}
	if who := form["readers"]; who != "" {
		rest = append(rest, "readers: "+strings.ReplaceAll(who, "\n", ", "))
	}
	if steps := form["escalate"]; steps != "" {
		rest = append(rest, "escalates after minutes: "+strings.ReplaceAll(steps, "\n", "; "))
	}
	if may, said := form["substitutes"]; said && may == "" {
		rest = append(rest, "no substitutes")
	}
	if busy := models.WhenBusy(form["when_busy"]); busy != "" {
		rest = append(rest, busySays(busy))
	}
	if form["notify_headline"] == "true" {
		rest = append(rest, "notifications may show the headline")
	}
	if form["reason"] != "" {
		rest = append(rest, "“"+form["reason"]+"”")
	}
	return rest
}

// busySays says what happens to a call if everybody who would be asked is busy.
func busySays(busy models.WhenBusy) string {
	switch busy {
	case models.BusyBatch:
		return "waits together with others if everybody is busy"
	case models.BusyEscalate:
		return "escalates at once if everybody is busy"
	case models.BusyExpire:
		return "expires at once if everybody is busy"
	}
	return "asks also if everybody is busy"
}

// thenText is what a template fills in, in one line.
func thenText(form policy.Form) string {
	var then []string
	if minutes := minutesOf(form["timeout_minutes"]); minutes > 0 {
		then = append(then, "waits "+models.SpokenDuration(minutes))
	}
	if form["reviewers"] != "" || form["approvals"] != "" || form["self_approval"] == string(models.SelfNever) {
		var who strings.Builder
		for _, p := range whoIsAsked(form) {
			who.WriteString(p.Text)
		}
		then = append(then, "for "+who.String())
	}
	return strings.Join(append(then, ruleRest(form)...), "; ")
}

// minutesOf is a number of minutes as typed; 0: it is none.
func minutesOf(text string) time.Duration {
	minutes, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return time.Duration(minutes) * time.Minute
}
