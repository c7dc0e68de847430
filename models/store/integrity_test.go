package store_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
)

func TestI1TheTriggersRefuseEveryOtherMove(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{})
	db := storetest.Tamper(t, b.Store)
	states := []string{"NULL", "'pending'", "'approved'", "'rejected'", "'expired'", "'cancelled'", "'resolved'"}
	allowed := map[string]bool{"NULL→'pending'": true, "NULL→'rejected'": true}
	for _, final := range states[2:] {
		allowed["'pending'→"+final] = true
	}
	columns := `id, conversation_id, sequence, owner_id, agent_id, kind, created_at, digest, risk, cause, approval_status`
	insert := func(n int, status, cause string) (string, error) {
		id := fmt.Sprintf("row-%d-%s", n, status)
		_, err := db.ExecContext(t.Context(), `INSERT INTO responses (`+columns+`) SELECT ?, conversation_id, ?, owner_id, agent_id, kind, created_at, digest, risk, ?, `+status+
			` FROM responses WHERE id = ?`, id, 1000+n, cause, a.ID)
		return id, err
	}
	n := 0
	for _, from := range states {
		for _, to := range states {
			n++
			// Bring a row into the state it leaves by allowed moves only.
			begin := "NULL"
			if from != "NULL" {
				begin = "'pending'"
			}
			id, err := insert(n, begin, "")
			if err != nil {
				t.Fatal(err)
			}
			if from != begin {
				if _, err := db.ExecContext(t.Context(), `UPDATE responses SET approval_status = `+from+` WHERE id = ?`, id); err != nil {
					t.Fatalf("%s→%s is refused: %v", begin, from, err)
				}
			}
			_, err = db.ExecContext(t.Context(), `UPDATE responses SET approval_status = `+to+` WHERE id = ?`, id)
			if want := allowed[from+"→"+to] || (from == to && (from == "NULL" || from == "'pending'")); (err == nil) != want {
				t.Errorf("UPDATE %s→%s: %v, allowed: %v", from, to, err, want)
			}
		}
	}
	if _, err := insert(n+1, "NULL", "nonsense"); err == nil {
		t.Error("an unknown cause is accepted")
	}
	if _, err := b.Decide(t.Context(), b.Owner, a.ID, storetest.No("no")); err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{
		`UPDATE responses SET tool_input_json = '{}x' WHERE id = ?`, `UPDATE responses SET digest = 'x' WHERE id = ?`,
		`UPDATE responses SET decided_by = NULL WHERE id = ?`, `UPDATE responses SET cause = 'timeout' WHERE id = ?`,
		`UPDATE responses SET approval_feedback = 'yes' WHERE id = ?`, `DELETE FROM responses WHERE id = ?`,
	} {
		if _, err := db.ExecContext(t.Context(), change, a.ID); err == nil {
			t.Errorf("accepted: %s", change)
		}
	}
}

func TestI7TheLedgerFindsWhatWasDoneToIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		attack string
		bad    int64
		kept   bool // found only by a head that was kept outside
	}{
		{"an entry edited", `UPDATE ledger SET data = '{}' WHERE seq = 5`, 5, false},
		{"an actor edited", `UPDATE ledger SET actor_name = 'x' WHERE seq = 4`, 4, false},
		{"an entry deleted", `DELETE FROM ledger WHERE seq = 5`, 5, false},
		{"two entries swapped", `UPDATE ledger SET seq = -1 WHERE seq = 5; UPDATE ledger SET seq = 5 WHERE seq = 6; UPDATE ledger SET seq = 6 WHERE seq = -1`, 5, false},
		{"the end cut off", `DELETE FROM ledger WHERE seq >= 6`, 6, false},
		{"the end cut off with the head", `DELETE FROM ledger WHERE seq >= 6;
 UPDATE ledger_head SET seq = 5, hash = (SELECT hash FROM ledger WHERE seq = 5)`, 6, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a := b.AskFor(t, models.AskInput{})
			if _, err := b.Decide(t.Context(), b.Owner, a.ID, storetest.No("no")); err != nil {
				t.Fatal(err)
			}
			kept, err := b.Ledger.Verify(t.Context(), nil)
			if err != nil || kept.Seq < 7 {
				t.Fatalf("untouched: %v, %v", kept, err)
			}
			db := storetest.Tamper(t, b.Store)
			for stmt := range strings.SplitSeq(tt.attack, ";") {
				dbtest.Forge(t, db, stmt)
			}
			_, err = b.Ledger.Verify(t.Context(), nil)
			if tt.kept {
				if err != nil {
					t.Fatalf("without a kept head this cannot be seen, yet: %v", err)
				}
				_, err = b.Ledger.Verify(t.Context(), &kept)
			}
			var broken *models.ChainError
			if !errors.As(err, &broken) || broken.Seq != tt.bad {
				t.Errorf("found %v, want entry %d", err, tt.bad)
			}
		})
	}
}

