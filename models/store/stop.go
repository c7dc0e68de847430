package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

const (
	// standingStops are few: one for each agent, and one for all.
	standingStops = `SELECT s.*, coalesce(a.name, '') AS agent_name, coalesce(a.owner_id, '') AS agent_owner FROM stops s` + db.ByStopsStanding + ` LEFT JOIN agents a ON a.id = s.agent_id
 WHERE s.lifted_at IS NULL ORDER BY s.at, s.id`

	// The pending requests of one agent, or of all, are withdrawn when it is stopped. Requests of another system stay:
	// it would go on waiting. Those past their deadline (stillWaits) are only stored as expired.
	stopEnds   = `approval_status = 'pending' AND upstream_id IS NULL`
	stillWaits = `(approval_timeout_at > ? OR held_until IS NOT NULL)`

	stoppedOfAgent = `SELECT id FROM responses` + db.ByResponsesPendingAgent +
		` WHERE ` + stopEnds + ` AND id > ? AND agent_id = ? ORDER BY id LIMIT ?`
	stoppedOfAll = `SELECT id FROM responses` + db.ByResponsesPendingRisk +
		` WHERE ` + stopEnds + ` AND id > ? ORDER BY id LIMIT ?`
	cancelsOfAll = `SELECT count(*) FROM (SELECT 1 FROM responses` + db.ByResponsesPendingRisk +
		` WHERE ` + stopEnds + ` AND ` + stillWaits + ` LIMIT ?)`
)

// stopAtOnce is how many requests a stop withdraws in one transaction.
const stopAtOnce = 256

// stopEntry is what the ledger keeps of a stop and its end.
type stopEntry struct {
	Stop  models.StopID  `json:"stop"`
	Agent models.AgentID `json:"agent,omitempty"` // empty: all
	Note  string         `json:"note_digest"`
}

// Stop stops an agent, or with an empty id all agents: their requests are rejected (cause stopped), also those that
// the policy would allow, and nothing of theirs can be approved. Pending requests are cancelled; it returns how many.
// Approvals on their way to another system are withdrawn (Withdrawn and InFlight of the stop). An agent's owner and
// admins may stop it; all agents, admins and the operator only.
//
// Codes: forbidden, not_found, invalid (note), conflict (it is already stopped).
func (s *Store) Stop(
	ctx context.Context, actor models.Actor, agent models.AgentID, note string,
) (stop *models.Stop, cancelled int, err error) {
	if note, err = stopNote(note); err != nil {
		return nil, 0, err
	}
	err = s.writeAnyway(ctx, func(t *Tx) error {
		of, err := t.mayStop(actor, agent)
		if err != nil {
			return err
		}
		standing, err := t.stops()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(standing, func(s models.Stop) bool { return s.AgentID == agent }) {
			return models.Errorf(models.CodeConflict, "It is already stopped.")
		}
		stop = &models.Stop{
			ID: models.NewID[models.StopID](), AgentID: agent, Note: note, At: t.Now, ByID: actor.UserID(), ByName: actor.Name,
			AgentName: of.Name, AgentOwner: of.OwnerID,
		}
		if err := t.Gorm().Create(stop).Error; err != nil {
			return fmt.Errorf("store stop: %w", err)
		}
		t.Adds("stops", stop.ID)
		t.stopsChanged()
		return t.Record(actor, "agents.stopped", ledger.Subject{Owner: of.OwnerID},
			stopEntry{stop.ID, agent, models.DigestOfText(note)})
	})
	if err != nil {
		return nil, 0, err
	}
	if cancelled, err = s.cancelStopped(ctx, actor, stop); err != nil {
		return stop, cancelled, err
	}
	return stop, cancelled, s.withdrawOutside(ctx, stop)
}

func stopNote(note string) (string, error) {
	note = strings.TrimSpace(note)
	if note == "" {
		return "", models.Invalid("note", "must say why: the agents' owners see it")
	}
	return note, models.CheckText("note", note, models.MaxStopNote)
}

// mayStop refuses who may not stop an agent, or all, and returns the agent; of all it is
// the zero value.
func (t *Tx) mayStop(actor models.Actor, agent models.AgentID) (found models.Agent, err error) {
	if !actor.IsPerson() && actor.Kind != models.ActorOperator {
		return found, models.Errorf(models.CodeForbidden, "Only a person may stop agents.")
	}
	if agent == "" {
		if !actor.MayAdminister() {
			return found, models.Errorf(models.CodeForbidden, "Only an admin may stop all agents.")
		}
		return found, nil
	}
	if err := t.Gorm().Where("id = ?", agent).Take(&found).Error; err != nil {
		return found, db.NotFoundAs(err, models.NotFound("agent"))
	}
	if !actor.MayAdminister() && found.OwnerID != actor.UserID() {
		return found, models.NotFound("agent")
	}
	return found, nil
}

