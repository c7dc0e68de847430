package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// walk reads all pages and returns the numbers.
func walk(t *testing.T, s *store.Store, admin models.Actor, q ledger.Query) []int64 {
	t.Helper()
	var out []int64
	for range 200 {
		page, err := s.Ledger.Page(t.Context(), admin, q)
		storetest.Must(t, err)
		for _, e := range page.Entries {
			out = append(out, e.Seq)
		}
		if page.Next == 0 {
			return out
		}
		q.Before = page.Next
	}
	t.Fatal("the pages have no end")
	return nil
}

func TestTheLedgerByEveryFilter(t *testing.T) {
	t.Parallel()
	s, clock, admin, ada, bot, asked := storetest.Audited(t)
	all := walk(t, s, admin, ledger.Query{Limit: 5})
	if int64(len(all)) != storetest.LedgerAt(t, s) || !slices.IsSortedFunc(all, func(a, b int64) int { return int(b - a) }) {
		t.Fatalf("all entries: %v", all)
	}
	last := storetest.LedgerAt(t, s)
	cuts := []int64{0, 1, last / 3, last / 2, last - 1, last}
	from, until := clock.Now().Add(-5*time.Hour), clock.Now().Add(-2*time.Hour)
	for _, c := range []struct {
		name  string
		q     ledger.Query
		where string
		args  []any
	}{
		{"person", ledger.Query{Who: ada.ID}, `owner_id = ? OR actor_id = ?`, []any{ada.ID, ada.ID}},
		{"agent", ledger.Query{Who: bot.ID}, `actor_id = ?`, []any{bot.ID}},
		{"action", ledger.Query{Action: "approval.requested"}, `action = 'approval.requested'`, nil},
		{"unknown action", ledger.Query{Action: "x"}, `FALSE`, nil},
		{"conversation", ledger.Query{Conversation: asked[0].ConversationID}, `conversation_id = ?`, []any{asked[0].ConversationID}},
		{"time", ledger.Query{From: from, Until: until}, `at >= ? AND at < ?`, []any{from.Format("2006-01-02T15:04:05.000000Z"), until.Format("2006-01-02T15:04:05.000000Z")}},
		{"from", ledger.Query{From: from}, `at >= ?`, []any{from.Format("2006-01-02T15:04:05.000000Z")}},
		{"the future", ledger.Query{From: clock.Now().Add(time.Hour)}, `FALSE`, nil},
		{"before all", ledger.Query{Until: clock.Now().AddDate(-1, 0, 0)}, `FALSE`, nil},
		{"person and action", ledger.Query{Who: ada.ID, Action: "approval.requested"}, `action = 'approval.requested' AND owner_id = ?`, []any{ada.ID}},
		{
			"all of them",
			ledger.Query{Who: bot.ID, Action: "approval.requested", Conversation: asked[10].ConversationID, From: from},
			`action = 'approval.requested' AND actor_id = ? AND conversation_id = ? AND at >= ?`,
			[]any{bot.ID, asked[10].ConversationID, from.Format("2006-01-02T15:04:05.000000Z")},
		},
	} {
		c.q.Limit = 2
		want := storetest.Scalar[string](t, s, `SELECT coalesce(group_concat(seq), '') FROM (SELECT seq FROM ledger WHERE `+c.where+` ORDER BY seq DESC)`, c.args...)
		for _, indexed := range cuts {
			storetest.IndexLedger(t, s, indexed)
			got := ""
			for i, n := range walk(t, s, admin, c.q) {
				if i > 0 {
					got += ","
				}
				got += fmt.Sprint(n)
			}
			if got != want || want == "" && c.where != `FALSE` {
				t.Errorf("%s, indexed up to %d:\n got %s\nwant %s", c.name, indexed, got, want)
			}
		}
	}
	for _, indexed := range cuts {
		storetest.IndexLedger(t, s, indexed)
		actions, err := s.Ledger.Actions(t.Context(), admin)
		storetest.Must(t, err)
		if want := storetest.Scalar[int](t, s, `SELECT count(DISTINCT action) FROM ledger`); len(actions) != want || !slices.IsSorted(actions) {
			t.Errorf("actions, indexed up to %d: %v, want %d", indexed, actions, want)
		}
	}
}