func TestI7ARewrittenChainIsFoundByAKeptHead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.AskFor(t, models.AskInput{})
	kept, err := b.Ledger.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	db := storetest.Tamper(t, b.Store)
	rows, err := db.QueryContext(t.Context(), `SELECT seq, at, actor_kind, actor_id, actor_name, action, owner_id, conversation_id, response_id, data FROM ledger ORDER BY seq`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var chain []models.Entry
	for rows.Next() {
		var e models.Entry
		if err := rows.Scan(&e.Seq, &e.At, &e.ActorKind, &e.ActorID, &e.ActorName, &e.Action, &e.OwnerID, &e.ConversationID, &e.ResponseID, &e.Data); err != nil {
			t.Fatal(err)
		}
		chain = append(chain, e)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	chain[2].ActorName = "somebody else"
	head := models.Head{Hash: []byte{}}
	for i := range chain {
		head = models.Seal(head, &chain[i])
		dbtest.Forge(t, db, `UPDATE ledger SET actor_name = ?, prev = ?, hash = ? WHERE seq = ?`, chain[i].ActorName, chain[i].Prev, chain[i].Hash, chain[i].Seq)
	}
	dbtest.Forge(t, db, `UPDATE ledger_head SET hash = ?`, head.Hash)
	if _, err := b.Ledger.Verify(t.Context(), nil); err != nil {
		t.Fatalf("the rewritten chain holds by itself, yet: %v", err)
	}
	var broken *models.ChainError
	if _, err := b.Ledger.Verify(t.Context(), &kept); !errors.As(err, &broken) || broken.Seq != kept.Seq {
		t.Errorf("found %v, want entry %d", err, kept.Seq)
	}
	later := models.Head{Seq: kept.Seq + 5, Hash: kept.Hash}
	if _, err := b.Ledger.Verify(t.Context(), &later); !errors.As(err, &broken) {
		t.Errorf("a kept head behind the end is not missed: %v", err)
	}
}

func TestI7OneObjectChangedOneEntryAndNeverAnInput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	seq := func() int64 {
		t.Helper()
		h, err := b.Ledger.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return h.Seq
	}
	at := seq()
	a := b.AskFor(t, models.AskInput{Input: []byte(`{"secret":"hunter2"}`), Explanation: models.Explanation{Description: "hunter2", Context: "hunter2"}, ToolUseID: "x"})
	if got := seq() - at; got != 2 {
		t.Errorf("the first ask made %d entries, want one for the conversation and one for the approval", got)
	}
	at = seq()
	other := b.AskFor(t, models.AskInput{})
	if got := seq() - at; got != 1 {
		t.Errorf("an ask made %d entries", got)
	}
	at = seq()
	in := storetest.No("hunter2 again")
	if _, err := b.Decide(t.Context(), b.Owner, a.ID, in); err != nil {
		t.Fatal(err)
	}
	if got := seq() - at; got != 1 {
		t.Errorf("a decision made %d entries", got)
	}
	at = seq()
	if _, err := b.Decide(t.Context(), b.Owner, a.ID, in); err == nil {
		t.Error("decided twice")
	}
	b.Clock.Step(time.Hour)
	if n, err := b.ExpireDue(t.Context(), 10); err != nil || n != 1 {
		t.Errorf("expired %d, %v", n, err)
	}
	if got := seq() - at; got != 1 {
		t.Errorf("a refused decision and an expiry made %d entries", got)
	}
	trail, err := b.Requests.Trail(t.Context(), b.Owner, requests.TrailQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range trail.Entries {
		if strings.Contains(e.Data, "hunter2") {
			t.Errorf("entry %d holds what was sent: %s", e.Seq, e.Data)
		}
		if e.ResponseID == other.ID && e.Action == "approval.expired" && e.ActorKind != models.ActorSystem {
			t.Errorf("the expiry was done by %s", e.ActorKind)
		}
	}
}

// What a token stores in a minute stays the same however large its inputs are.
func TestALargeInputCountsAsSeveralAsks(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *store.Options) { o.AsksPerMinute = 10 })
	large := func(id string, bytes int) error {
		return second(b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "Write", ToolUseID: id, Explicit: true, Input: []byte(`"` + strings.Repeat("x", bytes-2) + `"`)}))
	}
	if err := large("four", 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := large("five", 1<<20+1); err != nil {
		t.Fatal(err)
	}
	if e := refusal(t, large("two", 256<<10+1), models.CodeTooManyRequests); e.RetryAfterSeconds != 6 || !strings.Contains(e.Text, "counts as 2") {
		t.Errorf("%d s, %s", e.RetryAfterSeconds, e.Text)
	}
	if err := large("one", 256<<10); err != nil {
		t.Error(err)
	}
	if err := large("four", 1<<20); err != nil {
		t.Errorf("a repeat is refused: %v", err)
	}
}

