package agents

import (
	"strconv"
	"time"

	"countersign/models"
	"countersign/views"
)

// Week is the requests of the last days as a small chart.
type Week struct {
	Total string // empty: there are none
	Text  string // the same in words, with the day that has most
	Bars  []WeekBar
}

// WeekBar is one day of a chart, in the units of its picture.
type WeekBar struct{ X, Y, Height string }

// The picture of a Week: each day has a bar, and one without requests a line.
const (
	weekHeight = 18
	weekStep   = 8
)

// newWeek draws the counts of the last days, today last.
func newWeek(days [models.AgentDays]int, now time.Time) Week {
	total, most, at, more := 0, 0, 0, ""
	for i, n := range days {
		total += n
		if n >= most {
			most, at = n, i
		}
		if n >= models.StatsCap {
			more = "+"
		}
	}
	var w Week
	for i, n := range days {
		height := 1
		if n > 0 {
			height = 2 + n*(weekHeight-2)/most
		}
		w.Bars = append(w.Bars, WeekBar{
			X: strconv.Itoa(i * weekStep), Y: strconv.Itoa(weekHeight - height), Height: strconv.Itoa(height),
		})
	}
	switch total {
	case 0:
		return w
	case 1:
		w.Text = "1 request in 7 days, "
	default:
		w.Text = views.Number(int64(total)) + more + " requests in 7 days, most "
	}
	w.Total = views.Number(int64(total)) + more
	day := "today"
	if back := models.AgentDays - 1 - at; back > 0 {
		day = "on " + now.UTC().AddDate(0, 0, -back).Weekday().String()
	}
	w.Text += day
	if total > 1 {
		w.Text += ": " + views.Count(most)
	}
	return w
}
