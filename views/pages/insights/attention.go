package insights

import (
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/figures"
	"countersign/views"
)

// person is whose decisions are looked at: that of the filter, or the reader.
func (in *Input) person() models.UserID {
	if kind, name, ok := views.ReadAbout(in.Place.About); ok && kind == "person" {
		return models.UserID(name)
	}
	return in.Reader
}

// signals say in words what a person's latest decisions show.
func signals(in Input) []string {
	a := in.Attention
	if a == nil {
		return nil
	}
	var out []string
	if a.Fast > 0 {
		out = append(out, fmt.Sprintf("%d of the last %d approvals took under %s each; each had at least %s characters, which take %s to read.",
			a.Fast, a.Approvals, views.Duration(a.Within.Truncate(time.Second)+time.Second), views.Number(int64(a.Chars)),
			views.Duration(figures.Reads(a.Chars).Round(time.Second))))
	}
	if a.Streak > 0 {
		most := ""
		if a.Streak == figures.MostDecisions {
			most = " or more"
		}
		out = append(out, fmt.Sprintf("The last %d%s decisions have no rejection among them.", a.Streak, most))
	}
	if h := a.Hurry; h.Last > 0 {
		out = append(out, fmt.Sprintf("%d of the %d decisions of a shift came in its last minute, on %s.", h.Last, h.Decisions,
			h.End.In(in.Zone).Format("2 Jan 2006 at 15:04")))
	}
	if len(out) == 0 {
		out = []string{"Nothing unusual."}
	}
	return out
}
