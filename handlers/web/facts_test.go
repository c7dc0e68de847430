package web_test

import (
	"encoding/csv"
	stdjson "encoding/json"
	"net/http"
	"strings"
	"testing"

	"countersign/models"
)

// TestACallThatFailedIsNotToldAsDone: what a page says of a call after its outcome is
// what its agent reported, in the outcome and among the calls before.
func TestACallThatFailedIsNotToldAsDone(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	id := o.run(models.RunInput{RunID: "r"}, queued("u1", "Bash", `{"command":"one"}`), queued("u2", "Bash", `{"command":"two"}`), queued("u3", "Bash", `{"command":"three"}`))
	calls := map[string]models.ResponseID{}
	for use, command := range map[string]string{"u1": "one", "u2": "two", "u3": "three"} {
		a := o.ask(toolCall("Bash", `{"command":"`+command+`"}`), func(in *models.AskInput) { in.RunID, in.ToolUseID = "r", use })
		o.decides(a, true, "")
		calls[use] = a.ID
	}
	failed := gave("u1", "exit status 1")
	failed.IsError = true
	o.report(id, failed, gave("u2", "fine"))
	o.report(id, models.RunEvent{Type: models.RunEventStatus, ID: "end", Status: models.ConversationCompleted})

	p := o.signedIn(ownerEmail)
	for use, want := range map[string]string{"u1": "Result failed", "u2": "Result done", "u3": "Result no result reported"} {
		p.get("/approvals/"+string(calls[use])).is(http.StatusOK).says(".outcome", want)
	}
	next := o.ask(toolCall("Bash", `{"command":"four"}`))
	before := p.get("/approvals/" + string(next.ID)).is(http.StatusOK).text(".earlier")
	for _, want := range []string{"failed", "done", "no result reported"} {
		if strings.Count(before, want) != 1 {
			t.Errorf("the calls before are told as %q, want %q once", before, want)
		}
	}
}

// TestAnExportTellsTheAnswer that a person gave, in words or by an option.
func TestAnExportTellsTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, in := range []models.DecisionInput{{Answer: new("Both, Europe first.")}, {Option: new("eu")}} {
		a := w.ask(question)
		in.Digest = a.Digest
		if _, err := w.store.Decide(t.Context(), w.owner, a.ID, in); err != nil {
			t.Fatal(err)
		}
	}
	p := w.signedIn(ownerEmail)
	var got []string
	for line := range strings.Lines(p.get("/history/export?format=jsonl").is(http.StatusOK).body) {
		var row struct{ Answer string }
		if err := stdjson.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		got = append(got, row.Answer)
	}
	if want := "eu|Both, Europe first."; strings.Join(got, "|") != want {
		t.Errorf("the answers in JSON Lines are %q, want %q", got, want)
	}
	rows, err := csv.NewReader(strings.NewReader(p.get("/history/export?format=csv").is(http.StatusOK).body)).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][10] != "answer" || rows[1][10] != "eu" || rows[2][10] != "Both, Europe first." {
		t.Errorf("the answers in CSV: %q, %v", rows, err)
	}
}
