package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"countersign/cmd/remote"
	"countersign/cmd/terminal"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
)

// How long to leave a server alone that took nothing: doubling from the first to
// the last, and as long as refused where repeating the same is not likely to help.
const (
	firstAway   = 100 * time.Millisecond
	lastAway    = 2 * time.Second
	pauseIfSure = 30 * time.Second
	// gatherFor is how long to wait so that what an agent prints at once is one request.
	gatherFor = 20 * time.Millisecond
	// namedRefusals are the refused events that are reported one by one.
	namedRefusals = 5
)

// eventSender sends a run's events to the server, in order, however often the server
// is away.
type eventSender struct {
	client *client.Client
	open   wire.OpenRequest
	say    io.Writer
	queue  []*spool // oldest first; the last is this run's own
	end    <-chan struct{}

	conversation wire.ConversationID
	isNew        bool              // the run is new: no other ingest has used its ids
	newIDs       map[string]string // calls that are kept under an id that is new, by their own
	away         error             // why the last attempt failed; nil: it did not
	sent         int
	refusals     int
}

// work goes on until everything was handed over, and returns nil then. After the
// end of the run it gives up where repeating does not help, with that error, and
// otherwise when ctx ends.
func (h *eventSender) work(ctx context.Context) error {
	pause := firstAway
	for {
		lines, last, err := h.queue[0].next()
		switch {
		case err != nil: // leave the file to a process that can read it
			fmt.Fprintf(h.say, "countersign: what an earlier ingest left cannot be sent: %s\n", terminal.Plain(err.Error()))
			if len(h.queue) == 1 {
				return err
			}
			_ = h.queue[0].release(false)
			h.queue = h.queue[1:]
			continue
		case len(lines) == 0 && len(h.queue) > 1:
			_ = h.queue[0].release(true)
			h.queue = h.queue[1:]
			continue
		case len(lines) == 0 && h.conversation != "" && last:
			return nil
		case len(lines) == 0 && h.conversation != "":
			if !h.awaitMore(ctx) {
				return h.gaveUp()
			}
			continue
		}
		count, err := h.hand(ctx, lines, false)
		if err != nil {
			if ctx.Err() != nil {
				return h.gaveUp()
			}
			sure, after := h.failed(err)
			if sure && h.hasEnded() {
				return err
			}
			wait := max(after, pause/2+rand.N(pause)) //nolint:gosec // not a secret
			if pause = min(2*pause, lastAway); sure {
				wait = pauseIfSure
			}
			h.rest(ctx, wait)
			continue
		}
		h.succeeded()
		h.queue[0].done(count)
		pause = firstAway
	}
}

// hand sends one request's worth, in the conversation that is opened before, and returns how
// much of it that was.
func (h *eventSender) hand(ctx context.Context, lines []byte, again bool) (count int, err error) {
	if h.conversation == "" {
		c, err := h.client.OpenConversation(ctx, h.open)
		if err != nil {
			return 0, err
		}
		h.conversation, h.isNew = c.ID, c.Opened
	}
	if len(lines) == 0 {
		return 0, nil
	}
	if !h.isNew {
		lines = beforeItsResult(lines)
	}
	sent := h.rename(lines)
	answer, err := h.client.Report(ctx, h.conversation, sent)
	var refusal *client.AnswerError
	if errors.As(err, &refusal) && refusal.Status == http.StatusNotFound && !again {
		h.conversation = "" // the server began again
		return h.hand(ctx, lines, true)
	}
	if err != nil {
		return 0, err
	}
	if err := h.keepConflicts(ctx, sent, answer.Results); err != nil {
		return 0, err // all of it is sent again
	}
	h.sent += len(answer.Results)
	for i := range answer.Results {
		if answer.Results[i].Status != wire.RunEventConflict {
			h.heard(&answer.Results[i])
		}
	}
	return len(lines), nil
}

// heard reports an event that the server did not store unchanged.
func (h *eventSender) heard(r *wire.RunEventResult) {
	switch r.Status {
	case wire.RunEventStored, wire.RunEventRepeated:
		return
	case wire.RunEventConflict, wire.RunEventError:
	}
	if h.refusals++; h.refusals <= namedRefusals {
		fmt.Fprintf(h.say, "countersign: event %s was not accepted: %s\n", terminal.Plain(r.ID), terminal.Plain(r.Error))
	}
}

// failed notes that an attempt failed, tells of it once, and reports whether the
// same is likely to fail again, or for how long the server asked to be left alone.
func (h *eventSender) failed(err error) (sure bool, after time.Duration) {
	after, again := client.Retryable(err)
	if h.away == nil {
		fmt.Fprintf(h.say, "countersign: the run continues, and is kept until it can be sent: %s\n",
			terminal.Plain(remote.AnswerText(err).Error()))
	}
	h.away = err
	return !again, after
}

// gaveUp is the error of an end for which the time was too short.
func (h *eventSender) gaveUp() error {
	if h.away == nil {
		return errors.New("the server did not accept the rest of the run in time")
	}
	return h.away
}

func (h *eventSender) succeeded() {
	if h.away != nil {
		fmt.Fprintln(h.say, "countersign: the server accepts the run again")
	}
	h.away = nil
}

func (h *eventSender) hasEnded() bool {
	select {
	case <-h.end:
		return true
	default:
		return false
	}
}

// awaitMore waits for more to send, and then a moment for events that follow at once.
func (h *eventSender) awaitMore(ctx context.Context) bool {
	select {
	case <-h.queue[0].more:
	case <-ctx.Done():
		return false
	}
	h.rest(ctx, gatherFor)
	return ctx.Err() == nil
}

// rest waits for a while, or until the run ends: then there is one more attempt
// at once.
func (h *eventSender) rest(ctx context.Context, d time.Duration) {
	end := h.end
	if h.hasEnded() {
		end = nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-end:
	case <-ctx.Done():
	}
}

// left lets go of the files, counts the events in them that were not handed over,
// and names those that hold any. The others are removed.
func (h *eventSender) remains() (events int, paths []string) {
	for _, s := range h.queue {
		n := s.waiting()
		if n > 0 {
			paths = append(paths, s.path)
		}
		_ = s.release(n == 0) // an empty file that stays does no harm
		events += n
	}
	return events, paths
}

// waiting counts the lines that were not sent.
func (s *spool) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := 0
	r := io.NewSectionReader(s.file, s.sent, s.size-s.sent)
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		lines += bytes.Count(buf[:n], []byte{'\n'})
		if err != nil {
			return lines
		}
	}
}
