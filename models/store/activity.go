package store

import (
	"context"
	"log/slog"
	"time"

	"countersign/models"
)

// activity is one line of the log: a request that was asked, or how one ended. It
// holds names, never inputs nor what people wrote.
type activity struct {
	text        string
	approval    *models.Approval
	outcome     string
	cause       models.Cause
	by          models.Actor
	waitTime    time.Duration
	hasWaitTime bool
}

// outcomeTexts are the lines of the final states.
var outcomeTexts = map[models.Status]string{
	models.StatusApproved: "approval decided", models.StatusRejected: "approval decided",
	models.StatusExpired:   "approval expired",
	models.StatusCancelled: "approval cancelled", models.StatusResolved: "approval resolved",
	models.StatusRan: "call ran without an answer",
}

// asked notes a request that was stored, for the log after the commit; one that was
// settled at once counts as an outcome.
func (t *Tx) asked(a *models.Approval) {
	if a.Status() != models.StatusPending {
		t.tell(a)
	}
	t.logAsked(a)
}

// logAsked notes a request that was stored, for the log after the commit.
func (t *Tx) logAsked(a *models.Approval) {
	if a.Kind == models.KindReply || !t.s.logsInfo {
		return
	}
	by := models.Actor{Kind: models.ActorAgent, Name: a.AgentName}
	outcome := string(a.Status())
	if a.LetThrough() {
		outcome = "let_through"
	}
	t.activity = append(t.activity,
		activity{text: "approval asked", approval: a, outcome: outcome, cause: a.Cause, by: by})
}

// logOutcome notes how a request ended, for the log after the commit.
func (t *Tx) logOutcome(by models.Actor, a *models.Approval) {
	if !t.s.logsInfo {
		return
	}
	l := activity{text: outcomeTexts[a.Status()], approval: a, outcome: string(a.Status()), cause: a.Cause, by: by}
	if a.ApprovalRequestedAt != nil && a.ApprovalTimestamp != nil {
		l.waitTime, l.hasWaitTime = a.ApprovalTimestamp.Sub(*a.ApprovalRequestedAt), true
	}
	t.activity = append(t.activity, l)
}

// logsAt reports whether a logger takes lines of a level; that never changes while
// the store is open.
func logsAt(log *slog.Logger, level slog.Level) bool { return log.Enabled(context.Background(), level) }

// logActivity writes what a committed call asked and ended.
func (s *Store) logActivity(ctx context.Context, lines []activity) {
	for i := range lines {
		l := &lines[i]
		attrs := make([]slog.Attr, 0, 8)
		attrs = append(attrs,
			slog.String("approval", string(l.approval.ID)), slog.String("tool", l.approval.ToolName),
			slog.String("agent", l.approval.AgentName),
			slog.String("outcome", l.outcome))
		if l.cause != models.CauseNone {
			attrs = append(attrs, slog.String("cause", string(l.cause)))
		}
		attrs = append(attrs, slog.String("by", string(l.by.Kind)), slog.String("who", l.by.Name))
		if l.hasWaitTime {
			attrs = append(attrs, slog.Duration("waited", l.waitTime))
		}
		s.log.LogAttrs(ctx, slog.LevelInfo, l.text, attrs...) //nolint:sloglint // one of a few constants
	}
}

// logWait tells, at debug, that a caller has begun or ended to wait.
func (w *Watch) logWait(text string, attrs ...slog.Attr) {
	if !w.s.logsDebug {
		return
	}
	attrs = append([]slog.Attr{
		slog.String("approval", string(w.id)), slog.String("by", string(w.actor.Kind)), slog.String("who", w.actor.Name),
	}, attrs...)
	w.s.log.LogAttrs(w.caller, slog.LevelDebug, text, attrs...) //nolint:sloglint // one of two constants
}

// observe tells what a committed call settled.
func (s *Store) observe(o *result) {
	if s.opts.ObserveOutcome == nil {
		return
	}
	for _, a := range o.outcomes {
		s.opts.ObserveOutcome(models.OutcomeOf(a))
	}
}
