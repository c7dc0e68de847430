package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
)

func newDemoAgent() *cobra.Command {
	return &cobra.Command{
		Use:    demoAgent,
		Short:  "The agent of the demo, which `demo` starts",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			go func() {
				_, _ = io.Copy(io.Discard, c.InOrStdin()) // ends when the process that started us does
				cancel()
			}()
			g := &guide{client: client.New(os.Getenv("COUNTERSIGN_SERVER"), os.Getenv("COUNTERSIGN_TOKEN")), out: c.OutOrStdout()}
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

	mu  sync.Mutex
	out io.Writer
}

// run goes through the tour, again and again while it is asked to.
func (g *guide) run(ctx context.Context) error {
	for {
		if err := g.tour(ctx); err != nil {
			return err
		}
		again, err := g.ask(ctx, wire.AskRequest{
			Kind:        wire.KindQuestion,
			Description: "That was the tour. Shall I ask for all of it again?",
			Options:     []wire.Option{{Name: "again", Title: "Yes, once more"}, {Name: "enough", Title: "No, that was enough"}},
		})
		if err != nil {
			return err
		}
		if !wantsMore(again) {
			g.say("I am done. Restart the demo to see me again; your own agents can ask here meanwhile.")
			return nil
		}
	}
}

// wantsMore reads the answer to "again?"; free text counts when it says yes.
func wantsMore(a *wire.Approval) bool {
	if a.Status != wire.StatusApproved {
		return false
	}
	if a.Decision.Option != nil {
		return *a.Decision.Option == "again"
	}
	return a.Decision.Answer != nil && saysYes(*a.Decision.Answer)
}

// tour asks for everything at once, so that the inbox has something to show, and
// acts on each outcome as it comes.
func (g *guide) tour(ctx context.Context) error {
	run := "tour-" + string(models.NewID[models.ResponseID]())
	if _, err := g.client.OpenConversation(ctx, wire.OpenRequest{RunID: run, Title: "Getting the shop ready"}); err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, len(stops))
	for i, stop := range stops {
		wg.Go(func() {
			stop.ask.RunID = run
			stop.ask.ApprovalID = string(models.NewID[models.ResponseID]())
			g.say("asks: %s", stop.ask.Description)
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

// asking asks for one stop of the tour, and answers what is asked back.
func (g *guide) asking(ctx context.Context, s stop) (*wire.Approval, error) {
	return g.client.AskUntilDecided(ctx, s.ask, client.WaitOptions{Connect: time.Minute, OnQuestion: func(q *wire.OpenNote) {
		g.say("is asked by %s: %s", q.By.Name, q.Text)
		if _, err := g.client.Note(ctx, wire.ResponseID(s.ask.ApprovalID), s.explains); err != nil {
			g.say("could not answer: %s", err)
			return
		}
		g.say("answers: %s", s.explains)
	}})
}

// ask waits for as long as it takes.
func (g *guide) ask(ctx context.Context, req wire.AskRequest) (*wire.Approval, error) {
	return g.client.AskUntilDecided(ctx, req, client.WaitOptions{Connect: time.Minute})
}

func (g *guide) say(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	fmt.Fprintf(g.out, "agent: %s\n", plain(fmt.Sprintf(format, args...)))
}
