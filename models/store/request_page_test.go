package store_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// between calls change before the nth statement of the next read, and counts them.
type between struct {
	n      int
	change func()
	texts  []string
}

func (b *between) option(o *store.Options) {
	o.BeforeRead = func(text string) {
		if b.change == nil {
			return
		}
		b.texts = append(b.texts, text)
		if b.n--; b.n == 0 {
			change := b.change
			b.change = func() {}
			change()
		}
	}
}

// TestThePageOfARequestIsOfOneState changes all that a page shows before its second
// statement, its third, and so on: the page is as it was before, whole.
func TestThePageOfARequestIsOfOneState(t *testing.T) {
	t.Parallel()
	for n, read := 2, 3; n <= read; n++ {
		hook := &between{}
		c := newTalk(t, hook.option)
		ask := func(command string) *models.Approval {
			return c.AskFor(t, c.In(models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"` + command + `"}`)}))
		}
		earlier, a, other := ask("one"), ask("two"), ask("three")
		page := func() *models.RequestPage {
			t.Helper()
			p, err := c.RequestPage(t.Context(), c.Owner, a.ID, true)
			storetest.Must(t, err)
			return p
		}
		hook.n, hook.change = n, func() {
			_, _, err := c.AnswerNote(t.Context(), c.Agent, a.ID, "It is needed.")
			storetest.Must(t, err)
			storetest.Must(t, c.OpenPart(t.Context(), c.Owner, a.ID, "input"))
			for _, id := range []models.ResponseID{earlier.ID, a.ID} {
				storetest.Must(t, storetest.Err(c.Decide(t.Context(), c.Owner, id, storetest.Yes())))
			}
			c.UsePolicy(t, `{"max_pause_minutes":7,"undo_seconds":{"medium":0}}`)
		}
		was := page()
		read = len(hook.texts)
		hook.change = nil
		if hook.n > 0 {
			t.Fatalf("there is no statement %d", n)
		}
		if was.Approval.Status() != models.StatusPending || was.Next != nil || len(was.Around.Notes)+len(was.Around.Opened)+was.Around.Counts.Approved > 0 || was.Around.PolicyChange ||
			len(was.Turns) != 1 || was.Turns[0].Status() != models.StatusPending {
			t.Errorf("changed before statement %d, %.60q: %+v", n, hook.texts[n-1], was)
		}
		now := page()
		if now.Approval.Status() != models.StatusApproved || now.Next == nil || now.Next.ID != other.ID || len(now.Around.Notes) != 1 || len(now.Around.Opened) != 1 ||
			now.Around.Counts.Approved != 1 || !now.Around.PolicyChange || now.Turns[0].Status() != models.StatusApproved {
			t.Errorf("changed before statement %d: afterwards %+v", n, now)
		}
	}
}

// TestThePageOfARequestIsReadOnOneConnection reads the pages of all that can happen
// with one connection: what is not read within the transaction would wait for another.
func TestThePageOfARequestIsReadOnOneConnection(t *testing.T) {
	t.Parallel()
	pages, rows := 0, &between{}
	readAll := func(b *bench) {
		t.Helper()
		pool := b.DB().Reads()
		pool.SetMaxOpenConns(1)
		defer pool.SetMaxOpenConns(4)
		for _, id := range storetest.Column(t, b.Store, `SELECT id FROM responses WHERE asked`) {
			for _, who := range []models.Actor{b.Admin, b.Owner} {
				before, done := pool.Stats().WaitCount, make(chan error, 1)
				rows.change, rows.n, rows.texts = func() {}, 0, nil
				go func() {
					_, err := b.RequestPage(t.Context(), who, models.ResponseID(id), true)
					done <- err
				}()
				for read := false; !read; runtime.Gosched() {
					select {
					case err := <-done:
						storetest.Must(t, err)
						read = true
					default:
						if pool.Stats().WaitCount > before {
							t.Fatalf("the page of %s wants a second connection", id)
						}
					}
				}
				whole := 0
				for _, text := range rows.texts {
					if strings.HasPrefix(text, "SELECT r.") && strings.HasSuffix(text, " WHERE r.id = ?") {
						whole++
					}
				}
				if whole != 1 {
					t.Errorf("the row of %s was read %d times", id, whole)
				}
				pages++
			}
		}
		rows.change = nil
	}
	readAll(pastOf(t, rows.option).bench)
	limit := limited(t, 10, rows.option)
	storetest.Must(t, limit.replyIn(t, limit.Conv, 10))
	limit.beyond(t, limit.replyIn(t, limit.Conv, 3))
	readAll(limit.bench)
	spent := begun(t, 5, rows.option)
	spent.Exhausts(t)
	readAll(spent.bench)
	if pages < 40 {
		t.Errorf("%d pages", pages)
	}
}

func TestPartsAreOpenedByEachPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{})
	opened := func(who models.Actor, want ...string) {
		t.Helper()
		got, err := b.Requests.OpenedParts(t.Context(), who, a.ID)
		storetest.Must(t, err)
		storetest.SameStrings(t, "opened", got, want)
	}
	before := storetest.Dump(t, b.Store)
	for name, tt := range map[string]struct {
		who  models.Actor
		part string
		code models.Code
	}{
		"I4: an agent": {b.Agent, "input", models.CodeForbidden}, "a stranger": {b.Stranger, "input", models.CodeNotFound},
		"no name": {b.Owner, "", models.CodeInvalid}, "other letters": {b.Owner, "Input", models.CodeInvalid}, "a space": {b.Owner, "a b", models.CodeInvalid},
		"too long": {b.Owner, strings.Repeat("a", 41), models.CodeInvalid},
	} {
		if err := b.OpenPart(t.Context(), tt.who, a.ID, tt.part); models.ErrorCode(err) != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
	}
	if after := storetest.Dump(t, b.Store); after != before {
		t.Error(storetest.Difference(before, after))
	}
	opened(b.Owner)
	for _, part := range []string{"input", "context-2", "input"} {
		storetest.Must(t, b.OpenPart(t.Context(), b.Owner, a.ID, part))
	}
	opened(b.Owner, "context-2", "input")
	opened(b.Admin)
	for i := range 62 {
		storetest.Must(t, b.OpenPart(t.Context(), b.Owner, a.ID, fmt.Sprint("part-", i)))
	}
	wantCode(t, b.OpenPart(t.Context(), b.Owner, a.ID, "one-more"), models.CodeInvalid)
	storetest.Must(t, b.OpenPart(t.Context(), b.Owner, a.ID, "input")) // that one is open
	storetest.SameStrings(t, "ledger", b.entriesOf(t, a.ID), []string{"agent approval.requested"})
}
