package db

import (
	"context"
	"slices"
	"strings"
)

// Part is a piece of SQL with its arguments.
type Part struct {
	Text string
	Args []any
}

// Say is a piece of SQL with its arguments.
func Say(text string, args ...any) Part { return Part{text, args} }

// and is what follows in the same statement.
func (p *Part) and(text string, args ...any) {
	p.Text += text
	p.Args = append(p.Args, args...)
}

// Key is a column that the rows of a list are found again by.
type Key struct {
	Name string // in the list
	Is   string // in the walked index
}

// Walk is a way along an index that has rows of a list in the list's order.
type Walk struct {
	From  Part   // the table, with the index
	Where []Part // what all of its rows fulfil
	// Keys, where it is set, is the walk itself: a query that selects the keys of a page
	// and the row after it. For what no single index has in order.
	Keys Part
}

// List is one page of a list, as a declaration. It is read in two steps: the keys of the
// page along an index, so that the cost follows the page and not the table, and then
// the rows of these keys.
type List[T any] struct {
	Walks []Walk // of several each has a part of the rows; one that two have is listed once
	Order []Key  // together one of a kind; the walk's index has them in this order
	With  []Key  // what else the rows are found by
	Down  bool   // the largest first
	// After is the key of the last row of the page before, as SQL; empty: from the
	// beginning.
	After Part
	Limit int // how many rows a page has at most
	// Count is how many keys are selected, as SQL; empty: those of a page and one more.
	Count Part

	Columns string // of the rows
	From    string // where they are, of the keys k: `JOIN table t ON t.id = k.id`
	// In, where it is set, is the column of the table From that has the key, which is one.
	In string
	// Picks leave only some of the rows, where no index serves a filter: with In. At most
	// Search keys are looked at for a page.
	Picks  []Part
	Search int

	Read   func(ctx context.Context, query string, args ...any) ([]T, error)
	Cursor func(*T) Cursor

	Weight func(*T) int // about how many bytes a row takes; with Most
	Most   int          // bytes where the page ends though more would fit; 0: nowhere
}

// After is the place after a cursor of a time and an id.
func After(c Cursor) Part { return Say(`(?, ?)`, c.At, c.ID) }

// Page reads the page, and names the key to go on from; empty: the last page.
func (l *List[T]) Page(ctx context.Context) (items []T, next string, err error) {
	q := l.SQL()
	if items, err = l.Read(ctx, q.Text, q.Args...); err != nil {
		return nil, "", err
	}
	items, next = Cut(items, Fitting(items, l.Limit, l.Most, l.Weight), l.Cursor)
	return items, next, nil
}

// StoppedEarly tells of a page that is not full whether there are more keys than one
// page may read; then the next page begins after last.
func (l *List[T]) StoppedEarly(ctx context.Context, from RowQuerier) (last int64, more bool, err error) {
	if len(l.Picks) == 0 {
		return 0, false, nil
	}
	keys, end, read := l.Keys(), `max`, 0
	if l.Down {
		end = `min`
	}
	err = from.QueryRowContext(ctx, `SELECT coalesce(`+end+`(`+l.Order[0].Name+`), 0), count(*) FROM (`+keys.Text+`)`,
		keys.Args...).Scan(&last, &read)
	if err != nil || read < l.Search {
		return 0, false, err
	}
	return last, true, nil
}

// SQL reads the rows of a page and the one after it.
func (l *List[T]) SQL() Part {
	keys := l.Keys()
	if l.In != "" {
		out := Part{
			`SELECT ` + l.Columns + ` FROM ` + l.From + ` WHERE ` + l.In + ` IN (` + keys.Text + `)`, slices.Clone(keys.Args),
		}
		for _, pick := range l.Picks {
			out.and(` AND `+pick.Text, pick.Args...)
		}
		out.and(` ORDER BY `+l.order(func(Key) string { return l.In })+` LIMIT ?`, l.Limit+1)
		return out
	}
	return Part{`SELECT ` + l.Columns + ` FROM (` + keys.Text + `) k ` + l.From + ` ORDER BY ` +
		l.order(func(k Key) string { return `k.` + k.Name }), keys.Args}
}

// Keys selects the keys of a page and of the row after it.
func (l *List[T]) Keys() Part {
	if len(l.Walks) == 1 {
		return l.walk(l.Walks[0])
	}
	var names []string
	for _, k := range l.columns() {
		names = append(names, k.Name)
	}
	columns := strings.Join(names, `, `)
	var out Part
	for i, w := range l.Walks {
		keys := l.walk(w)
		if i > 0 {
			out.and(` UNION `)
		}
		out.and(`SELECT `+columns+` FROM (`+keys.Text+`)`, keys.Args...)
	}
	l.end(&out, func(k Key) string { return k.Name })
	return out
}

func (l *List[T]) walk(w Walk) Part {
	if w.Keys.Text != "" {
		return w.Keys
	}
	var columns, by []string
	for _, k := range l.columns() {
		columns = append(columns, k.Is+` AS `+k.Name)
	}
	for _, k := range l.Order {
		by = append(by, k.Is)
	}
	where := slices.Clone(w.Where)
	if l.After.Text != "" {
		place, way := strings.Join(by, `, `), ` > `
		if len(by) > 1 {
			place = `(` + place + `)`
		}
		if l.Down {
			way = ` < `
		}
		where = append(where, Part{place + way + l.After.Text, l.After.Args})
	}
	out := Part{`SELECT ` + strings.Join(columns, `, `) + ` FROM ` + w.From.Text, slices.Clone(w.From.Args)}
	word := ` WHERE `
	for _, condition := range where {
		out.and(word+condition.Text, condition.Args...)
		word = ` AND `
	}
	l.end(&out, func(k Key) string { return k.Is })
	return out
}

// end puts the keys in order, and ends after as many as are wanted.
func (l *List[T]) end(keys *Part, name func(Key) string) {
	count := l.Count
	if count.Text == "" {
		count = Say(`?`, l.Limit+1)
		if len(l.Picks) > 0 {
			count = Say(`?`, l.Search)
		}
	}
	keys.and(` ORDER BY `+l.order(name)+` LIMIT `+count.Text, count.Args...)
}

func (l *List[T]) columns() []Key { return slices.Concat(l.Order, l.With) }

func (l *List[T]) order(name func(Key) string) string {
	var out []string
	for _, k := range l.Order {
		if by := name(k); l.Down {
			out = append(out, by+` DESC`)
		} else {
			out = append(out, by)
		}
	}
	return strings.Join(out, `, `)
}

// Fitting is how many of items, in their order, a page may have: at most limit, and as
// many as weigh most together; the first whatever it weighs.
func Fitting[T any](items []T, limit, most int, weight func(*T) int) int {
	n, sum := min(len(items), limit), 0
	if most <= 0 {
		return n
	}
	for i := range items[:n] {
		if sum += weight(&items[i]); sum > most {
			return max(i, 1)
		}
	}
	return n
}
