package figures

import "time"

// Report is what became of requests in a span.
type Report struct {
	Total  Sum
	Points []Point // the span's days in order, or, of a longer one, its months
	// Missing is how many of the days are still to be summed: they are left out.
	Missing int
}

// Point is a part of the span.
type Point struct {
	From, Until time.Time
	Sum         Sum
}

// AverageWaiting is how many requests waited, on average.
func (p *Point) AverageWaiting() float64 {
	hours := p.Until.Sub(p.From).Hours()
	if hours <= 0 {
		return 0
	}
	return float64(p.Sum.Waiting) / hours
}
