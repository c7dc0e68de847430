package audit_test

import (
	"encoding/csv"
	stdjson "encoding/json"
	"net/http"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// TestACallThatFailedIsNotToldAsDone: what a page says of a call after its outcome is
// what its agent reported, in the outcome and among the calls before.
func TestACallThatFailedIsNotToldAsDone(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	id := o.Run(models.RunInput{RunID: "r"}, webtest.Queued("u1", "Bash", `{"command":"one"}`), webtest.Queued("u2", "Bash", `{"command":"two"}`), webtest.Queued("u3", "Bash", `{"command":"three"}`))
	calls := map[string]models.ResponseID{}
	for use, command := range map[string]string{"u1": "one", "u2": "two", "u3": "three"} {
		a := o.Ask(webtest.ToolCall("Bash", `{"command":"`+command+`"}`), func(in *models.AskInput) { in.RunID, in.ToolUseID = "r", use })
		o.Decides(a, true, "")
		calls[use] = a.ID
	}
	failed := webtest.Gave("u1", "exit status 1")
	failed.IsError = true
	o.Report(id, failed, webtest.Gave("u2", "fine"))
	o.Report(id, models.RunEvent{Type: models.RunEventStatus, ID: "end", Status: models.ConversationCompleted})

	p := o.SignIn(webtest.OwnerEmail)
	for use, want := range map[string]string{"u1": "Result failed", "u2": "Result done", "u3": "Result no result reported"} {
		p.Get("/approvals/"+string(calls[use])).Is(http.StatusOK).Says(".outcome", want)
	}
	next := o.Ask(webtest.ToolCall("Bash", `{"command":"four"}`))
	before := p.Get("/approvals/" + string(next.ID)).Is(http.StatusOK).Text(".earlier")
	for _, want := range []string{"failed", "done", "no result reported"} {
		if strings.Count(before, want) != 1 {
			t.Errorf("the calls before are told as %q, want %q once", before, want)
		}
	}
}

// TestAnExportTellsTheAnswer that a person gave, in words or by an option.
func TestAnExportTellsTheAnswer(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for _, in := range []models.DecisionInput{{Answer: new("Both, Europe first.")}, {Option: new("eu")}} {
		a := w.Ask(webtest.Question)
		in.Digest = a.Digest
		if _, err := w.Store.Decide(t.Context(), w.Owner, a.ID, in); err != nil {
			t.Fatal(err)
		}
	}
	p := w.SignIn(webtest.OwnerEmail)
	var got []string
	for line := range strings.Lines(p.Get("/history/export?format=jsonl").Is(http.StatusOK).Body) {
		var row struct{ Answer string }
		if err := stdjson.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		got = append(got, row.Answer)
	}
	if want := "eu|Both, Europe first."; strings.Join(got, "|") != want {
		t.Errorf("the answers in JSON Lines are %q, want %q", got, want)
	}
	rows, err := csv.NewReader(strings.NewReader(p.Get("/history/export?format=csv").Is(http.StatusOK).Body)).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][10] != "answer" || rows[1][10] != "eu" || rows[2][10] != "Both, Europe first." {
		t.Errorf("the answers in CSV: %q, %v", rows, err)
	}
}
