package store

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/headline"
)

const (
	// latestWaiting are an agent's latest requests that wait.
	latestWaiting = `SELECT kind, tool_name, risk, headline, created_at FROM responses` + db.ByResponsesPendingAgent +
		` WHERE agent_id = ? AND approval_status = 'pending' ORDER BY number DESC LIMIT ?`
	// endedFloods are those of agents that have asked no more for a while, and of which little waits.
	endedFloods = `DELETE FROM floods WHERE seen_at < ? AND (SELECT count(*) FROM (SELECT 1 FROM responses` + db.ByResponsesPendingAgent +
		` WHERE agent_id = floods.agent_id AND approval_status = 'pending' LIMIT ?)) < ?`
	// floodEvery is how often an agent that floods is looked at again.
	floodEvery = time.Minute
)

// noteFlood notes that an agent asks for more than people can look at, and has its owner told when that begins. An agent
// of which little waits costs nothing.
func (t *Tx) noteFlood(a *models.Approval) error {
	agent := a.AgentID
	if n, known := t.s.known.pending[agent]; known && n < models.FloodAlike || a.Status() != models.StatusPending ||
		t.Now.Before(t.s.known.floods[agent]) {
		return nil
	}
	_, p, err := t.Policy()
	if err != nil {
		return err
	}
	above := p.FloodsAbove()
	if floods, err := t.floods(a, above); err != nil || !floods {
		return err
	}
	var before []models.Flood
	if err := t.Gorm().Where("agent_id = ?", agent).Find(&before).Error; err != nil {
		return fmt.Errorf("read flood: %w", err)
	}
	flood := models.Flood{AgentID: agent, BeganAt: t.Now, Above: above, SeenAt: t.Now}
	goesOn := len(before) > 0 && t.Now.Sub(before[0].SeenAt) < models.FloodLife
	if goesOn {
		flood.BeganAt = before[0].BeganAt
	}
	if err := t.keepFlood(&flood, before); err != nil {
		return fmt.Errorf("note flood: %w", err)
	}
	t.s.known.floodUntil(agent, t.Now.Add(floodEvery))
	if goesOn {
		return nil
	}
	_, err = t.tellBy(channelsOfPerson, a.OwnerID, models.NoticeFlood, a.ID, "")
	return err
}

func (t *Tx) keepFlood(flood *models.Flood, before []models.Flood) error {
	if len(before) == 0 {
		return t.Gorm().Create(flood).Error
	}
	one := t.Gorm().Model(&models.Flood{}).Where("agent_id = ? AND seen_at = ?", flood.AgentID, before[0].SeenAt)
	return t.updateOne(one, map[string]any{"began_at": flood.BeganAt, "above": flood.Above, "seen_at": flood.SeenAt})
}

// floods reports whether a request is one of too many of its agent that wait.
func (t *Tx) floods(a *models.Approval, above int) (bool, error) {
	var latest []models.Response
	if err := t.Gorm().Raw(latestWaiting, a.AgentID, max(above, mostAlike)+1).Scan(&latest).Error; err != nil {
		return false, fmt.Errorf("read what waits: %w", err)
	}
	like, lately, alike := headline.Alike(&a.Response), 0, 0
	for i := range latest {
		if t.Now.Sub(latest[i].CreatedAt) < time.Hour {
			lately++
		}
		if headline.Alike(&latest[i]) == like {
			alike++
		}
	}
	return lately > above || alike >= models.FloodAlike, nil
}

// mostAlike is among how many of an agent's latest requests those like a new one are looked for.
const mostAlike = 50

// endFloods forgets the floods that are over.
func (t *Tx) endFloods() error {
	return t.Gorm().Exec(endedFloods, t.Now.Add(-models.FloodLife), models.FloodAlike, models.FloodAlike).Error
}

// Tidy forgets what no limit counts any more, and floods that are over. The server calls it now and then.
func (s *Store) Tidy(ctx context.Context) error {
	return s.writeAnyway(ctx, func(t *Tx) error {
		if err := t.Gorm().Exec(fullRates, t.Now.UnixMicro()).Error; err != nil {
			return fmt.Errorf("forget full rates: %w", err)
		}
		return t.endFloods()
	})
}
