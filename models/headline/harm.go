package headline

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// harm is how much a command or a statement may do, as far as its words tell: it chooses which of several is named, and
// decides nothing. An unknown one is never harmless.
type harm int

const (
	shows     harm = iota // it changes nothing
	changes               // it changes something in its place, or a row
	unclear               // it is not known here
	reaches               // it changes what others see or use: a push, a deployment, ALTER, GRANT
	runsOther             // it runs text that is not read here: curl … | sh, eval
	empties               // DELETE and UPDATE of all rows
	destroys              // rm -rf, DROP, TRUNCATE, a push that overwrites
)

// part is one of several commands or statements.
type part struct {
	text string
	harm harm
}

// worst is the most harmful one, the first of equals; -1: there is none.
func worst(parts []part) int {
	at := -1
	for i, p := range parts {
		if at < 0 || p.harm > parts[at].harm {
			at = i
		}
	}
	return at
}

// placed says which of so many it is, in the words between how many there are and its text.
func placed(i, of int) string {
	switch i {
	case 0:
		return ", first"
	case of - 1:
		return ", last"
	}
	return ", no. " + strconv.Itoa(i+1)
}

// names has the headline show one of several; which is said once where they run is.
func (h *Headline) names(parts []part, i int) {
	h.Rest, h.which, h.partly = parts[i].text, placed(i, len(parts)), true
}

// endLead ends the lead of a headline that names one of several.
func (h *Headline) endLead() {
	if h.which != "" {
		h.Lead = strings.TrimSuffix(h.Lead, ":") + h.which + ":"
	}
}

// suspects has the headline of a text that can't be read with certainty, and is too long to be
// shown, begin with what may harm most in it: from there to the end of its line or statement.
func (h *Headline) suspects(text string, room int) {
	if utf8.RuneCountInString(text) <= room {
		return
	}
	at, most := perhaps(text)
	if most == shows {
		return
	}
	if most == runsOther { // the text that runs comes before it
		at = strings.LastIndexAny(text[:at], "\n;") + 1
	}
	rest := text[at:]
	if end := strings.IndexAny(rest, "\n;"); end > 0 {
		rest = rest[:end]
	}
	h.Rest, h.which, h.partly = rest, ", perhaps with", true
}
