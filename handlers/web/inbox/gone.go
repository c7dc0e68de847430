package inbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views/pages/inbox"
)

const (
	// goneFor is how long a line says what became of a request that left the list.
	goneFor = time.Minute
	// maxGone is how many such lines there are at most, the latest ones.
	maxGone = 5
)

// readGone finds the requests that have just left the list, and the outcome of the request that was just decided.
func (s *Screens) readGone(
	ctx context.Context, actor models.Actor, in *inbox.Input, decided models.ResponseID, ids []models.ResponseID,
) error {
	now := s.Kit.Now()
	if decided != "" {
		ids = append(ids, decided)
	}
	seen := map[models.ResponseID]bool{}
	for _, id := range slices.Backward(ids) {
		if seen[id] || len(seen) > 2*maxGone || len(in.Gone) == maxGone {
			continue
		}
		seen[id] = true
		a := rowOf(in.Rows, id)
		if a == nil {
			var err error
			if a, err = s.Store.Requests.Approval(ctx, actor, id); models.ErrorCode(err) == models.CodeNotFound {
				continue
			} else if err != nil {
				return err
			}
			if settled := a.ApprovalTimestamp; a.Status() != models.StatusPending && settled != nil &&
				now.Sub(*settled) < goneFor {
				in.Gone = append(in.Gone, *a)
			}
		}
		if id == decided {
			in.Said, in.Done = inbox.Decided(a, in.Reader.ID, now), a
		}
	}
	return nil
}

func rowOf(rows []models.Brief, id models.ResponseID) *models.Approval {
	for i := range rows {
		if rows[i].ID == id {
			return &rows[i].Approval
		}
	}
	return nil
}

// decidedFlash begins the message that names the request that was just decided.
const decidedFlash = "decided."

// setDecided has the next page of the inbox say what became of a request.
func (s *Screens) setDecided(c echo.Context, id models.ResponseID) {
	s.SetFlash(c, decidedFlash+string(id))
}

// takeDecided is the request that was just decided, if one was; the page that
// takes the message clears it.
func (s *Screens) takeDecided(c echo.Context) models.ResponseID {
	cookie, err := c.Cookie(site.FlashCookie)
	if err != nil {
		return ""
	}
	raw, ok := strings.CutPrefix(cookie.Value, decidedFlash)
	if !ok {
		return ""
	}
	id, err := models.ParseID[models.ResponseID]("id", raw)
	if err != nil {
		return ""
	}
	return id
}
