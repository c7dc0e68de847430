package requests_test

import (
	"slices"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// TestALongInboxSaysHowFarItHasLooked: a filter that no index serves looks at so
// many rows for a page, says so, and goes on from there.
func TestALongInboxSaysHowFarItHasLooked(t *testing.T) {
	t.Parallel()
	const rows = 10_000
	s := storetest.New(t, storetest.NoLimits)
	owner := storetest.Reviewer(t, s, "ada@example.com")
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	storetest.Seed(t, s, agent, storetest.Rows{Pending: rows})
	dbtest.Forge(t, storetest.Tamper(t, s), `UPDATE responses SET tool_name = 'rare' WHERE number = (SELECT max(number) FROM responses)`)
	for _, order := range []requests.InboxOrder{requests.ByDeadline, requests.ByAge} {
		q := requests.InboxQuery{Tool: "rare", Order: order}
		var found []models.Brief
		searched, pages := 0, 0
		for {
			page, err := s.Requests.Inbox(t.Context(), owner, q)
			storetest.Must(t, err)
			pages, searched, found = pages+1, searched+page.ScanCount, append(found, page.Items...)
			if page.Cut != (page.Next != "") || page.CountCap != true && page.Count != len(page.Items) {
				t.Errorf("cut %v, next %q, count %d (%v)", page.Cut, page.Next, page.Count, page.CountCap)
			}
			if q.After = page.Next; q.After == "" {
				break
			}
		}
		if pages != 3 || searched != rows+1 || len(found) != 1 || found[0].ToolName != "rare" {
			t.Errorf("%q: %d pages, %d rows looked at, found %v", order, pages, searched, storetest.IDList(found))
		}
	}
	page, err := s.Requests.Inbox(t.Context(), owner, requests.InboxQuery{Text: "step-7", Limit: 5})
	if storetest.Must(t, err); len(page.Items) != 5 || page.Cut || !page.CountCap || page.Count < 5 || page.ScanCount != 1000 {
		t.Errorf("%d found, cut %v, count %d (%v) of %d", len(page.Items), page.Cut, page.Count, page.CountCap, page.ScanCount)
	}
}

// TestAnInboxPagesOnWhenRowsLeave: nothing that stays is skipped or shown twice.
func TestAnInboxPagesOnWhenRowsLeave(t *testing.T) {
	t.Parallel()
	w := newListWorld(t, 200)
	for _, order := range []requests.InboxOrder{requests.ByDeadline, requests.ByAge} {
		q := requests.InboxQuery{Order: order, Limit: 3}
		all, err := w.Requests.Inbox(t.Context(), w.people[0], requests.InboxQuery{Order: order, Limit: 200})
		storetest.Must(t, err)
		var seen, gone []models.ResponseID
		for {
			page, err := w.Requests.Inbox(t.Context(), w.people[0], q)
			storetest.Must(t, err)
			seen = append(seen, storetest.IDList(page.Items)...)
			if q.After = page.Next; q.After == "" {
				break
			}
			// The row that the cursor names leaves, and one that is still to come.
			last := page.Items[len(page.Items)-1].ID
			leave := []models.ResponseID{last}
			if i := slices.Index(storetest.IDList(all.Items), last); i+2 < len(all.Items) {
				leave = append(leave, all.Items[i+2].ID)
				gone = append(gone, all.Items[i+2].ID)
			}
			for _, id := range leave {
				_, err := w.Decide(t.Context(), w.people[0], id, storetest.No("gone"))
				storetest.Must(t, err)
			}
		}
		want := slices.DeleteFunc(storetest.IDList(all.Items), func(id models.ResponseID) bool { return slices.Contains(gone, id) })
		if len(gone) < 3 || !slices.Equal(seen, want) {
			t.Errorf("%q: %v\nwant %v", order, seen, want)
		}
	}
}

func TestListsRefuseWhatTheyDoNotKnow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, q := range []requests.InboxQuery{
		{Whose: "theirs"},
		{Order: "size"},
		{Risk: "huge"},
		{Text: string(make([]byte, 201))},
		{Text: "\xff"},
		{Order: requests.ByAge, After: "x"},
		{Order: requests.ByAge, After: "01890a5d-ac96-774b-bcce-b302099a8057"},
	} {
		storetest.Refused(t, storetest.Err(b.Requests.Inbox(t.Context(), b.Owner, q)), models.CodeInvalid)
	}
	now := b.Clock.Now()
	for _, q := range []requests.SettledQuery{
		{Whose: "theirs"}, {Risk: "huge"}, {Status: models.StatusPending}, {Status: "x"}, {Cause: "x"}, {From: now, To: now}, {After: "x"},
	} {
		storetest.Refused(t, storetest.Err(b.Requests.Settled(t.Context(), b.Owner, q)), models.CodeInvalid)
		storetest.Refused(t, b.Requests.EachSettled(t.Context(), b.Owner, q, atOnce, nil), models.CodeInvalid)
	}
	storetest.Refused(t, storetest.Err(b.Requests.Settled(t.Context(), b.Agent, requests.SettledQuery{})), models.CodeForbidden)
	storetest.Refused(t, storetest.Err(b.Requests.Inbox(t.Context(), b.Agent, requests.InboxQuery{})), models.CodeForbidden)
}

// TestALongHistorySaysHowFarBackItHasLooked is the same of what was settled.
func TestALongHistorySaysHowFarBackItHasLooked(t *testing.T) {
	t.Parallel()
	const rows = 10_000
	s := storetest.New(t, storetest.NoLimits)
	owner := storetest.Reviewer(t, s, "ada@example.com")
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	storetest.Seed(t, s, agent, storetest.Rows{Settled: rows})
	q, back, pages := requests.SettledQuery{Tool: "rare"}, time.Now().Add(1000*time.Hour), 0
	for {
		page, err := s.Requests.Settled(t.Context(), owner, q)
		storetest.Must(t, err)
		if pages++; len(page.Items) > 0 || page.Cut && (!page.Back.Before(back) || page.ScanCount != 4_000) {
			t.Errorf("found %v, back to %v after %d", storetest.IDList(page.Items), page.Back, page.ScanCount)
		}
		back = page.Back
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	if pages != 3 {
		t.Errorf("%d pages", pages)
	}
}
