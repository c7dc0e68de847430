package insights

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"countersign/models"
	"countersign/models/figures"
)

// Names are those of the agents, people and conversations that a sum lists.
func (i *Insights) Names(ctx context.Context, of *figures.Sum) (*figures.Names, error) {
	g, out := i.db.Gorm(ctx), &figures.Names{Agents: map[string]string{}, People: map[string]string{}, Conversations: map[string]string{}}
	agents := slices.AppendSeq(slices.Collect(maps.Keys(of.Agents)), maps.Keys(of.EnergyOfAgents))
	for part := range slices.Chunk(agents, 500) {
		var rows []models.Agent
		if err := g.Where("id IN ?", part).Find(&rows).Error; err != nil {
			return nil, fmt.Errorf("read agents: %w", err)
		}
		for _, a := range rows {
			out.Agents[string(a.ID)] = a.Name
		}
	}
	for part := range slices.Chunk(slices.Collect(maps.Keys(of.People)), 500) {
		var rows []models.User
		if err := g.Where("id IN ?", part).Find(&rows).Error; err != nil {
			return nil, fmt.Errorf("read people: %w", err)
		}
		for _, u := range rows {
			out.People[string(u.ID)] = u.Email
		}
	}
	for part := range slices.Chunk(slices.Collect(maps.Keys(of.EnergyOfConversations)), 500) {
		var rows []models.Conversation
		if err := g.Where("id IN ?", part).Find(&rows).Error; err != nil {
			return nil, fmt.Errorf("read conversations: %w", err)
		}
		for _, c := range rows {
			out.Conversations[string(c.ID)] = c.Title
			if c.Title == "" && c.RunID != nil {
				out.Conversations[string(c.ID)] = *c.RunID
			}
		}
	}
	return out, nil
}
