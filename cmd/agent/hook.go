package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"countersign/cmd/remote"
	"countersign/cmd/terminal"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// exitHookDenied is how `hook` says no, and standard error says why. Coding agents take any
// other failure as leave to run.
const exitHookDenied = 2

const (
	// hookTimeout is what agents give a hook whose settings say nothing.
	hookTimeout = 10 * time.Minute
	// hookMargin is how long before that the call is denied: a hook that is cut off lets
	// it through.
	hookMargin = 10 * time.Second
	// withdrawTimeout limits the attempt to cancel a request that no caller waits for.
	withdrawTimeout = 3 * time.Second
)

// hookOptions are what the flags say.
type hookOptions struct {
	server, credentials string
	timeout, connect    time.Duration
}

// Hook is the command that a coding agent runs before and after its calls.
func Hook() *cobra.Command {
	var o hookOptions
	c := &cobra.Command{
		Use:   "hook",
		Short: "Answer a hook of a coding agent: ask before each call, report what came of it",
		Long: "Answer a hook of Claude Code, or of an agent that speaks the same: JSON on standard\n" +
			"input, JSON on standard output. `countersign connect claude-code` installs it.\n\n" +
			"PreToolUse and PermissionRequest ask, and wait through restarts of the server until\n" +
			"somebody has decided. Where nobody can be asked, or nobody decides before --timeout,\n" +
			"the call is denied: exit code 2, and standard error says why.\n" +
			"PostToolUse, PostToolUseFailure and Stop report, and always exit with 0.\n" +
			"Any other event is refused: exit code 2.\n\n" +
			"The server and the token are those of --credentials; without it those of\n" +
			"COUNTERSIGN_SERVER and COUNTERSIGN_TOKEN, or those that `connect` stored.",
		Annotations: map[string]string{terminal.FailureCode: fmt.Sprint(exitHookDenied)},
	}
	c.Flags().DurationVar(&o.timeout, "timeout", hookTimeout,
		"the timeout that the agent's settings give this hook; calls are denied 10s before")
	c.Flags().DurationVar(&o.connect, "connect-timeout", 30*time.Second,
		"how long to try a server that has not answered once")
	c.Flags().StringVar(&o.credentials, "credentials", "",
		"the file with the server and the token, instead of the environment")
	remote.AddFlag(c.Flags(), &o.server)
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return newHookRun(o, c).safely(func(r *hookRun) error { return r.fail(err) })
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		return newHookRun(o, c).safely(func(r *hookRun) error {
			if len(args) > 0 {
				return r.fail(errors.New("takes no arguments"))
			}
			return r.run(c.Context())
		})
	}
	return c
}

// hookRun is one hook that is answered.
type hookRun struct {
	o       hookOptions
	in      io.Reader
	out     io.Writer
	say     io.Writer
	event   []byte
	name    wire.HookName
	readErr error

	pending wire.ResponseID // the pending request
}

func newHookRun(o hookOptions, c *cobra.Command) *hookRun {
	return &hookRun{o: o, in: c.InOrStdin(), out: c.OutOrStdout(), say: c.ErrOrStderr()}
}

// maxHookInput is how much is read of what the agent hands over.
const maxHookInput = 64 << 20

// read takes what the agent hands over, and finds out what it is about.
func (r *hookRun) read() {
	r.event, r.readErr = io.ReadAll(io.LimitReader(r.in, maxHookInput))
	r.name = wire.HookNameIn(r.event)
}

// safely reads the event and answers it. Whatever goes wrong, a panic too, is a no.
func (r *hookRun) safely(answer func(*hookRun) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = r.fail(fmt.Errorf("the hook failed: %v", p))
		}
	}()
	r.read()
	return answer(r)
}

// run answers the hook.
func (r *hookRun) run(ctx context.Context) error {
	if err := r.check(); err != nil {
		return r.fail(err)
	}
	server, token, err := remote.HookServer(r.o.server, r.o.credentials)
	if err != nil {
		return r.fail(err)
	}
	limitCtx, cancel := context.WithTimeout(ctx, r.o.timeout-hookMargin)
	defer cancel()
	c := client.New(server, token)
	answer, err := c.Hook(limitCtx, r.name, r.event, client.HookOptions{
		Connect: min(r.o.connect, r.o.timeout-hookMargin), OnPending: r.waits,
	})
	if err != nil {
		return r.fail(r.why(ctx, limitCtx, c, err))
	}
	return r.print(answer)
}

