package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/handlers/api/wire"
)

// Client speaks to one server with one token. Each method sends one request and
// returns one answer; AskUntilDecided repeats until there is an outcome. Many
// goroutines may use it at once.
type Client struct {
	BaseURL string       // the server's public URL
	Token   string       // an agent's, a reviewer's or an admin's
	HTTP    *http.Client // nil: one that follows no redirects
}

// New makes a client of the server at a URL, such as http://127.0.0.1:8080.
func New(server, token string) *Client { return &Client{BaseURL: server, Token: token} }

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
func (c *Client) Ask(ctx context.Context, req wire.AskRequest, wait time.Duration) (*wire.Approval, error) {
	return c.ask(ctx, waitQuery(wait), req, wait)
}

// ask asks again without AcceptsEdits where the server is older than that and refuses it:
// such a server lets every input be edited, and its answer has the edited one too.
func (c *Client) ask(
	ctx context.Context, query string, req wire.AskRequest, wait time.Duration,
) (*wire.Approval, error) {
	a, err := c.approval(ctx, http.MethodPost, "/v1/approvals"+query, req, wait)
	if req.AcceptsEdits && refusesField(err, "acceptsEdits") {
		req.AcceptsEdits = false
		return c.approval(ctx, http.MethodPost, "/v1/approvals"+query, req, wait)
	}
	return a, err
}

// Get returns a request in its current state, or as soon as it is settled within wait.
func (c *Client) Get(ctx context.Context, id wire.ResponseID, wait time.Duration) (*wire.Approval, error) {
	return c.approval(ctx, http.MethodGet, approvalPath(id)+waitQuery(wait), nil, wait)
}

// askSeen is Ask, and ends its wait for a question too that is another than seen;
// empty: the caller has seen none.
func (c *Client) askSeen(
	ctx context.Context, req wire.AskRequest, wait time.Duration, seen wire.NoteID,
) (*wire.Approval, error) {
	return c.ask(ctx, waitQuery(wait)+"&seenNote="+url.QueryEscape(string(seen)), req, wait)
}

// Cancel withdraws a request: of the agent's own, or of an agent of the person's.
func (c *Client) Cancel(ctx context.Context, id wire.ResponseID) (*wire.Approval, error) {
	return c.approval(ctx, http.MethodPost, approvalPath(id)+"/cancel", nil, 0)
}

// Respond decides a request; the token must be a reviewer's.
func (c *Client) Respond(
	ctx context.Context, id wire.ResponseID, verdict wire.RespondRequest,
) (*wire.RespondResult, error) {
	var out wire.RespondResult
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
func (c *Client) Note(ctx context.Context, id wire.ResponseID, text string) (*wire.NoteResult, error) {
	var out wire.NoteResult
	if err := c.send(ctx, http.MethodPost, approvalPath(id)+"/notes", wire.NoteRequest{Text: text}, &out, 0); err != nil {
		return nil, err
	}
	if out.Note.ID == "" {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}

// Notes reads the notes of a request.
func (c *Client) Notes(ctx context.Context, id wire.ResponseID) ([]wire.Note, error) {
	var out wire.Notes
	if err := c.send(ctx, http.MethodGet, approvalPath(id)+"/notes", nil, &out, 0); err != nil {
		return nil, err
	}
	return out.Notes, nil
}

// Extend moves a request's deadline to so many minutes from now; the token must be
// a reviewer's.
func (c *Client) Extend(ctx context.Context, id wire.ResponseID, minutes int64) (*wire.Approval, error) {
	return c.approval(ctx, http.MethodPost, approvalPath(id)+"/extend", wire.ExtendRequest{Minutes: minutes}, 0)
}

// Undo takes back an approval of the token's person, while it is held for that.
func (c *Client) Undo(ctx context.Context, id wire.ResponseID) (*wire.Approval, error) {
	return c.approval(ctx, http.MethodPost, approvalPath(id)+"/undo", nil, 0)
}

// WithdrawDecision takes back, for an admin, a decision that another system has not
// taken.
func (c *Client) WithdrawDecision(ctx context.Context, id wire.ResponseID, reason string) (*wire.Approval, error) {
	return c.approval(ctx, http.MethodPost, approvalPath(id)+"/withdraw-decision", &wire.WithdrawRequest{Reason: reason},
		0)
}

func (c *Client) approval(
	ctx context.Context, method, path string, body any, wait time.Duration,
) (*wire.Approval, error) {
	var out wire.Approval
	if err := c.send(ctx, method, path, body, &out, wait); err != nil {
		return nil, err
	}
	// Nothing may be released on the word of another server that answers at the address.
	if out.ApprovalID == "" || (out.Status != wire.StatusPending) != (out.Decision != nil) {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}

func (c *Client) send(ctx context.Context, method, path string, body, out any, wait time.Duration) error {
	timeLimit, cancel := context.WithTimeout(ctx, wait+grace)
	defer cancel()
	req, err := c.request(timeLimit, method, path, body)
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
		raw, err := json.Marshal(body, wire.WriteOptions)
		if err != nil {
			return nil, errors.New("The request is not valid. (input: must be one JSON value)") //nolint:staticcheck // as the server says it
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

func approvalPath(id wire.ResponseID) string { return "/v1/approvals/" + url.PathEscape(string(id)) }

func waitQuery(wait time.Duration) string {
	if wait <= 0 {
		return ""
	}
	return "?wait=" + strconv.FormatInt(int64(wait/time.Millisecond), 10) + "ms"
}
