package people

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// agentData is what the ledger keeps of a change to an agent.
type agentData struct {
	AgentID models.AgentID `json:"agentId"`
	Name    string         `json:"name"`
}

// Agents lists the person's own agents by name; the operator sees all. Agents
// get CodeForbidden.
func (p *People) Agents(ctx context.Context, actor models.Actor) ([]models.Agent, error) {
	if err := needPersonOrOperator(actor); err != nil {
		return nil, err
	}
	pool := p.db.Gorm(ctx).Order("name, id")
	if actor.IsPerson() {
		pool = pool.Where("owner_id = ?", actor.ID)
	}
	var agents []models.Agent
	if err := pool.Find(&agents).Error; err != nil {
		return nil, fmt.Errorf("list agents: %w", err)
	}
	return agents, nil
}

// AgentsToChoose lists the agents to which a person may narrow a list: one's own by name,
// and for admins those of others that are not disabled, by name, the first 500. Agents get
// CodeForbidden.
func (p *People) AgentsToChoose(ctx context.Context, actor models.Actor) ([]models.Agent, error) {
	own, err := p.Agents(ctx, actor)
	if err != nil || !actor.IsPerson() || !actor.Oversees() {
		return own, err
	}
	var others []models.Agent
	err = p.db.Gorm(ctx).Where("owner_id <> ? AND disabled_at IS NULL",
		actor.ID).Order("name, id").Limit(maxEveryAgent).Find(&others).Error
	if err != nil {
		return nil, fmt.Errorf("list agents of others: %w", err)
	}
	return append(own, others...), nil
}

// maxEveryAgent is how many agents an admin may choose from.
const maxEveryAgent = 500

// needPersonOrOperator keeps agents away from all credentials (I4).
func needPersonOrOperator(actor models.Actor) error {
	if actor.IsPerson() || actor.Kind == models.ActorOperator {
		return nil
	}
	return models.Errorf(models.CodeForbidden, "Only a person may see or change agents and tokens.")
}

// AgentNamed finds the owner's agent of that name or registers it.
func (p *People) AgentNamed(t *db.Tx, actor models.Actor, owner models.UserID, name string) (*models.Agent, error) {
	return (&tx{Tx: t, p: p}).agentNamed(actor, owner, name)
}

func (t *tx) agentNamed(actor models.Actor, owner models.UserID, name string) (*models.Agent, error) {
	var found []models.Agent
	if err := t.Gorm().Where("owner_id = ? AND name = ?", owner, name).Limit(1).Find(&found).Error; err != nil {
		return nil, fmt.Errorf("look for agent: %w", err)
	}
	if len(found) > 0 {
		if found[0].DisabledAt != nil {
			return nil, models.Errorf(models.CodeConflict, "The agent is disabled.")
		}
		return &found[0], nil
	}
	agent := &models.Agent{
		ID: models.NewID[models.AgentID](), OwnerID: owner, Name: name, System: name == models.BuiltIn, CreatedAt: t.Now,
	}
	if err := t.Gorm().Create(agent).Error; err != nil {
		return nil, fmt.Errorf("register agent: %w", err)
	}
	t.adds("agents", agent.ID)
	return agent, t.record(actor, "agent.registered", ledger.Subject{Owner: owner},
		agentData{AgentID: agent.ID, Name: name})
}
