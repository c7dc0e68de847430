package figures

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"countersign/models"
)

// Sum is what became of requests in some time. All of it adds up: the figures of a month are the sum of those of
// its days. A request counts when it ended, or, if it ran without a person, when it came.
type Sum struct {
	Outcomes map[string]int64 `json:"outcomes,omitempty"` // by OutcomeKey

	// How they ended, by what they were about. People are those who decided.
	Agents map[string]Rate `json:"agents,omitempty"`
	Tools  map[string]Rate `json:"tools,omitempty"` // by ToolKey
	Rules  map[string]Rate `json:"rules,omitempty"` // no rule: empty
	People map[string]Rate `json:"people,omitempty"`

	Reasons map[string]int64 `json:"reasons,omitempty"` // to reject: a rule's, or the first line of a person's
	Edits   map[string]int64 `json:"edits,omitempty"`   // members that an approval changed; "input": another whole

	Decided Spread `json:"decided,omitempty"` // from the ask to a person's vote, without questions that stopped the clock
	Waited  Spread `json:"waited,omitempty"`  // from the ask to the end, whatever the end

	Hours map[int]Hour `json:"hours,omitempty"` // of the week: 0 is Monday from midnight

	Waiting int64 `json:"waiting,omitempty"` // how many requests waited, summed over the ends of the hours

	EnergyOfAgents        map[string]int64 `json:"energy_agents,omitempty"`
	EnergyOfTools         map[string]int64 `json:"energy_tools,omitempty"` // "": the built-in agent's model
	EnergyOfConversations map[string]int64 `json:"energy_conversations,omitempty"`

	Questions int64 `json:"questions,omitempty"` // that were asked back
	Undone    int64 `json:"undone,omitempty"`    // votes that were taken back
	Unseen    int64 `json:"unseen,omitempty"`    // expired, and no person had looked; not of contents that are removed

	// Left is how much the lists above leave out, by list: each names the MostNames that have the most.
	Left map[string]int64 `json:"left,omitempty"`
}

// Rate is how requests ended.
type Rate struct {
	Approved int64 `json:"a,omitempty"` // by a person; answered too
	Rejected int64 `json:"r,omitempty"` // by a person
	Other    int64 `json:"o,omitempty"` // in another way
}

// Total is how many they were.
func (r Rate) Total() int64 { return r.Approved + r.Rejected + r.Other }

// Hour is what happened in an hour of the week.
type Hour struct {
	Asked   int64 `json:"a,omitempty"`
	Decided int64 `json:"d,omitempty"` // by people
}

// MostNames is how many entries each list of the figures of a day or month has at most.
const MostNames = 200

// OutcomeKey is how a sum names an outcome; ReadOutcome takes it apart.
func OutcomeKey(status models.Status, cause models.Cause) string {
	return string(status) + " " + string(cause)
}

// ReadOutcome is the status and the cause of an OutcomeKey.
func ReadOutcome(key string) (models.Status, models.Cause) {
	status, cause, _ := strings.Cut(key, " ")
	return models.Status(status), models.Cause(cause)
}

// ToolKey is how a sum names the tool of a request: those that call none by their kind, in brackets.
func ToolKey(kind models.Kind, tool string) string {
	if tool != "" {
		return tool
	}
	return "(" + kind.Word() + ")"
}

// Spread is how many took how long: by the number of the bound in Bounds that they are within.
type Spread map[int]int64

// Bounds are times by which others are counted. What takes longer than the last counts as that.
var Bounds = func() (out []time.Duration) {
	for _, of := range []struct {
		unit  time.Duration
		times []float64
	}{
		{time.Second, []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50}},
		{time.Minute, []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50}},
		{time.Hour, []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20}},
		{24 * time.Hour, []float64{1, 1.5, 2, 3, 4, 5, 7, 10, 14, 21, 30, 60, 90, 365}},
	} {
		for _, n := range of.times {
			out = append(out, time.Duration(n*float64(of.unit)))
		}
	}
	return out
}()

// Add counts one time.
func (s *Spread) Add(d time.Duration) {
	if *s == nil {
		*s = Spread{}
	}
	i, _ := slices.BinarySearch(Bounds, d)
	(*s)[min(i, len(Bounds)-1)]++
}

// Count is how many were counted.
func (s Spread) Count() (n int64) {
	for _, of := range s {
		n += of
	}
	return n
}

// Within is the bound within which a share of them are, from 0 to 1; 0: there are none.
func (s Spread) Within(share float64) time.Duration {
	need, sum := share*float64(s.Count()), int64(0)
	for _, i := range slices.Sorted(maps.Keys(s)) {
		if sum += s[i]; sum > 0 && float64(sum) >= need {
			return Bounds[i]
		}
	}
	return 0
}

