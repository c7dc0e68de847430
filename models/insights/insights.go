package insights

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models/db"
	"countersign/models/figures"
)

// Insights are the sums of an installation. All methods are safe for concurrent use.
type Insights struct{ db *db.DB }

// New is those of a database.
func New(d *db.DB) *Insights { return &Insights{db: d} }

// sum is a row of the table.
type sum struct {
	Span     string
	BeginsAt time.Time
	About    string
	EndsAt   time.Time
	Zone     string
	Figures  string // JSON; empty: it is to be summed again

	Waiting    string
	LastNumber int64
}

func (sum) TableName() string { return "insights" }

// The spans of sums.
const (
	ofHour  = "hour"
	ofDay   = "day"
	ofMonth = "month"
)

// longestDay and longestMonth are how long before its end a span begins at most: days may have 25 hours.
const (
	longestDay   = 26 * time.Hour
	longestMonth = 32 * 24 * time.Hour
)

const (
	addMark  = db.InsertNew + `insights (span, begins_at, about, ends_at, zone, figures) VALUES ('', ?, '', ?, '', '-')`
	countUp  = `UPDATE insights SET last_number = last_number + 1 WHERE span = ''`
	readMark = `SELECT last_number FROM insights WHERE span = ''`
	outdate  = `UPDATE insights SET figures = '' WHERE span = ? AND begins_at > ? AND ends_at > ? AND begins_at <= ?`
)

// quarter is what days begin on, in each time zone.
const quarter = 15 * time.Minute

// Outdate has the days from one time to another summed again, for a row that counts there has changed: also those that
// are being summed now. The present quarter of an hour belongs to no day that has ended.
func Outdate(t *db.Tx, from, through time.Time) error {
	if !from.Before(t.Now.Truncate(quarter)) {
		return nil
	}
	if err := t.Gorm().Exec(countUp).Error; err != nil {
		return fmt.Errorf("outdate insights: %w", err)
	}
	for span, longest := range map[string]time.Duration{ofHour: time.Hour, ofDay: longestDay, ofMonth: longestMonth} {
		if err := t.Gorm().Exec(outdate, span, from.Add(-longest), from, through).Error; err != nil {
			return fmt.Errorf("outdate insights: %w", err)
		}
	}
	return nil
}

// work is an hour, a day or a month to sum.
type work struct {
	span       string // empty: everything is summed again
	begin, end time.Time
}

const (
	newestOf    = `SELECT * FROM insights WHERE span = ? ORDER BY begins_at DESC, about LIMIT 1`
	outdatedOne = `SELECT * FROM insights` + db.ByInsightsOutdated + ` WHERE figures = '' AND about = '' ORDER BY CASE span WHEN 'month' THEN 1 ELSE 0 END, begins_at LIMIT 1`
	firstOfAll  = `SELECT created_at FROM responses ORDER BY number LIMIT 1`
)

// summed is how far days are summed, and the present day's hours.
type summed struct {
	days, hours time.Time // ends of the last of each; hours is not before days. Zero: nothing was ever asked
	zone        string    // whose days they are
}

func (i *Insights) summed(ctx context.Context, zone *time.Location) (out summed, err error) {
	var day, hour []sum
	if err := i.db.Gorm(ctx).Raw(newestOf, ofDay).Scan(&day).Error; err != nil {
		return out, fmt.Errorf("find the last day: %w", err)
	}
	if err := i.db.Gorm(ctx).Raw(newestOf, ofHour).Scan(&hour).Error; err != nil {
		return out, fmt.Errorf("find the last hour: %w", err)
	}
	if len(day) > 0 {
		end := day[0].EndsAt.UTC()
		out = summed{days: end, hours: end, zone: day[0].Zone}
	} else {
		var first []time.Time
		if err := i.db.Gorm(ctx).Raw(firstOfAll).Scan(&first).Error; err != nil {
			return out, fmt.Errorf("find the first day: %w", err)
		}
		if len(first) == 0 {
			return out, nil
		}
		day := midnight(first[0], zone, 0)
		out = summed{days: day, hours: day.Add(first[0].Sub(day).Truncate(time.Hour)), zone: zone.String()}
	}
	if len(hour) > 0 {
		out.hours, out.zone = maxTime(out.days, hour[0].EndsAt.UTC()), hour[0].Zone
	}
	return out, nil
}

