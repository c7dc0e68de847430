package suggest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/policy"
)

// MinCalls is how many decisions of people a suggestion is made from at least.
const MinCalls = 20

const (
	minEach  = 3  // decisions on each value of a list
	maxFound = 20 // suggestions at most, those of the most calls
	maxTried = 60 // rules that are judged at most

	// quick is up to how many seconds somebody decides who can have read little.
	quick = 5 * time.Second
)

// Outcome is how a call ended.
type Outcome int

// The outcomes. Open: no one decided it.
const (
	Open Outcome = iota
	Approved
	Refused // by a person
	Edited  // approved with another input, or once something was asked about it
)

// Call is a call that waited for a person.
type Call struct {
	policy.Call

	Number  int64
	ID      models.ResponseID
	Agent   models.AgentID
	Outcome Outcome
	By      models.UserID // who decided
	Took    time.Duration // until it was decided
	Reason  string        // of the person who refused it
}

// Kind is what a suggestion is about.
type Kind string

// The kinds.
const (
	Allow     Kind = "allow"     // always approved: let it through
	Deny      Kind = "deny"      // always rejected: refuse it
	Checklist Kind = "checklist" // approved at once, though much depends on it: add a checklist
)

// Suggestion is what would make for fewer or better questions.
type Suggestion struct {
	Key  string // the same for the same suggestion on another day
	Kind Kind
	// Rule is the one to add before that with the name Holds, or behind all where Holds is no rule's. Of Checklist: it has
	// only the name of the rule that there is.
	Rule  policy.Rule
	Holds string

	Agent, Tool string
	Risk        models.Risk // with which such calls wait now
	Terms       []Term      // how the calls are alike, in the order of the input

	Calls      int           // that people decided, and that the rule would have settled
	Open       int           // that it would have settled too, and no one decided
	OtherTerms int           // that would have waited all the same, on other terms
	People     int           // who decided them
	Half       time.Duration // within which half of them were decided
	Examples   []Example     // the newest

	// Of the agent's calls of the tool, those that the rule does not cover.
	Rest Rest
}

// Report is all that history suggests.
type Report struct {
	Found      []Suggestion // that no one dismissed, those of the most calls first
	Dismissals []Dismissal
	Calls      int       // that waited for a person, of which they are made
	Since      time.Time // when the oldest of them was asked; zero: there were none
	Cut        bool      // of older calls only the rejected ones were looked at
}

// Dismissal is a suggestion that somebody does not want to have made again.
type Dismissal struct {
	Suggestion

	By models.DismissedSuggestion
}

// Example is one of the calls.
type Example struct {
	ID models.ResponseID
	At time.Time
}

// Rest counts the calls that a suggestion leaves to people.
type Rest struct {
	Approved, Rejected, Edited, Other int
	Unreadable                        int // of them all, those that no condition can say exactly
}

// How is in what a part of the input is alike.
type How string

// The ways.
const (
	Is      How = "is"
	OneOf   How = "one_of"
	Below   How = "below"   // a folder
	At      How = "at"      // an address, up to its last slash
	Between How = "between" // two amounts
)

// Term says how one part of the input is alike.
type Term struct {
	Part   string // the name of a member, or such as: argument 1 of command
	How    How
	Values []string
}

// group are an agent's calls of a tool.
type group struct {
	calls    []*read
	families map[string]*family
	order    []*family
}

// read is a call as families compare it.
type read struct {
	*Call

	holds    string // the rule that it waits by now
	eligible bool   // a rule may let it through: nothing says that it matters who decides
	risk     models.Risk
	energy   int64
	shape    shape
}

// Find reads what calls have in common under a policy: calls are the newest of all agents, older are further ones that
// people refused. Those of the most calls come first.
func Find(p *policy.Policy, calls, older []Call) []Suggestion {
	groups, rules := grouped(p, calls)
	for i := range older {
		c := &older[i]
		if g := groups[groupOf(c)]; g != nil {
			g.add(c, p)
		}
	}
	var tries []candidate
	for _, key := range sortedKeys(groups) {
		tries = append(tries, groups[key].candidates()...)
	}
	slices.SortStableFunc(tries, func(a, b candidate) int { return cmp.Compare(len(b.good), len(a.good)) })
	tries = tries[:min(len(tries), maxTried)]
	var out []Suggestion
	for i := range tries {
		if len(out) == maxFound {
			break
		}
		if s, ok := tries[i].proved(p, groups[groupOf(tries[i].good[0].Call)].calls); ok {
			out = append(out, s)
		}
	}
	out = append(out, checklists(p, rules)...)
	slices.SortStableFunc(out, func(a, b Suggestion) int { return cmp.Compare(b.Calls, a.Calls) })
	return out[:min(len(out), maxFound)]
}

