package policy

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"countersign/models"
	"countersign/models/condition"
)

// Policy is a compiled document. It never changes and may be used by any number
// of goroutines at once.
type Policy struct {
	doc   Document
	rules []Judgement // what each rule says, in order

	conditions  []*condition.Condition // of each rule; nil: it has none
	conditional bool                   // a rule has one
	firstDoubt  int                    // the first rule that allows under one
	zone        *time.Location         // whose hours and days conditions read

	exact   map[string][]int // the rules that list the name
	regexes []ruleRegexp     // in the order of their rules

	requiredExact   map[string]bool
	requiredRegexes []pattern

	// similar finds the listed names that fold to the same string, folded the
	// patterns of rules that require or deny, in the order of their rules.
	similar map[string][]listed
	fold    []foldedPattern

	required Judgement
	fallback Judgement

	reaches reached
}

// ruleRegexp is a regular expression and the rule that it belongs to.
type ruleRegexp struct {
	pattern
	rule int
}

// listed is an exact name or a pattern in the document, and what holds a call whose
// name only nearly matches.
type listed struct {
	name    string
	rule    int // its place; required_approval_tools come behind all rules
	allow   bool
	pattern bool
	held    Judgement
}

// foldedPattern is a pattern in any letter case.
type foldedPattern struct {
	re *regexp.Regexp
	listed
}

// Document returns a copy of the parsed document, with initial values filled in.
func (p *Policy) Document() Document { return p.doc.clone() }

// compile keeps d: no one else may write to it afterwards.
func compile(d Document, pats patterns) *Policy {
	p := &Policy{
		doc:           d,
		exact:         map[string][]int{},
		requiredExact: map[string]bool{},
		similar:       map[string][]listed{},
		required: Judgement{
			Effect: EffectRequire, Rule: RuleRequiredTools, Risk: models.RiskMedium,
			Reason: "The policy lists this tool among those that need approval.",
		},
		fallback: unmatchedJudgement(d.Unmatched),
		zone:     time.UTC,

		firstDoubt: len(d.Rules),
	}
	if zone, ok := zoneOf(d.TimeZone); ok {
		p.zone = zone
	}
	for i, r := range p.doc.Rules {
		p.rules = append(p.rules, ruleJudgement(p.doc.Resolved(r), p.doc.template(r.Template)))
		p.conditions = append(p.conditions, pats.conditions[i])
		if pats.conditions[i] != nil && !r.Disabled && r.Effect == EffectAllow {
			p.firstDoubt = min(p.firstDoubt, i)
		}
		p.conditional = p.conditional || pats.conditions[i] != nil && !r.Disabled
		if r.Disabled {
			continue
		}
		for _, pat := range pats.rules[i] {
			p.addRulePattern(i, r, pat)
		}
	}
	for _, pat := range pats.required {
		if !pat.exact() {
			if pat.re != nil {
				p.requiredRegexes = append(p.requiredRegexes, pat)
				p.addFolded(len(p.rules), p.required, pat)
			}
			continue
		}
		p.requiredExact[pat.text] = true
		p.addListed(listed{name: pat.text, rule: len(p.rules), held: heldAsSimilar(p.required, pat.text)})
	}
	return p
}

func (p *Policy) addRulePattern(i int, r Rule, pat pattern) {
	switch {
	case pat.re != nil:
		p.regexes = append(p.regexes, ruleRegexp{pattern: pat, rule: i})
		p.addFolded(i, p.rules[i], pat)
	case pat.exact():
		p.exact[pat.text] = append(p.exact[pat.text], i)
		p.addListed(listed{
			name: pat.text, rule: i, allow: r.Effect == EffectAllow,
			held: heldAsSimilar(p.rules[i], pat.text),
		})
	}
}

func (p *Policy) addFolded(rule int, j Judgement, pat pattern) {
	if pat.folds != nil {
		p.fold = append(p.fold,
			foldedPattern{pat.folds, listed{name: pat.text, rule: rule, pattern: true, held: heldByCase(j, pat.text)}})
	}
}

func (p *Policy) addListed(l listed) {
	key := fold(l.name)
	p.similar[key] = append(p.similar[key], l)
}

// ruleJudgement is what a resolved rule says, under its template if it has one.
func ruleJudgement(r Rule, t *Template) Judgement {
	j := Judgement{
		Effect: r.Effect, Rule: r.Name, Reason: r.Reason, Risk: r.Risk,
		Timeout: r.TimeoutMinutes, Reviewers: slices.Clip(r.Reviewers), Readers: slices.Clip(r.Readers), Energy: r.Energy,
		ReviewersOnly: r.ReviewersOnly, SelfApproval: r.SelfApproval, NotifyHeadline: r.NotifyHeadline,
		WhenBusy: r.WhenBusy,
		Escalate: r.Escalate, NoSubstitutes: noSubstitutes(r.Substitutes), Quorum: r.Quorum, Checklist: slices.Clip(r.Checklist),
	}
	if t != nil {
		j.Text = t.Text
	}
	fallback := ""
	switch r.Effect {
	case EffectAllow:
		j.Cause, fallback = models.CausePolicy, "lets this tool through."
	case EffectDeny:
		j.Cause, fallback = models.CausePolicy, "denies this tool."
	case EffectRequire:
		fallback = "requires approval of this tool."
	}
	if j.Reason == "" {
		j.Reason = "The rule “" + r.Name + "” " + fallback
	}
	return j
}

func unmatchedJudgement(e Effect) Judgement {
	if e == EffectAllow {
		return Judgement{
			Effect: EffectAllow, Cause: models.CausePolicy, Rule: RuleUnmatched, Risk: models.RiskMedium,
			Reason: "No rule concerns this tool, and the policy lets such calls through.",
		}
	}
	return Judgement{
		Effect: EffectRequire, Rule: RuleUnmatched, Risk: models.RiskMedium,
		Reason: "No rule concerns this tool, and the policy requires approval of such calls.",
	}
}

// heldAsSimilar is what happens to a name that is like, but not, a listed one. It
// keeps the rule's risk and whom it asks.
func heldAsSimilar(j Judgement, name string) Judgement {
	return heldFor(j,
		"The tool's name differs from “"+name+"”, "+whereListed(j)+", only in letter case, hyphens, underscores or spaces, so a person has to look.")
}

// heldByCase is what happens to a name that a pattern matches in another letter case.
func heldByCase(j Judgement, pattern string) Judgement {
	return heldFor(j,
		"But for its letter case, the tool's name matches “"+pattern+"”, "+whereListed(j)+", so a person has to look.")
}

func heldFor(j Judgement, reason string) Judgement {
	j.Effect, j.Cause, j.Reason, j.NotifyHeadline, j.WhenBusy = EffectRequire, models.CauseNone, reason, false, ""
	return j
}

func whereListed(j Judgement) string {
	if j.Rule == RuleRequiredTools {
		return "which required_approval_tools lists"
	}
	return "which the rule “" + j.Rule + "” lists"
}

// fold is the name in lower case without '-', '_' and ' '.
func fold(name string) string {
	buf := make([]byte, 0, len(name))
	for i := range len(name) {
		switch c := name[i]; {
		case c >= utf8.RuneSelf:
			return string(append(buf, foldUnicode(name[i:])...))
		case c == '-' || c == '_' || c == ' ':
		case 'A' <= c && c <= 'Z':
			buf = append(buf, c+'a'-'A')
		default:
			buf = append(buf, c)
		}
	}
	return string(buf)
}

func foldUnicode(rest string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, rest)
}
