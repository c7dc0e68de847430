package store

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
	"countersign/models/people"
)

// knownChecks counts what was known and compared with the database.
var knownChecks atomic.Int64

// Every test of this folder: what is known of what waits is what is stored.
func init() { //nolint:gochecknoinits // it must stand before the first test
	checkKnown = func(what string, remembered, read any) {
		knownChecks.Add(1)
		if remembered != read {
			panic(fmt.Sprintf("%s: remembered %v, stored %v", what, remembered, read))
		}
	}
}

// plain is a call without a key, in the agent's standing conversation.
func plain(in *models.AskInput) { in.ToolUseID, in.Description, in.Context = "", "", "" }

func (w *rememberingWorld) sequenceOf(t *testing.T, id models.ResponseID) int64 {
	t.Helper()
	a, err := w.readApproval(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return a.Sequence
}

// knows is whether the conversation, the digests and the inboxes of a request are known.
func (w *rememberingWorld) knows(t *testing.T, id models.ResponseID) (known [3]bool) {
	t.Helper()
	a, err := w.readApproval(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	p := &w.known.pending
	c := p.courses[a.ConversationID]
	known[0] = c != nil && c.waiting != unknownWaiting
	known[1] = p.waiting[a.AgentID] != nil
	_, known[2] = p.alone[id]
	return known
}

func TestWhatWaitsIsKnownUntilItMayHaveChanged(t *testing.T) {
	t.Parallel()
	none, all := [3]bool{}, [3]bool{true, true, true}
	for name, c := range map[string]struct {
		change func(w *rememberingWorld, id models.ResponseID) error
		want   [3]bool
	}{
		"nothing": {func(*rememberingWorld, models.ResponseID) error { return nil }, all},
		"another request": {func(w *rememberingWorld, _ models.ResponseID) error {
			_, err := w.Ask(t.Context(), w.agent, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"ps"}`), Explicit: true})
			return err
		}, all},
		"another decision": {func(w *rememberingWorld, _ models.ResponseID) error {
			a, err := w.Ask(t.Context(), w.agent, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"ps"}`), Explicit: true})
			if err == nil {
				_, err = w.Decide(t.Context(), w.owner, a.ID, models.DecisionInput{Approved: new(false)})
			}
			return err
		}, all},
		"its decision": {func(w *rememberingWorld, id models.ResponseID) error {
			_, err := w.Decide(t.Context(), w.owner, id, models.DecisionInput{Approved: new(true)})
			return err
		}, [3]bool{true, true, false}},
		"its deadline": {func(w *rememberingWorld, id models.ResponseID) error {
			return w.write(t.Context(), func(t *tx) error {
				return t.Gorm().Exec(`UPDATE responses SET approval_timeout_at = ? WHERE id = ?`, t.Now.Add(time.Hour), id).Error
			})
		}, none},
		"a status":             {statement(`UPDATE conversations SET status = 'completed'`), none},
		"a row of any request": {statement(`UPDATE responses SET job_id = 'j'`), none},
		"a row that is added":  {statement(`INSERT INTO responses (id, conversation_id, sequence, owner_id, agent_id, kind, created_at, digest, risk) SELECT 'x', conversation_id, 99, owner_id, agent_id, kind, created_at, digest, risk FROM responses LIMIT 1`), none},
		"any other statement":  {statement(`PRAGMA optimize`), none},
		"who it was routed to": {statement(`UPDATE reviewers SET for_others = TRUE`), [3]bool{true, true, false}},
		"somebody is asked about it": {func(w *rememberingWorld, id models.ResponseID) error {
			return w.write(t.Context(), func(t *tx) error {
				_, err := t.Exec(t.s.hot.addReviewer, w.owner.ID, id)
				return err
			})
		}, [3]bool{true, true, false}},
		"somebody is asked about another": {func(w *rememberingWorld, _ models.ResponseID) error {
			return w.write(t.Context(), func(t *tx) error {
				_, err := t.Exec(t.s.hot.addReviewer, w.owner.ID, models.NewID[models.ResponseID]())
				return err
			})
		}, all},
		"a batch that is rolled back": {func(w *rememberingWorld, _ models.ResponseID) error {
			_ = w.write(t.Context(), func(t *tx) error {
				_, _ = t.Exec(t.s.hot.addDecider, "nobody", t.Now, "nothing")
				return fmt.Errorf("no")
			})
			return nil
		}, none},
		"another process": {func(w *rememberingWorld, _ models.ResponseID) error {
			beside := w.beside(t)
			if _, err := beside.People.AddUser(t.Context(), models.Operator("beside"), people.NewUser{Email: "bo@example.com", Name: "Bo", Role: models.RoleReviewer, Password: "a correct horse battery"}); err != nil {
				return err
			}
			return w.CheckOutside(t.Context())
		}, none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRememberingWorld(t)
			w.ask(t, plain)
			id := w.ask(t, plain)
			if known := w.knows(t, id); known != all {
				t.Fatalf("known are %v", known)
			}
			if err := c.change(w, id); err != nil {
				t.Fatal(err)
			}
			if known := w.knows(t, id); known != c.want {
				t.Errorf("known are %v, want %v", known, c.want)
			}
		})
	}
}