// UpTo is how many were longer than one bound and within another.
func (s Spread) UpTo(after, bound time.Duration) (n int64) {
	for i, of := range s {
		if Bounds[i] > after && Bounds[i] <= bound {
			n += of
		}
	}
	return n
}

// Requests is how many were counted.
func (f *Sum) Requests() (n int64) {
	for _, of := range f.Outcomes {
		n += of
	}
	return n
}

// Add adds another sum.
func (f *Sum) Add(other *Sum) {
	for _, list := range [...]struct{ to, from *map[string]int64 }{
		{&f.Outcomes, &other.Outcomes},
		{&f.Reasons, &other.Reasons},
		{&f.Edits, &other.Edits},
		{&f.EnergyOfAgents, &other.EnergyOfAgents},
		{&f.EnergyOfTools, &other.EnergyOfTools},
		{&f.EnergyOfConversations, &other.EnergyOfConversations},
		{&f.Left, &other.Left},
	} {
		for name, n := range *list.from {
			Count(list.to, name, n)
		}
	}
	for _, list := range [...]struct{ to, from *map[string]Rate }{
		{&f.Agents, &other.Agents}, {&f.Tools, &other.Tools}, {&f.Rules, &other.Rules}, {&f.People, &other.People},
	} {
		for name, r := range *list.from {
			AddRate(list.to, name, r)
		}
	}
	for _, list := range [...]struct{ to, from *Spread }{{&f.Decided, &other.Decided}, {&f.Waited, &other.Waited}} {
		for i, n := range *list.from {
			if *list.to == nil {
				*list.to = Spread{}
			}
			(*list.to)[i] += n
		}
	}
	for i, h := range other.Hours {
		f.AddHour(i, h)
	}
	f.Waiting, f.Questions = f.Waiting+other.Waiting, f.Questions+other.Questions
	f.Undone, f.Unseen = f.Undone+other.Undone, f.Unseen+other.Unseen
}

// AddHour adds to an hour of the week.
func (f *Sum) AddHour(i int, h Hour) {
	if f.Hours == nil {
		f.Hours = map[int]Hour{}
	}
	f.Hours[i] = Hour{Asked: f.Hours[i].Asked + h.Asked, Decided: f.Hours[i].Decided + h.Decided}
}

// Count adds to an entry of a list of numbers.
func Count(list *map[string]int64, name string, n int64) {
	if *list == nil {
		*list = map[string]int64{}
	}
	(*list)[name] += n
}

// AddRate adds to an entry of a list of rates.
func AddRate(list *map[string]Rate, name string, r Rate) {
	if *list == nil {
		*list = map[string]Rate{}
	}
	was := (*list)[name]
	(*list)[name] = Rate{Approved: was.Approved + r.Approved, Rejected: was.Rejected + r.Rejected, Other: was.Other + r.Other}
}

// Cut leaves the most in each list, and counts the rest.
func (f *Sum) Cut() {
	for name, list := range map[string]*map[string]int64{
		"reasons": &f.Reasons, "edits": &f.Edits, "energy_agents": &f.EnergyOfAgents, "energy_tools": &f.EnergyOfTools,
		"energy_conversations": &f.EnergyOfConversations,
	} {
		cutList(f, name, *list, func(n int64) int64 { return n })
	}
	for name, list := range map[string]*map[string]Rate{"agents": &f.Agents, "tools": &f.Tools, "rules": &f.Rules, "people": &f.People} {
		cutList(f, name, *list, Rate.Total)
	}
}

func cutList[T any](f *Sum, of string, list map[string]T, size func(T) int64) {
	if len(list) <= MostNames {
		return
	}
	for _, name := range byMost(list, size)[MostNames:] {
		Count(&f.Left, of, size(list[name]))
		delete(list, name)
	}
}

// byMost are the names of a list, those with the most first, equals by name.
func byMost[T any](list map[string]T, size func(T) int64) []string {
	return slices.SortedFunc(maps.Keys(list), func(a, b string) int {
		return cmp.Or(cmp.Compare(size(list[b]), size(list[a])), cmp.Compare(a, b))
	})
}

// Most are the names of a list of numbers, the largest first.
func Most(list map[string]int64) []string { return byMost(list, func(n int64) int64 { return n }) }

// MostOf are the names of a list of rates, those with the most requests first.
func MostOf(list map[string]Rate) []string { return byMost(list, Rate.Total) }
