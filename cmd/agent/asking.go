package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"countersign/cmd/remote"
	"countersign/cmd/terminal"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// reportTimeout is how long an ask spends on reporting earlier fallbacks.
const reportTimeout = 5 * time.Second

// asking is one run of `ask`.
type asking struct {
	o        askOptions
	out, say io.Writer
	client   *client.Client
	memory   fallbackMemory
	sent     *wire.AskRequest // the current request or report
	heard    atomic.Bool      // our server answered, if only with an error
	warning  sync.Once
}

func newAsking(o askOptions, out, say io.Writer) *asking {
	a := &asking{o: o, out: out, say: say, memory: newFallbackMemory(o.server, o.token)}
	a.client = &client.Client{BaseURL: o.server, Token: o.token, HTTP: &http.Client{
		Transport: a,
		// A token belongs to the server that it was given for.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	return a
}

// RoundTrip sends a request and notes what each answer says besides its body:
// that a server is there, and whether the policy has fallback_auto_approve on, and until when.
func (a *asking) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(wire.HeaderFallback, wire.FallbackWithEnd)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < http.StatusInternalServerError ||
		strings.HasPrefix(res.Header.Get("Content-Type"), "application/problem+json") {
		a.heard.Store(true)
	}
	switch said, known := wire.ParseFallback(res.Header.Get(wire.HeaderFallback)); {
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		a.remember(wire.FallbackState{})
	// Only an answer confirms: what a proxy says about its own troubles does not.
	case known && (res.StatusCode == http.StatusOK || res.StatusCode == http.StatusAccepted):
		a.remember(said)
	}
	return res, nil
}

// remember keeps what a server said of calls like the one that was asked about: that fallback
// is on for them, or off, which clears all that was kept.
func (a *asking) remember(said wire.FallbackState) {
	if err := a.memory.confirm(a.sent, said, time.Now()); err != nil {
		a.warning.Do(func() {
			fmt.Fprintf(a.say, "countersign: the setting for when no server answers could not be saved: %s\n",
				terminal.Plain(err.Error()))
		})
	}
}

// heed clears the memory where an answer says that the agent is stopped.
func (a *asking) heed(got *wire.Approval) {
	if got != nil && got.Cause == wire.Cause(models.CauseStopped) {
		a.remember(wire.FallbackState{})
	}
}

// run asks until there is an outcome and turns it into an exit code.
func (a *asking) run(ctx context.Context, req wire.AskRequest) error {
	var hasAnswer bool
	var spent *wire.Approval
	id := models.ResponseID(req.ApprovalID)
	a.sent = &req
	got, err := a.client.AskUntilDecided(ctx, req, client.WaitOptions{
		Connect: a.o.connect,
		OnAnswer: func(first *wire.Approval) {
			hasAnswer = true
			if first.Status == wire.StatusPending {
				fmt.Fprintf(a.say, "waiting for a decision at %s\n", terminal.Plain(first.URL))
			}
			a.reportEarlier(ctx)
		},
		OnBudgetRequest: func(request *wire.Approval) {
			spent = request
			fmt.Fprintf(a.say, "the energy budget is exhausted: waiting for a decision on more at %s\n",
				terminal.Plain(request.URL))
		},
		OnQuestion: func(question *wire.OpenNote) {
			fmt.Fprintf(a.say, "%s asks: %s\n%sanswer with: countersign note %s \"TEXT\"\n", models.RevealName(question.By.Name),
				terminal.TheirLines(question.Text), hiddenLine(question.Text), id)
		},
	})
	a.heed(got)
	var refusal *client.BudgetError
	switch {
	case err == nil:
		return a.outcome(got)
	case errors.As(err, &refusal):
		return a.refused(refusal)
	case ctx.Err() != nil && !hasAnswer && spent != nil:
		return terminal.Exit(exitInterrupted,
			fmt.Errorf("interrupted; nothing was asked, and the budget request %s stays open until it is decided",
				spent.ApprovalID))
	case ctx.Err() != nil:
		return terminal.Exit(exitInterrupted,
			fmt.Errorf("interrupted; the request %s stays open until it is decided or expires", req.ApprovalID))
	case errors.Is(err, client.ErrDeadline):
		return terminal.Exit(exitLapsed, err)
	case errors.Is(err, client.ErrNeverAnswered):
		return a.unanswered(req, err)
	}
	return terminal.Exit(remote.ExitOther, remote.AnswerText(err))
}

// hiddenLine warns of what a text would not have shown, or a terminal may show in
// another order.
func hiddenLine(text string) string {
	out := ""
	if found := models.HiddenIn(text); found != "" {
		out = found + "\n"
	}
	if models.HasRightToLeft(text) {
		out += "It contains right-to-left letters; your terminal may change their order.\n"
	}
	return out
}

// refused ends an ask that the budget does not allow, as the request for more
// ended.
func (a *asking) refused(err *client.BudgetError) error {
	if a.o.asJSON {
		if err := terminal.PrintJSON(a.out, err.Request); err != nil {
			return err
		}
	}
	switch err.Request.Status {
	case wire.StatusRejected:
		return terminal.Exit(exitRejected, err)
	case wire.StatusExpired, wire.StatusCancelled:
		return terminal.Exit(exitLapsed, err)
	case wire.StatusPending, wire.StatusApproved, wire.StatusResolved, wire.StatusRan:
	}
	return terminal.Exit(remote.ExitOther, err)
}

// outcome prints the decision.
func (a *asking) outcome(got *wire.Approval) error {
	if a.o.asJSON {
		if err := terminal.PrintJSON(a.out, got); err != nil {
			return err // who cannot read the outcome must not act on it
		}
	} else {
		line := outcomeLine(got)
		fmt.Fprintf(a.say, "%s\n%s", terminal.Plain(line), hiddenLine(line))
	}
	if got.Advice == models.AdviceRemoved || got.Advice == models.AdviceStopped ||
		got.Status == wire.StatusApproved && (got.Removed != "" || !got.Decision.Approved) {
		return terminal.Exit(remote.ExitOther, errors.New(terminal.Plain(got.Advice)))
	}
	switch got.Status {
	case wire.StatusApproved:
		if got.Decision.Edited && !a.o.asJSON {
			return terminal.Exit(remote.ExitOther,
				fmt.Errorf("approved with an edited input, which only --json prints in full: %s", got.Decision.Input))
		}
		return nil
	case wire.StatusRejected:
		if input := got.Decision.Suggestion; len(input) > 0 && !a.o.asJSON {
			fmt.Fprintf(a.say, "ask again with the suggested input: %s\n", terminal.Plain(string(input)))
		}
		return terminal.Exit(exitRejected, nil)
	case wire.StatusExpired, wire.StatusCancelled, wire.StatusResolved, wire.StatusRan:
		return terminal.Exit(exitLapsed, nil)
	case wire.StatusPending:
	}
	return terminal.Exit(remote.ExitOther, fmt.Errorf("the server answered with the unknown status %s", got.Status))
}

// outcomeLine is the outcome in one line: what, by whom or why, and the reason.
func outcomeLine(got *wire.Approval) string {
	reason := got.Decision.Reason
	if by := got.Decision.By; by != nil {
		line := string(got.Status) + " by " + by.Name
		if reason != "" {
			line += ": " + reason
		}
		return line
	}
	line := string(got.Status)
	if why := causeText(got); why != "" {
		line += ": " + why
	}
	if reason != "" && models.Cause(got.Cause) != models.CauseCancelled { // which says by whom
		line += " Reason: " + reason
	}
	return line
}

// cancelledText says who cancelled a request, from the reason that it keeps.
func cancelledText(reason string) string {
	r := models.Response{Cause: models.CauseCancelled, ApprovalFeedback: &reason}
	if person, _ := r.CancelledBy(); person != "" {
		return person + " cancelled it."
	}
	return models.CauseCancelled.Text()
}

// causeText says why a request ended without a person. A cause that this program does not
// know, of a newer server, is shown as it was sent.
func causeText(got *wire.Approval) string {
	cause := models.Cause(got.Cause)
	switch {
	case got.Cause == "":
		return ""
	case cause == models.CauseCancelled:
		return cancelledText(got.Decision.Reason)
	case cause.Text() == "":
		return strings.ReplaceAll(string(got.Cause), "_", " ") + "."
	case got.Status == wire.StatusRejected:
		return cause.Denial()
	}
	return cause.Text()
}

// unanswered ends an ask that no server answered once: released only if the
// policy's fallback_auto_approve was confirmed a short while ago, and only with
// the report of it written down.
func (a *asking) unanswered(req wire.AskRequest, cause error) error {
	now := time.Now()
	if a.heard.Load() || !a.memory.believed(&req, now) {
		return terminal.Exit(remote.ExitUnreachable, cause)
	}
	req.Fallback = &wire.Fallback{At: now.UTC().Format(time.RFC3339Nano)}
	if err := a.memory.keepReport(req); err != nil {
		return terminal.Exit(remote.ExitUnreachable,
			fmt.Errorf("%w; the policy allows the call to continue, but its report could not be saved: %w", cause, err))
	}
	fmt.Fprintln(a.say,
		"no server answered: continuing under fallback_auto_approve; this is reported when a server answers")
	if !a.o.asJSON {
		return nil
	}
	return terminal.PrintJSON(a.out, wire.Approval{
		ApprovalID: wire.ResponseID(req.ApprovalID), Kind: wire.KindToolCall, ToolName: req.ToolName, Input: req.Input,
		Explained: wire.Explained{Description: req.Description}, Status: wire.StatusApproved,
		Cause:  wire.Cause(models.CauseFallback),
		Advice: models.Advice(models.StatusRan, models.CauseFallback, models.KindToolCall), RequestedAt: now.UTC(),
		Decision: &wire.Decision{Approved: true, At: now.UTC(), Input: req.Input},
	})
}

// reportEarlier reports to the server the asks that went on while it was away. What
// cannot be reported now is kept for the next ask.
func (a *asking) reportEarlier(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	defer func(sent *wire.AskRequest) { a.sent = sent }(a.sent)
	for _, req := range a.memory.reports() {
		a.sent = &req
		got, err := a.client.Ask(ctx, req, 0)
		a.heed(got)
		var answer *client.AnswerError
		switch {
		case err == nil && got.Cause != wire.Cause(models.CauseFallback):
			fmt.Fprintf(a.say, "countersign: the request %s continued under fallback, but its status is %s\n",
				terminal.Plain(req.ApprovalID), got.Status)
		case err == nil:
		case errors.As(err, &answer) && client.Answered(err) && answer.Status != http.StatusTooManyRequests &&
			answer.Status != http.StatusUnauthorized:
			fmt.Fprintf(a.say, "countersign: the report that %s continued under fallback was refused: %s\n",
				terminal.Plain(req.ApprovalID), terminal.Plain(answer.Text))
		default:
			return
		}
		a.memory.dropReport(req)
	}
}
