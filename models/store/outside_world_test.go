package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// outsideWorld is a bench with an upstream of the owner's and the leases of who polls
// it and tells it verdicts.
type outsideWorld struct {
	*bench

	up         *models.Upstream
	poll, tell *models.Lease
}

func newOutsideWorld(t *testing.T, opts ...storetest.Option) *outsideWorld {
	t.Helper()
	w := &outsideWorld{bench: newBench(t, opts...)}
	w.up = w.upstream(t, "orders")
	w.poll, w.tell = w.lease(t, "poll"), w.lease(t, "deliver")
	return w
}

const upstreamSecret = "key-52d1c0ffee"

func (w *outsideWorld) upstream(t *testing.T, name string) *models.Upstream {
	t.Helper()
	u, err := w.AddUpstream(t.Context(), w.admin, store.NewUpstream{
		Name: name, BaseURL: "https://" + name + ".example.com", Dialect: "plain", Key: upstreamSecret, OwnerID: w.owner.OwnerID,
	})
	storetest.Must(t, err)
	return u
}

func (w *outsideWorld) lease(t *testing.T, name string) *models.Lease {
	t.Helper()
	l, err := w.TakeLease(t.Context(), name, "h", 1000*time.Hour)
	storetest.Must(t, err)
	return l
}

// open opens a run of the owner's agent and reports calls, in one batch.
func (w *outsideWorld) open(t *testing.T, run models.RunInput, calls ...models.RunEvent) models.ConversationID {
	t.Helper()
	conv, _, err := w.OpenRun(t.Context(), w.agent, run)
	storetest.Must(t, err)
	w.report(t, conv.ID, calls...)
	return conv.ID
}

func (w *outsideWorld) report(t *testing.T, conv models.ConversationID, events ...models.RunEvent) {
	t.Helper()
	results, err := w.ReportEvents(t.Context(), w.agent, conv, events)
	storetest.Must(t, err)
	for _, r := range results {
		if r.Status != models.RunEventStored {
			t.Fatalf("report: %+v", r)
		}
	}
}

func reported(use, tool, input string) models.RunEvent {
	return models.RunEvent{Type: models.RunEventToolCall, ToolUseID: use, ToolName: tool, Input: []byte(input), BatchID: "b"}
}

func result(use string) models.RunEvent {
	return models.RunEvent{Type: models.RunEventToolResult, ToolUseID: use, Result: "done"}
}

func call(id, run, tool, args string) models.OutsideItem {
	return models.OutsideItem{Kind: models.OutsideCallKind, CallID: id, RunID: run, Name: tool, Arguments: []byte(args), Raw: []byte(`{"call_id":"` + id + `"}`)}
}

func contact(id, run, message string) models.OutsideItem {
	return models.OutsideItem{Kind: models.OutsideContact, CallID: id, RunID: run, Message: message}
}

func (w *outsideWorld) take(t *testing.T, items ...models.OutsideItem) {
	t.Helper()
	for _, it := range items {
		storetest.Must(t, w.TakeOutside(t.Context(), w.poll, w.up.ID, it))
	}
}

// taken takes an item that has a place at once, and returns it.
func (w *outsideWorld) taken(t *testing.T, item models.OutsideItem) models.ResponseID {
	t.Helper()
	w.take(t, item)
	row := w.of(t, item.CallID)
	if row.status != "pending" {
		t.Fatalf("%s: %+v", item.CallID, row)
	}
	return row.id
}

// outsideRow is a response as it is stored.
type outsideRow struct {
	id                                                               models.ResponseID
	conv                                                             models.ConversationID
	kind, tool, use, status, cause, matched, contradiction, feedback string
	held, completed                                                  bool
	from                                                             models.ResponseID
}

const outsideColumns = `SELECT id, conversation_id, kind, tool_name, coalesce(tool_use_id, ''), coalesce(approval_status, ''), cause, matched_by, contradiction, coalesce(approval_feedback, ''),
 held_until IS NOT NULL, is_completed, coalesce(cascaded_from, '') FROM responses WHERE `

