package requests

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inputs"
)

// WithdrawnNote is a decision that a person other than its giver took back.
type WithdrawnNote struct {
	Tone     views.Tone
	Headline string // names are revealed
	At       views.Moment
	SaidBy   string // whose words Said are, revealed
	Said     string // untrusted
	Next     string // what it means, and what to do
}

// withdrawnNotes are those of a request, the latest first. While it waits, the
// latest says what to do.
func withdrawnNotes(o models.Origin, pending bool, now time.Time) []WithdrawnNote {
	out := make([]WithdrawnNote, 0, len(o.Withdrawals))
	for i := len(o.Withdrawals) - 1; i >= 0; i-- {
		w := &o.Withdrawals[i]
		by := models.RevealString(w.ByName, false)
		n := WithdrawnNote{
			Tone: views.ToneNeutral, Headline: inputs.WithdrawnText(w), At: views.Ago(w.At, now), Said: w.Said,
			SaidBy: by + " said",
		}
		if w.Kind == models.WithdrawalByAdmin {
			n.SaidBy = by + "'s reason"
		}
		if pending && len(out) == 0 {
			n.Tone, n.Next = views.ToneBad, withdrawnNext(w, by)
		}
		if w.Lost {
			n.Next = "An earlier attempt may have reached " + inputs.Through(o) + ": check there whether it acted on it. " +
				n.Next
		}
		out = append(out, n)
	}
	return out
}

// withdrawnNext says what to do about a request that waits again.
func withdrawnNext(w *models.Withdrawal, by string) string {
	switch {
	case w.Kind == models.WithdrawalByAdmin:
		return "That decision doesn't count. The request is waiting again: decide it."
	case w.Verdict == models.VerdictReject:
		return "The rejection doesn't count, and " + by + " is still waiting. Fix what it objects to, then decide again."
	case w.Verdict == models.VerdictAnswer:
		return "The answer doesn't count, and " + by + " is still waiting. Fix what it objects to, then answer again."
	case w.Verdict == models.VerdictApprove:
	}
	return "The approval doesn't count, and nothing was released here. Fix what " + by +
		" objects to and approve again, or reject."
}

// RefusedMark is the same for a list, in a few words; empty: nothing was taken back.
func RefusedMark(o models.Origin) string {
	if len(o.Withdrawals) == 0 {
		return ""
	}
	return inputs.WithdrawnText(&o.Withdrawals[len(o.Withdrawals)-1]) + " – waiting again"
}

// WithdrawForm takes back a decision that another system does not hear of.
type WithdrawForm struct {
	URL   string
	Means string
}

// withdraw offers admins to take back a decision that is on its way.
func (v *Approval) withdraw(in Input) {
	told := in.Origin.Delivery
	if !v.Outside || v.Held == "" || told == nil {
		return
	}
	if !in.Admin {
		if told.Problem != "" {
			v.HeldHelp = " If this continues, an admin can undo the decision."
		}
		return
	}
	v.Withdraw = &WithdrawForm{
		URL:   views.WithdrawDecisionURL(v.ID),
		Means: "The request then waits for a new decision. If its deadline has passed, it expires.",
	}
	if told.Attempts > 0 {
		v.Withdraw.Means += " " + v.Hears + " may have received the decision already: check there first."
	}
}
