package budgets

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
)

// The chart's plane, in units of its own; it is drawn as wide as there is room.
const (
	chartLeft, chartRight    = 8.0, 632.0
	chartCeiling, chartFloor = 8.0, 142.0
	chartTableRows           = 50
)

// BurnChart is what a conversation spent over its history, with the budget that
// stood: a drawing, and the same as a table.
type BurnChart struct {
	Empty       bool
	Line, Area  string // paths of the spending
	Budget      string // path of the budget; empty: none ever stood
	Says        string // the drawing in a sentence
	Top         string // the value at the upper edge
	First, Last string // sequence numbers
	Rows        []BurnRow
	Gap         string // set when the table holds not every point
}

// BurnRow is one point of the chart.
type BurnRow struct {
	Sequence, Used, Budget string
	At                     views.Moment
}

// NewBurnChart draws the points, oldest first, up to the current budget.
func NewBurnChart(points []models.EnergyPoint, standing models.Budget, now time.Time) BurnChart {
	if len(points) == 0 {
		return BurnChart{Empty: true}
	}
	highest, first, last := int64(1), points[0].Sequence, points[len(points)-1].Sequence
	for _, p := range points {
		highest = max(highest, p.Used)
		if p.Budget != nil {
			highest = max(highest, *p.Budget)
		}
	}
	x := func(sequence int64) float64 {
		return chartLeft + float64(sequence-first)/float64(max(last-first, 1))*(chartRight-chartLeft)
	}
	y := func(energy int64) float64 {
		return chartFloor - float64(energy)/float64(highest)*(chartFloor-chartCeiling)
	}
	c := BurnChart{
		Top:   views.Number(highest),
		First: "no. " + strconv.FormatInt(first, 10), Last: "no. " + strconv.FormatInt(last, 10),
	}
	var used, budget pathPen
	for _, p := range points {
		used.step(x(p.Sequence), y(p.Used))
		if p.Budget == nil {
			budget.lift()
		} else {
			budget.step(x(p.Sequence), y(*p.Budget))
		}
	}
	used.end(chartRight)
	budget.end(chartRight)
	c.Line, c.Budget = used.String(), budget.String()
	c.Area = c.Line + fmt.Sprintf("V%sH%sZ", coordinate(chartFloor), coordinate(chartLeft))
	c.Says = fmt.Sprintf("Energy used: %s at entry %s, %s at entry %s", views.Number(points[0].Used), views.Number(first),
		views.Number(points[len(points)-1].Used), views.Number(last))
	if standing.Total != nil {
		c.Says += ", of a budget of " + views.Number(*standing.Total)
	}
	c.Says += "."
	c.Rows, c.Gap = burnRows(points, now)
	return c
}

// burnRows are the points as a table, thinned evenly where there are many; the
// last one is always there.
func burnRows(points []models.EnergyPoint, now time.Time) (rows []BurnRow, gap string) {
	each := (len(points) + chartTableRows - 1) / chartTableRows
	for i := range points {
		p := &points[i]
		if i%each != 0 && i != len(points)-1 {
			continue
		}
		row := BurnRow{
			Sequence: strconv.FormatInt(p.Sequence, 10), At: views.Ago(p.At, now), Used: views.Number(p.Used), Budget: "none",
		}
		if p.Budget != nil {
			row.Budget = views.Number(*p.Budget)
		}
		rows = append(rows, row)
	}
	if each > 1 {
		gap = "The table has one in " + strconv.Itoa(each) + " points of the chart."
	}
	return rows, gap
}

// pathPen writes a line of steps: a value holds until the next.
type pathPen struct {
	strings.Builder

	down bool
	x, y string
}

func (p *pathPen) step(x, y float64) {
	at, level := coordinate(x), coordinate(y)
	if !p.down {
		p.WriteString("M" + at + " " + level)
	} else {
		if at != p.x {
			p.WriteString("H" + at)
		}
		if level != p.y {
			p.WriteString("V" + level)
		}
	}
	p.down, p.x, p.y = true, at, level
}

func (p *pathPen) lift() { p.down = false }

// end draws the last value up to the edge, so that a single one is seen too.
func (p *pathPen) end(x float64) {
	if at := coordinate(x); p.down && at != p.x {
		p.WriteString("H" + at)
	}
}

func coordinate(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
