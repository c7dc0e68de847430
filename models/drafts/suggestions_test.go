package drafts_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/suggest"
)

// TestHistorySuggestsARule: what people decided of real requests becomes a suggestion, which is dismissed with a note and
// offered again; a later rejection takes it away.
func TestHistorySuggestsARule(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	d := drafts.New(s)
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "planner")
	ask := func(input string) *models.Approval {
		t.Helper()
		a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "Read", Input: []byte(input), Explicit: true})
		storetest.Must(t, err)
		clock.Step(4 * time.Second)
		return a
	}
	decide := func(input string, in models.DecisionInput) {
		t.Helper()
		a := ask(input)
		in.Digest, in.Page = a.Digest, models.NoPage
		_, err := s.Decide(t.Context(), admin, a.ID, in)
		storetest.Must(t, err)
	}
	yes, no := models.DecisionInput{Approved: new(true)}, models.DecisionInput{Approved: new(false), Reason: "Not that one."}
	decide(`{"file_path":"/srv/app/early"}`, no) // more than 90 days ago
	clock.Step(91 * 24 * time.Hour)
	for i := range suggest.MinCalls {
		decide(fmt.Sprintf(`{"file_path":"/srv/app/f%d"}`, i), yes)
	}
	decide(`{"file_path":"/etc/passwd"}`, no)
	ask(`{"file_path":"/srv/app/waits"}`)

	found, err := d.Suggestions(t.Context(), admin)
	storetest.Must(t, err)
	if len(found.Found) != 1 || found.Calls != suggest.MinCalls+2 || found.Cut || found.Since.IsZero() {
		t.Fatalf("%+v", found)
	}
	one := found.Found[0]
	want := suggest.Rest{Rejected: 1}
	if one.Kind != suggest.Allow || one.Calls != suggest.MinCalls || one.Open != 1 || one.Half != 4*time.Second || one.People != 1 ||
		one.Holds != policy.RuleExplicit || one.Rest != want || one.Terms[0].Values[0] != "/srv/app" {
		t.Errorf("%+v", one)
	}

	if err := d.Dismiss(t.Context(), admin, one.Key, " "); models.ErrorCode(err) != models.CodeInvalid {
		t.Errorf("without a note: %v", err)
	}
	if err := d.Dismiss(t.Context(), admin, "other", "no"); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("another key: %v", err)
	}
	storetest.Must(t, d.Dismiss(t.Context(), admin, one.Key, "We want to see reads."))
	decide(`{"file_path":"/srv/app/later"}`, yes) // another call makes the same suggestion
	found, err = d.Suggestions(t.Context(), admin)
	storetest.Must(t, err)
	if len(found.Found) != 0 || len(found.Dismissals) != 1 || found.Dismissals[0].By.Note != "We want to see reads." || found.Dismissals[0].By.ByName != admin.Name {
		t.Fatalf("%+v", found)
	}
	if _, err := d.Suggestion(t.Context(), admin, one.Key); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("a dismissed one: %v", err)
	}
	storetest.Must(t, d.Reoffer(t.Context(), admin, one.Key))
	storetest.Must(t, d.Reoffer(t.Context(), admin, one.Key))
	if again, err := d.Suggestion(t.Context(), admin, one.Key); err != nil || again.Calls != suggest.MinCalls+1 {
		t.Fatalf("%+v %v", again, err)
	}
	decide(`{"file_path":"/srv/app/f3"}`, no)
	if _, err := d.Suggestion(t.Context(), admin, one.Key); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("after a rejection: %v", err)
	}
}

