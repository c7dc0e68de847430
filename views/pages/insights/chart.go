package insights

import (
	"fmt"
	"time"

	"countersign/models/figures"
	"countersign/views"
)

// Chart is numbers as columns, with their table behind it. It is drawn in a field of 1000 by 100.
type Chart struct {
	ID, Title string
	Says      string   // in a sentence, for those who see no picture
	Top       string   // the largest value
	Ends      []string // what the field's foot says, from left to right
	Keys      []Key
	Columns   []Column
	Table     Table
}

// Key names a colour.
type Key struct{ Label, Class string }

// Column is one, of parts on top of each other.
type Column struct {
	Title string
	Parts []Part
}

// Part is a rectangle.
type Part struct{ Class, X, Y, Width, Height string }

// bars lays out columns of parts. Each is a list of values from the bottom up.
func bars(titles []string, values [][]float64, classes []string) (columns []Column, top float64) {
	for _, of := range values {
		sum := 0.0
		for _, n := range of {
			sum += n
		}
		top = max(top, sum)
	}
	if top == 0 {
		return nil, 0
	}
	step := 1000 / float64(len(values))
	gap := min(step*0.2, 6)
	for i, of := range values {
		c, y := Column{Title: titles[i]}, 100.0
		for k, n := range of {
			if n == 0 {
				continue
			}
			height := n / top * 100
			y -= height
			c.Parts = append(c.Parts, Part{classes[k], coordinate(float64(i)*step + gap/2), coordinate(y), coordinate(step - gap), coordinate(height)})
		}
		columns = append(columns, c)
	}
	return columns, top
}

func coordinate(f float64) string { return fmt.Sprintf("%.2f", f) }

// pointName is what a point of the report is called: its day, or its month.
func pointName(p *figures.Point, zone *time.Location) string {
	from := p.From.In(zone)
	if p.Until.Sub(p.From) <= 26*time.Hour {
		return from.Format("2 Jan 2006")
	}
	return from.Format("Jan 2006")
}

// feet are the names of the first, the middle and the last point.
func feet(names []string) []string {
	switch n := len(names); n {
	case 0, 1, 2:
		return names
	default:
		return []string{names[0], names[n/2], names[n-1]}
	}
}

var endClasses = []string{"good", "bad", "accent", "warn", "rest"}

// outcomes are how requests ended, by day or month.
func outcomes(r *figures.Report, zone *time.Location) Chart {
	c := Chart{ID: "outcomes", Title: "How requests ended, over time", Table: Table{ID: "outcomes-table", Title: "How requests ended, over time", Head: append([]string{"When"}, endNames[:]...)}}
	var names []string
	var values [][]float64
	for i := range r.Points {
		p := &r.Points[i]
		counts := make([]int64, len(endNames))
		for key, n := range p.Sum.Outcomes {
			counts[kindOf(figures.ReadOutcome(key))] += n
		}
		row, of := Row{Name: pointName(p, zone)}, []float64{}
		for _, n := range counts {
			row.Cells, of = append(row.Cells, number(n)), append(of, float64(n))
		}
		c.Table.Rows, names, values = append(c.Table.Rows, row), append(names, row.Name), append(values, of)
	}
	for i, name := range endNames {
		c.Keys = append(c.Keys, Key{name, endClasses[i]})
	}
	var top float64
	c.Columns, top = bars(names, values, endClasses)
	c.Top, c.Ends = views.Number(int64(top)), feet(names)
	c.Says = fmt.Sprintf("Columns of how requests ended, from %s. The highest has %s requests.", fromTo(names), c.Top)
	return c
}

func fromTo(names []string) string {
	if len(names) == 0 {
		return "no day"
	}
	return names[0] + " to " + names[len(names)-1]
}

// steps are the bounds between which the histogram counts.
var steps = []time.Duration{
	5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 365 * 24 * time.Hour,
}

