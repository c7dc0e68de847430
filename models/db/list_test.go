package db_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"countersign/models/db"
	"countersign/models/db/dbtest"
)

type item struct {
	ID    string
	Place int
}

// items are numbers, of which some are walked twice: every one by its place, and the
// even ones by a walk of their own.
func items(t *testing.T, d *db.DB) *db.List[item] {
	t.Helper()
	const all = `(WITH RECURSIVE n(place) AS (SELECT 1 UNION ALL SELECT place + 1 FROM n WHERE place < 10) SELECT place, 'i' || place AS id FROM n) n`
	return &db.List[item]{
		Walks: []db.Walk{
			{From: db.Say(all), Where: []db.Part{db.Say(`place <> ?`, 7)}},
			{From: db.Say(all), Where: []db.Part{db.Say(`place % ? = 0`, 2), db.Say(`place < ?`, 9)}},
		},
		Order: []db.Key{{Name: `at`, Is: `n.place`}}, With: []db.Key{{Name: `id`, Is: `n.id`}},
		Columns: `r.id, r.place`, From: `JOIN ` + all[:len(all)-1] + `r ON r.id = k.id`,
		Read: func(ctx context.Context, query string, args ...any) (out []item, err error) {
			return out, d.Gorm(ctx).Raw(query, args...).Scan(&out).Error
		},
		Cursor: func(i *item) db.Cursor { return db.Cursor{ID: i.ID} },
		Limit:  4,
	}
}

// Pages follow one another without a gap or a repetition, in both directions, and a row
// that two walks have is there once.
func TestPagesOfAListFollowOneAnother(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for _, down := range []bool{false, true} {
		l := items(t, d)
		l.Down = down
		var got []int
		for range 9 {
			page, next, err := l.Page(t.Context())
			if err != nil || len(page) > l.Limit {
				t.Fatalf("%d rows: %v", len(page), err)
			}
			for _, i := range page {
				got = append(got, i.Place)
			}
			if next == "" {
				break
			}
			l.After = db.Say(`?`, got[len(got)-1])
		}
		want := []int{1, 2, 3, 4, 5, 6, 8, 9, 10}
		if down {
			slices.Reverse(want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("down %v: %v, want %v", down, got, want)
		}
	}
}

// A page ends where its rows weigh too much, but never before its first.
func TestAPageEndsAtItsWeight(t *testing.T) {
	t.Parallel()
	l := items(t, dbtest.Open(t))
	l.Weight, l.Most = func(i *item) int { return i.Place }, 3
	if page, next, err := l.Page(t.Context()); err != nil || len(page) != 2 || next != "i2" {
		t.Errorf("%v, next %q, %v", page, next, err)
	}
	l.After = db.Say(`?`, 5)
	if page, next, err := l.Page(t.Context()); err != nil || len(page) != 1 || next != "i6" {
		t.Errorf("%v, next %q, %v", page, next, err)
	}
}

// Where a filter leaves little, only so many keys are looked at, and the page says where
// it stopped.
func TestAListStopsToLook(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	l := items(t, d)
	l.Walks, l.With = l.Walks[:1], nil
	l.From, l.In = l.Walks[0].From.Text, `n.place`
	l.Columns, l.Picks, l.Search = `id, place`, []db.Part{db.Say(`place % ? = 0`, 5)}, 4
	for _, c := range []struct {
		after int
		found string
		last  int64
		more  bool
	}{{0, "[]", 4, true}, {4, "[{i5 5}]", 9, true}, {8, "[{i10 10}]", 0, false}} {
		l.After = db.Say(`?`, c.after)
		page, next, err := l.Page(t.Context())
		if err != nil || fmt.Sprint(page) != c.found || next != "" {
			t.Errorf("after %d: %v, next %q, %v", c.after, page, next, err)
		}
		if last, more, err := l.StoppedEarly(t.Context(), d.Reads()); last != c.last || more != c.more || err != nil {
			t.Errorf("after %d: stopped at %d, %v, %v", c.after, last, more, err)
		}
	}
}
