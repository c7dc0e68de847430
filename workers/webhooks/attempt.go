package webhooks

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/webhooks"
	"countersign/workers"
)

// attempt is one that was begun.
type attempt struct {
	e      *endpoint
	it     *item // nil: of a block
	entry  models.Entry
	stream string
	number int
	start  time.Time

	answer answer
	void   bool  // the endpoint was paused, removed or moved: no attempt was made
	err    error // of ours: no attempt was made
}

// start makes an attempt beside the round.
func (r *round) start(ctx context.Context, a attempt) {
	a.e.busy[a.stream] = true
	r.attempts++
	to := a.e.Endpoint // which is replaced by another, and not changed
	go func() {
		r.w.send(ctx, &a, to)
		r.done <- a
	}()
}

// send makes an attempt with the current state of the endpoint and of the request.
func (w *Worker) send(ctx context.Context, a *attempt, was *webhooks.Endpoint) {
	e, err := w.o.Store.Webhooks.AtSending(ctx, was)
	if a.void, a.err = e == nil && err == nil, err; e == nil {
		return
	}
	var raw []byte
	if raw, a.err = w.write(ctx, &a.entry, e.Inputs); a.err == nil {
		a.answer = w.post(ctx, message{id: idOf(&a.entry), url: e.Target.URL, keys: e.SigningKeys(a.start), body: raw})
	}
}

// write writes an event from the current rows: contents that were removed since are not in it.
func (w *Worker) write(ctx context.Context, e *models.Entry, inputs bool) ([]byte, error) {
	var about *models.Approval
	var url, owner string
	if e.ResponseID != "" {
		var err error
		if about, err = w.o.Store.RequestOfEvent(ctx, e.ResponseID); err != nil {
			return nil, err
		}
		if w.o.RequestURL != nil {
			url = w.o.RequestURL(e.ResponseID)
		}
	}
	if about != nil && about.OwnerID == e.OwnerID {
		owner = about.OwnerName
	} else if e.OwnerID != "" {
		var err error
		if owner, err = w.o.Store.NameOf(ctx, e.OwnerID); err != nil {
			return nil, err
		}
	}
	return bodyOf(e, about, owner, url, inputs)
}

// ended takes the end of an attempt.
func (r *round) ended(ctx context.Context, a attempt) {
	e := a.e
	r.attempts--
	if delete(e.busy, a.stream); e.stale && len(e.busy) == 0 {
		r.again = true
	}
	if a.void {
		r.again = true
		return
	}
	if a.err != nil || ctx.Err() != nil && a.answer.class != models.SendSent {
		if e.fault = true; a.err != nil && ctx.Err() == nil {
			workers.Failed(ctx, r.w.o.Log, a.err)
		}
		return // it did not fail: we did, or we stop
	}
	if r.w.o.Observe != nil {
		r.w.o.Observe(a.answer.class)
	}
	now := r.w.o.Store.Now()
	said := models.WebhookAnswer{
		At: now, Seq: a.entry.Seq, Type: a.entry.Action, Attempt: a.number, Took: a.answer.took, Class: a.answer.class,
		Status: a.answer.status, Body: a.answer.body,
	}
	if e.answers = append(e.answers, said); len(e.answers) > 4*models.WebhookAnswers {
		e.answers = slices.Delete(e.answers, 0, len(e.answers)-models.WebhookAnswers)
	}
	e.slow, e.dirty = a.answer.took > slowness, true
	if said.Class != models.SendSent {
		r.w.o.Log.WarnContext(ctx, "an event is not accepted", slog.String("webhook", string(e.ID)),
			slog.Int64("seq", said.Seq),
			slog.String("class", string(said.Class)), slog.Int("status", said.Status), slog.Int("attempt", said.Attempt))
		e.refuse(&a.entry, a.stream, a.start, said, a.answer.retryAfter)
		return
	}
	e.accept(now)
	if a.it != nil {
		a.it.done = true
		return
	}
	if b := e.blocks[a.stream]; b != nil {
		// It is after the stop of the work, too, that the stream goes on behind it.
		if err := r.follow(context.WithoutCancel(ctx), e, b, now); err != nil {
			workers.Failed(ctx, r.w.o.Log, err)
			b.DueAt = now.Add(retry) // it is sent again, with the same id
		}
	}
}