func TestLimitsRefuseNewRequestsAndNeverARepeat(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *store.Options) { o.AsksPerMinute, o.PendingPerAgent = 3, 5 })
	first := models.AskInput{ToolName: "Bash", ToolUseID: "first", Explicit: true}
	for i := range 3 {
		in := first
		if i > 0 {
			in.ToolUseID = fmt.Sprint(i)
		}
		if _, err := b.Ask(t.Context(), b.Agent, in); err != nil {
			t.Fatal(err)
		}
	}
	fourth := models.AskInput{ToolName: "Bash", ToolUseID: "fourth", Explicit: true}
	if e := refusal(t, second(b.Ask(t.Context(), b.Agent, fourth)), models.CodeTooManyRequests); e.RetryAfterSeconds != 20 {
		t.Errorf("try again after %d s, want 20", e.RetryAfterSeconds)
	}
	for range 10 {
		if _, err := b.Ask(t.Context(), b.Agent, first); err != nil {
			t.Fatalf("a repeat is refused: %v", err)
		}
	}
	if _, err := b.Ask(t.Context(), b.Other, fourth); err != nil {
		t.Errorf("another token is refused: %v", err)
	}
	b.Clock.Step(41 * time.Second)
	for i := range 2 {
		if _, err := b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "Bash", ToolUseID: fmt.Sprint("late", i), Explicit: true}); err != nil {
			t.Fatal(err)
		}
	}
	b.Clock.Step(time.Minute)
	e := refusal(t, second(b.Ask(t.Context(), b.Agent, fourth)), models.CodeTooManyPending)
	if e.RetryAfterSeconds == 0 {
		t.Error("no Retry-After")
	}
	waiting, err := b.Requests.PendingList(t.Context(), b.Agent, "", 0)
	if err != nil || len(waiting.Items) != 5 {
		t.Fatalf("%d pending, %v", len(waiting.Items), err)
	}
	if _, err := b.Cancel(t.Context(), b.Agent, waiting.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Ask(t.Context(), b.Agent, fourth); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

func TestFallbackIsRecordedOnlyWhereItWasAllowed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	report := func(at time.Time, key string) (*models.Approval, error) {
		return b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "Bash", ToolUseID: key, Explicit: true, FallbackAt: at.Format(time.RFC3339Nano)})
	}
	wantCode(t, second(report(b.Clock.Now(), "a")), models.CodeForbidden)
	b.Clock.Step(time.Hour)
	b.UsePolicy(t, `{"fallback_auto_approve":true}`)
	on := b.Clock.Now()
	wantCode(t, second(report(on.Add(-time.Minute), "b")), models.CodeForbidden)
	b.Clock.Step(time.Hour)
	wantCode(t, second(report(b.Clock.Now().Add(time.Hour), "c")), models.CodeInvalid)
	got, err := report(on.Add(time.Minute), "d")
	if err != nil || got.Cause != models.CauseFallback || got.Status() != models.StatusRan || got.DecidedBy != nil || got.RequiresApproval {
		t.Fatalf("reported: %+v, %v", got, err)
	}
	stands := b.AskFor(t, models.AskInput{ToolUseID: "e"})
	if got, err := report(on.Add(time.Minute), "e"); err != nil || got.ID != stands.ID || got.Status() != models.StatusPending {
		t.Errorf("a report decided a row that stands: %+v, %v", got, err)
	}
	b.UsePolicy(t, `{}`)
	off := b.Clock.Now()
	b.Clock.Step(time.Hour)
	if _, err := report(off.Add(9*time.Minute), "f"); err != nil {
		t.Errorf("believed for ten minutes after it was last confirmed: %v", err)
	}
	wantCode(t, second(report(off.Add(11*time.Minute), "g")), models.CodeForbidden)
}

func TestListsPageByKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, storetest.NoLimits)
	const n = 23
	want := map[models.ResponseID]bool{}
	var conv models.ConversationID
	for i := range n {
		secs := int64(600 + i%5)
		a := b.AskFor(t, models.AskInput{TimeoutSeconds: &secs, ApprovalID: uuid.NewString()}) // ids that do not sort by time
		want[a.ID], conv = true, a.ConversationID
	}
	lists := map[string]func(after string) ([]models.Approval, string, error){
		"inbox of the owner": func(after string) ([]models.Approval, string, error) {
			p, err := b.Requests.Inbox(t.Context(), b.Owner, requests.InboxQuery{After: after, Limit: 5})
			return storetest.Approvals(p.Items), p.Next, err
		},
		"inbox of an admin": func(after string) ([]models.Approval, string, error) {
			p, err := b.Requests.Inbox(t.Context(), b.Admin, requests.InboxQuery{After: after, Limit: 5})
			return storetest.Approvals(p.Items), p.Next, err
		},
		"all of the agent": func(after string) ([]models.Approval, string, error) {
			l, err := b.Requests.Approvals(t.Context(), b.Agent, requests.ListQuery{Cursor: after, Limit: 5})
			return l.Items, l.Next, err
		},
		"all of the owner": func(after string) ([]models.Approval, string, error) {
			l, err := b.Requests.Approvals(t.Context(), b.Owner, requests.ListQuery{Cursor: after, Limit: 5})
			return l.Items, l.Next, err
		},
		"all of the conversation": func(after string) ([]models.Approval, string, error) {
			l, err := b.Requests.Approvals(t.Context(), b.Owner, requests.ListQuery{Conversation: conv, Cursor: after, Limit: 5})
			return l.Items, l.Next, err
		},
		"pending of the owner": func(after string) ([]models.Approval, string, error) {
			l, err := b.Requests.PendingList(t.Context(), b.Owner, after, 5)
			return l.Items, l.Next, err
		},
		"pending of the agent": func(after string) ([]models.Approval, string, error) {
			l, err := b.Requests.PendingList(t.Context(), b.Agent, after, 5)
			return l.Items, l.Next, err
		},
	}
	for name, list := range lists {
		seen, pages, after := map[models.ResponseID]bool{}, 0, ""
		for {
			items, next, err := list(after)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			pages++
			for i, a := range items {
				if seen[a.ID] {
					t.Errorf("%s shows %s twice", name, a.ID)
				}
				seen[a.ID] = true
				if strings.HasPrefix(name, "all") && i > 0 && a.Sequence > items[i-1].Sequence {
					t.Errorf("%s is not newest first", name)
				}
				if strings.HasPrefix(name, "inbox") && i > 0 && a.ApprovalTimeoutAt.Before(items[i-1].ApprovalTimeoutAt) {
					t.Errorf("%s is not by deadline", name)
				}
			}
			if after = next; after == "" {
				break
			}
		}
		if len(seen) != n || pages != 5 {
			t.Errorf("%s: %d rows on %d pages, want %d on 5", name, len(seen), pages, n)
		}
	}
	for _, bad := range []string{"x", "%", "AAAA"} {
		wantCode(t, second(b.Requests.Inbox(t.Context(), b.Owner, requests.InboxQuery{After: bad})), models.CodeInvalid)
	}
}

