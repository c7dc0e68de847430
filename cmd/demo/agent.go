package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/terminal"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// Agent is the command that the demo starts as its agent.
func Agent() *cobra.Command {
	return &cobra.Command{
		Use:    demoAgent,
		Short:  "The agent of the demo, which `demo` starts",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			g := &guide{
				client: client.New(os.Getenv("COUNTERSIGN_SERVER"), os.Getenv("COUNTERSIGN_TOKEN")),
				out:    c.OutOrStdout(), viewer: make(chan struct{}),
			}
			go func() {
				g.listen(c.InOrStdin()) // ends when the process that started us does
				cancel()
			}()
			err := g.run(ctx)
			if ctx.Err() != nil {
				return nil
			}
			return err
		},
	}
}

// guide is the demo's agent: it knows nothing but the HTTP interface.
type guide struct {
	client *client.Client
	viewer chan struct{} // receives while somebody has a page open

	mu  sync.Mutex
	out io.Writer
}

// listen passes on the lines of the process that started the agent to all that wait for somebody to be there.
func (g *guide) listen(lines io.Reader) {
	for in := bufio.NewScanner(lines); in.Scan(); {
		for wait := true; wait; {
			select {
			case g.viewer <- struct{}{}:
			default:
				wait = false
			}
		}
	}
}

// run goes through the tour, again and again while it is asked to.
func (g *guide) run(ctx context.Context) error {
	for {
		if err := g.tour(ctx); err != nil {
			return err
		}
		again, err := g.asking(ctx, stop{ask: wire.AskRequest{
			Kind:        wire.KindQuestion,
			Explanation: wire.Explanation{Description: "That was the tour. Shall I ask for all of it again?"},
			Options:     []wire.Option{{Name: "again", Title: "Yes, once more"}, {Name: "enough", Title: "No, that was enough"}},
		}})
		if err != nil {
			return err
		}
		if !wantsMore(again) {
			g.say("I am done. Restart the demo to see me again; your own agents can ask here too.")
			return nil
		}
	}
}

// wantsMore reads the answer to "again?"; free text counts when it says yes.
func wantsMore(a *wire.Approval) bool {
	if !a.Decision.Approved {
		return false
	}
	if a.Decision.Option != nil {
		return *a.Decision.Option == "again"
	}
	return a.Decision.Answer != nil && saysYes(*a.Decision.Answer)
}

// tour asks for everything at once, so that the inbox has something to show, and
// acts on each outcome as it comes. It is silent until then: the terminal still
// shows how to sign in.
func (g *guide) tour(ctx context.Context) error {
	run := "tour-" + string(models.NewID[models.ResponseID]())
	if _, err := g.client.OpenConversation(ctx,
		wire.OpenRequest{RunID: run, Title: "Getting the shop ready"}); err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, len(stops))
	for i, stop := range stops {
		wg.Go(func() {
			stop.ask.RunID = run
			got, err := g.asking(ctx, stop)
			if err != nil {
				errs[i] = err
				return
			}
			g.say("%s", stop.react(got))
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// asking asks for one stop of the tour, and answers the reviewer's questions. When time has run out, it asks again as
// soon as somebody is there to decide: a person who comes back late finds requests, and a night without readers leaves
// no heap of them.
func (g *guide) asking(ctx context.Context, s stop) (*wire.Approval, error) {
	for {
		s.ask.ApprovalID, s.ask.AcceptsEdits = string(models.NewID[models.ResponseID]()), true
		got, err := g.client.AskUntilDecided(ctx, s.ask, client.WaitOptions{Connect: time.Minute, OnQuestion: func(q *wire.OpenNote) {
			g.say("is asked by %s: %s", q.By.Name, q.Text)
			if _, err := g.client.Note(ctx, wire.ResponseID(s.ask.ApprovalID), s.explains); err != nil {
				g.say("could not answer: %s", err)
				return
			}
			g.say("answers: %s", s.explains)
		}})
		if err != nil || got.Status != wire.StatusExpired {
			return got, err
		}
		g.say("%s", s.react(got))
		select {
		case <-g.viewer:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (g *guide) say(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	fmt.Fprintf(g.out, "agent: %s\n", terminal.Plain(fmt.Sprintf(format, args...)))
}