// waits notes the request of the call. One for more energy is not ours to withdraw: other
// calls need it too.
func (r *hookRun) waits(p *wire.HookPending) {
	if p.Kind == wire.KindToolCall {
		r.pending = p.ApprovalID
	}
}

// check refuses what cannot be asked, before anybody is.
func (r *hookRun) check() error {
	switch {
	case r.readErr != nil:
		return fmt.Errorf("standard input: %w", r.readErr)
	case r.name == "":
		return errors.New("standard input: must be the JSON that a coding agent sends to its hooks")
	case !slices.Contains(wire.HookNames(), r.name):
		return errors.New("nobody was asked")
	case r.o.timeout < 2*hookMargin:
		return fmt.Errorf("--timeout: must be at least %s", models.SpokenDuration(2*hookMargin))
	case r.o.connect <= 0:
		return errors.New("--connect-timeout: must be positive")
	case len(r.event) >= models.MaxBody && !r.name.Gates():
		r.event = shortenResult(r.event)
	}
	return nil
}

// why says what kept the call from being asked about, or decided. A request that was not
// decided ends with the hook: nothing would come of a decision.
func (r *hookRun) why(ctx, limitCtx context.Context, c *client.Client, err error) error {
	if limitCtx.Err() == nil {
		return remote.AnswerText(err)
	}
	if r.pending != "" {
		aside, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTimeout)
		defer cancel()
		if _, cancelErr := c.Cancel(aside, r.pending); cancelErr != nil {
			err = fmt.Errorf("the request %s could not be cancelled: %w", r.pending, remote.AnswerText(cancelErr))
			fmt.Fprintf(r.say, "countersign: %s\n", terminal.Plain(err.Error()))
		}
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("the hook was interrupted")
	case r.pending != "":
		return errors.New("nobody decided before this hook's timeout")
	}
	return errors.New("no server answered before this hook's timeout")
}

// fail ends the hook without an answer. A call is denied by that, and a report is not
// worth stopping the agent for.
func (r *hookRun) fail(err error) error {
	switch r.name {
	case wire.HookPostToolUse, wire.HookPostToolUseFailure, wire.HookStop:
		fmt.Fprintf(r.say, "countersign: what happened was not reported: %s\n", terminal.Plain(err.Error()))
		return nil
	case "", wire.HookPreToolUse, wire.HookPermissionRequest:
		return terminal.Exit(exitHookDenied, fmt.Errorf("this call must not run, because it was not approved: %w", err))
	}
	return terminal.Exit(exitHookDenied,
		fmt.Errorf("`countersign hook` does not know the event %s, so nothing may run because of it: it answers %s; %w",
			r.name, models.AnyOf(wire.HookNames()), err))
}

// print hands the answer to the agent. Nothing is one too: go on as without a hook.
func (r *hookRun) print(a *wire.HookAnswer) error {
	if a.Output == nil {
		return nil
	}
	raw, err := json.Marshal(a, wire.WriteOptions)
	if err == nil {
		_, err = r.out.Write(append(raw, '\n'))
	}
	if err != nil {
		return r.fail(fmt.Errorf("standard output: %w", err))
	}
	return nil
}

// mostHookResult is how much is sent of a result that is too large for a request.
const mostHookResult = 128 << 10

// shortenResult makes room in a report: the result is cut to a text, and the input, which the server knows, is left
// out. An event that is not JSON stays unchanged, for the server to refuse.
func shortenResult(event []byte) []byte {
	var e wire.HookEvent
	if json.Unmarshal(event, &e) != nil {
		return event
	}
	e.ToolInput = nil
	if n := len(e.ToolResponse); n > mostHookResult {
		text, err := json.Marshal(cutText(string(e.ToolResponse)))
		if err != nil {
			text = []byte(`""`)
		}
		e.ToolResponse, e.ToolResponseBytes = text, int64(n)
	}
	e.Error, e.LastMessage = cutText(e.Error), cutText(e.LastMessage)
	short, err := json.Marshal(&e)
	if err != nil {
		return event
	}
	return short
}

// cutText keeps the beginning of a text, without a half character.
func cutText(s string) string {
	if len(s) <= mostHookResult {
		return s
	}
	return strings.ToValidUTF8(s[:mostHookResult], "")
}
