package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// Listing is what an upstream says is pending.
type Listing[T any] struct {
	// Items are in the upstream's order, each id once. Items that the upstream itself marks as decided are left out,
	// and so is an id that it lists with different requests: it is unknown which one a verdict would release.
	Items []T
	// Unread is how many entries could not be read. Mentioned are all texts and numbers
	// in them: a call whose id is among these may be pending too.
	Unread   int
	Mentions []string
	// Complete reports that nothing else is pending: only then does an id that is
	// missing mean that it was settled elsewhere. It takes one answer with the whole
	// list, or two equal readings of all pages one after the other.
	Complete bool
	// Flaw says in a sentence for people why the list is not complete.
	Flaw string
}

// PendingCalls lists the function calls that wait for a verdict. With an error (unavailable, or that of ctx), the
// listing has the items that were read before it and is not complete.
func (c *Client) PendingCalls(ctx context.Context) (Listing[FunctionCall], error) {
	return pending(ctx, c, c.dialect.calls, "function_calls", readCall)
}

// PendingContacts lists the human contacts that wait for an answer, with errors
// as PendingCalls.
func (c *Client) PendingContacts(ctx context.Context) (Listing[Contact], error) {
	return pending(ctx, c, c.dialect.contacts, "human_contacts", readContact)
}

// Lists reports whether a call, or a contact, still waits for a decision by the
// upstream's own list. Code: unavailable, also where the list is not complete.
func (c *Client) Lists(ctx context.Context, contact bool, callID string) (bool, error) {
	if contact {
		list, err := c.PendingContacts(ctx)
		return list.lists(callID, func(one *Contact) string { return one.CallID }, err)
	}
	list, err := c.PendingCalls(ctx)
	return list.lists(callID, func(one *FunctionCall) string { return one.CallID }, err)
}

func (l *Listing[T]) lists(callID string, id func(*T) string, err error) (bool, error) {
	for i := range l.Items {
		if id(&l.Items[i]) == callID {
			return true, nil
		}
	}
	switch {
	case slices.Contains(l.Mentions, callID):
		return true, nil
	case err == nil && !l.Complete:
		return false, models.Errorf(models.CodeUnavailable, "The list is not complete: %s", l.Flaw)
	}
	return false, err
}

const (
	pageSize   = 100
	readings   = 3 // of all pages, at most
	maxPages   = 500
	maxPending = 20_000
	maxBodies  = 8 // times what one answer may hold, over all pages
)

type reader[T any] func(raw jsontext.Value, at time.Time) (item[T], bool)

// pending reads the list until it is sure of it. One page is the truth of one
// moment. Over several, one settled and one asked while they are read hide a
// third without a trace in any total, so the whole is read again until it stays
// the same.
func pending[T any](ctx context.Context, c *Client, path, name string, read reader[T]) (Listing[T], error) {
	var before []string
	for n := 1; ; n++ {
		r := reading[T]{at: map[string]int{}}
		err := r.all(ctx, c, path, name, read)
		l := Listing[T]{Items: r.items(), Flaw: r.flaw, Unread: r.unread, Mentions: r.mentions}
		switch {
		case err != nil:
			l.Flaw = "The list could not be read to the end."
			return l, err
		case r.pages == 1:
			l.Complete = l.Flaw == ""
			return l, nil
		case l.Flaw == "" && n > 1 && slices.Equal(before, r.ids):
			l.Complete = true
			return l, nil
		case n == readings:
			if l.Flaw == "" {
				l.Flaw = "The list changed while it was read."
			}
			return l, nil
		}
		before = r.ids
		if r.flaw != "" {
			before = nil
		}
	}
}

// reading is one reading of all pages.
type reading[T any] struct {
	pages   int
	size    int64
	entries int // with repeats
	total   *int
	ids     []string // in order, each once, also of settled items
	found   []item[T]
	at      map[string]int // the index of an id in the two above
	torn    []string       // ids with different requests
	flaw    string         // the first that was noticed

	unread   int // entries
	mentions []string
}

func (r *reading[T]) note(flaw string) {
	if r.flaw == "" {
		r.flaw = flaw
	}
}

