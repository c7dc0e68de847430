package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/cmd/remote"
	"countersign/cmd/terminal"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/streamjson"
)

// drainInterrupted is how long an ingest goes on handing over once it was
// interrupted and the agent's output has ended.
const drainInterrupted = 5 * time.Second

// quietWait is how long it sends without a message after the output has ended.
const quietWait = time.Second

// ingestRun is one run of `ingest`.
type ingestRun struct {
	o        ingestOptions
	out, say io.Writer
	spool    *spool // nil: nothing can be kept
	stream   streamjson.Reader

	began, hasEnd bool   // whether the agent said so
	last          string // the id of the last event
	unkept        int    // events that could not be kept
}

func newIngesting(o ingestOptions, out, say io.Writer) *ingestRun {
	return &ingestRun{o: o, out: out, say: say}
}

// run passes in on until it ends, whatever else happens, and then says how the
// handing over ended.
func (g *ingestRun) run(ctx context.Context, in io.Reader) error {
	spools := leftSpools(g.o.spool, g.o.server, g.o.run)
	if err := g.makeSpool(); err != nil {
		err = fmt.Errorf("the run was not reported, because it cannot be stored: %w", err)
		return terminal.Exit(remote.ExitOther, errors.Join(err, g.passOn(in)))
	}
	end := make(chan struct{})
	h := &eventSender{
		client: client.New(g.o.server, g.o.token),
		open: wire.OpenRequest{
			RunID: g.o.run, ParentRunID: g.o.parent, OnReject: g.o.onReject, OnRejectDefault: models.OnRejectCascade,
		},
		say: g.say, queue: append(spools, g.spool), end: end,
	}
	// A signal is the agent's to heed: what it says on its way out is passed on too.
	workCtx, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	result := make(chan error, 1)
	go func() { result <- h.work(workCtx) }()

	passErr := g.passOn(in)
	g.spool.close()
	close(end)
	limit := g.o.drain
	if ctx.Err() != nil {
		limit = min(limit, drainInterrupted)
	} else {
		// A signal may have been on its way before the end was seen.
		defer context.AfterFunc(ctx, func() { time.AfterFunc(drainInterrupted, giveUp) })()
	}
	defer time.AfterFunc(limit, giveUp).Stop()
	err := g.await(result, limit)
	return g.outcome(h, err, passErr)
}

// await waits for the handing over, and says so where that takes long enough for
// somebody to wonder.
func (g *ingestRun) await(result <-chan error, limit time.Duration) error {
	wonder := time.NewTimer(quietWait)
	defer wonder.Stop()
	select {
	case err := <-result:
		return err
	case <-wonder.C:
	}
	fmt.Fprintf(g.say, "countersign: the agent's output has ended; sending the rest, for at most %s\n",
		models.SpokenDuration(limit))
	return <-result
}

// makeSpool falls back to the temporary folder, where the next ingest looks only if a flag names it.
func (g *ingestRun) makeSpool() error {
	var err error
	if g.spool, err = newSpool(g.o.spool, g.o.server, g.o.run); err == nil {
		return nil
	}
	g.o.spool = os.TempDir()
	fmt.Fprintf(g.say, "countersign: the folder for unsent events cannot be used, but %s: %s\n", terminal.Plain(g.o.spool),
		terminal.Plain(err.Error()))
	g.spool, err = newSpool(g.o.spool, g.o.server, g.o.run)
	return err
}

// passOn copies the agent's output and keeps what it says. An error is one of the
// copy.
func (g *ingestRun) passOn(in io.Reader) error {
	t := &tap{out: g.out, each: g.keep, tooLong: g.stream.Lose}
	err := t.copy(in)
	g.keepAll(g.stream.End())
	if err != nil {
		err = fmt.Errorf("standard input: %w", err)
	}
	switch {
	case t.readerLeft():
		fmt.Fprintln(g.say, "countersign: nobody reads the output any more; the run was followed to its end")
	case t.err != nil:
		err = errors.Join(err, fmt.Errorf("standard output: %w", t.err))
	}
	switch {
	case g.began && !g.hasEnd:
		e := streamjson.Cut(g.last)
		g.store([]models.RunEvent{e})
	case !g.began && t.position > 0:
		fmt.Fprintln(g.say,
			"countersign: no line was one of a run; start the agent with --output-format stream-json --verbose")
	}
	g.tellUnread()
	return err
}

