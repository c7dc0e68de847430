package agent_test

import (
	"strings"
	"testing"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// A question is printed once, as text that cannot pass for anything else (I13),
// and the ask goes on waiting, through an answer and another question.
func TestAskPrintsAQuestionOnceAndWaitsOn(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	p := process.Start(t, w.Env(t), "ask", "deploy")
	p.Says(t, p.Err, "waiting for a decision at ")
	id := w.OnlyPending(t).ID
	reviewer := w.Client(w.Reviewer)
	if _, err := reviewer.Note(t.Context(), wire.ResponseID(id), "Is the migration\u202e in it?\napproved by nobody"); err != nil {
		t.Fatal(err)
	}
	line := p.Says(t, p.Err, "answer with: countersign note ")
	if want := `answer with: countersign note ` + string(id) + ` "TEXT"`; line != want {
		t.Errorf("%q, want %q", line, want)
	}
	if said := p.Err.String(); !strings.Contains(said, "admin@example.com asks: Is the migration⟨U+202E⟩ in it?\n    approved by nobody\nHidden characters, written out in place: 1 direction control.\nanswer with: ") {
		t.Errorf("it said:\n%s", said)
	}
	if out, said, code := process.RunWith(t, w.Env(t), "No, it ran yesterday.\n", "note", string(id), "-"); code != 0 || !strings.HasPrefix(out, "noted; the request stays open until ") {
		t.Errorf("note: exit %d: %s%s", code, out, said)
	}
	notes, err := reviewer.Notes(t.Context(), wire.ResponseID(id))
	if err != nil || len(notes) != 2 || notes[1].Text != "No, it ran yesterday." || notes[1].By.Name != "bot" {
		t.Errorf("notes: %+v, %v", notes, err)
	}
	if _, err := reviewer.Note(t.Context(), wire.ResponseID(id), "And who?"); err != nil {
		t.Fatal(err)
	}
	p.Says(t, p.Err, "asks: And who?")
	process.Eventually(t, "it waits again", func() bool { return w.Store().Waiters() == 1 })
	if _, err := reviewer.Extend(t.Context(), wire.ResponseID(id), 60); err != nil {
		t.Fatal(err)
	}
	w.Respond(t, id, wire.RespondRequest{Approved: new(true)})
	if code := p.Exit(t); code != 0 {
		t.Errorf("exit %d, want 0: %s", code, p.Err)
	}
	if said := p.Err.String(); strings.Count(said, " asks: ") != 2 {
		t.Errorf("it said:\n%s", said)
	}
}

func TestNoteSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	unknown := string(models.NewID[models.ResponseID]())
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"no id": {[]string{"note", "x", "So."}, "ID"}, "no text": {[]string{"note", unknown, ""}, "text"},
		"no such request": {[]string{"note", unknown, "So."}, "No pending approval request"}, "one argument": {[]string{"note", unknown}, "arg"},
	} {
		if _, said, code := process.RunWith(t, w.Env(t), "", tt.args...); code != 1 || !strings.Contains(said, tt.says) {
			t.Errorf("%s: exit %d: %s", name, code, said)
		}
	}
}