// items are those that wait.
func (r *reading[T]) items() []T {
	out := make([]T, 0, len(r.found))
	for _, it := range r.found {
		if !it.over && !slices.Contains(r.torn, it.id) {
			out = append(out, it.value)
		}
	}
	return out
}

func (r *reading[T]) all(ctx context.Context, c *Client, path, name string, read reader[T]) error {
	for {
		address := path
		if c.dialect.pages {
			address = fmt.Sprintf("%s?limit=%d&offset=%d", path, pageSize, r.entries)
		}
		res, err := c.get(ctx, address)
		if errors.Is(err, &models.Error{Code: models.CodeNotFound}) {
			return (&problem{text: "has no such list (404); its address may be wrong"}).forPeople()
		}
		if err != nil {
			return err
		}
		p, ok := readPage(res.body, name)
		if !ok {
			return (&problem{text: "answers with something other than a JSON list"}).forPeople()
		}
		r.pages++
		r.size += int64(len(res.body))
		before := r.entries
		r.take(p.items, res.at, read)
		if !c.dialect.pages {
			if p.more(r.entries) {
				r.note("The upstream does not list everything at once.")
			}
			return nil
		}
		if !r.judge(p, before, maxBodies*c.maxBody) {
			return nil
		}
	}
}

// take adds the items of one page.
func (r *reading[T]) take(items []jsontext.Value, at time.Time, read reader[T]) {
	here := len(r.ids)
	for _, raw := range items {
		r.entries++
		it, ok := read(raw, at)
		if !ok {
			r.unread++
			r.mentions = append(r.mentions, scalars(raw)...)
			continue
		}
		i, twice := r.at[it.id]
		if !twice {
			r.at[it.id] = len(r.ids)
			r.ids, r.found = append(r.ids, it.id), append(r.found, it)
			continue
		}
		if r.found[i].asks != it.asks {
			r.torn = append(r.torn, it.id)
			r.note("The upstream lists one id with different requests.")
		}
		// Within a page it is the upstream's fault and hides nothing.
		if i < here {
			r.note("The list changed while it was read.")
		}
		r.found[i].over = r.found[i].over || it.over
	}
}

// judge looks whether a page fits to those before it and reports whether another
// one is to be asked for.
func (r *reading[T]) judge(p page, before int, most int64) bool {
	if p.offset != nil && *p.offset != before {
		r.note("The upstream answers with a different page than requested.")
		return false
	}
	if r.pages > 1 && (p.total == nil) != (r.total == nil) || p.total != nil && r.total != nil && *p.total != *r.total {
		r.note("The list changed while it was read.")
	}
	r.total = p.total
	if p.hasMore == nil && p.total == nil {
		r.note("The upstream does not say whether there is more.")
		return false
	}
	byTotal := p.total != nil && r.entries < *p.total
	if p.hasMore != nil && p.total != nil && *p.hasMore != byTotal || p.total != nil && r.entries > *p.total {
		r.note("The list changed while it was read, or the upstream counts wrongly.")
	}
	switch {
	case !p.more(r.entries):
		return false
	case len(p.items) == 0:
		r.note("The upstream announces more than it lists.")
		return false
	case r.pages >= maxPages || r.entries >= maxPending || r.size >= most:
		r.note(fmt.Sprintf("The upstream lists more than is read at once; that was %d.", r.entries))
		return false
	}
	return true
}

// page is one answer.
type page struct {
	items         []jsontext.Value
	total, offset *int
	hasMore       *bool
}

// more reports whether the page says, in either way, that others follow.
func (p page) more(entries int) bool {
	return p.hasMore != nil && *p.hasMore || p.total != nil && entries < *p.total
}

// readPage reads an array, or an object with the array in items or under the
// list's own name.
func readPage(body []byte, name string) (page, bool) {
	if values, ok := readArray(body); ok {
		return page{items: values}, true
	}
	o, ok := readObject(body)
	if !ok {
		return page{}, false
	}
	values, ok := readArray(o.value("items", name))
	if !ok {
		return page{}, false
	}
	p := page{items: values, total: o.count("total"), offset: o.count("offset")}
	if more, ok := o.boolean("has_more"); ok {
		p.hasMore = &more
	}
	return p, true
}
