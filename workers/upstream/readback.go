package upstream

import (
	"context"
	"errors"
	"time"

	"countersign/models"
)

// ErrCannot is returned by what the dialect has no words for.
var ErrCannot = errors.New("the upstream's dialect cannot read a call back")

// RemoteState is the state of a call or contact at the upstream.
type RemoteState struct {
	HasDecision bool
	Approved    bool      // of a call
	Text        string    // the comment of a call's verdict, or the answer to a contact
	Option      string    // the name of the chosen answer, if one was
	RespondedAt time.Time // by the upstream's clock; zero if not said
}

// ReadBackCall asks for the state of a function call. Codes: not_found, unavailable;
// ErrCannot where the dialect has no such question.
func (c *Client) ReadBackCall(ctx context.Context, callID string) (*RemoteState, error) {
	status, err := c.readBack(ctx, callID, c.dialect.call)
	if err != nil {
		return nil, err
	}
	s := &RemoteState{RespondedAt: status.time("responded_at")}
	s.Approved, s.HasDecision = status.boolean("approved")
	s.Text, _ = status.text("comment")
	s.Option, _ = status.text("reject_option_name")
	return s, nil
}

// ReadBackContact asks for the state of a human contact. Codes as ReadBackCall.
func (c *Client) ReadBackContact(ctx context.Context, callID string) (*RemoteState, error) {
	status, err := c.readBack(ctx, callID, c.dialect.contact)
	if err != nil {
		return nil, err
	}
	s := &RemoteState{RespondedAt: status.time("responded_at")}
	s.Text, _ = status.text("response")
	s.Option, _ = status.text("response_option_name")
	s.HasDecision = s.Text != ""
	return s, nil
}

// readBack returns the status of one call; empty while it has none.
func (c *Client) readBack(ctx context.Context, callID string, path func(string) string) (object, error) {
	if path == nil {
		return nil, ErrCannot
	}
	if callID == "" {
		return nil, models.Errorf(models.CodeNotFound, "The call has no id in the upstream.")
	}
	r, err := c.get(ctx, path(segment(callID)))
	if err != nil {
		return nil, err
	}
	item, ok := readObject(r.body)
	if !ok {
		return nil, (&problem{text: "answers with something that is not a JSON object"}).forPeople()
	}
	if id, ok := item.id("call_id"); ok && id != callID {
		return nil, (&problem{text: "answers with another call"}).forPeople()
	}
	status, ok := item.object("status")
	if !ok && item.has("status") {
		return nil, (&problem{text: "answers with a status that is not understood"}).forPeople()
	}
	if status.has("approved") {
		if _, ok := status.boolean("approved"); !ok {
			return nil, (&problem{text: "answers with a status that is not understood"}).forPeople()
		}
	}
	return status, nil
}
