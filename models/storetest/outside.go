package storetest

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/outside"
	"countersign/models/requests"
)

// OutsideWorld is an upstream of a bench's owner, and the leases of who polls it and tells it
// verdicts.
type OutsideWorld struct {
	b *Bench

	Up         *models.Upstream
	Poll, Tell *models.Lease
}

// NewOutsideWorld has an upstream of the bench's owner.
func NewOutsideWorld(tb testing.TB, b *Bench) *OutsideWorld {
	tb.Helper()
	w := &OutsideWorld{b: b}
	w.Up = w.Upstream(tb, "orders")
	w.Poll, w.Tell = w.Lease(tb, "poll"), w.Lease(tb, "deliver")
	return w
}

// UpstreamSecret is its key.
const UpstreamSecret = "key-52d1c0ffee"

// Upstream adds another upstream of the owner's.
func (w *OutsideWorld) Upstream(tb testing.TB, name string) *models.Upstream {
	tb.Helper()
	u, err := outside.New(w.b.Store).AddUpstream(tb.Context(), w.b.Admin, outside.NewUpstream{
		Name: name, BaseURL: "https://" + name + ".example.com", Dialect: "plain", Key: UpstreamSecret,
		OwnerID: w.b.Owner.OwnerID,
	})
	Must(tb, err)
	return u
}

// Lease takes a lease for long.
func (w *OutsideWorld) Lease(tb testing.TB, name string) *models.Lease {
	tb.Helper()
	l, err := w.b.Nodes.TakeLease(tb.Context(), name, "h", 1000*time.Hour)
	Must(tb, err)
	return l
}

// Open opens a run of the owner's agent and reports calls, in one batch.
func (w *OutsideWorld) Open(tb testing.TB, run models.RunInput, calls ...models.RunEvent) models.ConversationID {
	tb.Helper()
	conv, _, err := w.b.OpenRun(tb.Context(), w.b.Agent, run)
	Must(tb, err)
	w.Report(tb, conv.ID, calls...)
	return conv.ID
}

// Report reports what a run did.
func (w *OutsideWorld) Report(tb testing.TB, conv models.ConversationID, events ...models.RunEvent) {
	tb.Helper()
	results, err := w.b.ReportEvents(tb.Context(), w.b.Agent, conv, events)
	Must(tb, err)
	for _, r := range results {
		if r.Status != models.RunEventStored {
			tb.Fatalf("report: %+v", r)
		}
	}
}

// Reported is a call of a batch.
func Reported(use, tool, input string) models.RunEvent {
	return models.RunEvent{
		Type: models.RunEventToolCall, ToolUseID: use, ToolName: tool, Input: []byte(input), BatchID: "b",
	}
}

// Result is the result of a call.
func Result(use string) models.RunEvent {
	return models.RunEvent{Type: models.RunEventToolResult, ToolUseID: use, Result: "done"}
}

// Call is an item that asks for a call.
func Call(id, run, tool, args string) models.OutsideItem {
	return models.OutsideItem{
		Kind: models.OutsideCallKind, CallID: id, RunID: run, Name: tool, Arguments: []byte(args),
		Raw: []byte(`{"call_id":"` + id + `"}`),
	}
}

// Contact is an item that asks a person.
func Contact(id, run, message string) models.OutsideItem {
	return models.OutsideItem{Kind: models.OutsideContact, CallID: id, RunID: run, Message: message}
}

// Take takes items as the poller does.
func (w *OutsideWorld) Take(tb testing.TB, items ...models.OutsideItem) {
	tb.Helper()
	for _, it := range items {
		Must(tb, outside.New(w.b.Store).Take(tb.Context(), w.Poll, w.Up.ID, it))
	}
}

