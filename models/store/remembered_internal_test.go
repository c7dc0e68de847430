package store

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/people"
)

// rememberedChecks counts what was remembered and compared with the database.
var rememberedChecks atomic.Int64

// Every test of this folder: what is remembered is what is stored.
func init() { //nolint:gochecknoinits // it must stand before the first test
	checkRemembered = func(remembered, read *models.Approval) {
		rememberedChecks.Add(1)
		if got, want := asText(remembered), asText(read); got != want {
			panic(fmt.Sprintf("remembered:\n%s\nstored:\n%s", got, want))
		}
	}
}

func asText(a *models.Approval) string {
	raw, err := json.Marshal(a, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// rememberingWorld is an agent and its owner.
type rememberingWorld struct {
	*Store

	agent, owner models.Actor
}

func newRememberingWorld(t *testing.T) *rememberingWorld {
	t.Helper()
	w := &rememberingWorld{}
	w.Store, w.agent, w.owner = openWithAgent(t, Options{})
	return w
}

// beside is another process with the same file.
func (w *rememberingWorld) beside(t *testing.T) *Store {
	t.Helper()
	return openTemp(t, Options{Dir: filepath.Dir(w.Path()), Log: slog.New(slog.DiscardHandler)})
}

func (w *rememberingWorld) ask(t *testing.T, change ...func(*models.AskInput)) models.ResponseID {
	t.Helper()
	in := models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"ls"}`), Explicit: true, Description: "look", Context: "around", ToolUseID: string(models.NewID[models.ResponseID]())}
	for _, c := range change {
		c(&in)
	}
	a, err := w.Ask(t.Context(), w.agent, in)
	if err != nil {
		t.Fatal(err)
	}
	return a.ID
}

func (w *rememberingWorld) decide(t *testing.T, id models.ResponseID) {
	t.Helper()
	a, err := w.Decide(t.Context(), w.owner, id, models.DecisionInput{Approved: new(true), Reason: "well"})
	if err != nil || a.Status() != models.StatusApproved {
		t.Fatalf("it is %+v, %v", a, err)
	}
}

func TestARequestIsRememberedUntilItIsDecided(t *testing.T) {
	t.Parallel()
	w := newRememberingWorld(t)
	for name, change := range map[string]func(*models.AskInput){
		"a call":   func(*models.AskInput) {},
		"of a run": func(in *models.AskInput) { in.RunID = "run" },
		"a question": func(in *models.AskInput) {
			in.Kind, in.ToolName, in.Input, in.Description = models.KindQuestion, "", nil, "which?"
		},
		"with a deadline, a cost and a time": func(in *models.AskInput) {
			in.TimeoutSeconds, in.Energy, in.ClaimedAt, in.JobID = new(int64(60)), new(int64(3)), "2026-01-02T03:04:05Z", "job"
			in.Preview = "this will happen"
		},
	} {
		id := w.ask(t, change)
		remembered := w.remembered.get(id)
		stored, err := w.readApproval(t.Context(), id)
		if err != nil || remembered == nil {
			t.Fatalf("%s: remembered is %v, %v", name, remembered, err)
		}
		if got, want := asText(remembered), asText(stored); got != want {
			t.Errorf("%s: remembered is\n%s\nstored\n%s", name, got, want)
		}
		before := rememberedChecks.Load()
		in := models.DecisionInput{Approved: new(true)}
		if remembered.Kind == models.KindQuestion {
			in = models.DecisionInput{Answer: new("that one")}
		}
		if _, err := w.Decide(t.Context(), w.owner, id, in); err != nil {
			t.Fatal(err)
		}
		if rememberedChecks.Load() == before {
			t.Errorf("%s: the decision read the row", name)
		}
		if w.remembered.get(id) != nil {
			t.Errorf("%s: it is remembered after the decision", name)
		}
	}
}

func TestWhatMayHaveChangedIsNotRemembered(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *rememberingWorld, id models.ResponseID) error{
		"a question about it": func(w *rememberingWorld, id models.ResponseID) error {
			_, err := w.AskBack(t.Context(), w.owner, id, "why?")
			return err
		},
		"a later deadline": func(w *rememberingWorld, id models.ResponseID) error {
			_, err := w.Extend(t.Context(), w.owner, id, w.Now().Add(2*time.Hour))
			return err
		},
		"a cancel": func(w *rememberingWorld, id models.ResponseID) error {
			_, err := w.Cancel(t.Context(), w.agent, id)
			return err
		},
		"a user's name":         statement(`UPDATE users SET name = 'Eve'`),
		"an agent's name":       statement(`UPDATE agents SET name = 'eve'`),
		"a conversation's name": statement(`UPDATE conversations SET title = 'eve'`),
		"any other statement":   statement(`PRAGMA optimize`),
		"what GORM writes": func(w *rememberingWorld, id models.ResponseID) error {
			return w.write(t.Context(), func(t *tx) error {
				return t.Gorm().Model(&models.Response{}).Where("id = ?", id).Update("job_id", "j").Error
			})
		},
		"a batch that is rolled back": func(w *rememberingWorld, _ models.ResponseID) error {
			err := w.write(t.Context(), func(t *tx) error {
				_, _ = t.Exec(t.s.hot.addDecider, "nobody", t.Now, "nothing")
				return fmt.Errorf("no")
			})
			if err == nil {
				return fmt.Errorf("it was not refused")
			}
			return nil
		},
		"another process": func(w *rememberingWorld, _ models.ResponseID) error {
			beside := w.beside(t)
			if _, err := beside.People.AddUser(t.Context(), models.Operator("beside"), people.NewUser{Email: "bo@example.com", Name: "Bo", Role: models.RoleReviewer, Password: "a correct horse battery"}); err != nil {
				return err
			}
			return w.CheckOutside(t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRememberingWorld(t)
			id := w.ask(t, func(in *models.AskInput) { in.TimeoutSeconds = new(int64(600)) })
			if w.remembered.get(id) == nil {
				t.Fatal("it is not remembered")
			}
			if err := change(w, id); err != nil {
				t.Fatal(err)
			}
			if w.remembered.get(id) != nil {
				t.Error("it is still remembered")
			}
		})
	}
}

func statement(text string) func(*rememberingWorld, models.ResponseID) error {
	return func(w *rememberingWorld, _ models.ResponseID) error {
		return w.write(context.Background(), func(t *tx) error { return t.Gorm().Exec(text).Error })
	}
}

// What leaves a row as it is does not forget it: else the next decision would read it.
func TestOtherRowsAreRemembered(t *testing.T) {
	t.Parallel()
	w := newRememberingWorld(t)
	id := w.ask(t)
	w.decide(t, w.ask(t, func(in *models.AskInput) { in.RunID = "other" }))
	w.ask(t)
	if w.remembered.get(id) == nil {
		t.Error("it was forgotten when another was decided")
	}
	long := w.ask(t, func(in *models.AskInput) { in.Context = strings.Repeat("long ", maxRememberedText/4) })
	if w.remembered.get(long) != nil {
		t.Error("a long one is remembered")
	}
	w.decide(t, long)
}

func TestFewRowsAreRemembered(t *testing.T) {
	t.Parallel()
	m := new(remembered)
	m.forget()
	ids := make([]models.ResponseID, maxRemembered+1)
	for i := range ids {
		ids[i] = models.NewID[models.ResponseID]()
		m.fresh = append(m.fresh, &models.Approval{Response: models.Response{ID: ids[i]}})
		m.committed()
	}
	if len(m.rows) != maxRemembered || m.get(ids[0]) != nil || m.get(ids[1]) == nil {
		t.Errorf("%d are remembered, the oldest: %v", len(m.rows), m.get(ids[0]))
	}
}

// A response whose approval does not begin as it may is not stored.
func TestI1AResponseIsStoredOnlyAsItMayBegin(t *testing.T) {
	t.Parallel()
	w := newRememberingWorld(t)
	asked, err := w.readApproval(t.Context(), w.ask(t))
	if err != nil {
		t.Fatal(err)
	}
	made := models.NewID[models.ResponseID]()
	err = w.write(t.Context(), func(t *tx) error {
		r := asked.Response
		r.ID, r.Sequence, r.ToolUseID, r.ApprovalStatus = made, 99, nil, new(models.StatusApproved)
		return t.addResponse(&r)
	})
	if err == nil || !strings.Contains(err.Error(), "begins") {
		t.Errorf("it is taken: %v", err)
	}
	if _, err := w.readApproval(t.Context(), made); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("it is stored: %v", err)
	}
}

// A decision that another process has made is what the next one is told.
func TestADecisionElsewhereIsNotOverlooked(t *testing.T) {
	t.Parallel()
	w := newRememberingWorld(t)
	id, beside := w.ask(t), w.beside(t)
	if _, err := beside.Decide(t.Context(), w.owner, id, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	if a, err := w.Approval(t.Context(), w.agent, id); err != nil || a.Status() != models.StatusRejected {
		t.Errorf("read at once it is %v, %v", a, err)
	}
	if _, err := w.Decide(t.Context(), w.owner, id, models.DecisionInput{Approved: new(true)}); models.ErrorCode(err) != models.CodeAlreadyDecided {
		t.Errorf("it is decided again: %v", err)
	}
}

// Which row a prepared statement changes is told by its argument: so each names one
// response, and it changes no other.
func TestPreparedStatementsChangeTheRowTheyName(t *testing.T) {
	t.Parallel()
	h := new(hotWriting)
	beside := map[**db.Stmt]bool{&h.nextSequence: true, &h.nextOfRest: true, &h.takeSequence: true, &h.touch: true}
	columns := regexp.MustCompile(`(\w+) = `)
	for place, text := range h.texts() {
		set, where, update := strings.Cut(text, "WHERE ")
		switch {
		case !strings.HasPrefix(text, "UPDATE "):
		case beside[place]:
			for _, column := range columns.FindAllStringSubmatch(set, -1) {
				if !slices.Contains([]string{"next_sequence", "energy_used", "updated_at", "active_at"}, column[1]) {
					t.Errorf("an approval has the column %s, perhaps: %s", column[1], text)
				}
			}
		case strings.HasPrefix(text, "UPDATE responses ") && (!update || !regexp.MustCompile(`^id = \?`).MatchString(where)):
			t.Errorf("it is not said which row this changes: %s", text)
		}
	}
}
