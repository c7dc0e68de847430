package figures

import "time"

// Report is what became of requests in a span.
type Report struct {
	From, Until time.Time // midnights: of the first day, and after the last
	Total       Sum
	Points      []Point // the span's days in order, or, of a longer one, its months
	// Missing is how many of the days are still to be summed: they are left out.
	Missing int
	// Offer has the tools and the rules of all requests of the span, to choose from, where that was asked for.
	Offer Sum
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

// Names are what the agents, people and conversations of a sum are called, by their ids.
type Names struct{ Agents, People, Conversations map[string]string }