// Taken takes an item that has a place at once, and returns it.
func (w *OutsideWorld) Taken(tb testing.TB, item models.OutsideItem) models.ResponseID {
	tb.Helper()
	w.Take(tb, item)
	row := w.Of(tb, item.CallID)
	if row.Status != "pending" {
		tb.Fatalf("%s: %+v", item.CallID, row)
	}
	return row.ID
}

// OutsideRow is a response as it is stored.
type OutsideRow struct {
	ID                                                               models.ResponseID
	Conversation                                                     models.ConversationID
	Kind, Tool, Use, Status, Cause, Matched, Contradiction, Feedback string
	Held, Completed                                                  bool
	From                                                             models.ResponseID
}

const outsideColumns = `SELECT id, conversation_id, kind, tool_name, coalesce(tool_use_id, ''), coalesce(approval_status, ''), cause, matched_by, contradiction, coalesce(approval_feedback, ''),
 held_until IS NOT NULL, is_completed, coalesce(cascaded_from, '') FROM responses WHERE `

// Row is the response that a condition chooses; false: there is none.
func (w *OutsideWorld) Row(tb testing.TB, where string, args ...any) (OutsideRow, bool) {
	tb.Helper()
	var r OutsideRow
	err := dbtest.Look(tb, w.b.Path()).QueryRowContext(tb.Context(), outsideColumns+where, args...).Scan(&r.ID, &r.Conversation,
		&r.Kind, &r.Tool, &r.Use, &r.Status, &r.Cause, &r.Matched,
		&r.Contradiction, &r.Feedback, &r.Held, &r.Completed, &r.From)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false
	}
	Must(tb, err)
	return r, true
}

// Of is the row that has an upstream's call; empty if none has.
func (w *OutsideWorld) Of(tb testing.TB, callID string) OutsideRow {
	tb.Helper()
	r, _ := w.Row(tb, `upstream_id = ? AND call_id = ? ORDER BY number DESC`, w.Up.ID, callID)
	return r
}

// ByUse is the call of that tool use.
func (w *OutsideWorld) ByUse(tb testing.TB, use string) OutsideRow {
	tb.Helper()
	r, ok := w.Row(tb, `tool_use_id = ?`, use)
	if !ok {
		tb.Fatalf("no call %s", use)
	}
	return r
}

// ByID is the response of that id.
func (w *OutsideWorld) ByID(tb testing.TB, id models.ResponseID) OutsideRow {
	tb.Helper()
	r, ok := w.Row(tb, `id = ?`, id)
	if !ok {
		tb.Fatalf("no response %s", id)
	}
	return r
}

// Vote decides as the owner; the other system is to be told first.
func (w *OutsideWorld) Vote(tb testing.TB, id models.ResponseID, in models.DecisionInput) *models.Approval {
	tb.Helper()
	a, err := w.b.Decide(tb.Context(), w.b.Owner, id, in)
	Must(tb, err)
	if a.Status() != models.StatusPending || a.HeldUntil == nil {
		tb.Fatalf("a verdict on what is outside is the outcome at once: %s", a.Status())
	}
	return a
}

// Begin begins to tell the other system; nil: there is nothing to tell.
func (w *OutsideWorld) Begin(tb testing.TB, id models.ResponseID) *models.Delivery {
	tb.Helper()
	d, _, err := outside.New(w.b.Store).BeginDelivery(tb.Context(), w.Tell, id)
	Must(tb, err)
	return d
}

// End keeps how telling it ended.
func (w *OutsideWorld) End(tb testing.TB, id models.ResponseID, told models.DeliveryResult) {
	tb.Helper()
	Must(tb,
		outside.New(w.b.Store).EndDelivery(tb.Context(), w.Tell, id, models.DeliveryEnd{Result: told, Text: "As told."}))
}

// Deliver tells the other system, which ends so.
func (w *OutsideWorld) Deliver(tb testing.TB, id models.ResponseID, told models.DeliveryResult) {
	tb.Helper()
	if w.Begin(tb, id) == nil {
		tb.Fatalf("nothing to deliver of %s", id)
	}
	w.End(tb, id, told)
}