// midnight begins the day that a time is in, or the one so many days later. Where clocks skip midnight, it is the first
// moment after.
func midnight(at time.Time, zone *time.Location, later int) time.Time {
	y, m, d := at.In(zone).Date()
	out, noon := time.Date(y, m, d+later, 0, 0, 0, 0, zone), time.Date(y, m, d+later, 12, 0, 0, 0, zone)
	for out.Day() != noon.Day() {
		out = out.Add(quarter)
	}
	return out.UTC()
}

// due is the next piece of work, and from when on it can be done. None: nothing was ever asked.
func (i *Insights) due(ctx context.Context, zone *time.Location) (w work, from time.Time, some bool, err error) {
	so, err := i.summed(ctx, zone)
	if err != nil || so.days.IsZero() {
		return w, from, false, err
	}
	if so.zone != zone.String() {
		return work{}, from, true, nil
	}
	var old []sum
	if err := i.db.Gorm(ctx).Raw(outdatedOne).Scan(&old).Error; err != nil {
		return w, from, false, fmt.Errorf("find what is outdated: %w", err)
	}
	if len(old) > 0 {
		return work{old[0].Span, old[0].BeginsAt.UTC(), old[0].EndsAt.UTC()}, from, true, nil
	}
	w = work{ofDay, so.days, midnight(so.days, zone, 1)}
	if i.db.Now().Before(w.end) { // of the present day, the hours
		w = work{ofHour, so.hours, minTime(so.hours.Add(time.Hour), w.end)}
	}
	return w, w.end, true, nil
}

// Next is when there is something to sum: the day that ends next, or now. The zone is the policy's.
func (i *Insights) Next(ctx context.Context, zone *time.Location) (at time.Time, some bool, err error) {
	_, at, some, err = i.due(ctx, zone)
	return at, some, err
}

// SumNext sums the next hour, day or month that is due, if one is.
func (i *Insights) SumNext(ctx context.Context, zone *time.Location) (done bool, err error) {
	var mark int64 // read first: a day that is outdated from here on is not kept
	if err := i.db.Gorm(ctx).Raw(readMark).Scan(&mark).Error; err != nil {
		return false, fmt.Errorf("read the mark of insights: %w", err)
	}
	w, from, some, err := i.due(ctx, zone)
	if err != nil || !some || i.db.Now().Before(from) {
		return false, err
	}
	if w.span == "" {
		return true, i.Forget(ctx)
	}
	// Every write of the time that is summed is committed once this one writes: one writes at a time, and time goes on.
	early := false
	err = i.db.WriteAnyway(ctx, func(t *db.Tx) error {
		if early = t.Now.Before(w.end); early {
			return nil
		}
		return t.Gorm().Exec(addMark, time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC()).Error
	})
	if err != nil || early {
		return false, err
	}
	var rows []sum
	err = i.db.Snapshot(ctx, func(ctx context.Context) (err error) {
		if w.span == ofMonth {
			rows, err = i.month(ctx, w, zone)
		} else {
			rows, err = i.day(ctx, w, zone)
		}
		return err
	})
	if err != nil {
		return false, err
	}
	return true, i.keep(ctx, w, zone, rows, mark)
}

const (
	takeAway = `DELETE FROM insights WHERE span = ? AND begins_at >= ? AND begins_at < ?`
	wantSum  = db.InsertNew + `insights (span, begins_at, about, ends_at, zone, figures) VALUES (?, ?, '', ?, ?, '')`
)

