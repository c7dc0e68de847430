package llm

import (
	"fmt"
	"strings"

	"countersign/models"
)

// react tells what became of a call, and goes on from there. The first words are
// those by which it knows later that it has told.
func (s *script) react(a *asked) {
	if a.kind != proposal {
		s.reactToBudget(a)
		return
	}
	r := a.result
	report := fmt.Sprintf("Proposal %d ", a.number)
	switch r.Status {
	case string(models.StatusApproved):
		s.say("%swas approved%s. I go on with it: done, or it would be if this were no demonstration.", report, by(r))
		s.quoteFeedback(r, "You added")
		s.tellChange(r)
		s.secondHalf(a)
	case string(models.StatusRejected):
		s.say("%swas rejected%s. I have not done it.", report, by(r))
		if r.Feedback == "" && r.By != "" {
			s.say("You gave no reason.")
		}
		s.quoteFeedback(r, "You said")
		s.tellChange(r)
		if a.number == 1 && s.waiting(proposal) == nil {
			s.say("I have thought again and propose something milder.")
			s.propose()
		} else {
			s.say("I change nothing. Write `propose` if you want to see something else.")
		}
	case string(models.StatusExpired):
		s.say("%shas expired%s: silence is not consent, so I have not done it. Write `propose` to see something else.",
			report, cause(r))
	case string(models.StatusCancelled):
		s.say("%swas cancelled%s, so I have not done it. Write `propose` to see something else.", report, cause(r))
	case string(models.StatusResolved):
		s.say("%swas settled elsewhere%s, so I have done nothing here.", report, cause(r))
	case statusRefused:
		s.say("%scould not be made, and nothing was done:\n\n%s", report, quoteLines(r.Error))
	default:
		s.say("%sended in a way that I do not know, so I have done nothing.", report)
	}
}

// secondHalf follows an approval: it needs more energy than a tour usually has left.
func (s *script) secondHalf(a *asked) {
	if s.budget && s.rest < tourNeeds && s.waiting(budgetChange, energyWish) == nil {
		more := (tourNeeds - s.rest + 9) / 10 * 10
		s.say("To check the result I need some %d units of energy, and %d are left. So I ask for %d more; you can approve a different amount.", tourNeeds, s.rest, more)
		s.call(energyWish, models.ToolAdjustBudget, map[string]any{"delta": more})
		return
	}
	s.finish(fmt.Sprintf("I have checked the result of proposal %d too: all is well.", a.number))
}

// reactToBudget tells of a change of the budget, and goes on with the work if it
// was for that.
func (s *script) reactToBudget(a *asked) {
	r := a.result
	report, works := fmt.Sprintf("%s %d ", outcomeWords[a.kind], a.number), a.kind == energyWish
	undone := "The budget is unchanged."
	if works {
		undone = "The budget is unchanged, and I have not checked the result."
	}
	switch r.Status {
	case "applied":
		if b := r.Budget; b != nil && b.Total != nil {
			s.say("%swas applied: the budget is %d units.", report, *b.Total)
		} else {
			s.say("%swas applied.", report)
		}
	case string(models.StatusApproved):
		s.say("%swas approved%s.", report, by(r))
		s.quoteFeedback(r, "You added")
		switch c := r.Change; {
		case c != nil && c.From != nil && a.delta != 0 && c.To != *c.From+a.delta:
			s.say("I asked for a budget of %d; you approved %d.", *c.From+a.delta, c.To)
		case c != nil:
			s.say("The budget became %d units.", c.To)
		}
		if works {
			s.finish(fmt.Sprintf("With %d units left I have checked the result: all is well.", s.rest))
		}
	case string(models.StatusRejected):
		s.say("%swas rejected%s. %s", report, by(r), undone)
		s.quoteFeedback(r, "You said")
		if works {
			s.finish("What was approved before remains done.")
		}
	case string(models.StatusExpired):
		s.say("%shas expired%s. %s", report, cause(r), undone)
	case string(models.StatusCancelled):
		s.say("%swas cancelled%s. %s", report, cause(r), undone)
	case string(models.StatusResolved):
		s.say("%swas settled elsewhere%s.", report, cause(r))
	case statusRefused:
		s.say("%scould not be made:\n\n%s", report, quoteLines(r.Error))
	default:
		s.say("%sended in a way that I do not know.", report)
	}
}

func (s *script) finish(how string) {
	s.say("%s That was the tour. Write `propose`, `budget` or `help` to see more.", how)
}

func (s *script) quoteFeedback(r result, how string) {
	if r.Feedback != "" {
		s.say("%s:\n\n%s", how, quoteLines(r.Feedback))
	}
}

func (s *script) tellChange(r result) {
	if c := r.Change; c != nil {
		s.say("With it the budget became %d units.", c.To)
	}
}

// by is who decided, or why no person did.
func by(r result) string {
	switch {
	case r.By != "":
		return " by " + strings.Join(strings.Fields(r.By), " ") // on one line, whatever the name
	case r.Cause != "":
		return fmt.Sprintf(" without a person (%s)", r.Cause)
	}
	return ""
}

func cause(r result) string {
	if r.Cause == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", r.Cause)
}