// CancelStopped withdraws what still waits of stopped agents, after a server ended in the
// midst of it, and says how many requests that were. When there is nothing it only reads.
func (s *Store) CancelStopped(ctx context.Context) (int, error) {
	stops, err := s.StopsInForce(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for i := range stops {
		query, args := stoppedBy(&stops[i], "", 1)
		var some []models.ResponseID
		if err := s.db.Gorm(ctx).Raw(query, args...).Scan(&some).Error; err != nil {
			return n, fmt.Errorf("read what waits: %w", err)
		}
		if len(some) == 0 {
			continue
		}
		done, err := s.cancelStopped(ctx, models.System("stop"), &stops[i])
		if n += done; err != nil {
			return n, err
		}
	}
	return n, nil
}

// stoppedBy selects the pending requests after an id of the agents of a stop.
func stoppedBy(stop *models.Stop, last models.ResponseID, n int) (query string, args []any) {
	if stop.All() {
		return stoppedOfAll, []any{last, n}
	}
	return stoppedOfAgent, []any{last, stop.AgentID, n}
}

// cancelStopped withdraws the pending requests of the agents of a stop. Those that expired before are only stored as
// expired.
func (s *Store) cancelStopped(ctx context.Context, actor models.Actor, stop *models.Stop) (int, error) {
	n := 0
	for last := models.ResponseID(""); ; {
		var ids []models.ResponseID
		done := 0
		err := s.writeAnyway(ctx, func(t *Tx) error {
			done = 0
			query, args := stoppedBy(stop, last, stopAtOnce)
			if err := t.Gorm().Raw(query, args...).Scan(&ids).Error; err != nil {
				return fmt.Errorf("read what waits: %w", err)
			}
			for _, id := range ids {
				ended, err := t.cancelFor(stop, actor, id)
				if err != nil {
					return err
				}
				if ended {
					done++
				}
			}
			return nil
		})
		n += done
		if err != nil || len(ids) < stopAtOnce {
			return n, err
		}
		last = ids[len(ids)-1]
	}
}

// cancelFor withdraws a request because of a stop; false: it had expired.
func (t *Tx) cancelFor(stop *models.Stop, actor models.Actor, id models.ResponseID) (bool, error) {
	a, err := t.Request(id)
	if err != nil {
		return false, err
	}
	if a.PastDeadline(t.Now) && a.HeldUntil == nil {
		return false, t.expireNow(a)
	}
	return true, t.settleAs(actor, a, models.StatusCancelled, models.CauseStopped, stop.Text())
}

// Lift ends a stop. Who made it and admins may.
//
// Codes: forbidden, not_found (also one that was lifted), invalid (note).
func (s *Store) Lift(ctx context.Context, actor models.Actor, id models.StopID, note string) error {
	note, err := stopNote(note)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *Tx) error {
		standing, err := t.stops()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(standing, func(s models.Stop) bool { return s.ID == id })
		if i < 0 {
			return models.NotFound("stop")
		}
		stop := standing[i]
		of, err := t.mayStop(actor, stop.AgentID)
		if err != nil {
			return err
		}
		if !actor.MayAdminister() && stop.ByID != actor.UserID() {
			return models.Errorf(models.CodeForbidden, "Only the person who stopped it and admins may lift this stop.")
		}
		one := t.Gorm().Model(&models.Stop{}).Where("id = ? AND lifted_at IS NULL", id)
		if err := t.Changes("stops", id); err != nil {
			return err
		}
		if err := t.updateOne(one,
			map[string]any{
				"lifted_at": t.Now, "lifted_id": actor.UserID(), "lifted_name": actor.Name, "lifted_note": note,
			}); err != nil {
			return fmt.Errorf("lift stop: %w", err)
		}
		t.stopsChanged()
		return t.Record(actor, "agents.resumed", ledger.Subject{Owner: of.OwnerID},
			stopEntry{id, stop.AgentID, models.DigestOfText(note)})
	})
}

// Stops are those in force that concern the actor, the oldest first. Agents see none.
func (s *Store) Stops(ctx context.Context, actor models.Actor) ([]models.Stop, error) {
	if !actor.IsPerson() && actor.Kind != models.ActorOperator {
		return nil, models.Errorf(models.CodeForbidden, "Only a person may see what is stopped.")
	}
	all, err := s.StopsInForce(ctx)
	return slices.DeleteFunc(all,
		func(s models.Stop) bool { return !s.ConcernsUser(actor.UserID(), actor.Oversees()) }), err
}

// StopsInForce are all that are in force, for the warnings on pages. Whom each concerns is
// for the caller to ask.
func (s *Store) StopsInForce(ctx context.Context) ([]models.Stop, error) {
	var all []models.Stop
	if err := s.db.Gorm(ctx).Raw(standingStops).Scan(&all).Error; err != nil {
		return nil, fmt.Errorf("list stops: %w", err)
	}
	return all, nil
}

// stopsChanged has everybody look again.
func (t *Tx) stopsChanged() {
	t.s.known.stops = nil
	t.Publish(events.Policy)
}

// stops are those in force, remembered until one changes.
func (t *Tx) stops() ([]models.Stop, error) {
	k := &t.s.known
	if k.stops == nil {
		found := []models.Stop{}
		if err := t.Gorm().Raw(standingStops).Scan(&found).Error; err != nil {
			return nil, fmt.Errorf("read stops: %w", err)
		}
		k.stops = found
	}
	return k.stops, nil
}

// stopOf is what stops an agent; nil: nothing.
func (t *Tx) stopOf(agent models.AgentID) (*models.Stop, error) {
	all, err := t.stops()
	for i := range all {
		if all[i].Stops(agent) {
			return &all[i], err
		}
	}
	return nil, err
}

// checkRunning refuses an approval of what a stopped agent asked.
func (t *Tx) checkRunning(a *models.Approval) error {
	stop, err := t.stopOf(a.AgentID)
	if stop == nil || err != nil {
		return err
	}
	return models.Errorf(models.CodeWrongDecisionKind,
		"%s Lift the stop first; until then you may only reject its requests.", stop.Text())
}
