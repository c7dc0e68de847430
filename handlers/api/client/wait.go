package client

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"countersign/handlers/api/wire"
)

// ErrNeverAnswered is wrapped around the last failure when no server answered a
// request even once. It is the only case in which a fallback may be thought of.
var ErrNeverAnswered = errors.New("no server answered")

// ErrDeadline is wrapped around the last failure when a request was taken,
// the server then fell silent, and the request's own deadline has passed: it
// can no longer be approved.
var ErrDeadline = errors.New("the request's deadline has passed while no server answered")

// WaitOptions say how AskUntilDecided waits.
type WaitOptions struct {
	// Connect is how long a request that was never answered is tried.
	Connect time.Duration
	// OnAnswer is called with the first answer, which may be the outcome; may be nil.
	OnAnswer func(*wire.Approval)
	// OnBudgetRequest is called with each budget request that must be decided before
	// the request itself is accepted; may be nil.
	OnBudgetRequest func(*wire.Approval)
	// OnQuestion is called once with each question of a reviewer, which waits for an
	// answer by Note. If it is nil, no question ends a wait.
	OnQuestion func(*wire.OpenNote)
}

// How long to leave a silent server alone: doubling from the first to the last.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 2 * time.Second
	pollWait   = 50 * time.Second
)

// AskUntilDecided sends a request and repeats it until it is settled, through
// restarts of the server. A request without a key of its own is given one, or
// each repeat would be another request. Once the server has answered, only an
// outcome, an answer that repeating cannot help, or the request's own deadline
// ends it. Where the budget is spent it waits for the request that the answer
// names, and repeats once that was approved; a *BudgetError if it was not.
func (c *Client) AskUntilDecided(ctx context.Context, req wire.AskRequest, p WaitOptions) (*wire.Approval, error) {
	if req.ApprovalID == "" && req.ToolUseID == "" {
		req.ApprovalID = newID()
	}
	a, err := c.firstAnswer(ctx, req, p.Connect, false)
	var pendingID wire.ResponseID
	for id, spent := exhausted(err); spent; id, spent = exhausted(err) {
		request, failed := c.budgetDecided(ctx, id, p.OnBudgetRequest)
		if failed != nil {
			return nil, failed
		}
		granted := request.Status == wire.StatusApproved || request.Status == wire.StatusResolved
		if !granted || id == pendingID {
			return nil, &BudgetError{Request: request}
		}
		pendingID = id
		a, err = c.firstAnswer(ctx, req, p.Connect, true)
	}
	if err != nil {
		return nil, err
	}
	if p.OnAnswer != nil {
		p.OnAnswer(a)
	}
	return c.outcome(ctx, req, a, p.OnQuestion)
}

// firstAnswer tries until the server answers for the first time: while patience
// lasts, or without end if there is a server: it was heard before, or said that
// it is busy.
func (c *Client) firstAnswer(
	ctx context.Context, req wire.AskRequest, patience time.Duration, heard bool,
) (*wire.Approval, error) {
	timeLimit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	busy := heard
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		turn := timeLimit
		if busy {
			turn = ctx
		}
		a, err := c.Ask(turn, req, 0)
		if err == nil {
			return a, nil
		}
		after, again := Retryable(err)
		busy = busy || again && Answered(err)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err() //nolint:wrapcheck // the caller's own
		case noSpace(err), !again && (timeLimit.Err() == nil || Answered(err)):
			return nil, err // a refusal is an answer, however late
		case busy:
			rest(ctx, max(after, jittered(pause)))
		case !rest(timeLimit, max(after, jittered(pause))):
			if ctx.Err() != nil {
				return nil, ctx.Err() //nolint:wrapcheck // the caller's own
			}
			return nil, fmt.Errorf("%w: %w", ErrNeverAnswered, err)
		}
	}
}