// tellUnread says on standard error, and on the run, what could not be read.
func (g *ingestRun) tellUnread() {
	lines, first, _ := g.stream.Unread()
	if lines == 0 {
		return
	}
	var text strings.Builder
	if lines == 1 {
		text.WriteString("1 line of the agent's output could not be read:")
	} else {
		fmt.Fprintf(&text, "%d lines of the agent's output could not be read:", lines)
	}
	for _, one := range first {
		fmt.Fprintf(&text, "\nline %d: %s", one.Line, one.Head)
	}
	if lines > len(first) {
		text.WriteString("\n…")
	}
	fmt.Fprintf(g.say, "countersign: %s\n", terminal.TheirLines(text.String()))
	g.store([]models.RunEvent{streamjson.Notice(g.last, text.String())})
}

// keep stores what a line says.
func (g *ingestRun) keep(line []byte, position int64) { g.keepAll(g.stream.Read(line, position)) }

func (g *ingestRun) keepAll(events []models.RunEvent) {
	if len(events) == 0 {
		return
	}
	last := events[len(events)-1]
	g.began, g.last = true, last.ID
	g.hasEnd = last.Type == models.RunEventStatus && last.Status != models.ConversationRunning
	g.store(events)
}

func (g *ingestRun) store(events []models.RunEvent) {
	if g.spool == nil {
		return
	}
	var lines []byte
	for i := range events {
		raw, err := json.Marshal(&events[i])
		if err == nil && len(raw) >= maxReport {
			err = fmt.Errorf("an event of %d bytes is too large to be sent", len(raw))
		}
		if err != nil { // the parser sees to it that there is none
			g.lost(1, err)
			continue
		}
		lines = append(append(lines, raw...), '\n')
	}
	if err := g.spool.add(lines); err != nil {
		g.lost(bytes.Count(lines, []byte{'\n'}), err)
	}
}

// lost notes events that will not be reported, and tells of the first.
func (g *ingestRun) lost(n int, err error) {
	if g.unkept == 0 {
		fmt.Fprintf(g.say, "countersign: a part of the run cannot be kept and will be missing: %s\n",
			terminal.Plain(err.Error()))
	}
	g.unkept += n
}

// outcome turns what happened into an exit code.
func (g *ingestRun) outcome(h *eventSender, err, passErr error) error {
	unread, _, lost := g.stream.Unread()
	if err == nil {
		switch releaseErr := g.spool.release(true); {
		case passErr != nil:
			return terminal.Exit(remote.ExitOther, passErr)
		case g.unkept > 0:
			return terminal.Exit(remote.ExitOther, fmt.Errorf("%d events could not be kept and were not reported", g.unkept))
		case h.refusals > 0:
			return terminal.Exit(remote.ExitOther,
				fmt.Errorf("%d of %d events were not accepted by the server", h.refusals, h.sent))
		case lost:
			return terminal.Exit(remote.ExitOther,
				fmt.Errorf("the run was reported without what %d lines say that could not be read", unread))
		case unread > 0 && !g.began:
			return terminal.Exit(remote.ExitOther, errors.New("nothing was reported: no line was one of a run"))
		case releaseErr != nil:
			return terminal.Exit(remote.ExitOther,
				fmt.Errorf("everything was sent, but its file could not be removed: %w", releaseErr))
		}
		return nil
	}
	events, paths := h.remains()
	if events > 0 {
		err = fmt.Errorf("%w; %d events of the run wait in %s; the next ingest with the same --run-id and --spool %s sends them", remote.AnswerText(err), events, strings.Join(paths, " and "), g.o.spool)
	}
	code := remote.ExitOther
	if _, again := client.Retryable(h.away); again || h.away == nil {
		code = remote.ExitUnreachable
	}
	if passErr != nil {
		err = errors.Join(err, passErr)
	}
	return terminal.Exit(code, err)
}