func TestI8ARestartLosesNothing(t *testing.T) {
	t.Parallel()
	dir, clock := storetest.Dir(t), storetest.NewClock()
	s := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	owner := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	in := models.AskInput{ToolName: "Bash", ToolUseID: "t", Explicit: true}
	before, err := s.Ask(t.Context(), agent, in)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ask(t.Context(), agent, in); models.ErrorCode(err) != models.CodeUnavailable {
		t.Errorf("a closed store said %v", err)
	}
	again := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	after, err := again.Ask(t.Context(), agent, in)
	if err != nil || after.ID != before.ID || !after.ApprovalTimeoutAt.Equal(before.ApprovalTimeoutAt) || after.Status() != models.StatusPending {
		t.Fatalf("after a restart: %+v, %v", after, err)
	}
	if _, err := again.Decide(t.Context(), owner, before.ID, storetest.Yes()); err != nil {
		t.Fatal(err)
	}
	if got, err := again.Ask(t.Context(), agent, in); err != nil || got.Status() != models.StatusApproved {
		t.Errorf("asked again: %+v, %v", got, err)
	}
}

// TestABriefHasTheBeginningOfEachText, however it is read: of all else it has what the
// whole has.
func TestABriefHasTheBeginningOfEachText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	long := `{"command":"` + strings.Repeat("x", 2*models.MaxBrief) + `"}`
	a := b.AskFor(t, models.AskInput{Input: []byte(long), Explanation: models.Explanation{Context: "why", Description: "what"}})
	check := func(name string, items []models.Brief, err error) {
		t.Helper()
		if err != nil || len(items) != 1 {
			t.Fatalf("%s: %d, %v", name, len(items), err)
		}
		whole, err := b.Requests.Approval(t.Context(), b.Owner, a.ID)
		storetest.Must(t, err)
		whole.ToolInputJSON = long[:models.MaxBrief]
		if got := items[0].Approval; !reflect.DeepEqual(got, *whole) {
			t.Errorf("%s: %+v\nis not the beginning of\n%+v", name, got, *whole)
		}
	}
	inbox, err := b.Requests.Inbox(t.Context(), b.Owner, requests.InboxQuery{})
	check("inbox", inbox.Items, err)
	list, err := b.Requests.PendingList(t.Context(), b.Owner, "", 0)
	if err != nil || len(list.Items) != 1 || list.Items[0].ToolInputJSON != long {
		t.Errorf("for a program: %d, %v", len(list.Items), err)
	}
	_, err = b.Decide(t.Context(), b.Owner, a.ID, storetest.No("Not now."))
	storetest.Must(t, err)
	past, err := b.Requests.Settled(t.Context(), b.Owner, requests.SettledQuery{})
	check("history", past.Items, err)
	trail, err := b.Requests.Trail(t.Context(), b.Owner, requests.TrailQuery{})
	storetest.Must(t, err)
	check("trail", []models.Brief{*trail.Entries[0].Request}, nil)
}
