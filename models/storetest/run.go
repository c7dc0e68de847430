package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/runs"
	"countersign/models/store"
)

// Trace is a run of the owner's agent, which reports what it does.
type Trace struct {
	b *Bench

	Conv models.ConversationID
}

// NewTrace opens a run on a bench.
func NewTrace(tb testing.TB, b *Bench, in models.RunInput) *Trace {
	tb.Helper()
	conv, _, err := b.OpenRun(tb.Context(), b.Agent, in)
	if err != nil {
		tb.Fatalf("open run: %v", err)
	}
	return TraceOf(b, conv.ID)
}

// TraceOf is a run that is open.
func TraceOf(b *Bench, conv models.ConversationID) *Trace { return &Trace{b, conv} }

// Reports sends events and wants each to come out as told; "stored" for those that
// are not told.
func (r *Trace) Reports(
	tb testing.TB, reported []models.RunEvent, want ...models.RunEventOutcome,
) []models.RunEventResult {
	tb.Helper()
	out, err := r.b.ReportEvents(tb.Context(), r.b.Agent, r.Conv, reported)
	if err != nil {
		tb.Fatalf("report: %v", err)
	}
	for i, got := range out {
		outcome := models.RunEventStored
		if i < len(want) {
			outcome = want[i]
		}
		if got.Line != i+1 || got.ID != reported[i].ID || got.Status != outcome ||
			(got.Error == "") != (outcome == models.RunEventStored || outcome == models.RunEventRepeated) {
			tb.Errorf("event %d (%s %s) = %+v, want %s", i+1, reported[i].Type, reported[i].ToolUseID, got, outcome)
		}
	}
	return out
}

// Queued reports a call of a batch.
func Queued(use, tool, input, batch string) models.RunEvent {
	return models.RunEvent{
		Type: models.RunEventToolCall, ToolUseID: use, ToolName: tool, Input: jsontext.Value(input), BatchID: batch,
	}
}

// Gave reports the result of a call.
func Gave(use, text string) models.RunEvent {
	return models.RunEvent{Type: models.RunEventToolResult, ToolUseID: use, Result: text}
}

// Denial reports that a call failed.
func Denial(use, text string) models.RunEvent {
	return models.RunEvent{Type: models.RunEventToolResult, ToolUseID: use, Result: text, IsError: true}
}

// Said reports a reply.
func Said(id, text, batch string) models.RunEvent {
	return models.RunEvent{ID: id, Type: models.RunEventReply, Content: text, BatchID: batch}
}

// StatusEvent reports the status of a run.
func StatusEvent(id string, s models.ConversationStatus) models.RunEvent {
	return models.RunEvent{ID: id, Type: models.RunEventStatus, Status: s}
}

// One is one event, to be reported.
func One(e models.RunEvent) []models.RunEvent { return []models.RunEvent{e} }

// Entries are the whole history of the run.
func (r *Trace) Entries(tb testing.TB) []models.HistoryEntry {
	tb.Helper()
	h, err := r.b.Requests.History(tb.Context(), r.b.Owner, r.Conv,
		requests.HistoryQuery{After: requests.FromStart, Limit: models.MaxPage})
	if err != nil {
		tb.Fatalf("history: %v", err)
	}
	return h.Entries
}

// Row is the response with a tool use id, with its detail.
func (r *Trace) Row(tb testing.TB, use string) (models.Approval, models.CallDetail) {
	tb.Helper()
	details, err := r.b.Requests.RunDetails(tb.Context(), r.b.Owner, r.Conv, 0, 1<<40)
	if err != nil {
		tb.Fatalf("details: %v", err)
	}
	for _, e := range r.Entries(tb) {
		if a := e.Response; a != nil && a.ToolUseID != nil && *a.ToolUseID == use {
			return *a, details[a.ID]
		}
	}
	tb.Fatalf("there is no call %s", use)
	return models.Approval{}, models.CallDetail{}
}

// States are the calls of a run in a word each: what became of the approval, and
// of the call.
func (r *Trace) States(tb testing.TB, uses ...string) []string {
	tb.Helper()
	out := make([]string, 0, len(uses))
	for _, use := range uses {
		a, d := r.Row(tb, use)
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

// WantStates compares the states of calls.
func (r *Trace) WantStates(tb testing.TB, uses []string, want ...string) {
	tb.Helper()
	if got := r.States(tb, uses...); !slices.Equal(got, want) {
		tb.Errorf("calls %v stand as\n %q, want\n %q", uses, got, want)
	}
}

// Rows counts the responses with a tool use id.
func (r *Trace) Rows(tb testing.TB, use string) int {
	tb.Helper()
	return Scalar[int](tb, r.b.Store, `SELECT count(*) FROM responses WHERE tool_use_id = ?`, use)
}

// Asks has the agent ask about a call of the run.
func (r *Trace) Asks(tb testing.TB, use, tool, input string) *models.Approval {
	tb.Helper()
	return r.b.AskFor(tb,
		models.AskInput{ConversationID: string(r.Conv), ToolUseID: use, ToolName: tool, Input: []byte(input)})
}

// CallIDs are tool use ids of calls, by their numbers.
func CallIDs(from, to int) []string {
	var out []string
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprintf("c%d", i))
	}
	return out
}

