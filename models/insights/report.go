package insights

import (
	"context"
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/figures"
)

// Query is what a report is about, at most one of the filters, and of which days.
type Query struct {
	From, Until time.Time // the first day, and the one after the last: midnights in Zone
	Zone        *time.Location

	Agent  models.AgentID
	Tool   string // by ToolKey
	Rule   *string
	Person models.UserID
	People []models.UserID  // of a group: what its members decide; nil: no group
	Agents []models.AgentID // several: the sum of theirs; nil: of all requests
}

const (
	// MostDays is how many days a report has as points of their own; a longer one has months.
	MostDays = 62
	// MostSpan is how many days a report has at most.
	MostSpan = 5 * 366
	// liveDays is how many days that are not summed yet a report reads from the rows.
	liveDays = 3
)

// about are the names of the figures that a query asks for.
func (q *Query) about() (out []string) {
	switch {
	case q.Agent != "":
		return []string{"agent:" + string(q.Agent)}
	case q.Tool != "":
		return []string{"tool:" + q.Tool}
	case q.Rule != nil:
		return []string{"rule:" + *q.Rule}
	case q.Person != "":
		return []string{"person:" + string(q.Person)}
	case q.People != nil:
		for _, id := range q.People {
			out = append(out, "person:"+string(id))
		}
		return out
	case q.Agents != nil:
		for _, id := range q.Agents {
			out = append(out, "agent:"+string(id))
		}
		return out
	}
	return []string{""}
}

// mayRead refuses a query that is neither about the actor's own agents nor about the actor, but for those who oversee all.
func (i *Insights) mayRead(ctx context.Context, actor models.Actor, q *Query) error {
	if actor.Oversees() {
		return nil
	}
	agents := q.Agents
	if q.Agent != "" {
		agents = []models.AgentID{q.Agent}
	}
	switch {
	case !actor.IsPerson():
	case q.Person == actor.UserID():
		return nil
	case agents != nil:
		var own []models.AgentID
		if err := i.db.Gorm(ctx).Model(&models.Agent{}).Where("owner_id = ?", actor.UserID()).Pluck("id", &own).Error; err != nil {
			return fmt.Errorf("read agents: %w", err)
		}
		if !slices.ContainsFunc(agents, func(id models.AgentID) bool { return !slices.Contains(own, id) }) {
			return nil
		}
	}
	return models.Errorf(models.CodeForbidden, "You may look back on your own agents, and on what you decided.")
}

// Report adds up a span. Days that have not ended are read as they are now.
//
// Codes: forbidden, invalid (until: longer than MostSpan).
func (i *Insights) Report(ctx context.Context, actor models.Actor, q Query) (*figures.Report, error) {
	if err := i.mayRead(ctx, actor, &q); err != nil {
		return nil, err
	}
	if q.Until.Sub(q.From) > (MostSpan+1)*24*time.Hour {
		return nil, models.Invalid("to", "must be at most %d days after the first", MostSpan)
	}
	out := &figures.Report{}
	return out, i.db.Snapshot(ctx, func(ctx context.Context) error { return i.report(ctx, &q, out) })
}

