package inputs

import (
	"strconv"

	"countersign/models"
	"countersign/views"
)

// Note is something to know about a call, in words of ours: what of others is
// in them has been revealed.
type Note struct {
	Tone views.Tone
	Text string
}

// OriginNotes are what a reader must know about where a request came from.
func OriginNotes(o models.Origin) []Note {
	var out []Note
	if o.Contradiction != "" {
		out = append(out, Note{views.ToneBad, models.RevealString(o.Contradiction, false)})
	}
	if n, ok := matchedNote(o); ok {
		out = append(out, n)
	}
	for i := range o.Withdrawals {
		out = append(out, Note{views.ToneWarn, WithdrawnText(&o.Withdrawals[i]) + "."})
	}
	if o.Delivery != nil {
		out = append(out, Note{views.ToneWarn, TellingText(o)})
	}
	return out
}

// WithdrawnText says in one line what happened.
func WithdrawnText(w *models.Withdrawal) string {
	by, whose := models.RevealString(w.ByName, false), models.RevealString(w.VoterName, false)+"'s "+verdictWord(w.Verdict)
	switch {
	case w.Kind == models.WithdrawalByAdmin:
		return by + " undid " + whose
	case w.Status == 0:
		return by + " can't accept " + whose
	}
	return by + " refused " + whose + " (HTTP " + strconv.Itoa(w.Status) + ")"
}
