package webtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"countersign/models"
	elsewhere "countersign/models/outside"
	"countersign/models/requests"
	"countersign/models/runs"
)

// Link looks again for the calls of approvals that found none, as each poll does.
func (o *Outside) Link() {
	o.TB.Helper()
	if err := elsewhere.New(o.Store).Link(o.TB.Context(), o.poll, o.up); err != nil {
		o.TB.Fatal(err)
	}
}

// Late takes what finds no call, and returns its request.
func (o *Outside) Late(item models.OutsideItem) models.Approval {
	o.TB.Helper()
	o.Take(item)
	o.Take(item)
	return o.Waits()
}

// Outside is a world with an upstream of the owner's, and the leases of who polls
// it and tells it verdicts.
type Outside struct {
	*World

	up         *models.Upstream
	poll, tell *models.Lease
}

// NewOutside adds an upstream to a world.
func NewOutside(tb testing.TB, w *World) *Outside {
	tb.Helper()
	o := &Outside{World: w}
	var err error
	if o.up, err = elsewhere.New(w.Store).AddUpstream(tb.Context(), w.Admin, elsewhere.NewUpstream{
		Name: "night-shift", BaseURL: "https://night.example.com", Dialect: "plain", Key: UpstreamKey,
		OwnerID: w.Owner.UserID(),
	}); err != nil {
		tb.Fatal(err)
	}
	o.poll, o.tell = o.lease("poll"), o.lease("deliver")
	return o
}

func (o *Outside) lease(name string) *models.Lease {
	o.TB.Helper()
	l, err := o.Store.Nodes.TakeLease(o.TB.Context(), name, "h", 1000*time.Hour)
	if err != nil {
		o.TB.Fatal(err)
	}
	return l
}

// Take has something fetched, as often as it takes to get a response.
func (o *Outside) Take(item models.OutsideItem) {
	o.TB.Helper()
	if item.Kind == "" {
		item.Kind = models.OutsideCallKind
	}
	item.Raw = []byte(`{}`)
	if err := elsewhere.New(o.Store).Take(o.TB.Context(), o.poll, o.up.ID, item); err != nil {
		o.TB.Fatal(err)
	}
}

// Waits is the only undecided request in the owner's inbox.
func (o *Outside) Waits() models.Approval {
	o.TB.Helper()
	page, err := o.Store.Requests.Inbox(o.TB.Context(), o.Owner, requests.InboxQuery{})
	open := slices.DeleteFunc(page.Items, func(b models.Brief) bool { return b.HeldUntil != nil })
	if err != nil || len(open) != 1 {
		o.TB.Fatalf("inbox: %d, %v", len(open), err)
	}
	return open[0].Approval
}

// Deliver begins an attempt to tell a verdict, and ends it.
func (o *Outside) Deliver(id models.ResponseID, end models.DeliveryEnd) {
	o.TB.Helper()
	if d, _, err := elsewhere.New(o.Store).BeginDelivery(o.TB.Context(), o.tell, id); err != nil || d == nil {
		o.TB.Fatalf("nothing to deliver: %v", err)
	}
	if err := elsewhere.New(o.Store).EndDelivery(o.TB.Context(), o.tell, id, end); err != nil {
		o.TB.Fatal(err)
	}
}

// Run opens a run of the owner's agent and reports events.
func (w *World) Run(in models.RunInput, reported ...models.RunEvent) models.ConversationID {
	w.TB.Helper()
	conv, _, err := runs.New(w.Store).OpenRun(w.TB.Context(), w.Agent, in)
	if err != nil {
		w.TB.Fatal(err)
	}
	w.Report(conv.ID, reported...)
	return conv.ID
}

// Report has the agent report events of a run.
func (w *World) Report(id models.ConversationID, reported ...models.RunEvent) {
	w.TB.Helper()
	results, err := runs.New(w.Store).ReportEvents(w.TB.Context(), w.Agent, id, reported)
	if err != nil {
		w.TB.Fatal(err)
	}
	for _, r := range results {
		if r.Status != models.RunEventStored && r.Status != models.RunEventConflict {
			w.TB.Fatalf("report: %+v", r)
		}
	}
}

// Queued is a call of a batch, as agents report it.
func Queued(use, tool, input string) models.RunEvent {
	return models.RunEvent{
		Type: models.RunEventToolCall, ToolUseID: use, ToolName: tool, Input: []byte(input), BatchID: "b",
	}
}

// Gave is the result of a call, as agents report it.
func Gave(use, text string) models.RunEvent {
	return models.RunEvent{Type: models.RunEventToolResult, ToolUseID: use, Result: text}
}

// AsksFor has the upstream ask for the step n, and returns its request.
func (o *Outside) AsksFor(n int) models.Approval {
	o.TB.Helper()
	o.Take(models.OutsideItem{
		CallID: fmt.Sprintf("c%d", n), RunID: "r", Name: "Bash", Arguments: fmt.Appendf(nil, `{ "command": "step %d" }`, n),
	})
	return o.Waits()
}

// UpstreamKey is the key of the upstream: no page shows it.
const UpstreamKey = "hush-7f3a9c-secret"