func (i *Insights) report(ctx context.Context, q *Query, out *figures.Report) error {
	now := i.db.Now().Add(time.Microsecond) // what happened just now counts
	end, zone, err := i.newest(ctx, q.Zone)
	if err != nil || end.IsZero() {
		return err
	}
	if zone != q.Zone.String() { // the policy's has changed
		for at := q.From; at.Before(q.Until) && at.Before(now); at = midnight(at, q.Zone, 1) {
			out.Missing++
		}
		return nil
	}
	live, err := i.live(ctx, q, end, now, out)
	if err != nil {
		return err
	}
	stored, err := i.stored(ctx, q, minTime(q.Until, end))
	if err != nil {
		return err
	}
	names, byMonth := q.about(), q.Until.Sub(q.From) > (MostDays+1)*24*time.Hour
	for at := q.From; at.Before(q.Until) && !at.After(now); {
		p := figures.Point{From: at, Until: midnight(at, q.Zone, 1)}
		if byMonth {
			p.Until = minTime(monthOf(at, q.Zone).end, q.Until)
		}
		at = p.Until
		if err := addPart(&p, stored, live, names, out, q.Zone); err != nil {
			return err
		}
		p.Until = minTime(p.Until, now)
		out.Total.Add(&p.Sum)
		out.Points = append(out.Points, p)
	}
	return nil
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// live are the days after the last that was summed, as far as they are in the span.
func (i *Insights) live(ctx context.Context, q *Query, end, now time.Time, out *figures.Report) (map[time.Time]*day, error) {
	days := map[time.Time]*day{}
	before, err := i.dayBefore(ctx, end)
	if err != nil {
		return nil, err
	}
	for at := end; at.Before(now) && at.Before(q.Until); at = midnight(at, q.Zone, 1) {
		if len(days) == liveDays {
			if !at.Before(q.From) {
				out.Missing++
			}
			continue
		}
		if before, err = i.read(ctx, at, minTime(midnight(at, q.Zone, 1), now), q.Zone, before); err != nil {
			return nil, err
		}
		days[at] = before
	}
	return days, nil
}

const storedSums = `SELECT * FROM insights WHERE span = ? AND begins_at IN ? AND about IN ?`

// stored are the sums of a span's whole months, where it is long, and of its other days, by their begin. A month or day
// that is outdated has empty figures.
func (i *Insights) stored(ctx context.Context, q *Query, until time.Time) (map[string]map[time.Time][]sum, error) {
	byMonth := q.Until.Sub(q.From) > (MostDays+1)*24*time.Hour
	out := map[string]map[time.Time][]sum{ofMonth: {}, ofDay: {}}
	var days []time.Time
	if byMonth {
		var months []time.Time
		for at := q.From; at.Before(until); at = monthOf(at, q.Zone).end {
			if m := monthOf(at, q.Zone); m.begin.Equal(at) && !m.end.After(until) {
				months = append(months, at)
			}
		}
		if err := i.sums(ctx, q, ofMonth, months, out[ofMonth]); err != nil {
			return nil, err
		}
	}
	for at := q.From; at.Before(until); at = midnight(at, q.Zone, 1) {
		if rows := out[ofMonth][monthOf(at, q.Zone).begin]; len(rows) == 0 || rows[0].Figures == "" {
			days = append(days, at)
		}
	}
	return out, i.sums(ctx, q, ofDay, days, out[ofDay])
}

func (i *Insights) sums(ctx context.Context, q *Query, span string, begins []time.Time, into map[time.Time][]sum) error {
	for part := range slices.Chunk(begins, 100) {
		var rows []sum
		// The row of all says whether there is a sum at all.
		if err := i.db.Gorm(ctx).Raw(storedSums, span, part, append(q.about(), "")).Scan(&rows).Error; err != nil {
			return fmt.Errorf("read sums: %w", err)
		}
		for _, r := range rows {
			at := r.BeginsAt.UTC()
			into[at] = append(into[at], r)
		}
	}
	return nil
}

// addPart adds up a part of the span.
func addPart(p *figures.Point, stored map[string]map[time.Time][]sum, live map[time.Time]*day, names []string, out *figures.Report, zone *time.Location) error {
	if rows := stored[ofMonth][p.From]; len(rows) > 0 && rows[0].Figures != "" && monthOf(p.From, zone).end.Equal(p.Until) {
		return addRows(p, rows, names)
	}
	for at := p.From; at.Before(p.Until); at = midnight(at, zone, 1) {
		rows := stored[ofDay][at]
		switch {
		case live[at] != nil:
			for _, name := range names {
				if f := live[at].about[name]; f != nil {
					p.Sum.Add(f)
				}
			}
		case len(rows) > 0 && rows[0].Figures == "":
			out.Missing++
		default:
			if err := addRows(p, rows, names); err != nil {
				return err
			}
		}
	}
	return nil
}

func addRows(p *figures.Point, rows []sum, names []string) error {
	about := map[string]*figures.Sum{}
	for _, r := range rows {
		if slices.Contains(names, r.About) {
			if err := addTo(about, &r); err != nil {
				return err
			}
		}
	}
	for _, f := range about {
		p.Sum.Add(f)
	}
	return nil
}
