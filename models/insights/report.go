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
	From, To time.Time // moments of the first and of the last day
	Zone     *time.Location
	Offer    bool // find also what tools and rules there are to choose from; only for those who oversee all

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
	s := span{Query: &q, from: midnight(q.From, q.Zone, 0), until: midnight(q.To, q.Zone, 1), out: &figures.Report{}}
	if s.until.Sub(s.from) > (MostSpan+1)*24*time.Hour {
		return nil, models.Invalid("to", "must be at most %d days after the first", MostSpan)
	}
	s.byMonth = s.until.Sub(s.from) > (MostDays+1)*24*time.Hour
	s.names, s.out.From, s.out.Until = q.about(), s.from, s.until
	s.offers = q.Offer && actor.Oversees()
	return s.out, i.db.Snapshot(ctx, func(ctx context.Context) error { return i.report(ctx, &s) })
}

// span is a report that is made.
type span struct {
	*Query

	from, until time.Time // midnights
	byMonth     bool
	names       []string // of the sums that it adds up
	offers      bool
	out         *figures.Report
}

func (i *Insights) report(ctx context.Context, s *span) error {
	now := i.db.Now().Add(time.Microsecond) // what happened just now counts
	so, err := i.summed(ctx, s.Zone)
	if err != nil || so.days.IsZero() {
		return err
	}
	if so.zone != s.Zone.String() { // the policy's has changed
		for at := s.from; at.Before(s.until) && at.Before(now); at = midnight(at, s.Zone, 1) {
			s.out.Missing++
		}
		return nil
	}
	stored, err := i.stored(ctx, s, so)
	if err != nil {
		return err
	}
	live, err := i.live(ctx, s, so, now)
	if err != nil {
		return err
	}
	for at := s.from; at.Before(s.until) && !at.After(now); {
		p := figures.Point{From: at, Until: midnight(at, s.Zone, 1)}
		if s.byMonth {
			p.Until = minTime(monthOf(at, s.Zone).end, s.until)
		}
		at = p.Until
		if err := s.add(&p, stored, live); err != nil {
			return err
		}
		p.Until = minTime(p.Until, now)
		s.out.Total.Add(&p.Sum)
		s.out.Points = append(s.out.Points, p)
	}
	return nil
}

// live are the days, or their parts, after the last that was summed, by the begin of the day, as far as they are in the
// span.
func (i *Insights) live(ctx context.Context, s *span, so summed, now time.Time) (map[time.Time]*day, error) {
	days := map[time.Time]*day{}
	before, err := i.before(ctx, so.hours)
	if err != nil {
		return nil, err
	}
	for at := so.hours; at.Before(now) && at.Before(s.until); at = midnight(at, s.Zone, 1) {
		begin := midnight(at, s.Zone, 0)
		if len(days) == liveDays {
			if !begin.Before(s.from) {
				s.out.Missing++
			}
			continue
		}
		if before, err = i.read(ctx, at, minTime(midnight(at, s.Zone, 1), now), s.Zone, before); err != nil {
			return nil, err
		}
		days[begin] = before
	}
	return days, nil
}

const storedSums = `SELECT * FROM insights WHERE span = ? AND begins_at IN ? AND about IN ? ORDER BY begins_at, about`

// sums are stored ones, by their begin: of each, those of all requests first. A sum that is outdated has empty figures.
type sums map[time.Time][]sum

// stored are the sums of a span's whole months, where it is long, and of its other days and of the present day's hours,
// by the begin of the day.
func (i *Insights) stored(ctx context.Context, s *span, so summed) (out struct{ months, days sums }, err error) {
	until := minTime(s.until, so.days)
	var months, days, hours []time.Time
	for at := s.from; s.byMonth && at.Before(until); at = monthOf(at, s.Zone).end {
		if m := monthOf(at, s.Zone); m.begin.Equal(at) && !m.end.After(until) {
			months = append(months, at)
		}
	}
	if out.months, err = i.sums(ctx, s, ofMonth, months); err != nil {
		return out, err
	}
	for at := s.from; at.Before(until); at = midnight(at, s.Zone, 1) {
		if rows := out.months[monthOf(at, s.Zone).begin]; len(rows) == 0 || rows[0].Figures == "" {
			days = append(days, at)
		}
	}
	if out.days, err = i.sums(ctx, s, ofDay, days); err != nil || so.days.Before(s.from) || !so.days.Before(s.until) {
		return out, err
	}
	for at := so.days; at.Before(so.hours); at = at.Add(time.Hour) { // those before the first request are not there
		hours = append(hours, at)
	}
	present, err := i.sums(ctx, s, ofHour, hours)
	for _, at := range hours {
		out.days[so.days] = append(out.days[so.days], present[at]...)
	}
	return out, err
}

func (i *Insights) sums(ctx context.Context, s *span, of string, begins []time.Time) (sums, error) {
	out := sums{}
	for part := range slices.Chunk(begins, 100) {
		var rows []sum
		// The row of all says whether there is a sum at all.
		if err := i.db.Gorm(ctx).Raw(storedSums, of, part, append(slices.Clone(s.names), "")).Scan(&rows).Error; err != nil {
			return nil, fmt.Errorf("read sums: %w", err)
		}
		for _, r := range rows {
			at := r.BeginsAt.UTC()
			out[at] = append(out[at], r)
		}
	}
	return out, nil
}

// add adds up a part of the span.
func (s *span) add(p *figures.Point, stored struct{ months, days sums }, live map[time.Time]*day) error {
	if rows := stored.months[p.From]; len(rows) > 0 && rows[0].Figures != "" && monthOf(p.From, s.Zone).end.Equal(p.Until) {
		return s.addRows(p, rows)
	}
	for at := p.From; at.Before(p.Until); at = midnight(at, s.Zone, 1) {
		rows := stored.days[at]
		if slices.ContainsFunc(rows, func(r sum) bool { return r.Figures == "" }) {
			s.out.Missing++
			continue
		}
		if err := s.addRows(p, rows); err != nil {
			return err
		}
		if live[at] != nil {
			s.addSums(p, live[at].about)
		}
	}
	return nil
}

func (s *span) addRows(p *figures.Point, rows []sum) error {
	about := map[string]*figures.Sum{}
	for _, r := range rows {
		if slices.Contains(s.names, r.About) || s.offers {
			if err := addTo(about, &r); err != nil {
				return err
			}
		}
	}
	s.addSums(p, about)
	return nil
}

func (s *span) addSums(p *figures.Point, about map[string]*figures.Sum) {
	for _, name := range s.names {
		if f := about[name]; f != nil {
			p.Sum.Add(f)
		}
	}
	if all := about[""]; s.offers && all != nil {
		s.out.Offer.Add(&figures.Sum{Tools: all.Tools, Rules: all.Rules})
	}
}
