package pages

import (
	"strconv"

	"countersign/models"
	"countersign/views"
)

// CallNote is something to know about a call, in words of ours: what of others is
// in them has been revealed.
type CallNote struct {
	Tone views.Tone
	Text string
}

// originNotes are what a reader must know about where a request came from.
func originNotes(o models.Origin) []CallNote {
	var out []CallNote
	if o.Contradiction != "" {
		out = append(out, CallNote{views.ToneBad, models.RevealString(o.Contradiction, false)})
	}
	if n, ok := matchedNote(o); ok {
		out = append(out, n)
	}
	for i := range o.Withdrawals {
		out = append(out, CallNote{views.ToneWarn, withdrawnText(&o.Withdrawals[i]) + "."})
	}
	if o.Sending != nil {
		out = append(out, CallNote{views.ToneWarn, tellingText(o)})
	}
	return out
}

// withdrawnText says in one line what happened.
func withdrawnText(w *models.Withdrawal) string {
	by, whose := models.RevealString(w.ByName, false), models.RevealString(w.VoterName, false)+"'s "+verdictWord(w.Verdict)
	switch {
	case w.Kind == models.WithdrawalByAdmin:
		return by + " undid " + whose
	case w.Status == 0:
		return by + " can't accept " + whose
	}
	return by + " refused " + whose + " (HTTP " + strconv.Itoa(w.Status) + ")"
}
