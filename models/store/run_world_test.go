package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// trace is a run of the owner's agent, which reports what it does.
type trace struct {
	*bench

	conv models.ConversationID
}

func newTrace(t *testing.T, onReject string, opts ...storetest.Option) *trace {
	t.Helper()
	return newBench(t, opts...).open(t, models.RunInput{RunID: "run", OnReject: onReject})
}

func (b *bench) open(t *testing.T, in models.RunInput) *trace {
	t.Helper()
	conv, _, err := b.OpenRun(t.Context(), b.Agent, in)
	if err != nil {
		t.Fatalf("open run: %v", err)
	}
	return &trace{bench: b, conv: conv.ID}
}

// report sends events and wants each to come out as told; "stored" for those that
// are not told.
func (r *trace) report(t *testing.T, reported []models.RunEvent, want ...models.RunEventOutcome) []models.RunEventResult {
	t.Helper()
	out, err := r.ReportEvents(t.Context(), r.Agent, r.conv, reported)
	if err != nil {
		t.Fatalf("report: %v", err)
	}
	for i, got := range out {
		outcome := models.RunEventStored
		if i < len(want) {
			outcome = want[i]
		}
		if got.Line != i+1 || got.ID != reported[i].ID || got.Status != outcome || (got.Error == "") != (outcome == models.RunEventStored || outcome == models.RunEventRepeated) {
			t.Errorf("event %d (%s %s) = %+v, want %s", i+1, reported[i].Type, reported[i].ToolUseID, got, outcome)
		}
	}
	return out
}

func queued(use, tool, input, batch string) models.RunEvent {
	return models.RunEvent{Type: models.RunEventToolCall, ToolUseID: use, ToolName: tool, Input: jsontext.Value(input), BatchID: batch}
}

func gave(use, text string) models.RunEvent {
	return models.RunEvent{Type: models.RunEventToolResult, ToolUseID: use, Result: text}
}

func denial(use, text string) models.RunEvent {
	return models.RunEvent{Type: models.RunEventToolResult, ToolUseID: use, Result: text, IsError: true}
}

func said(id, text, batch string) models.RunEvent {
	return models.RunEvent{ID: id, Type: models.RunEventReply, Content: text, BatchID: batch}
}

func status(id string, s models.ConversationStatus) models.RunEvent {
	return models.RunEvent{ID: id, Type: models.RunEventStatus, Status: s}
}

func one(e models.RunEvent) []models.RunEvent { return []models.RunEvent{e} }

// entries are the whole history of the run.
func (r *trace) entries(t *testing.T) []models.HistoryEntry {
	t.Helper()
	h, err := r.Requests.History(t.Context(), r.Owner, r.conv, requests.HistoryQuery{After: requests.FromStart, Limit: models.MaxPage})
	if err != nil {
		t.Fatalf("history: %v", err)
	}
	return h.Entries
}

// row is the response with a tool use id, with its detail.
func (r *trace) row(t *testing.T, use string) (models.Approval, models.CallDetail) {
	t.Helper()
	details, err := r.Requests.RunDetails(t.Context(), r.Owner, r.conv, 0, 1<<40)
	if err != nil {
		t.Fatalf("details: %v", err)
	}
	for _, e := range r.entries(t) {
		if a := e.Response; a != nil && a.ToolUseID != nil && *a.ToolUseID == use {
			return *a, details[a.ID]
		}
	}
	t.Fatalf("there is no call %s", use)
	return models.Approval{}, models.CallDetail{}
}

// states are the calls of a run in a word each: what became of the approval, and
// of the call.
func (r *trace) states(t *testing.T, uses ...string) []string {
	t.Helper()
	out := make([]string, 0, len(uses))
	for _, use := range uses {
		a, d := r.row(t, use)
		s := string(a.Status())
		if s == "" {
			s = "queued"
		}
		if a.Cause != "" {
			s += "/" + string(a.Cause)
		}
		switch {
		case d.Closed != "":
			s += " closed by " + string(d.Closed)
		case d.IsError:
			s += " failed"
		case d.Completed:
			s += " done"
		}
		out = append(out, s)
	}
	return out
}

func (r *trace) wantStates(t *testing.T, uses []string, want ...string) {
	t.Helper()
	if got := r.states(t, uses...); !slices.Equal(got, want) {
		t.Errorf("calls %v stand as\n %q, want\n %q", uses, got, want)
	}
}

// asks has the agent ask about a call of the run.
func (r *trace) asks(t *testing.T, use, tool, input string) *models.Approval {
	t.Helper()
	return r.AskFor(t, models.AskInput{ConversationID: string(r.conv), ToolUseID: use, ToolName: tool, Input: []byte(input)})
}

// actions are the ledger's words since an entry, oldest first, with what they are
// about where that matters.
func (b *bench) actions(t *testing.T, after int64) []string {
	t.Helper()
	db := storetest.Tamper(t, b.Store)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT action FROM ledger WHERE seq > ? ORDER BY seq`, after)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func (b *bench) head(t *testing.T) int64 {
	t.Helper()
	h, err := b.Ledger.Verify(t.Context(), nil)
	if err != nil {
		t.Fatalf("ledger: %v", err)
	}
	return h.Seq
}

func (b *bench) wantActions(t *testing.T, after int64, want ...string) {
	t.Helper()
	if got := b.actions(t, after); !slices.Equal(got, want) {
		t.Errorf("the ledger tells\n %q, want\n %q", got, want)
	}
}

// wantEnergyAddsUp: what responses and turns cost is what each conversation has
// spent (I14).
func (b *bench) wantEnergyAddsUp(t *testing.T) {
	t.Helper()
	db := storetest.Tamper(t, b.Store)
	defer db.Close()
	var bad int
	err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM conversations c WHERE energy_used <>
 (SELECT coalesce(sum(energy), 0) FROM responses WHERE conversation_id = c.id) + (SELECT coalesce(sum(energy), 0) FROM turns WHERE conversation_id = c.id)`).Scan(&bad)
	if err != nil || bad > 0 {
		t.Errorf("I14: in %d conversations what was spent is not what its responses and turns cost (%v)", bad, err)
	}
}

func uses(from, to int) []string {
	var out []string
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprintf("c%d", i))
	}
	return out
}