// Whoever takes a place in between, in this process or another, or gives one back: the next
// request has the place behind the last (I14 and the order of a conversation).
func TestI14PlacesAndEnergyFollowWhoeverElseWrites(t *testing.T) {
	t.Parallel()
	w := newRememberingWorld(t)
	beside := w.beside(t)
	for range 3 {
		w.ask(t, plain)
	}
	other, err := beside.Ask(t.Context(), w.agent, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"ps"}`), Explicit: true})
	if err != nil || other.Sequence != 4 {
		t.Fatalf("beside it is %+v, %v", other, err)
	}
	// The same call by another way is found although another process has taken it in.
	joined, err := w.Ask(t.Context(), w.agent, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"ps"}`), Explicit: true, Join: true})
	if err != nil || joined.ID != other.ID {
		t.Errorf("it is another request: %+v, %v", joined, err)
	}
	if n := w.sequenceOf(t, w.ask(t, plain)); n != 5 {
		t.Errorf("the next one has the place %d", n)
	}
	undone := fmt.Errorf("undone")
	err = w.write(t.Context(), func(t *tx) error {
		if _, _, err := t.take(other.ConversationID, 1); err != nil {
			return err
		}
		return undone
	})
	if err == nil {
		t.Fatal("it is not undone")
	}
	if n := w.sequenceOf(t, w.ask(t, plain)); n != 6 {
		t.Errorf("after what was undone the next one has the place %d", n)
	}
	if _, err := beside.ChangeBudget(t.Context(), w.owner, other.ConversationID, models.BudgetChange{Set: new(int64(6))}, ""); err != nil {
		t.Fatal(err)
	}
	_, err = w.Ask(t.Context(), w.agent, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"w"}`), Explicit: true, Energy: new(int64(100))})
	if models.ErrorCode(err) != models.CodeBudgetExhausted {
		t.Errorf("a budget of another process is passed: %v", err)
	}
}

// A place is taken by what is stored: memory that was wrong would be found out.
func TestI14AStaleMemoryTakesNoPlace(t *testing.T) {
	t.Parallel()
	w := newRememberingWorld(t)
	first := w.ask(t, plain)
	for _, c := range w.known.pending.courses {
		c.next = 1
	}
	if n := w.sequenceOf(t, w.ask(t, plain)); n != 2 {
		t.Errorf("the second request has the place %d, the first %d", n, w.sequenceOf(t, first))
	}
}

// What comes into an inbox later leaves it with the outcome.
func TestInboxesOfThoseAskedLaterAreCleared(t *testing.T) {
	t.Parallel()
	w := newRememberingWorld(t)
	bo, err := w.People.AddUser(t.Context(), models.Operator("test"), people.NewUser{Email: "bo@example.com", Name: "Bo", Role: models.RoleReviewer, Password: "a correct horse battery"})
	if err != nil {
		t.Fatal(err)
	}
	id := w.ask(t, plain)
	err = w.write(t.Context(), func(t *tx) error {
		a, err := t.existing(id)
		if err != nil {
			return err
		}
		return t.addDeciders(&a.Response, []models.UserID{bo.ID})
	})
	if err != nil {
		t.Fatal(err)
	}
	w.decide(t, id)
	var left int
	if err := w.db.Reads().QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM deciders) + (SELECT count(*) FROM reviewers WHERE settled_at IS NULL)`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d are left, %v", left, err)
	}
}

