package cmd

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

	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
)

const (
	// sampleWithin is how long the sample call may take to appear in the inbox.
	sampleWithin = 45 * time.Second
	sampleLook   = 100 * time.Millisecond
	// samplePatience is how long a person is waited for who may answer it.
	samplePatience = 2 * time.Minute
)

// sample is a call that the installed hook is tried with.
type sample struct {
	session string
	command *exec.Cmd
	out     bytes.Buffer
	said    bytes.Buffer
	done    chan struct{} // closed when it has ended
}

// prove pipes a sample call into the installed hook, as the agent would, and waits until it
// is in the inbox. Then it is answered there, or withdrawn.
func (g *connecting) prove(ctx context.Context) error {
	s, err := g.startSample(ctx)
	if err != nil {
		return fmt.Errorf("the hook is installed, but could not be tried: %w", err)
	}
	defer s.stop()
	url, err := s.appears(ctx, g.access)
	if err != nil {
		return fmt.Errorf("the hook is installed, but its trial failed: %w\n`countersign disconnect claude-code` removes it", err)
	}
	fmt.Fprintf(g.out, "The hook works: its sample call is in the inbox, at %s\n", plain(url))
	if g.terminal && !g.o.yes {
		g.awaitPerson(ctx, s)
	}
	s.stop()
	err = s.withdrawn(ctx, g.access)
	switch {
	case err != nil:
		fmt.Fprintln(g.out, "It could not be cancelled here: cancel it there, or let it expire.")
	case strings.TrimSpace(s.out.String()) != "":
		fmt.Fprintln(g.out, "It was answered, and the hook told the agent.")
	default:
		fmt.Fprintln(g.out, "It was cancelled.")
	}
	fmt.Fprintln(g.out, "Connected. Restart Claude Code where it runs. The policy says which calls need a person; where\nno rule concerns one, Claude Code's own permission rules decide, and its auto mode lets most run.")
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
func (s *sample) appears(ctx context.Context, with credentials) (string, error) {
	limited, cancel := context.WithTimeout(ctx, sampleWithin)
	defer cancel()
	look := time.NewTicker(sampleLook)
	defer look.Stop()
	c := client.New(with.Server, with.Token)
	for {
		pending, err := c.SessionPending(limited, s.session)
		if err == nil && len(pending) == 1 {
			return strings.TrimSuffix(with.Server, "/") + "/approvals/" + string(pending[0].ToolCallID), nil
		}
		select {
		case <-s.done:
			return "", s.ended()
		case <-limited.Done():
			return "", errors.New("the sample call did not appear in the inbox")
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

// stop ends the hook as its agent would, so that it withdraws its call.
func (s *sample) stop() {
	_ = syscall.Kill(-s.command.Process.Pid, syscall.SIGTERM) // it may have ended
	<-s.done
}

// withdrawn makes sure that nothing waits for the hook, which has ended: on a busy machine it
// may end before it has heard which request is its own.
func (s *sample) withdrawn(ctx context.Context, with credentials) error {
	c := client.New(with.Server, with.Token)
	left, err := c.SessionPending(ctx, s.session)
	if err != nil {
		return err
	}
	for _, one := range left {
		if _, err := c.Cancel(ctx, one.ToolCallID); err != nil {
			return err
		}
	}
	return nil
}
