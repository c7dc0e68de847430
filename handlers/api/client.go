package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
)

// Client speaks to the approval queue and the conversations of a server. Each method sends one
// request and returns one answer; AskUntilDecided repeats until there is an
// outcome. The zero HTTP client is a good one.
type Client struct {
	BaseURL string // the server's public URL
	Token   string
	HTTP    *http.Client
}

// maxAnswer is the most of an answer that is read: a page of a history in which
// each entry has two inputs of the largest size, escaped, and change.
const maxAnswer = historyPage * 4 << 20

// grace is what an answer may take beyond the wait that was asked for.
const grace = 20 * time.Second

// noRedirects does not follow: a redirected POST would arrive as a GET, and a
// token belongs to the server that it was given for.
var noRedirects = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Ask sends a request, or the same again, and waits up to wait for its outcome.
// Errors are *AnswerError, *UnreachableError or the context's.
func (c *Client) Ask(ctx context.Context, req AskRequest, wait time.Duration) (*Approval, error) {
	return c.approval(ctx, http.MethodPost, "/v1/approvals"+waitQuery(wait), req, wait)
}

// Get returns a request as it stands, or as soon as it is settled within wait.
func (c *Client) Get(ctx context.Context, id models.ResponseID, wait time.Duration) (*Approval, error) {
	return c.approval(ctx, http.MethodGet, approvalPath(id)+waitQuery(wait), nil, wait)
}

// askSeen is Ask, and ends its wait for a question too that is another than seen;
// empty: the caller has seen none.
func (c *Client) askSeen(ctx context.Context, req AskRequest, wait time.Duration, seen models.NoteID) (*Approval, error) {
	return c.approval(ctx, http.MethodPost, "/v1/approvals"+waitQuery(wait)+"&seenNote="+url.QueryEscape(string(seen)), req, wait)
}

// Cancel withdraws a request: of the agent's own, or of an agent of the person's.
func (c *Client) Cancel(ctx context.Context, id models.ResponseID) (*Approval, error) {
	return c.approval(ctx, http.MethodPost, approvalPath(id)+"/cancel", nil, 0)
}

// Respond decides a request; the token must be a reviewer's.
func (c *Client) Respond(ctx context.Context, id models.ResponseID, verdict RespondRequest) (*RespondResult, error) {
	var out RespondResult
	if err := c.send(ctx, http.MethodPost, approvalPath(id)+"/respond", verdict, &out, 0); err != nil {
		return nil, err
	}
	if !out.Success {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}

// Note says something about a request: with an agent's token an answer or
// evidence, with a reviewer's a question. The same text again is the same note.
func (c *Client) Note(ctx context.Context, id models.ResponseID, text string) (*NoteResult, error) {
	var out NoteResult
	if err := c.send(ctx, http.MethodPost, approvalPath(id)+"/notes", NoteRequest{Text: text}, &out, 0); err != nil {
		return nil, err
	}
	if out.Note.ID == "" {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}

// Notes reads what was said about a request.
func (c *Client) Notes(ctx context.Context, id models.ResponseID) ([]Note, error) {
	var out Notes
	if err := c.send(ctx, http.MethodGet, approvalPath(id)+"/notes", nil, &out, 0); err != nil {
		return nil, err
	}
	return out.Notes, nil
}

// Extend moves a request's deadline to so many minutes from now; the token must be
// a reviewer's.
func (c *Client) Extend(ctx context.Context, id models.ResponseID, minutes int64) (*Approval, error) {
	return c.approval(ctx, http.MethodPost, approvalPath(id)+"/extend", ExtendRequest{Minutes: minutes}, 0)
}

// Undo takes back an approval of the token's person, while it is held for that.
func (c *Client) Undo(ctx context.Context, id models.ResponseID) (*Approval, error) {
	return c.approval(ctx, http.MethodPost, approvalPath(id)+"/undo", nil, 0)
}

// WithdrawDecision takes back, for an admin, a decision that another system has not
// taken.
func (c *Client) WithdrawDecision(ctx context.Context, id models.ResponseID, reason string) (*Approval, error) {
	return c.approval(ctx, http.MethodPost, approvalPath(id)+"/withdraw-decision", &WithdrawRequest{Reason: reason}, 0)
}

func (c *Client) approval(ctx context.Context, method, path string, body any, wait time.Duration) (*Approval, error) {
	var out Approval
	if err := c.send(ctx, method, path, body, &out, wait); err != nil {
		return nil, err
	}
	// Nothing may be released on the word of whoever else answers at the address.
	if out.ApprovalID == "" || (out.Status != models.StatusPending) != (out.Decision != nil) {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}

func (c *Client) send(ctx context.Context, method, path string, body, out any, wait time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, wait+grace)
	defer cancel()
	req, err := c.request(limited, method, path, body)
	if err != nil {
		return err
	}
	return c.exchange(ctx, req, out)
}

// exchange sends a request, whose context ends before ctx does, and reads the
// answer into out.
func (c *Client) exchange(ctx context.Context, req *http.Request, out any) error {
	client := c.HTTP
	if client == nil {
		client = noRedirects
	}
	res, err := client.Do(req)
	if err != nil {
		return unreachable(ctx, err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return unreachable(ctx, err)
	}
	if res.StatusCode < http.StatusOK || res.StatusCode > http.StatusAccepted {
		return answerError(res, raw)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return notOurs(res.StatusCode)
	}
	return nil
}

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var content io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body, writeOptions)
		if err != nil {
			return nil, models.Invalid("input", "must be one JSON value")
		}
		content = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.BaseURL, "/")+path, content)
	if err != nil {
		return nil, fmt.Errorf("make the request: the server's address must be a URL such as http://127.0.0.1:8080: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

func approvalPath(id models.ResponseID) string { return "/v1/approvals/" + url.PathEscape(string(id)) }

func waitQuery(wait time.Duration) string {
	if wait <= 0 {
		return ""
	}
	return "?wait=" + strconv.FormatInt(int64(wait/time.Millisecond), 10) + "ms"
}
