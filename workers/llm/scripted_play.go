package llm

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"countersign/models"
)

// Numbers of the tour, in units of energy.
const (
	tourBudget  = 20 // that it sets where there is none
	tourPropose = 10 // that it would like beside a proposal, above the current budget
	tourNeeds   = 40 // for the second half of the work
	tourStep    = 10 // that it asks for when told to
)

// script is one turn of the tour while it is written.
type script struct {
	*scene

	text  strings.Builder
	calls []Call
}

func (s *script) play() *Turn {
	if s.first {
		s.greet()
	}
	waits, reaction := s.waiting(proposal, budgetChange, energyWish), false
	for i := range s.asks {
		if a := &s.asks[i]; !a.done && a.result.Status != "" && a.result.Status != statusWaits {
			s.react(a)
			reaction = true
		}
	}
	word, number, numbered := s.command()
	switch {
	case word == "help" && (!s.first || strings.EqualFold(s.words, word)):
		s.help()
	case s.first:
		if !s.budget {
			if !numbered || word != "budget" {
				number = tourBudget
			}
			s.say("I set a budget of %d units of energy: each of my answers takes some of it. And I propose something; below you can approve or reject it, and change the budget with it.", number)
			s.call(budgetChange, models.ToolSetBudget, map[string]any{"budget": number})
		} else {
			s.say("I propose something; below you can approve or reject it, and change the budget with it.")
		}
		s.propose()
	case word == "budget":
		s.changeBudget(number, numbered)
	case word == "propose":
		if a := s.waiting(proposal); a != nil {
			s.stillWaits(a)
		} else {
			s.say("Here is another proposal.")
			s.propose()
		}
	case waits != nil && (s.words != "" || !reaction):
		s.stillWaits(waits)
	case reaction:
	default:
		s.say("I only follow a script, so I cannot answer that. Write `propose` for another proposal, `budget` for more energy, or `help`.")
	}
	return &Turn{Content: strings.TrimSpace(s.text.String()), Calls: s.calls}
}

// say adds a paragraph.
func (s *script) say(format string, a ...any) {
	fmt.Fprintf(&s.text, format+"\n\n", a...)
}

// call adds a call of a kind.
func (s *script) call(kind, tool string, arguments map[string]any) {
	number := s.next(kind)
	arguments["requestId"] = s.id
	raw, err := json.Marshal(arguments, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("arguments of the script: %v", err)) // strings and numbers
	}
	s.calls = append(s.calls, Call{ID: fmt.Sprintf("demo-%s-%d", kind, number), Name: tool, Arguments: string(raw)})
	s.asks = append(s.asks, asked{kind: kind, number: number, result: result{Status: statusWaits}})
}

func (s *script) greet() {
	s.say("Hello. This is a **demonstration**: no language model is behind it, I follow a script, and nothing I describe is really done.")
	if s.words != "" {
		s.say("You wrote:\n\n%s", quoteLines(s.words))
	}
}

func (s *script) help() {
	s.say(`What you can do here:

- approve or reject what I propose, with your own words: I read them;
- change the budget with a decision, or alone;
- let something expire, or stop me: I say what I have not done;
- write ` + "`propose`" + ` for another proposal, ` + "`budget`" + ` or ` + "`budget 50`" + ` for a change of the budget.`)
	if s.budget {
		s.say("The budget is %d units, and %d are left.", s.total, s.rest)
	} else {
		s.say("There is no budget: I may spend what I like.")
	}
}

// proposals are told in turn; the second is what a rejected first one becomes.
var proposals = []string{
	"**delete old logs.** The web server's logs that are older than 30 days, 214 files of 3.1 GB in `/var/log/web`, would be deleted for good. The last 30 days stay.",
	"**keep the old logs, but packed.** The web server's logs that are older than 90 days, 96 files of 1.2 GB, would be packed into one archive and then removed from `/var/log/web`. Nothing is lost.",
	"**restart the web server at night.** It would be away for some ten seconds at 03:00, and take up the new certificate.",
}

func (s *script) propose() {
	what := proposals[(s.next(proposal)-1)%len(proposals)]
	arguments := map[string]any{}
	if s.budget {
		arguments["energyBudget"] = min(s.total+tourPropose, models.MaxBudget)
	} else {
		arguments["energyBudget"] = int64(tourBudget + tourPropose)
	}
	arguments["content"] = fmt.Sprintf("Proposal %d: %s\n\n(A demonstration: nothing is touched.)", s.next(proposal), what)
	s.call(proposal, models.ToolRespondWithApproval, arguments)
}

func (s *script) changeBudget(number int64, numbered bool) {
	if a := s.waiting(budgetChange, energyWish); a != nil {
		s.stillWaits(a)
		return
	}
	switch {
	case numbered:
		s.say("I set the budget to %d: I may set a first one or lower it; to raise it I have to ask you.", number)
		s.call(budgetChange, models.ToolSetBudget, map[string]any{"budget": number})
	case !s.budget:
		s.say("There is no budget, so I set one of %d.", tourBudget)
		s.call(budgetChange, models.ToolSetBudget, map[string]any{"budget": tourBudget})
	default:
		s.say("I ask for %d more units of energy. You can approve it, approve a different amount, or reject it.", tourStep)
		s.call(budgetChange, models.ToolAdjustBudget, map[string]any{"delta": tourStep})
	}
}

func (s *script) stillWaits(a *asked) {
	what := "my request for more energy"
	if a.kind == proposal {
		what = fmt.Sprintf("proposal %d", a.number)
	}
	s.say("I cannot go on yet: %s waits for your decision, here and in the inbox.", what)
}