func TestLittleIsKnownOfMuchThatWaits(t *testing.T) {
	t.Parallel()
	w := newRememberingWorld(t)
	for i := range maxReadDigests + 1 {
		w.ask(t, plain, func(in *models.AskInput) { in.Input = fmt.Appendf(nil, `{"command":"%d"}`, i) })
	}
	if known := w.known.pending.digests; known != maxReadDigests+1 {
		t.Errorf("%d are known", known)
	}
	if err := statement(`PRAGMA optimize`)(w, ""); err != nil {
		t.Fatal(err)
	}
	again := w.ask(t, plain, func(in *models.AskInput) { in.Input, in.Join = []byte(`{"command":"7"}`), true })
	if n := w.sequenceOf(t, again); n != 8 {
		t.Errorf("it joins the request with the place %d", n)
	}
	if of, read := w.known.pending.waiting[w.agent.AgentID()]; !read || of != nil {
		t.Errorf("known are %v, %v", of, read)
	}
	p := &w.known.pending
	p.waiting[w.agent.AgentID()] = digests{}
	p.digests = maxKnownDigests
	w.ask(t, plain)
	if len(p.waiting) != 0 || p.digests != 0 {
		t.Errorf("%d agents and %d requests are known, above the bound", len(p.waiting), p.digests)
	}
}

// Statements that leave what waits as it is are named in pendingKnown.changes: none of them
// may set a column on which it rests.
func TestWhatIsSaidToLeaveWhatWaitsDoesSo(t *testing.T) {
	t.Parallel()
	h := new(hotWriting)
	fill(h)
	for place, text := range h.texts() {
		p := new(pendingKnown)
		p.forget()
		p.courses["c"] = &course{}
		p.changes(h, *place, changeOf(text), nil)
		set, _, update := strings.Cut(text, "WHERE ")
		if len(p.courses) == 0 || !update || !strings.HasPrefix(text, "UPDATE ") {
			continue
		}
		switch place {
		case &h.settle, &h.settleHeld, &h.expire, &h.takeSequence, &h.nextSequence, &h.nextOfRest: // they tell
			continue
		}
		for _, column := range []string{"approval_status", "approval_timeout_at", "conversation_id", "agent_id", "digest", "upstream_id", "status", "next_sequence", "title", "standing"} {
			if strings.Contains(set, " "+column+" = ") && strings.HasPrefix(set, "UPDATE responses") || strings.HasPrefix(set, "UPDATE conversations") && strings.Contains(set, " "+column+" = ") {
				t.Errorf("it sets %s, and what waits is still known: %s", column, text)
			}
		}
	}
}

// fill gives each statement a place of its own, unprepared.
func fill(h *hotWriting) {
	for place := range h.texts() {
		*place = new(db.Stmt)
	}
}

// changeOf is what the kernel tells of a statement.
func changeOf(text string) db.Change {
	words := strings.Fields(strings.NewReplacer("OR IGNORE ", "", "INTO ", "", "FROM ", "").Replace(text))
	return db.Change{Table: words[1], New: words[0] == "INSERT"}
}

// The statements of an ask and its decision make no table in memory: with a list of values in
// a CHECK, a trigger or themselves, or with RETURNING, SQLite would for each row.
func TestHotStatementsMakeNoTables(t *testing.T) {
	t.Parallel()
	w := newRememberingWorld(t)
	h := new(hotWriting)
	texts := h.texts()
	hot := []**db.Stmt{
		&h.takeSequence, &h.touch, &h.addResponse, &h.addWholeResponse, &h.addDecider, &h.addReviewer, &h.addVote, &h.addWholeVote, &h.settle, &h.hold, &h.settleHeld, &h.expire, &h.dropDecider,
	}
	all := []string{db.InsertionOf(nil, ledger.EntryRow).Full()}
	for _, place := range hot {
		all = append(all, texts[place])
	}
	for _, text := range all {
		if n := w.tablesMade(t, text); n > 0 {
			t.Errorf("%d tables in memory: %s", n, text)
		}
	}
	if w.tablesMade(t, texts[&h.nextSequence]) == 0 {
		t.Error("RETURNING makes no table: this test sees none")
	}
}

// tablesMade counts the tables in memory that the program of a statement makes.
func (w *rememberingWorld) tablesMade(t *testing.T, text string) (n int) {
	t.Helper()
	rows, err := w.db.Reads().QueryContext(t.Context(), `EXPLAIN `+text, blanks(text)...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	steps, row := 0, make([]any, len(columns))
	for i := range row {
		row[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(row...); err != nil {
			t.Fatal(err)
		}
		steps++
		if op := *row[1].(*any); op == "OpenEphemeral" || op == "OpenAutoindex" { //nolint:forcetypeassert // see above
			n++
		}
	}
	if err := rows.Err(); err != nil || steps == 0 {
		t.Errorf("%d steps, %v: %s", steps, err, text)
	}
	return n
}
