package headline

import (
	"slices"
	"strings"
	"unicode/utf8"

	"countersign/models"
)

// answerLead begins the headline of a question.
const answerLead = "Answer:"

// MaxText is where the telling part of a headline is cut, in characters.
const MaxText = 200

// Headline is one sentence about a request. Its parts are untrusted text on one line, to be
// escaped where they are drawn (models.Reveal).
type Headline struct {
	Lead string // what would be done, to be shown in any case: "Pay 240.00 EUR to", "Run:"
	Rest string // the most telling part, which may be cut in the middle
	Tail string // shown in any case: "(+2 −2)"

	Cut    bool     // a text in it is cut
	Hidden []string // members of the input that it does not show whole, sorted; of many the first
	More   int      // how many further ones there are
	Unseen bool     // it has invisible characters, in the cut part too
	Odd    bool     // it is drawn as more than its letters, in the cut part too
	Known  Known    // the call, where it is of a known kind; not kept

	rest   parted // Rest, which is cut further where there is less room
	which  string // which of several Rest is
	partly bool   // what would be run is not shown whole
}

// Text is the whole sentence.
func (h Headline) Text() string {
	return strings.Join(slices.DeleteFunc([]string{h.Lead, h.Rest, h.Tail}, func(s string) bool { return s == "" }), " ")
}

// Quoted is the sentence as another one quotes it: of a question, only the question itself, for that sentence says
// "Answer".
func (h Headline) Quoted() string {
	if h.Lead == answerLead && h.Tail == "" {
		return h.Rest
	}
	return h.Text()
}

// Plain is Text with all that is not seen escaped, for surfaces that have no styling.
func (h Headline) Plain() string { return models.RevealString(h.Text(), false) }

// Short is the sentence with its telling part cut in the middle to at most that many
// characters: what it begins and ends with stays, and what it leaves out is counted.
func (h Headline) Short(most int) string {
	h.Rest = h.rest.within(most).String()
	return h.Text()
}

const (
	mostHidden  = 5   // how many hidden members are named
	mostOfNames = 100 // characters of each
)

// Of makes the headline of a request from all of it: once, as it comes in. Pages read the stored one (Shown). Of an
// input that is not whole no kind is claimed.
func Of(r *models.Response) Headline { return made(sentence(r)) }

// OfItem is Of a call of another system whose arguments were not found, so that the whole item counts as arguments:
// told by the members that may be these. No kind is claimed.
func OfItem(r *models.Response, members []byte) Headline {
	h := toolCall(r.ToolName, readInput(string(members)))
	shown := readInput(string(members)).others()
	h.Hidden = append(h.Hidden, readInput(r.InputThatRuns()).others(shown...)...)
	return made(h)
}

// made cuts a sentence to its stored length.
func made(h Headline) Headline {
	full := oneLine(h.Rest)
	h.Lead, h.Tail = oneLine(h.Lead), oneLine(h.Tail)
	h.rest = parted{begin: full}.within(MaxText)
	h.Rest, h.Cut = h.rest.String(), h.Cut || h.rest.gap > 0
	_, found := models.Reveal(full, true)
	h.Unseen, h.Odd = found.Any(), models.IsOdd(full)
	slices.Sort(h.Hidden)
	if most := min(len(h.Hidden), mostHidden); most > 0 {
		h.Hidden, h.More = h.Hidden[:most], len(h.Hidden)-most
		for i, name := range h.Hidden {
			h.Hidden[i], _ = middle(oneLine(name), mostOfNames)
		}
	}
	return h
}

func sentence(r *models.Response) Headline {
	if r.IsRemoved() {
		return Headline{Rest: r.RemovedText()}
	}
	switch r.Kind {
	case models.KindProposal:
		return Headline{Lead: "Proposal:", Rest: r.Content}
	case models.KindReply:
		return Headline{Lead: "Reply:", Rest: r.Content}
	case models.KindQuestion:
		return question(r)
	case models.KindBudget:
		if h, ok := budget(r); ok {
			return h
		}
	case models.KindToolCall:
	}
	in := readInput(r.InputThatRuns())
	if r.InputBytes != nil && !in.whole {
		return cutCall(r)
	}
	if in.whole {
		if read := kinds[r.ToolName]; read != nil {
			if h, ok := read(in.members); ok {
				return h
			}
		}
	}
	return toolCall(r.ToolName, in)
}

// question is what a person is to answer: its text is what the digest covers.
func question(r *models.Response) Headline {
	in := readInput(r.InputThatRuns())
	h := Headline{Lead: answerLead, Rest: r.Description}
	shown := ""
	if strings.TrimSpace(r.Description) == "" {
		text, ok := textOf(in.members["question"])
		if !ok || strings.TrimSpace(text) == "" {
			return toolCall(r.ToolName, in)
		}
		h.Rest, shown = text, "question"
	}
	h.Hidden = in.others(shown)
	return h
}

// budget is a request for energy. Why is the agent's claim, and quoted.
func budget(r *models.Response) (Headline, bool) {
	var h Headline
	in := readInput(r.ToolInputJSON)
	if r.AsksForAllowance() {
		if _, err := models.AllowanceAsked([]byte(r.ToolInputJSON)); err != nil {
			return h, false
		}
		h.Lead = "Allow the agent " + string(in.members["energy"]) + " more energy."
		h.Hidden = []string{"until"}
	} else {
		if _, err := models.BudgetAsked([]byte(r.ToolInputJSON)); err != nil {
			return h, false
		}
		h.Lead = "Set the budget to " + string(in.members["budget"]) + "."
	}
	if strings.TrimSpace(r.Description) != "" {
		h.Lead, h.Rest = h.Lead+" The agent says:", quote(r.Description)
	}
	return h, true
}

// oneLine joins lines visibly, so that nothing can hide behind a line break.
func oneLine(s string) string {
	s = strings.TrimSpace(s)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", " ⏎ ")
}
