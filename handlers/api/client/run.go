package client

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"

	"countersign/handlers/api/wire"
)

// OpenConversation opens the conversation of a run, or finds it.
func (c *Client) OpenConversation(ctx context.Context, r wire.OpenRequest) (*wire.OpenedRun, error) {
	var out wire.OpenedRun
	if err := c.send(ctx, http.MethodPost, "/v1/conversations", r, &out, 0); err != nil {
		return nil, err
	}
	if out.ID == "" || out.RunID == nil || *out.RunID != r.RunID {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}

// Report sends events, each as JSON on a line of its own (RunEvent in the OpenAPI
// document); together they may have 5 MiB. Sending the same again is harmless. A
// line that is not taken is no error but is named in the answer, which has one
// result for each line.
func (c *Client) Report(ctx context.Context, id wire.ConversationID, lines []byte) (*wire.ReportAnswer, error) {
	timeLimit, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	req, err := c.request(timeLimit, http.MethodPost, "/v1/conversations/"+url.PathEscape(string(id))+"/events", nil)
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(len(lines))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(lines)), nil }
	req.Body, _ = req.GetBody()
	req.Header.Set("Content-Type", "application/x-ndjson")
	var out wire.ReportAnswer
	if err := c.exchange(ctx, req, &out); err != nil {
		return nil, err
	}
	// Nothing may be forgotten on the word of another server that answers at the address.
	if sent := bytes.Count(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n")) + 1; len(out.Results) != sent {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}