func TestOneEntryOfTheLedger(t *testing.T) {
	t.Parallel()
	s, _, admin, _, _, _ := storetest.Audited(t)
	for _, seq := range []int64{1, 2, storetest.LedgerAt(t, s)} {
		e, before, err := s.Ledger.Entry(t.Context(), admin, seq)
		storetest.Must(t, err)
		if e.Seq != seq || string(before) != string(e.Prev) || (seq == 1) != (before == nil) {
			t.Errorf("entry %d: %+v after %x", seq, e, before)
		}
	}
	for _, seq := range []int64{0, -1, storetest.LedgerAt(t, s) + 1, 1 << 62} {
		_, _, err := s.Ledger.Entry(t.Context(), admin, seq)
		storetest.Refused(t, err, models.CodeNotFound)
	}
}

func TestCheckingTheChainTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.Admin(t, s)
	db := storetest.Beside(t, s)
	head, err := s.Ledger.Head(t.Context())
	storetest.Must(t, err)
	tx, err := db.BeginTx(t.Context(), nil)
	storetest.Must(t, err)
	for range 9000 {
		e := models.Entry{At: "2026-03-02T12:00:00.000000Z", ActorKind: models.ActorSystem, Action: "test.made", Data: "{}"}
		head = models.Seal(head, &e)
		_, err := tx.ExecContext(t.Context(), `INSERT INTO ledger VALUES (?,?,?,'','',?,'','','',?,?,?)`, e.Seq, e.At, e.ActorKind, e.Action, e.Data, e.Prev, e.Hash)
		storetest.Must(t, err)
	}
	_, err = tx.ExecContext(t.Context(), `UPDATE ledger_head SET seq = ?, hash = ?`, head.Seq, head.Hash)
	storetest.Must(t, err)
	storetest.Must(t, tx.Commit())
	var told []int64
	got, err := s.Ledger.CheckChain(t.Context(), func(read, of int64) {
		if of != head.Seq {
			t.Errorf("of %d, want %d", of, head.Seq)
		}
		told = append(told, read)
	})
	storetest.Must(t, err)
	if got.String() != head.String() || len(told) != 2 || told[0] >= told[1] {
		t.Errorf("head %s, told %v", got, told)
	}
}

func TestTheSystemInNumbers(t *testing.T) {
	t.Parallel()
	s, clock, admin, ada, _, asked := storetest.Audited(t)
	got, err := upkeep.New(s).System(t.Context(), admin)
	storetest.Must(t, err)
	head, err := s.Ledger.Head(t.Context())
	storetest.Must(t, err)
	if got.Entries != head.Seq || got.Head.String() != head.String() || got.Responses != 12 || got.People != 3 || got.Agents != 2 || got.Conversations < 4 {
		t.Errorf("%+v", got)
	}
	if got.Day != head.Seq || got.Week != head.Seq || got.DatabaseBytes+got.LogBytes < 4096 || got.Database == "" || got.Schema < 1 {
		t.Errorf("%+v", got)
	}
	// Only the last of them still waits: its deadline is five minutes.
	if got.Pending != 1 || got.Oldest == nil || got.Oldest.ID != asked[11].ID || got.Oldest.OwnerName != "ada@example.com" || len(got.AdminOnly) != 0 {
		t.Errorf("pending %d, oldest %+v, stranded %v", got.Pending, got.Oldest, got.AdminOnly)
	}
	storetest.Must(t, storetest.Err(s.People.DisableUser(t.Context(), admin, ada.OwnerID)))
	if got, err = upkeep.New(s).System(t.Context(), admin); err != nil || len(got.AdminOnly) != 1 || got.AdminOnly[0].ID != asked[11].ID {
		t.Errorf("stranded: %+v (%v)", got.AdminOnly, err)
	}
	clock.Step(25 * time.Hour)
	if got, err = upkeep.New(s).System(t.Context(), admin); err != nil || got.Pending != 0 || got.Oldest != nil || len(got.AdminOnly) != 0 || got.Day != 0 || got.Week != got.Entries {
		t.Errorf("a day later: %+v (%v)", got, err)
	}
}

