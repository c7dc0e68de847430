package upkeep

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

// EnergyFaults are conversations and agents whose account of energy is wrong. At most
// ten of each are named.
type EnergyFaults struct {
	Conversations int // that were looked at
	// Sums are those that have spent something else than their responses and turns
	// say.
	Sums []models.ConversationID
	// Orphans are those in which energy is reserved although no process runs them.
	Orphans []models.ConversationID
	// Windows are agents whose window is another sum than of the minutes in it.
	Windows []models.AgentID
}

const (
	energySums = `SELECT c.id FROM conversations c WHERE c.energy_used <>
 (SELECT coalesce(sum(r.energy), 0) FROM responses r` + db.ByResponsesHistory + ` WHERE r.conversation_id = c.id)
 + (SELECT coalesce(sum(t.energy), 0) FROM turns t WHERE t.conversation_id = c.id) ORDER BY c.id LIMIT 10`
	energyAlone = `SELECT c.id FROM conversations c WHERE c.energy_reserved > 0
 AND NOT EXISTS (SELECT 1 FROM agent_inbox i WHERE i.conversation_id = c.id AND i.leased_until IS NOT NULL) ORDER BY c.id LIMIT 10`
	energyWindows = `SELECT w.agent_id FROM agent_windows w WHERE w.spent <>
 (SELECT coalesce(sum(e.energy), 0) FROM agent_energy e WHERE e.agent_id = w.agent_id AND e.minute >= w.minute - 60 * w.hours) ORDER BY w.agent_id LIMIT 10`
)

// Energy adds up what conversations have spent (I14). It needs the schema that
// this program brings.
func (i *Inspection) Energy(ctx context.Context) (EnergyFaults, error) {
	var f EnergyFaults
	if err := i.db.QueryRowContext(ctx, `SELECT count(*) FROM conversations`).Scan(&f.Conversations); err != nil {
		return f, fmt.Errorf("count conversations: %w", err)
	}
	for query, found := range map[string]*[]models.ConversationID{energySums: &f.Sums, energyAlone: &f.Orphans} {
		ids, err := db.Strings(ctx, i.db, query)
		if err != nil {
			return f, fmt.Errorf("add up energy: %w", err)
		}
		for _, id := range ids {
			*found = append(*found, models.ConversationID(id))
		}
	}
	ids, err := db.Strings(ctx, i.db, energyWindows)
	if err != nil {
		return f, fmt.Errorf("add up energy: %w", err)
	}
	for _, id := range ids {
		f.Windows = append(f.Windows, models.AgentID(id))
	}
	return f, nil
}
