package store

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
	"countersign/models/ledger"
	"countersign/models/people"
)

// besideWorld is an agent and its owner.
type besideWorld struct {
	*Store

	agent, owner models.Actor
}

func newBesideWorld(t *testing.T) *besideWorld {
	t.Helper()
	w := &besideWorld{}
	w.Store, w.agent, w.owner = openWithAgent(t, Options{})
	return w
}

// beside is another process with the same file.
func (w *besideWorld) beside(t *testing.T) *Store {
	t.Helper()
	return openTemp(t, Options{Dir: filepath.Dir(w.Path()), Log: slog.New(slog.DiscardHandler)})
}

func (w *besideWorld) ask(t *testing.T, change ...func(*models.AskInput)) models.ResponseID {
	t.Helper()
	in := models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"ls"}`), Explicit: true, Explanation: models.Explanation{Description: "look", Context: "around"}, ToolUseID: string(models.NewID[models.ResponseID]())}
	for _, c := range change {
		c(&in)
	}
	a, err := w.Ask(t.Context(), w.agent, in)
	if err != nil {
		t.Fatal(err)
	}
	return a.ID
}

func (w *besideWorld) decide(t *testing.T, id models.ResponseID) {
	t.Helper()
	a, err := w.Decide(t.Context(), w.owner, id, models.DecisionInput{Approved: new(true), Reason: "well"})
	if err != nil || a.Status() != models.StatusApproved {
		t.Fatalf("it is %+v, %v", a, err)
	}
}

// plain is a call without a key, in the agent's standing conversation.
func plain(in *models.AskInput) { in.ToolUseID, in.Description, in.Context = "", "", "" }

func (w *besideWorld) sequenceOf(t *testing.T, id models.ResponseID) int64 {
	t.Helper()
	a, err := w.Requests.ReadApproval(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return a.Sequence
}

// A response whose approval does not begin as it may is not stored.
func TestI1AResponseIsStoredOnlyAsItMayBegin(t *testing.T) {
	t.Parallel()
	w := newBesideWorld(t)
	asked, err := w.Requests.ReadApproval(t.Context(), w.ask(t))
	if err != nil {
		t.Fatal(err)
	}
	made := models.NewID[models.ResponseID]()
	err = w.write(t.Context(), func(t *Tx) error {
		r := asked.Response
		r.ID, r.Sequence, r.ToolUseID, r.ApprovalStatus = made, 99, nil, new(models.StatusApproved)
		return t.addResponse(&r)
	})
	if err == nil || !strings.Contains(err.Error(), "begins") {
		t.Errorf("it is taken: %v", err)
	}
	if _, err := w.Requests.ReadApproval(t.Context(), made); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("it is stored: %v", err)
	}
}

// A decision that another process has made is what the next one is told.
func TestADecisionElsewhereIsNotOverlooked(t *testing.T) {
	t.Parallel()
	w := newBesideWorld(t)
	id, beside := w.ask(t), w.beside(t)
	if _, err := beside.Decide(t.Context(), w.owner, id, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	if a, err := w.Requests.Approval(t.Context(), w.agent, id); err != nil || a.Status() != models.StatusRejected {
		t.Errorf("read at once it is %v, %v", a, err)
	}
	if _, err := w.Decide(t.Context(), w.owner, id, models.DecisionInput{Approved: new(true)}); models.ErrorCode(err) != models.CodeAlreadyDecided {
		t.Errorf("it is decided again: %v", err)
	}
}

// Whoever takes a place in between, in this process or another, or gives one back: the next
// request has the place behind the last (I14 and the order of a conversation).
func TestI14PlacesAndEnergyFollowWhoeverElseWrites(t *testing.T) {
	t.Parallel()
	w := newBesideWorld(t)
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
	err = w.write(t.Context(), func(t *Tx) error {
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

// What comes into an inbox later leaves it with the outcome.
func TestInboxesOfThoseAskedLaterAreCleared(t *testing.T) {
	t.Parallel()
	w := newBesideWorld(t)
	bo, err := w.People.AddUser(t.Context(), models.Operator("test"), people.NewUser{Email: "bo@example.com", Name: "Bo", Role: models.RoleReviewer, Password: "a correct horse battery"})
	if err != nil {
		t.Fatal(err)
	}
	id := w.ask(t, plain)
	err = w.write(t.Context(), func(t *Tx) error {
		a, err := t.Request(id)
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

// The statements of an ask and its decision make no table in memory: with a list of values in
// a CHECK, a trigger or themselves SQLite would for each row. Those that take a place do,
// with RETURNING.
func TestHotStatementsMakeNoTables(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, "its programs are read")
	w := newBesideWorld(t)
	h := new(hotWriting)
	texts := h.texts()
	hot := []**db.Stmt{
		&h.touch, &h.addResponse, &h.addWholeResponse, &h.addDecider, &h.addReviewer, &h.addVote, &h.addWholeVote, &h.settle, &h.hold, &h.settleHeld, &h.expire, &h.dropDecider,
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
func (w *besideWorld) tablesMade(t *testing.T, text string) (n int) {
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