// times are how long people took to decide, and how long agents waited.
func times(s *figures.Sum) Chart {
	const title = "Time to decide"
	c := Chart{ID: "times", Title: title, Keys: []Key{{"decisions by people", "accent"}}, Table: Table{
		ID: "times-table", Title: title, Head: []string{"Within", "Decisions by people", "Requests that waited so long"},
		Note: "From the request to the decision, without the time in which a question stopped the clock.",
	}}
	var names []string
	var values [][]float64
	after := time.Duration(0)
	for i, bound := range steps {
		name := views.Duration(bound)
		if i == len(steps)-1 {
			name = "longer"
		}
		n := s.Decided.UpTo(after, bound)
		c.Table.Rows = append(c.Table.Rows, Row{Name: name, Cells: []Cell{number(n), number(s.Waited.UpTo(after, bound))}})
		names, values, after = append(names, name), append(values, []float64{float64(n)}), bound
	}
	var top float64
	c.Columns, top = bars(names, values, []string{"accent"})
	c.Top, c.Ends = views.Number(int64(top)), names
	c.Says = fmt.Sprintf("Columns of how long people took. Half decided within %s, nine of ten within %s.", within(s.Decided, 0.5), within(s.Decided, 0.9))
	return c
}

// waiting is how many requests waited, by day or month.
func waiting(r *figures.Report, zone *time.Location) Chart {
	const title = "Requests that waited, over time"
	c := Chart{ID: "waiting", Title: title, Keys: []Key{{"waiting on average, counted at the end of each hour", "warn"}}, Table: Table{ID: "waiting-table", Title: title, Head: []string{"When", "Waiting on average"}}}
	var names []string
	var values [][]float64
	for i := range r.Points {
		p := &r.Points[i]
		n := fmt.Sprintf("%.2f", p.AverageWaiting())
		c.Table.Rows = append(c.Table.Rows, Row{Name: pointName(p, zone), Cells: []Cell{{n, n}}})
		names, values = append(names, pointName(p, zone)), append(values, []float64{p.AverageWaiting()})
	}
	var top float64
	c.Columns, top = bars(names, values, []string{"warn"})
	c.Top, c.Ends = fmt.Sprintf("%.1f", top), feet(names)
	c.Says = fmt.Sprintf("Columns of how many requests waited on average, from %s. The highest is %s.", fromTo(names), c.Top)
	return c
}

// Heat is numbers by hour of the week.
type Heat struct {
	Says  string
	Days  []string
	Cells []HeatCell // drawn in a field of 240 by 70
	Table Table
}

// HeatCell is one hour, of a level from 0 to 5.
type HeatCell struct {
	Title, X, Y string
	Level       string
}

// heatLevels is how many colours hours with requests have.
const heatLevels = 5

var weekDays = []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// heat is when agents asked and people decided.
func heat(s *figures.Sum) *Heat {
	const title = "By hour of the week"
	asked, most, busiest := int64(0), int64(0), 0
	of := func(h figures.Hour) int64 { return h.Asked }
	for _, h := range s.Hours {
		asked += h.Asked
	}
	if asked == 0 {
		of = func(h figures.Hour) int64 { return h.Decided }
	}
	for hour := range 7 * 24 {
		if n := of(s.Hours[hour]); n > most {
			most, busiest = n, hour
		}
	}
	if most == 0 {
		return nil
	}
	h := &Heat{Days: weekDays, Table: Table{ID: "hours-table", Title: title, Head: []string{"Hour", "Asked", "Decided by people"}}}
	for hour := range 7 * 24 {
		n := s.Hours[hour]
		name := fmt.Sprintf("%s %02d:00", weekDays[hour/24], hour%24)
		level := (of(n)*heatLevels + most - 1) / most
		h.Cells = append(h.Cells, HeatCell{
			Title: fmt.Sprintf("%s: %s asked, %s decided", name, views.Number(n.Asked), views.Number(n.Decided)),
			X:     fmt.Sprint(hour % 24 * 10), Y: fmt.Sprint(hour / 24 * 10), Level: fmt.Sprint(level),
		})
		if n != (figures.Hour{}) {
			h.Table.Rows = append(h.Table.Rows, Row{Name: name, Cells: []Cell{number(n.Asked), number(n.Decided)}})
		}
	}
	verb := "asked"
	if asked == 0 {
		verb = "decided"
	}
	h.Says = fmt.Sprintf("A field of the hours of a week: the stronger the colour, the more was %s. The most in an hour is %s, on %s at %02d:00.",
		verb, views.Number(most), weekDays[busiest/24], busiest%24)
	return h
}
