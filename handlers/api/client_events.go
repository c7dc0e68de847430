package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"

	"countersign/models"
)

// OpenRequest opens the conversation of a run, or finds it: a repeat is the same
// conversation.
type OpenRequest struct {
	ID           string       `json:"id,omitempty" doc:"A UUID of the agent's choice"`
	RunID        string       `json:"runId" doc:"The agent's own name for the run"`
	ParentRunID  string       `json:"parentRunId,omitempty" doc:"The run that started this one"`
	Title        string       `json:"title,omitempty"`
	EnergyBudget *WholeNumber `json:"energyBudget,omitzero" minimum:"0" maximum:"1000000000000"`
	OnReject     string       `json:"onReject,omitempty" enum:"cascade,continue" doc:"What a rejection does to the rest of its batch. What a person has chosen stays"`

	OnRejectDefault string `json:"onRejectDefault,omitempty" enum:"cascade,continue" doc:"What it does as long as nobody has chosen; continue if left out"`
}

// ReportAnswer says what became of reported events: of each, in their order, and
// how many in all. Failed are those that were not taken as they are: they are
// wrong, or contradict what stands.
type ReportAnswer struct {
	Accepted int                     `json:"accepted"`
	Repeated int                     `json:"repeated"`
	Failed   int                     `json:"failed"`
	Results  []models.RunEventResult `json:"results"`
}

// OpenConversation opens the conversation of a run, or finds it.
func (c *Client) OpenConversation(ctx context.Context, r OpenRequest) (*Conversation, error) {
	var out Conversation
	if err := c.send(ctx, http.MethodPost, "/v1/conversations", r, &out, 0); err != nil {
		return nil, err
	}
	if out.ID == "" || out.RunID == nil || *out.RunID != r.RunID {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}

// Report sends events, each a models.RunEvent in JSON on a line of its own; they
// must fit into models.MaxBody together. Sending the same again is harmless. A
// line that is not taken is no error but is named in the answer, which has one
// result for each line.
func (c *Client) Report(ctx context.Context, id models.ConversationID, lines []byte) (*ReportAnswer, error) {
	limited, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	req, err := c.request(limited, http.MethodPost, "/v1/conversations/"+url.PathEscape(string(id))+"/events", nil)
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(len(lines))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(lines)), nil }
	req.Body, _ = req.GetBody()
	req.Header.Set("Content-Type", "application/x-ndjson")
	var out ReportAnswer
	if err := c.exchange(ctx, req, &out); err != nil {
		return nil, err
	}
	// Nothing may be forgotten on the word of whoever else answers at the address.
	if sent := bytes.Count(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n")) + 1; len(out.Results) != sent {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}
