package llm

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"countersign/models"
)

// scene is what the scripted model sees of a conversation.
type scene struct {
	id      string         // of the conversation
	first   bool           // it has not said anything yet
	words   string         // of the person, not yet answered
	asks    []asked        // its calls, in order
	total   int64          // the budget; 0 without one
	rest    int64          // of the budget
	budget  bool           // there is a budget
	reports map[string]int // the highest number of each outcome that was told
}

// asked is a call of its own with what became of it.
type asked struct {
	kind   string // proposal, budget or energy
	number int    // counted by kind
	delta  int64  // that it asked for, if it is a step of the budget
	result result
	done   bool // it has already said what became of it
}

// result is the part of a call's result that it reads.
type result struct {
	Status   string `json:"status"`
	Cause    string `json:"cause"`
	By       string `json:"by"`
	Feedback string `json:"feedback"`
	Reason   string `json:"reason"`
	Granted  *int64 `json:"granted"`
	Change   *struct {
		From *int64 `json:"from"`
		To   int64  `json:"to"`
	} `json:"budgetChange"`
	Budget *struct {
		Total     *int64 `json:"total"`
		Remaining *int64 `json:"remaining"`
	} `json:"budget"`
	Error string `json:"error"`
}

// Kinds of calls: two of them change the budget.
const (
	proposal     = "proposal"
	budgetChange = "budget" // that the person asked for
	energyWish   = "energy" // to go on with an approved proposal
)

// The first words of a report on each kind.
var outcomeWords = map[string]string{proposal: "Proposal", budgetChange: "Budget change", energyWish: "Energy request"}

// In place of a status, where there is none.
const (
	statusWaits   = string(models.StatusPending)
	statusRefused = "refused" // the call was not taken
)

var (
	idLine     = regexp.MustCompile(`(?m)^requestId: *(\S+)\s*$`)
	energyLine = regexp.MustCompile(`(?m)^Energy: \d+ of (\d+) spent, (\d+) left\.`)
	callID     = regexp.MustCompile(`^demo-(proposal|budget|energy)-(\d{1,9})$`)
	// reported begins the line that tells of an outcome; words of people never
	// begin a line, for they are quoted.
	reportLine = regexp.MustCompile(`(?m)^(Proposal|Budget change|Energy request) (\d{1,9}) `)
	// notes of the loop appear where a person's words do.
	note = "[Note from the system]"
)

func sceneOf(r Request) *scene {
	s := &scene{first: true, reports: map[string]int{}}
	if found := idLine.FindStringSubmatch(r.Ephemeral); found != nil {
		s.id = found[1]
	}
	results := map[string]result{}
	for _, m := range r.Turns {
		if m.Role == RoleTool {
			results[m.CallID] = readResult(m.Content)
		}
	}
	said := map[string]bool{}
	for _, m := range r.Turns {
		switch {
		case m.Role == RoleAssistant:
			s.first, s.words = false, ""
			for _, found := range reportLine.FindAllStringSubmatch(m.Content, -1) {
				said[found[1]+found[2]] = true
				n, _ := strconv.Atoi(found[2])
				s.reports[found[1]] = max(s.reports[found[1]], n)
			}
			for _, call := range m.Calls {
				s.hear(call, results[call.ID])
			}
		case m.Role == RoleUser && !strings.HasPrefix(m.Content, note):
			s.words = strings.TrimSpace(s.words + "\n" + m.Content)
		}
	}
	for i := range s.asks {
		s.asks[i].done = said[outcomeWords[s.asks[i].kind]+strconv.Itoa(s.asks[i].number)]
	}
	// The ephemeral message is the latest word on the budget.
	if found := energyLine.FindStringSubmatch(r.Ephemeral); found != nil {
		s.budget = true
		s.total, _ = strconv.ParseInt(found[1], 10, 64)
		s.rest, _ = strconv.ParseInt(found[2], 10, 64)
	} else if strings.Contains(r.Ephemeral, "no budget is set") {
		s.budget = false
	}
	return s
}

// hear takes one of its calls and its result.
func (s *scene) hear(call Call, of result) {
	found := callID.FindStringSubmatch(call.ID)
	if found == nil {
		return // another model's
	}
	a := asked{kind: found[1], result: of}
	a.number, _ = strconv.Atoi(found[2])
	if call.Name == models.ToolAdjustBudget {
		var in struct {
			Delta int64 `json:"delta"`
		}
		_ = json.Unmarshal([]byte(call.Arguments), &in) // its own words
		a.delta = in.Delta
	}
	s.asks = append(s.asks, a)
	if b := of.Budget; b != nil && b.Total != nil && b.Remaining != nil {
		s.budget, s.total, s.rest = true, *b.Total, *b.Remaining
	}
}

func readResult(text string) result {
	var r result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return result{Status: statusRefused, Error: "The result cannot be read."}
	}
	if r.Error != "" {
		r.Status = statusRefused
	}
	return r
}

// waiting is the first of its calls that has no decision yet.
func (s *scene) waiting(kinds ...string) *asked {
	for i := range s.asks {
		if a := &s.asks[i]; slices.Contains(kinds, a.kind) && a.result.Status == statusWaits {
			return a
		}
	}
	return nil
}

// next is the number of the next call of a kind.
func (s *scene) next(kind string) int {
	n := s.reports[outcomeWords[kind]]
	for i := range s.asks {
		if a := &s.asks[i]; a.kind == kind {
			n = max(n, a.number)
		}
	}
	return n + 1
}

// command finds the word that steers it, in a message of few words, with the
// number beside it.
func (s *scene) command() (word string, number int64, numbered bool) {
	words := strings.Fields(strings.ToLower(s.words))
	if len(words) > 6 {
		return "", 0, false
	}
	for _, w := range words {
		w = strings.Trim(w, ".,!?;:\"'`()")
		if slices.Contains([]string{"propose", "budget", "help"}, w) && word == "" {
			word = w
		}
		if n, err := strconv.ParseInt(w, 10, 64); err == nil && n >= 0 && n <= models.MaxBudget {
			number, numbered = n, true
		}
	}
	return word, number, numbered
}

// quoteLines quotes words of people, so that no line of theirs is one of its own.
func quoteLines(text string) string {
	const most = 600
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return "> " + strings.Join(lines, "\n> ")
}