// keep stores sums, unless they were outdated meanwhile. The last day of a month leaves the month to do.
func (i *Insights) keep(ctx context.Context, w work, zone *time.Location, rows []sum, mark int64) error {
	return i.db.WriteAnyway(ctx, func(t *db.Tx) error {
		var now int64
		if err := t.Gorm().Raw(readMark).Scan(&now).Error; err != nil {
			return fmt.Errorf("read what was outdated: %w", err)
		}
		if now != mark {
			return nil
		}
		for _, span := range []string{w.span, ofHour} { // a day has taken its hours in
			if err := t.Gorm().Exec(takeAway, span, w.begin, w.end).Error; err != nil {
				return fmt.Errorf("keep a sum: %w", err)
			}
		}
		if err := t.Gorm().CreateInBatches(rows, 100).Error; err != nil {
			return fmt.Errorf("keep a sum: %w", err)
		}
		if month := monthOf(w.begin, zone); w.span == ofDay && w.end.Equal(month.end) {
			return t.Gorm().Exec(wantSum, ofMonth, month.begin, month.end, zone.String()).Error
		}
		return nil
	})
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func maxTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// monthOf is the month that a time is in.
func monthOf(at time.Time, zone *time.Location) work {
	y, m, _ := at.In(zone).Date()
	first, next := time.Date(y, m, 1, 12, 0, 0, 0, zone), time.Date(y, m+1, 1, 12, 0, 0, 0, zone)
	return work{ofMonth, midnight(first, zone, 0), midnight(next, zone, 0)}
}

// Forget takes all sums away: they are made again.
func (i *Insights) Forget(ctx context.Context) error {
	return i.db.WriteAnyway(ctx, func(t *db.Tx) error {
		if err := t.Gorm().Exec(countUp).Error; err != nil {
			return err
		}
		return t.Gorm().Exec(`DELETE FROM insights WHERE span <> ''`).Error
	})
}

const thatEnds = `SELECT * FROM insights WHERE span = ? AND begins_at >= ? AND begins_at < ? AND about = '' AND ends_at = ?`

// read sums a day from the rows.
func (i *Insights) read(ctx context.Context, begin, end time.Time, zone *time.Location, before *day) (*day, error) {
	d := &day{db: i.db, begin: begin, end: end, zone: zone}
	if before != nil {
		d.waiting, d.last = before.waiting, before.last
	}
	return d, d.sum(ctx)
}

// before is what the day, or the hour, that ends at a time leaves to the next; nil: there is none.
func (i *Insights) before(ctx context.Context, end time.Time) (*day, error) {
	for _, span := range []string{ofDay, ofHour} {
		var last []sum
		if err := i.db.Gorm(ctx).Raw(thatEnds, span, end.Add(-longestDay), end, end).Scan(&last).Error; err != nil {
			return nil, fmt.Errorf("read the day before: %w", err)
		}
		if len(last) == 0 {
			continue
		}
		out := &day{last: last[0].LastNumber}
		if err := json.Unmarshal([]byte(last[0].Waiting), &out.waiting); err != nil {
			return nil, fmt.Errorf("read what waited at %s: %w", end, err)
		}
		return out, nil
	}
	return nil, nil
}

// day is a day, or an hour, as rows.
func (i *Insights) day(ctx context.Context, w work, zone *time.Location) ([]sum, error) {
	before, err := i.before(ctx, w.begin)
	if err != nil {
		return nil, err
	}
	d, err := i.read(ctx, w.begin, w.end, zone, before)
	if err != nil {
		return nil, err
	}
	rows, err := rowsOf(w, zone, d.about)
	if err != nil {
		return nil, err
	}
	waiting, err := json.Marshal(d.waiting)
	if err != nil {
		return nil, err
	}
	for n := range rows {
		if rows[n].About == "" {
			rows[n].Waiting, rows[n].LastNumber = string(waiting), d.last
		}
	}
	return rows, nil
}

func rowsOf(w work, zone *time.Location, about map[string]*figures.Sum) (rows []sum, err error) {
	for name, f := range about {
		text, err := json.Marshal(f, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("write figures: %w", err)
		}
		rows = append(rows, sum{Span: w.span, BeginsAt: w.begin, About: name, EndsAt: w.end, Zone: zone.String(), Figures: string(text)})
	}
	return rows, nil
}

const daysIn = `SELECT * FROM insights WHERE span = 'day' AND begins_at >= ? AND begins_at < ? ORDER BY begins_at, about`

// month is a month as rows: the sum of its days.
func (i *Insights) month(ctx context.Context, w work, zone *time.Location) ([]sum, error) {
	var days []sum
	if err := i.db.Gorm(ctx).Raw(daysIn, w.begin, w.end).Scan(&days).Error; err != nil {
		return nil, fmt.Errorf("read days: %w", err)
	}
	about := map[string]*figures.Sum{"": {}}
	for _, d := range days {
		if d.Figures == "" {
			continue // it was outdated just now, so this sum is not kept
		}
		if err := addTo(about, &d); err != nil {
			return nil, err
		}
	}
	for _, f := range about {
		f.Cut()
	}
	return rowsOf(w, zone, about)
}

func addTo(about map[string]*figures.Sum, row *sum) error {
	var f figures.Sum
	if err := json.Unmarshal([]byte(row.Figures), &f); err != nil {
		return fmt.Errorf("read figures of %s: %w", row.BeginsAt, err)
	}
	if about[row.About] == nil {
		about[row.About] = &figures.Sum{}
	}
	about[row.About].Add(&f)
	return nil
}