// Due are the verdicts to be told to the upstream now.
func (w *OutsideWorld) Due(tb testing.TB) []models.ResponseID {
	tb.Helper()
	due, _, err := outside.New(w.b.Store).DueDeliveries(tb.Context(), 100)
	Must(tb, err)
	return due[w.Up.ID]
}

// WantRow wants a status and a cause of a response.
func (w *OutsideWorld) WantRow(tb testing.TB, id models.ResponseID, want string) {
	tb.Helper()
	r := w.ByID(tb, id)
	if got := fmt.Sprintf("%s %s", r.Status, r.Cause); got != want {
		tb.Errorf("%s is %q, want %q", id, got, want)
	}
}

// ActionsOn are the ledger's words about one response, in order.
func (w *OutsideWorld) ActionsOn(tb testing.TB, id models.ResponseID) []string {
	tb.Helper()
	rows, err := dbtest.Look(tb, w.b.Path()).QueryContext(tb.Context(),
		`SELECT actor_kind || ' ' || action FROM ledger WHERE response_id = ? ORDER BY seq`, id)
	Must(tb, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var line string
		Must(tb, rows.Scan(&line))
		out = append(out, line)
	}
	Must(tb, rows.Err())
	return out
}

// Verify verifies the ledger.
func (w *OutsideWorld) Verify(tb testing.TB) {
	tb.Helper()
	_, err := w.b.Ledger.Verify(tb.Context(), nil)
	Must(tb, err)
}

// Status wants a status of a conversation.
func (w *OutsideWorld) Status(tb testing.TB, conv models.ConversationID, want models.ConversationStatus) {
	tb.Helper()
	v, err := w.b.Requests.Conversation(tb.Context(), w.b.Owner, conv)
	Must(tb, err)
	if v.Status != want {
		tb.Errorf("the conversation is %s, want %s", v.Status, want)
	}
}

// Late takes an approval of run r that finds no call, as often as two polls do.
func (w *OutsideWorld) Late(tb testing.TB, item models.OutsideItem) models.ResponseID {
	tb.Helper()
	w.Take(tb, item)
	return w.Taken(tb, item)
}

// Link looks again for calls of what found none.
func (w *OutsideWorld) Link(tb testing.TB) {
	tb.Helper()
	Must(tb, outside.New(w.b.Store).Link(tb.Context(), w.Poll, w.Up))
}

// Origin is where a request came from.
func (w *OutsideWorld) Origin(tb testing.TB, id models.ResponseID) models.Origin {
	tb.Helper()
	got, err := w.b.Requests.Origins(tb.Context(), w.b.Owner, id)
	Must(tb, err)
	return got[id]
}

// InboxOf is the inbox of the owner.
func (w *OutsideWorld) InboxOf(tb testing.TB) []models.Brief {
	tb.Helper()
	page, err := w.b.Requests.Inbox(tb.Context(), w.b.Owner, requests.InboxQuery{})
	Must(tb, err)
	return page.Items
}

// VerifyRows verifies the ledger, and the rows by it.
func (w *OutsideWorld) VerifyRows(tb testing.TB) {
	tb.Helper()
	w.Verify(tb)
	CheckRows(tb, w.b.Store)
}

// HeldCall is a call of an agent's run that an upstream asks about and that the owner approved: the
// decision holds it. The first call of its batch asked nobody.
func (w *OutsideWorld) HeldCall(tb testing.TB) (models.ConversationID, models.ResponseID) {
	tb.Helper()
	conv := w.Open(tb, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, Reported("first", "read", `{}`),
		Reported("second", "bash", `{}`))
	item, left := Call("c", "r", "bash", `{}`), 5*time.Minute
	item.Timeout = &left
	id := w.Taken(tb, item)
	w.Vote(tb, id, Yes())
	return conv, id
}
