package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/runs"
	"countersign/workers/llm"
)

// callLimit is how long a model may take for one turn, tries included.
const callLimit = 10 * time.Minute

// turn makes one turn of a run that this process holds and gives it back.
func (a *Agent) turn(ctx context.Context, run *models.Run) {
	err := a.step(ctx, run)
	log := a.Log.With(slog.String("conversation", string(run.ConversationID)))
	switch {
	case err == nil:
		return
	case models.ErrorCode(err) == models.CodeConflict, ctx.Err() != nil:
		log.InfoContext(ctx, "a model call of the agent was given up", slog.String("why", err.Error()))
		err = runs.New(a.Store).ReleaseRun(context.WithoutCancel(ctx), run)
	default:
		log.ErrorContext(ctx, "a model call of the agent failed", slog.String("error", err.Error()))
		// At rest: another try would call the model again and fail again.
		err = runs.New(a.Store).RestRun(context.WithoutCancel(ctx), run,
			"An internal error stopped the agent; write to try again.",
			true)
	}
	if err != nil && models.ErrorCode(err) != models.CodeConflict {
		// The lease runs out without help.
		log.ErrorContext(ctx, "a run was not given back", slog.String("error", err.Error()))
	}
}

// step is one turn: it reads the current state, reserves the worst case, asks the model and stores its answer. Each
// part fails if the run is no longer ours.
func (a *Agent) step(ctx context.Context, run *models.Run) error {
	seen, err := runs.New(a.Store).RunContext(ctx, run)
	if err != nil {
		return err
	}
	if !seen.Unread() {
		return runs.New(a.Store).IdleRun(ctx, run, seen)
	}
	if run.Turns >= a.MaxTurns {
		return runs.New(a.Store).RestRun(ctx, run,
			fmt.Sprintf("The agent has taken %d steps without you and is waiting; write to continue.", run.Turns), false)
	}
	r := request(seen)
	fits, err := runs.New(a.Store).ReserveEnergy(ctx, run, energyOf(a.Model.WorstCase(r), a.Rate))
	if !fits || err != nil {
		return err
	}
	draft, end := a.drafts.begin(run.ConversationID)
	defer end() // when the answer is stored, so that a page shows the one or the other
	said, err := a.call(ctx, run, r, draft)
	if said == nil || err != nil {
		return err
	}
	in := models.TurnInput{
		Model: a.Model.Name(), PromptTokens: said.Usage.PromptTokens, CompletionTokens: said.Usage.CompletionTokens,
		Energy: energyOf(said.Usage.PromptTokens+said.Usage.CompletionTokens, a.Rate), Content: said.Content, Context: seen,
	}
	for _, call := range said.Calls {
		in.Calls = append(in.Calls, models.TurnCall{ID: call.ID, Name: call.Name, Arguments: call.Arguments})
	}
	_, err = runs.New(a.Store).StoreTurn(context.WithoutCancel(ctx), run, in) // it is said: a stop does not lose it
	return err
}

// call asks the model, and holds the run meanwhile. Nil: it failed for good, and
// the conversation says so. The error of a run that was paused, stopped or taken
// over is CodeConflict.
func (a *Agent) call(
	ctx context.Context, run *models.Run, r llm.Request, report func(string, bool),
) (*llm.Turn, error) {
	limitCtx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	callCtx, giveUp := context.WithCancelCause(limitCtx)
	defer giveUp(nil)
	var holder sync.WaitGroup
	holder.Go(func() { giveUp(a.hold(callCtx, run)) })
	said, err := a.complete(callCtx, r, report)
	cause := context.Cause(callCtx) // before we end it ourselves
	giveUp(nil)
	holder.Wait()
	switch {
	case models.ErrorCode(cause) == models.CodeConflict:
		return nil, cause
	case err == nil:
		return said, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	text := "It took too long"
	if e, ok := errors.AsType[*models.Error](err); ok {
		text = strings.TrimSuffix(e.Text, ".")
	} else if limitCtx.Err() == nil {
		text = "It failed"
	}
	a.Log.WarnContext(ctx, "the model failed", slog.String("conversation", string(run.ConversationID)),
		slog.Int("attempt", run.Attempts+1), slog.Any("error", err))
	return nil, runs.New(a.Store).RestRun(ctx, run, "The model could not answer: "+text+"; write to try again.", true)
}

// complete asks the model. One that panics has failed: it must not take the
// server with it, again after each start.
func (a *Agent) complete(ctx context.Context, r llm.Request, report func(string, bool)) (said *llm.Turn, err error) {
	defer func() {
		if p := recover(); p != nil {
			said, err = nil, fmt.Errorf("the model panicked: %v", p)
		}
	}()
	if said, err = a.Model.Complete(ctx, r, report); err == nil && said == nil {
		err = errors.New("the model gave no answer")
	}
	return said, err
}

// hold renews the lease while the model is asked, and returns why the call is to
// end: the run was paused, stopped or taken over.
func (a *Agent) hold(ctx context.Context, run *models.Run) error {
	sub := a.Store.Bus().Subscribe(1, events.Conversation(string(run.ConversationID)), events.Outside)
	defer sub.Close()
	renew := time.NewTicker(a.LeaseTTL / 3)
	defer renew.Stop()
	// What happened before we listened is seen now.
	for {
		if err := runs.New(a.Store).CheckRun(ctx, run); models.ErrorCode(err) == models.CodeConflict {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-sub.C:
		case <-sub.Lag:
		case <-renew.C:
			err := runs.New(a.Store).RenewRun(ctx, run, a.LeaseTTL)
			if models.ErrorCode(err) == models.CodeConflict {
				return err
			}
		}
	}
}

// energyOf is what so many tokens cost.
func energyOf(tokens int64, rate float64) int64 {
	cost := math.Ceil(float64(max(tokens, 0)) / 1000 * rate)
	return int64(min(cost, models.MaxEnergy))
}