// TestWhatWasEditedOrAskedAboutIsNotSuggested, nor what contents were removed of, nor what an agent asked until it was stopped.
func TestWhatWasEditedOrAskedAboutIsNotSuggested(t *testing.T) {
	t.Parallel()
	for name, otherwise := range map[string]func(t *testing.T, w *suggested){
		"edited": func(t *testing.T, w *suggested) {
			t.Helper()
			a := w.ask(t)
			_, err := w.s.Decide(t.Context(), w.admin, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest, Page: models.NoPage, Input: []byte(`{"to":"b"}`)})
			storetest.Must(t, err)
		},
		"asked about": func(t *testing.T, w *suggested) {
			t.Helper()
			a := w.ask(t)
			storetest.Must(t, storetest.Err(w.s.AskBack(t.Context(), w.admin, a.ID, "Why?")))
			w.approve(t, a)
		},
		"stopped": func(t *testing.T, w *suggested) {
			t.Helper()
			w.ask(t)
			_, n, err := w.s.Stop(t.Context(), w.admin, w.agent.AgentID(), "It went wrong.")
			storetest.Must(t, err)
			if n != 1 {
				t.Errorf("%d requests were cancelled", n)
			}
		},
		"removed": func(t *testing.T, w *suggested) {
			t.Helper()
			w.clock.Step(time.Hour)
			storetest.Purge(t, w.s, models.PurgeQuery{Before: w.s.Now()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSuggested(t)
			for range suggest.MinCalls {
				w.approve(t, w.ask(t))
			}
			if found, err := w.d.Suggestions(t.Context(), w.admin); err != nil || len(found.Found) != 1 {
				t.Fatalf("before: %+v %v", found, err)
			}
			otherwise(t, w)
			if found, err := w.d.Suggestions(t.Context(), w.admin); err != nil || len(found.Found) != 0 {
				t.Errorf("%+v %v", found, err)
			}
		})
	}
}

// suggested is an agent that asks the same again and again.
type suggested struct {
	s     *store.Store
	d     *drafts.Drafts
	clock *storetest.Clock
	admin models.Actor
	agent models.Actor
}

func newSuggested(t *testing.T) *suggested {
	t.Helper()
	w := &suggested{clock: storetest.NewClock()}
	w.s = storetest.New(t, storetest.WithClock(w.clock))
	w.d, w.admin = drafts.New(w.s), storetest.Admin(t, w.s)
	w.agent, _ = storetest.AgentToken(t, w.s, w.admin, "builder")
	return w
}

func (w *suggested) ask(t *testing.T) *models.Approval {
	t.Helper()
	a, err := w.s.Ask(t.Context(), w.agent, models.AskInput{ToolName: "deploy", Input: []byte(`{"to":"a"}`), Explicit: true, AcceptsEdits: true})
	storetest.Must(t, err)
	w.clock.Step(time.Second)
	return a
}

func (w *suggested) approve(t *testing.T, a *models.Approval) {
	t.Helper()
	storetest.Must(t, storetest.Err(w.s.Decide(t.Context(), w.admin, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest, Page: models.NoPage})))
}

// TestAnOlderRejectionCounts: of more calls than are read, those that were rejected are looked up.
func TestAnOlderRejectionCounts(t *testing.T) {
	t.Parallel()
	w := newSuggested(t)
	a := w.ask(t)
	storetest.Must(t, storetest.Err(w.s.Decide(t.Context(), w.admin, a.ID, models.DecisionInput{Approved: new(false), Reason: "No.", Digest: a.Digest, Page: models.NoPage})))
	for range suggest.MinCalls {
		w.approve(t, w.ask(t))
	}
	for _, c := range []struct{ calls, rejections, found int }{{100, 100, 0}, {suggest.MinCalls, 100, 0}, {suggest.MinCalls, 1, 0}} {
		found, err := w.d.SuggestionsOf(t.Context(), w.admin, c.calls, c.rejections)
		storetest.Must(t, err)
		if len(found.Found) != c.found || found.Cut != (c.calls == suggest.MinCalls) {
			t.Errorf("%+v: %+v", c, found)
		}
	}
	w.clock.Step(89*24*time.Hour + 23*time.Hour + 59*time.Minute + 40*time.Second) // the rejection is older than 90 days
	found, err := w.d.SuggestionsOf(t.Context(), w.admin, suggest.MinCalls, 100)
	storetest.Must(t, err)
	if len(found.Found) != 1 || found.Cut {
		t.Errorf("%+v", found)
	}
}
