package connect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/cmd/remote"
	"countersign/cmd/terminal"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
)

const (
	sampleLook = 100 * time.Millisecond
	// samplePatience is how long a person is waited for who may answer it.
	samplePatience = 2 * time.Minute
)

// sample is a call that the installed hook is tried with.
type sample struct {
	session string
	id      wire.ResponseID // once it was seen pending
	command *exec.Cmd
	out     bytes.Buffer
	said    bytes.Buffer
	done    chan struct{} // closed when it has ended
}

// prove pipes a sample call into the installed hook, as the agent would, and waits until it is in the inbox. Then it is
// answered there, or withdrawn. A call that does not appear is a failure.
func (g *connecting) prove(ctx, trialCtx context.Context) error {
	s, err := g.startSample(ctx)
	if err != nil {
		return fmt.Errorf("the hook is installed, but could not be tried: %w", err)
	}
	patience := g.o.within * 2 / 10
	url, failure := s.appears(trialCtx, g.access)
	if failure == nil {
		fmt.Fprintf(g.out, "The hook asks: its sample call is in the inbox, at %s\n", terminal.Plain(url))
		if g.terminal && !g.o.yes {
			g.awaitPerson(ctx, s)
		}
	}
	s.stop(patience)
	aside, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err = s.withdrawn(aside, g.access)
	switch {
	case failure != nil && err != nil:
		failure = fmt.Errorf("%w\nIf the sample call is still in the inbox, cancel it there", failure)
		fallthrough
	case failure != nil:
		return fmt.Errorf("the hook is installed, but its trial failed: %w\n`countersign disconnect claude-code` removes it",
			failure)
	}
	if err == nil {
		err = g.tellOutcome(aside, s)
	}
	if err != nil {
		return fmt.Errorf("the hook is installed, and its sample call was seen, but not how it ended: %w\ncancel it at %s",
			remote.AnswerText(err), url)
	}
	fmt.Fprintln(g.out,
		"Connected. The sample ran the hook, not Claude Code: restart Claude Code where it runs, and see its\n"+
			"first call in the inbox or in the list of conversations. The policy says which calls need a person; where\n"+
			"no rule concerns one, Claude Code's own permission rules decide, and its auto mode lets most run.")
	return nil
}

// tellOutcome says how the sample ended, as the server has it.
func (g *connecting) tellOutcome(ctx context.Context, s *sample) error {
	got, err := client.New(g.access.Server, g.access.Token).Get(ctx, s.id, 0)
	if err != nil {
		return err
	}
	switch output := strings.TrimSpace(s.out.String()) != ""; {
	case got.Status == wire.StatusPending:
		return errors.New("it is still pending")
	case output:
		fmt.Fprintf(g.out, "It was %s, and the hook told the agent.\n", got.Status)
	default:
		fmt.Fprintf(g.out, "It was %s.\n", got.Status)
	}
	return nil
}

// startSample starts the installed command by a shell, and with nothing of ours in its
// environment: the agent has none of it either.
func (g *connecting) startSample(ctx context.Context) (*sample, error) {
	s := &sample{session: "sample-" + string(models.NewID[models.ResponseID]()), done: make(chan struct{})}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	event, err := json.Marshal(wire.HookEvent{
		Name: wire.HookPermissionRequest, SessionID: s.session, Directory: dir, ToolName: "Countersign sample",
		ToolInput: []byte(`{"description":"A sample call of countersign connect. Nothing runs, whatever you decide."}`),
	})
	if err != nil {
		return nil, fmt.Errorf("encode the sample: %w", err)
	}
	s.command = exec.CommandContext(ctx, "/bin/sh", "-c", g.hook) //nolint:gosec // the command that was just agreed to
	s.command.Stdin, s.command.Stdout, s.command.Stderr = bytes.NewReader(event), &s.out, &s.said
	s.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "COUNTERSIGN_") {
			s.command.Env = append(s.command.Env, v)
		}
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.done)
		_ = s.command.Wait() // what it printed says how it ended
	}()
	return s, nil
}

// appears waits until the sample is pending, and returns its page.
func (s *sample) appears(ctx context.Context, with remote.Credentials) (string, error) {
	look := time.NewTicker(sampleLook)
	defer look.Stop()
	c := client.New(with.Server, with.Token)
	for {
		pending, err := c.SessionPending(ctx, s.session)
		if err == nil && len(pending) == 1 {
			s.id = pending[0].ToolCallID
			return strings.TrimSuffix(with.Server, "/") + "/approvals/" + string(pending[0].ToolCallID), nil
		}
		select {
		case <-s.done:
			return "", s.ended()
		case <-ctx.Done():
			return "", errors.New("the sample call did not appear in the inbox in time")
		case <-look.C:
		}
	}
}

// ended says why the hook has answered before anybody could see its call.
func (s *sample) ended() error {
	if said := strings.TrimSpace(s.said.String()); said != "" {
		return errors.New(said)
	}
	if answer := strings.TrimSpace(s.out.String()); answer != "" {
		return errors.New("nobody was asked; the server answered " + answer)
	}
	return errors.New("nobody was asked: approval is switched off, or a rule of the policy allows every tool")
}

// awaitPerson waits until the sample is answered, or the person presses Enter.
func (g *connecting) awaitPerson(ctx context.Context, s *sample) {
	fmt.Fprintln(g.out, "Answer it there, or press Enter to cancel it.")
	limit := time.NewTimer(samplePatience)
	defer limit.Stop()
	select {
	case <-s.done:
	case <-g.line():
	case <-limit.C:
	case <-ctx.Done():
	}
}

// stop ends the hook as its agent would, so that it withdraws its call; one that takes longer
// is cut off.
func (s *sample) stop(patience time.Duration) {
	group := -s.command.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM) // it may have ended
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-s.done:
		return
	case <-late.C:
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-s.done
}

// withdrawn makes sure that nothing waits for the hook, which has ended: on a busy machine it
// may end before it has heard which request is its own.
func (s *sample) withdrawn(ctx context.Context, with remote.Credentials) error {
	c := client.New(with.Server, with.Token)
	rest, err := c.SessionPending(ctx, s.session)
	if err != nil {
		return err
	}
	for _, one := range rest {
		if _, err := c.Cancel(ctx, one.ToolCallID); err != nil {
			return err
		}
	}
	return nil
}
