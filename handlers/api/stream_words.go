package api

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/handlers"
	"countersign/handlers/api/wire"
	"countersign/models/requests"
)

// vocabulary is what one stream calls what happens. What it has no word for, it
// does not tell.
type vocabulary struct {
	path, operation, summary string

	words map[requests.FeedKind][]word
	// changed is the event for a run that has another status; empty: not told.
	changed string
	// envelope: an event carries its name inside, as {type, timestamp, data}; otherwise it is the event's name.
	envelope bool
}

// word is one event that a stream sends for an entry.
type word struct {
	name string
	data func(*requests.FeedEvent) any
}

// vocabularies are the streams: one engine, a table each.
var vocabularies = []*vocabulary{
	{
		path: "/v1/approvals/stream", operation: "stream-approvals", summary: "Stream pending requests and their outcomes",
		words: map[requests.FeedKind][]word{
			requests.Asked:      {{"approval_required", approvalRequired}},
			requests.TurnedAway: {{"approval_settled", approvalSettled}},
			requests.Settled:    {{"approval_settled", approvalSettled}},
			requests.Expired:    {{"approval_settled", approvalSettled}},
			requests.AskedBack:  {{"approval_asked_back", approvalAskedBack}},
		},
	},
	{
		path: toolPath + "/events", operation: "stream-tool-approvals",
		summary: "Stream calls that need approval and their outcomes",
		words: map[requests.FeedKind][]word{
			requests.Asked:      {{"approval_requested", invocationNow}},
			requests.TurnedAway: {{"approval_requested", invocationNow}, {"approval_decided", invocationNow}},
			requests.Settled:    {{"approval_decided", invocationNow}},
			requests.Expired:    {{"approval_timed_out", invocationNow}},
		},
	},
	{
		path: "/v1/events", operation: "stream-events", summary: "Stream requests, outcomes and runs",
		envelope: true,
		words: map[requests.FeedKind][]word{
			requests.Asked:      {{"new_approval", newApproval}},
			requests.TurnedAway: {{"approval_resolved", approvalResolved}},
			requests.Settled:    {{"approval_resolved", approvalResolved}},
			requests.Expired:    {{"approval_resolved", approvalResolved}},
		},
		changed: "session_status_changed",
	},
}

// typedEvent is the frame of events that carry their name inside.
type typedEvent struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      any       `json:"data"`
}

// events are what a stream sends for an entry: first the runs that have another status
// by it, then itself. All but the last have an id from which a reader goes on
// inside the entry.
func (v *vocabulary) events(h *requests.FeedEvent, p places) ([]handlers.Event, error) {
	var out []handlers.Event
	tell := func(name string, data any) error {
		e, err := v.event(name, h.At, data)
		if err != nil {
			return fmt.Errorf("tell entry %d: %w", h.Seq, err)
		}
		out = append(out, e)
		return nil
	}
	if v.changed != "" {
		for i := range h.Changes {
			if err := tell(v.changed, statusChanged(&h.Changes[i])); err != nil {
				return nil, err
			}
		}
	}
	for _, w := range v.words[h.Kind] {
		if err := tell(w.name, w.data(h)); err != nil {
			return nil, err
		}
	}
	for i := range out {
		out[i].ID = p.id(after(h.Seq, i, len(out)))
	}
	return out, nil
}

func (v *vocabulary) event(name string, at time.Time, data any) (handlers.Event, error) {
	e := handlers.Event{Name: name}
	if v.envelope {
		e.Name, data = "", &typedEvent{Type: name, Timestamp: at, Data: data}
	}
	raw, err := json.Marshal(data, wire.WriteOptions)
	e.Data = string(raw)
	return e, err
}

// reset tells a reader who is too far behind to be told all: read the lists, and
// go on from here.
func (v *vocabulary) reset(id string, now time.Time) handlers.Event {
	e := handlers.Event{ID: id, Name: "reset", Data: "{}"}
	if v.envelope {
		e.Data = `{"type":"reset","timestamp":"` + now.UTC().Format(time.RFC3339Nano) + `","data":{}}`
	}
	return e
}