// budgetDecided waits until a budget request is settled, through restarts of the
// server.
func (c *Client) budgetDecided(
	ctx context.Context, id wire.ResponseID, told func(*wire.Approval),
) (*wire.Approval, error) {
	wait := time.Duration(0)
	for pause := firstPause; ; {
		a, err := c.Get(ctx, id, wait)
		switch after, again := Retryable(err); {
		case err == nil && a.Status != wire.StatusPending:
			return a, nil
		case err == nil && wait == 0:
			if wait = pollWait; told != nil {
				told(a)
			}
		case err == nil: // a server that is stopping answers at once
			rest(ctx, firstPause)
			pause = firstPause
		case !again:
			return nil, err
		default:
			rest(ctx, max(after, jittered(pause)))
			pause = min(2*pause, lastPause)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err() //nolint:wrapcheck // the caller's own
		}
	}
}

// outcome repeats a request that the server has taken.
func (c *Client) outcome(
	ctx context.Context, req wire.AskRequest, a *wire.Approval, asked func(*wire.OpenNote),
) (*wire.Approval, error) {
	seen := questions{heard: asked}
	end := newDeadline(a)
	defer end.timer.Stop()
	pause := firstPause
	for a.Status == wire.StatusPending {
		seen.tell(a.OpenNote)
		end.set(a)
		// A server that is stopping answers at once: do not spin on it.
		pace := time.NewTimer(time.Second)
		next, err := c.askOrSeen(ctx, req, &seen)
		switch after, again := Retryable(err); {
		case err == nil:
			a, pause = next, firstPause
			if a.Status == wire.StatusPending && !seen.isNew(a.OpenNote) {
				select {
				case <-pace.C:
				case <-ctx.Done():
				}
			}
		case !again:
			pace.Stop()
			return nil, err
		default:
			if end.passed() {
				pace.Stop()
				return a, fmt.Errorf("%w: %w", ErrDeadline, err)
			}
			rest(ctx, max(after, jittered(pause)))
			pause = min(2*pause, lastPause)
		}
		pace.Stop()
		if ctx.Err() != nil {
			return nil, ctx.Err() //nolint:wrapcheck // the caller's own
		}
	}
	return a, nil
}

func (c *Client) askOrSeen(ctx context.Context, req wire.AskRequest, seen *questions) (*wire.Approval, error) {
	if seen.heard == nil {
		return c.Ask(ctx, req, pollWait)
	}
	return c.askSeen(ctx, req, pollWait, seen.last)
}

// questions are what a reviewer asks back while a caller waits.
type questions struct {
	heard func(*wire.OpenNote) // nil: the caller ignores questions
	last  wire.NoteID
}

func (q *questions) isNew(n *wire.OpenNote) bool { return q.heard != nil && n != nil && n.ID != q.last }

func (q *questions) tell(n *wire.OpenNote) {
	if q.isNew(n) {
		q.last = n.ID
		q.heard(n)
	}
}

// deadline is when a request runs out, by its length and not its time: this
// machine's clock may be off. Where it was moved meanwhile, its whole length counts
// again, which is never too short.
type deadline struct {
	timer  *time.Timer
	length time.Duration // 0: none
}

func newDeadline(a *wire.Approval) *deadline {
	d := &deadline{timer: time.NewTimer(0)}
	d.timer.Stop()
	d.set(a)
	return d
}

func (d *deadline) set(a *wire.Approval) {
	length := time.Duration(0)
	if a.TimeoutAt != nil {
		length = a.TimeoutAt.Sub(a.RequestedAt)
	}
	if length == d.length {
		return
	}
	if d.length = length; length == 0 {
		d.timer.Stop()
	} else {
		d.timer.Reset(length)
	}
}

func (d *deadline) passed() bool {
	select {
	case <-d.timer.C:
		return true
	default:
		return false
	}
}

// rest waits, and reports whether it was left to.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// newID makes a random UUID (version 4).
func newID() string {
	var b [16]byte
	_, _ = cryptorand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// jittered spreads those who lost the same server, so that they do not all come
// back in the same instant.
func jittered(d time.Duration) time.Duration {
	return d/2 + rand.N(d) //nolint:gosec // not a secret
}