// Actions are the ledger's words since an entry, oldest first, with what they are
// about where that matters.
func (b *Bench) Actions(tb testing.TB, after int64) []string {
	tb.Helper()
	db := Tamper(tb, b.Store)
	defer db.Close()
	rows, err := db.QueryContext(tb.Context(), `SELECT action FROM ledger WHERE seq > ? ORDER BY seq`, after)
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			tb.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return out
}

// VerifiedHead is the number of the last entry of the ledger, which is whole.
func (b *Bench) VerifiedHead(tb testing.TB) int64 {
	tb.Helper()
	h, err := b.Ledger.Verify(tb.Context(), nil)
	if err != nil {
		tb.Fatalf("ledger: %v", err)
	}
	return h.Seq
}

// WantActions compares what the ledger tells since an entry.
func (b *Bench) WantActions(tb testing.TB, after int64, want ...string) {
	tb.Helper()
	if got := b.Actions(tb, after); !slices.Equal(got, want) {
		tb.Errorf("the ledger tells\n %q, want\n %q", got, want)
	}
}

// WantEnergyAddsUp checks that what responses and turns cost is what each conversation has
// spent (I14).
func (b *Bench) WantEnergyAddsUp(tb testing.TB) {
	tb.Helper()
	db := Tamper(tb, b.Store)
	defer db.Close()
	var bad int
	err := db.QueryRowContext(tb.Context(), `SELECT count(*) FROM conversations c WHERE energy_used <>
 (SELECT coalesce(sum(energy), 0) FROM responses WHERE conversation_id = c.id) + (SELECT coalesce(sum(energy), 0) FROM turns WHERE conversation_id = c.id)`).Scan(&bad)
	if err != nil || bad > 0 {
		tb.Errorf("I14: in %d conversations what was spent is not what its responses and turns cost (%v)", bad, err)
	}
}

// RunLease is how long a run is claimed for.
const RunLease = time.Minute

// Begins has the owner begin a conversation with the built-in agent.
func (b *Bench) Begins(tb testing.TB, content string, budget *int64) *models.Conversation {
	tb.Helper()
	out, err := b.Say(tb.Context(), b.Owner, models.MessageInput{Content: content, EnergyBudget: budget})
	if err != nil {
		tb.Fatalf("begin: %v", err)
	}
	return out.Conversation
}

// Claim claims a run of the built-in agent; nil: none is ready.
func Claim(tb testing.TB, s *store.Store, holder string) *models.Run {
	tb.Helper()
	run, err := runs.New(s).ClaimRun(tb.Context(), holder, RunLease)
	if err != nil {
		tb.Fatalf("claim: %v", err)
	}
	return run
}

// Turns claims what is ready and stores one turn of it.
func (b *Bench) Turns(tb testing.TB, in models.TurnInput) *models.Turn {
	tb.Helper()
	b.Clock.Step(time.Second)
	run := Claim(tb, b.Store, "one")
	if run == nil {
		tb.Fatal("nothing is ready")
	}
	return b.TurnsOf(tb, run, in)
}

// TurnsOf stores a turn of a run that is claimed.
func (b *Bench) TurnsOf(tb testing.TB, run *models.Run, in models.TurnInput) *models.Turn {
	tb.Helper()
	var err error
	if in.Context, err = b.RunContext(tb.Context(), run); err != nil {
		tb.Fatalf("read context: %v", err)
	}
	if fits, err := b.ReserveEnergy(tb.Context(), run, 10); err != nil || !fits {
		tb.Fatalf("reserve: %v, %v", fits, err)
	}
	turn, err := b.StoreTurn(tb.Context(), run, in)
	if err != nil {
		tb.Fatalf("store turn: %v", err)
	}
	return turn
}

// ReadConversation is a conversation as its owner sees it.
func (b *Bench) ReadConversation(tb testing.TB, id models.ConversationID) *models.ConversationView {
	tb.Helper()
	v, err := b.Requests.Conversation(tb.Context(), b.Owner, id)
	if err != nil {
		tb.Fatalf("read conversation: %v", err)
	}
	return v
}
