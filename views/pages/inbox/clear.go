package inbox

import (
	"slices"
	"time"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views"
	"countersign/views/pages/words"
)

// Clear is what the reader of an empty inbox has decided today.
type Clear struct {
	Count    string // "14 decided today, median 12 s": from the request to its outcome
	CountURL string
	Last     string // a claim
	LastURL  string
}

// newClear sums up the decisions of today; nil: there are none.
func newClear(in Input) *Clear {
	if len(in.Today) == 0 {
		return nil
	}
	last := &in.Today[0].Approval
	c := &Clear{
		Count: views.Count(len(in.Today)),
		Last:  headline.Shown(&last.Response).Short(words.TitleLength), LastURL: views.ApprovalURL(last.ID),
	}
	if in.TodayCap {
		c.Count += "+"
	}
	c.Count += " decided today"
	place := views.HistoryPlace{By: in.Reader.ID, From: in.Midnight.Format(time.DateOnly)}
	if in.Midnight.Location() == time.UTC {
		c.Count += " (UTC)"
	} else {
		place.Zone = in.Midnight.Location().String()
	}
	c.Count += ", median " + views.Duration(medianWait(in.Today))
	c.CountURL = place.URL()
	return c
}

// medianWait is how long half of the requests waited at most.
func medianWait(rows []models.Brief) time.Duration {
	waits := make([]time.Duration, 0, len(rows))
	for i := range rows {
		if r := &rows[i].Response; r.ApprovalTimestamp != nil {
			waits = append(waits, r.ApprovalTimestamp.Sub(words.AskedAt(r)))
		}
	}
	if len(waits) == 0 {
		return 0
	}
	slices.Sort(waits)
	return waits[(len(waits)-1)/2]
}