func (w *outsideWorld) row(t *testing.T, where string, args ...any) (outsideRow, bool) {
	t.Helper()
	var r outsideRow
	err := storetest.Beside(t, w.Store).QueryRowContext(t.Context(), outsideColumns+where, args...).Scan(&r.id, &r.conv, &r.kind, &r.tool, &r.use, &r.status, &r.cause, &r.matched,
		&r.contradiction, &r.feedback, &r.held, &r.completed, &r.from)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false
	}
	storetest.Must(t, err)
	return r, true
}

// of is the row that has an upstream's call; empty if none has.
func (w *outsideWorld) of(t *testing.T, callID string) outsideRow {
	t.Helper()
	r, _ := w.row(t, `upstream_id = ? AND call_id = ? ORDER BY number DESC`, w.up.ID, callID)
	return r
}

func (w *outsideWorld) byUse(t *testing.T, use string) outsideRow {
	t.Helper()
	r, ok := w.row(t, `tool_use_id = ?`, use)
	if !ok {
		t.Fatalf("no call %s", use)
	}
	return r
}

func (w *outsideWorld) byID(t *testing.T, id models.ResponseID) outsideRow {
	t.Helper()
	r, ok := w.row(t, `id = ?`, id)
	if !ok {
		t.Fatalf("no response %s", id)
	}
	return r
}

func (w *outsideWorld) vote(t *testing.T, id models.ResponseID, in models.DecisionInput) *models.Approval {
	t.Helper()
	a, err := w.Decide(t.Context(), w.owner, id, in)
	storetest.Must(t, err)
	if a.Status() != models.StatusPending || a.HeldUntil == nil {
		t.Fatalf("a verdict on what is outside is the outcome at once: %s", a.Status())
	}
	return a
}

func (w *outsideWorld) begin(t *testing.T, id models.ResponseID) *models.Delivery {
	t.Helper()
	d, _, err := w.BeginDelivery(t.Context(), w.tell, id)
	storetest.Must(t, err)
	return d
}

func (w *outsideWorld) end(t *testing.T, id models.ResponseID, told models.DeliveryResult) {
	t.Helper()
	storetest.Must(t, w.EndDelivery(t.Context(), w.tell, id, models.DeliveryEnd{Result: told, Text: "As told."}))
}

func (w *outsideWorld) deliver(t *testing.T, id models.ResponseID, told models.DeliveryResult) {
	t.Helper()
	if w.begin(t, id) == nil {
		t.Fatalf("nothing to deliver of %s", id)
	}
	w.end(t, id, told)
}

// due are the verdicts to be told to the upstream now.
func (w *outsideWorld) due(t *testing.T) []models.ResponseID {
	t.Helper()
	due, _, err := w.DueDeliveries(t.Context(), 100)
	storetest.Must(t, err)
	return due[w.up.ID]
}

func (w *outsideWorld) wantRow(t *testing.T, id models.ResponseID, want string) {
	t.Helper()
	r := w.byID(t, id)
	if got := fmt.Sprintf("%s %s", r.status, r.cause); got != want {
		t.Errorf("%s is %q, want %q", id, got, want)
	}
}

// actionsOn are the ledger's words about one response, in order.
func (w *outsideWorld) actionsOn(t *testing.T, id models.ResponseID) []string {
	t.Helper()
	rows, err := storetest.Beside(t, w.Store).QueryContext(t.Context(), `SELECT actor_kind || ' ' || action FROM ledger WHERE response_id = ? ORDER BY seq`, id)
	storetest.Must(t, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var line string
		storetest.Must(t, rows.Scan(&line))
		out = append(out, line)
	}
	storetest.Must(t, rows.Err())
	return out
}

func (w *outsideWorld) verify(t *testing.T) {
	t.Helper()
	_, err := w.Ledger.Verify(t.Context(), nil)
	storetest.Must(t, err)
}

func (w *outsideWorld) status(t *testing.T, conv models.ConversationID, want models.ConversationStatus) {
	t.Helper()
	v, err := w.Conversation(t.Context(), w.owner, conv)
	storetest.Must(t, err)
	if v.Status != want {
		t.Errorf("the conversation is %s, want %s", v.Status, want)
	}
}
