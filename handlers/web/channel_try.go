package web

import (
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/models"
	"countersign/views/pages/account"
)

// testEvery is how often one person may send a test: somebody's mailbox is at the other end.
const testEvery = 10 * time.Second

// tryChannel sends a test, and shows what came of it. It waits for the answer: the sender
// bounds how long that takes.
func (s *Site) tryChannel(c echo.Context, place channelPlace) error {
	id, err := channelOf(c, place)
	if err != nil {
		return err
	}
	if s.opts.Notify.Test == nil {
		return s.changedChannel(c, place, "", models.Errorf(models.CodeConflict, "This server can't send messages."))
	}
	actor := actorOf(c)
	if err := s.tests.take(actor.UserID(), s.kit.Now()); err != nil {
		return s.changedChannel(c, place, "", err)
	}
	result, err := s.opts.Notify.Test(c.Request().Context(), actor, id)
	if err != nil {
		return s.changedChannel(c, place, "", err)
	}
	return place.show(http.StatusOK, account.ChannelsInput{Tried: &account.TriedChannel{ID: id, Result: result}})
}

// testPace remembers who sent a test a moment ago.
type testPace struct {
	mu   sync.Mutex
	last map[models.UserID]time.Time
}

// take is CodeTooManyRequests for who sent one a moment ago.
func (p *testPace) take(who models.UserID, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = map[models.UserID]time.Time{}
	}
	maps.DeleteFunc(p.last, func(_ models.UserID, at time.Time) bool { return now.Sub(at) >= testEvery })
	if at, there := p.last[who]; there {
		e := models.Errorf(models.CodeTooManyRequests, "You sent a test a moment ago. Try again in a few seconds.")
		e.RetryAfterSeconds = int((testEvery - now.Sub(at)) / time.Second)
		return e
	}
	p.last[who] = now
	return nil
}
