package insights

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/figures"
)

// Check is what the doctor finds of sums.
type Check struct {
	Until time.Time   // the end of the last day that is summed; zero: none is
	Stale int         // days and months that are to be summed again
	Wrong []time.Time // begins of days that say another number of requests than there are
}

// checkDays is how many days, the newest, Look counts again.
const checkDays = 31

const (
	newestDays    = `SELECT begins_at, ends_at, figures FROM insights WHERE span = 'day' AND begins_at > ? AND about = '' ORDER BY begins_at`
	countOutdated = `SELECT count(*) FROM insights` + db.ByInsightsOutdated + ` WHERE figures = '' AND about = ''`
	lastSummed    = `SELECT max(ends_at) FROM insights WHERE span = 'day'`
)

var countDay = `SELECT (SELECT count(*) FROM responses` + db.ByResponsesSettled + ` WHERE approval_timestamp >= ? AND approval_timestamp < ?)
 + (SELECT count(*) FROM responses` + db.ByResponsesLetThrough + ` WHERE approval_status IS NULL AND cause <> '' AND created_at >= ? AND created_at < ?)`

// Look compares the sums of the last days with the rows, in a database that is only looked at.
func Look(ctx context.Context, from db.Querier) (c Check, err error) {
	var until db.StoredTime
	if err := from.QueryRowContext(ctx, lastSummed).Scan(&until); err != nil {
		return c, fmt.Errorf("read sums: %w", err)
	}
	c.Until = until.Time
	if err := from.QueryRowContext(ctx, countOutdated).Scan(&c.Stale); err != nil {
		return c, fmt.Errorf("read sums: %w", err)
	}
	days, err := readDays(ctx, from, c.Until.AddDate(0, 0, -checkDays))
	if err != nil {
		return c, err
	}
	for _, d := range days {
		var n int64
		if err := from.QueryRowContext(ctx, countDay, d.begin, d.end, d.begin, d.end).Scan(&n); err != nil {
			return c, fmt.Errorf("count requests: %w", err)
		}
		if d.about[""].Requests() != n {
			c.Wrong = append(c.Wrong, d.begin)
		}
	}
	return c, nil
}

func readDays(ctx context.Context, from db.Querier, after time.Time) (out []day, err error) {
	rows, err := from.QueryContext(ctx, newestDays, after)
	if err != nil {
		return nil, fmt.Errorf("read sums: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		d, text, f := day{}, "", &figures.Sum{}
		if err := rows.Scan(&d.begin, &d.end, &text); err != nil {
			return nil, fmt.Errorf("read sums: %w", err)
		}
		if text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), f); err != nil {
			return nil, fmt.Errorf("read sums of %s: %w", d.begin, err)
		}
		d.about = map[string]*figures.Sum{"": f}
		out = append(out, d)
	}
	return out, rows.Err()
}

// Rebuild sums everything again, and names the days and months whose sums were others than what the rows say.
func (i *Insights) Rebuild(ctx context.Context, zone *time.Location) (differ []time.Time, sums int, err error) {
	before, err := i.all(ctx)
	if err != nil {
		return nil, 0, err
	}
	if err := i.Forget(ctx); err != nil {
		return nil, 0, err
	}
	for done := true; done; {
		if done, err = i.SumNext(ctx, zone); err != nil {
			return nil, 0, err
		}
	}
	after, err := i.all(ctx)
	if err != nil {
		return nil, 0, err
	}
	wrong := map[time.Time]bool{}
	for _, list := range []map[sumKey]string{before, after} {
		for key := range list {
			was := before[sumKey{span: key.span, begin: key.begin}] // of a day that was not summed, or outdated: nothing
			if was != "" && before[key] != after[key] {
				wrong[key.begin] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(wrong), time.Time.Compare), len(after), nil
}

type sumKey struct {
	span, about string
	begin       time.Time
}

// all are the digests of the sums of days and months: of their texts, for there may be many.
func (i *Insights) all(ctx context.Context) (map[sumKey]string, error) {
	rows, err := i.db.Reader(ctx).QueryContext(ctx, `SELECT span, about, begins_at, figures FROM insights WHERE span IN ('day', 'month')`)
	if err != nil {
		return nil, fmt.Errorf("read sums: %w", err)
	}
	defer rows.Close()
	out := map[sumKey]string{}
	for rows.Next() {
		var k sumKey
		var text string
		if err := rows.Scan(&k.span, &k.about, &k.begin, &text); err != nil {
			return nil, fmt.Errorf("read sums: %w", err)
		}
		k.begin = k.begin.UTC()
		if text != "" {
			text = models.DigestOfText(text)
		}
		out[k] = text
	}
	return out, rows.Err()
}