func groupOf(c *Call) string { return string(c.Agent) + "\x00" + c.ToolName }

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// grouped judges the calls by the policy of now, and puts those together that one rule may be for; rules has them by the
// rule that they wait by.
func grouped(p *policy.Policy, calls []Call) (groups map[string]*group, rules map[string][]*read) {
	groups, rules = map[string]*group{}, map[string][]*read{}
	for i := range calls {
		c := &calls[i]
		if c.ToolName == "" || c.Kind != models.KindToolCall {
			continue
		}
		g := groups[groupOf(c)]
		if g == nil {
			g = &group{families: map[string]*family{}}
			groups[groupOf(c)] = g
		}
		if r := g.add(c, p); r.holds != "" {
			rules[r.holds] = append(rules[r.holds], r)
		}
	}
	return groups, rules
}

// add puts a call into its family. One that does not wait any more is in none; it is judged again all the same.
func (g *group) add(c *Call, p *policy.Policy) *read {
	r := &read{Call: c, shape: shape{unreadable: true}}
	if !c.Facts.Removed {
		r.shape = readShape(c.ToolName, c.Facts.Input)
	}
	g.calls = append(g.calls, r)
	j := p.Judge(c.Call)
	if j.Effect != policy.EffectRequire {
		return r
	}
	r.holds, r.risk, r.energy = j.Rule, j.Risk, j.Energy
	plain := !j.Unjudged && !j.ReviewersOnly && !j.Signed() && j.SelfApproval != models.SelfNever && j.Only == nil &&
		len(j.Checklist) == 0 && r.Template == ""
	r.eligible = plain && (j.Risk == models.RiskLow || j.Risk == models.RiskMedium)
	if r.shape.unreadable || j.Unjudged {
		return r
	}
	key := r.shape.key() + "\x00" + r.holds
	f := g.families[key]
	if f == nil {
		f = &family{}
		g.families[key], g.order = f, append(g.order, f)
	}
	f.calls = append(f.calls, r)
	return r
}

// checklists finds rules whose requests are decided at once and always in the same way, though much depends on them.
func checklists(p *policy.Policy, rules map[string][]*read) (out []Suggestion) {
	doc := p.Document()
	for _, name := range sortedKeys(rules) {
		i := doc.RuleNamed(name)
		if i < 0 {
			continue
		}
		rule := doc.Resolved(doc.Rules[i])
		if len(rule.Checklist) > 0 || rule.Risk != models.RiskHigh && rule.Risk != models.RiskCritical {
			continue
		}
		decided := slices.DeleteFunc(slices.Clone(rules[name]), func(r *read) bool { return r.Outcome == Open })
		if len(decided) < MinCalls || slices.ContainsFunc(decided, func(r *read) bool { return r.Outcome != Approved }) {
			continue
		}
		s := Suggestion{Kind: Checklist, Rule: policy.Rule{Name: name}, Holds: name, Risk: rule.Risk}
		s.count(decided)
		if s.Half > quick {
			continue
		}
		s.Key = keyOf(string(Checklist), name)
		out = append(out, s)
	}
	return out
}

// count fills in what there is to say of calls that people decided.
func (s *Suggestion) count(calls []*read) {
	var took []time.Duration
	people := map[models.UserID]bool{}
	newest := slices.SortedFunc(slices.Values(calls), func(a, b *read) int { return cmp.Compare(b.Number, a.Number) })
	for _, c := range newest {
		took = append(took, c.Took)
		people[c.By] = true
		if len(s.Examples) < 3 {
			s.Examples = append(s.Examples, Example{c.ID, c.At})
		}
	}
	slices.Sort(took)
	s.Calls, s.People, s.Half = len(calls), len(people), took[(len(took)-1)/2]
}

func keyOf(parts ...string) string { return models.DigestOfText(strings.Join(parts, "\x00")) }
