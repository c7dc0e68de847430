package insights_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/models/figures"
	"countersign/views/gallery"
	"countersign/views/pages/insights"
)

// Each column is as high as its row of the table says, and each row of a chart is in its table.
func TestChartsAreTheirTables(t *testing.T) {
	t.Parallel()
	for _, in := range []insights.Input{gallery.InsightsInput(30, 1), gallery.InsightsInput(365, 31)} {
		for _, c := range insights.New(in, gallery.Now).Charts {
			if len(c.Columns) != len(c.Table.Rows) {
				t.Fatalf("%s: %d columns, %d rows", c.ID, len(c.Columns), len(c.Table.Rows))
			}
			top, heights, sums := 0.0, []float64{}, []float64{}
			for i, column := range c.Columns {
				height, sum := 0.0, 0.0
				for _, part := range column.Parts {
					height += read(t, part.Height)
					if y := read(t, part.Y); y < -0.01 || y+read(t, part.Height) > 100.05 {
						t.Errorf("%s, %s: from %v", c.ID, column.Title, y)
					}
				}
				for k, cell := range c.Table.Rows[i].Cells {
					if c.ID != "times" || k == 0 {
						sum += read(t, cell.Raw)
					}
				}
				top, heights, sums = max(top, sum), append(heights, height), append(sums, sum)
			}
			for i, height := range heights {
				if diff := height - sums[i]/top*100; diff < -0.5 || diff > 0.5 {
					t.Errorf("%s, %s: %v high, of %v", c.ID, c.Columns[i].Title, height, sums[i])
				}
			}
		}
	}
}

func read(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The steps of the histogram are bounds of the spread, and together count each decision once.
func TestTheHistogramCountsEachOnce(t *testing.T) {
	t.Parallel()
	in := gallery.InsightsInput(3, 1)
	for i := range figures.Bounds {
		in.Report.Total.Decided[i]++
	}
	sum := 0.0
	for _, row := range insights.New(in, gallery.Now).Charts[1].Table.Rows {
		sum += read(t, row.Cells[0].Raw)
	}
	if sum != float64(in.Report.Total.Decided.Count()) {
		t.Errorf("%v of %d", sum, in.Report.Total.Decided.Count())
	}
}

// A part of nothing is no percentage, and halves are rounded.
func TestRatesOfNothingAreNotSaid(t *testing.T) {
	t.Parallel()
	in := gallery.InsightsInput(1, 1)
	in.Report.Total.Tools = map[string]figures.Rate{"none": {Other: 3}, "half": {Approved: 1, Rejected: 199}}
	for _, table := range insights.New(in, gallery.Now).Lists {
		for _, row := range table.Rows {
			last := row.Cells[len(row.Cells)-1]
			if table.ID == "tools" && (row.Name == "none" && last != insights.Cell{Text: "–"} || row.Name == "half" && last.Text != "1%") {
				t.Errorf("%s: %+v", row.Name, last)
			}
		}
	}
}

// The days to choose from are whole ones in the policy's zone, and the one in view is marked.
func TestSpansAreDaysOfThePolicysZone(t *testing.T) {
	t.Parallel()
	in := gallery.InsightsInput(1, 1)
	in.Zone = time.FixedZone("far", 14*3600)
	in.Place.From, in.Place.To = "2026-10-01", "2026-10-31"
	var here []string
	for _, s := range insights.New(in, gallery.Now).Bar.Shortcuts {
		if s.Here {
			here = append(here, s.Label)
		}
		if s.Label == "Today" && !strings.Contains(s.URL, "from=2026-11-21&to=2026-11-21") {
			t.Errorf("today is %s", s.URL)
		}
	}
	if len(here) != 1 || here[0] != "Last month" {
		t.Errorf("in view: %q", here)
	}
}