func TestWhatARoutedReviewerCanDecideIsNotStranded(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	bo := storetest.Reviewer(t, s, "bo@example.com")
	bot, _ := storetest.AgentToken(t, s, ada, "bot")
	_, err := s.ApplyPolicy(t.Context(), admin, []byte(`{"rules":[{"name":"r","tools":["Bash"],"effect":"require","reviewers":["bo@example.com"]}]}`), "", 0)
	storetest.Must(t, err)
	_, err = s.Ask(t.Context(), bot, models.AskInput{ToolName: "Bash", Input: []byte(`{}`)})
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(s.People.DisableUser(t.Context(), admin, ada.OwnerID)))
	for _, want := range []int{0, 1} {
		got, err := upkeep.New(s).System(t.Context(), admin)
		storetest.Must(t, err)
		if len(got.AdminOnly) != want {
			t.Errorf("%d stranded, want %d", len(got.AdminOnly), want)
		}
		storetest.Must(t, storetest.Err(s.People.DisableUser(t.Context(), admin, bo.OwnerID)))
	}
}

// A common action of a person who does little is looked for in steps that are
// bounded, and none is missed.
func TestFiltersThatMatchLittleAreReadInSteps(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	head, err := s.Ledger.Head(t.Context())
	storetest.Must(t, err)
	tx, err := storetest.Beside(t, s).BeginTx(t.Context(), nil)
	storetest.Must(t, err)
	for i := range 45_000 {
		who, action := "busy", "test.common"
		if i%20_000 == 7 {
			who = "quiet"
		}
		if who == "busy" && i%15_000 == 3 {
			action = "test.rare"
		}
		e := models.Entry{At: "2026-03-02T12:00:00.000000Z", ActorKind: models.ActorUser, ActorID: who, OwnerID: "busy", Action: action, Data: "{}"}
		if i%2 == 0 {
			e.ConversationID = "c"
		}
		head = models.Seal(head, &e)
		_, err := tx.ExecContext(t.Context(), `INSERT INTO ledger VALUES (?,?,?,?,'',?,?,?,'',?,?,?)`, e.Seq, e.At, e.ActorKind, e.ActorID, e.Action, e.OwnerID, e.ConversationID, e.Data, e.Prev, e.Hash)
		storetest.Must(t, err)
	}
	storetest.Must(t, tx.Commit())
	storetest.IndexLedger(t, s, head.Seq-300)
	for _, c := range []struct {
		name   string
		q      ledger.Query
		want   int
		looked bool
	}{
		{"rare action drives", ledger.Query{Who: "busy", Action: "test.rare"}, 3, false},
		{"common action of a quiet person", ledger.Query{Who: "quiet", Action: "test.common"}, 3, false},
		{"an action that the person never did, in a large conversation", ledger.Query{Conversation: "c", Action: "test.none"}, 0, true},
		{"a quiet person in a large conversation", ledger.Query{Conversation: "c", Who: "quiet"}, 0, true},
	} {
		first, err := s.Ledger.Page(t.Context(), admin, c.q)
		storetest.Must(t, err)
		if n := len(walk(t, s, admin, c.q)); n != c.want || first.StoppedEarly != c.looked {
			t.Errorf("%s: %d entries, want %d; stopped early: %v", c.name, n, c.want, first.StoppedEarly)
		}
	}
}
