package people

import (
	"context"
	"encoding/json"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

// EveryoneQuery narrows what admins see of everybody's agents and tokens.
type EveryoneQuery struct {
	Own   bool   // of agents the actor's own alone, by name; Text narrows nothing then
	Text  string // in the name, or in the owner's name or e-mail; empty: all
	After string // the key of the page before
	Limit int
}

// AgentsPage is one page of agents.
type AgentsPage struct {
	Agents []models.OwnedAgent
	Next   string // the key of the next page; empty: that was all
}

// EveryonesTokens is one page of tokens by which people act, newest first.
type EveryonesTokens struct {
	Tokens []models.OwnedToken
	Next   string
}

// maxOwnerSearch is how long a text to look for may be, in bytes.
const maxOwnerSearch = 200

// afterAllIDs is behind every id.
const afterAllIDs = "~"

var (
	agentRow = db.RowOf(&models.Agent{})
	tokenRow = db.RowOf(&models.Token{}).Without("secret_hash")
)

// ownerHas narrows to rows with a text in one of their names.
func ownerHas(name string) string {
	has := func(column string) string { return db.Contains(`lower(`+column+`)`, `lower(?)`) }
	return ` AND (? = '' OR ` + has(name) + ` OR ` + has(`u.name`) + ` OR ` + has(`u.email`) + `)`
}

// everyonesAgents reads the agents before a key, and everyonesTokens the tokens of people
// that were not revoked.
var (
	everyonesAgents = `SELECT ` + agentRow.Columns("g", nil) +
		`, u.name, u.email FROM agents g CROSS JOIN users u ON u.id = g.owner_id
 WHERE g.id < ?` + ownerHas(`g.name`) + ` ORDER BY g.id DESC LIMIT ?`
	everyonesTokens = `SELECT ` + tokenRow.Columns("k", nil) +
		`, u.name, u.email FROM tokens k CROSS JOIN users u ON u.id = k.user_id
 WHERE k.id < ? AND k.scope <> 'agent' AND k.revoked_at IS NULL` + ownerHas(`k.name`) + ` ORDER BY k.id DESC LIMIT ?`
	ownAgents = `SELECT ` + agentRow.Columns("g", nil) +
		`, u.name, u.email FROM agents g CROSS JOIN users u ON u.id = g.owner_id
 WHERE g.owner_id = ? AND g.name > coalesce((SELECT name FROM agents WHERE id = ?), '') ORDER BY g.name LIMIT ?`
	oneAgent = `SELECT ` + agentRow.Columns("g", nil) +
		`, u.name, u.email FROM agents g CROSS JOIN users u ON u.id = g.owner_id WHERE g.id = ? AND (g.owner_id = ? OR ?)`
	tokensOfAgent  = `SELECT ` + tokenRow.Columns("k", nil) + ` FROM tokens k WHERE k.agent_id = ? ORDER BY k.id DESC LIMIT ?`
	tokensOfAgents = `SELECT ` + tokenRow.Columns("k", nil) + ` FROM tokens k WHERE k.agent_id` + db.Within(`?`) +
		` AND k.revoked_at IS NULL ORDER BY k.id DESC`
)

// arguments are those of the two queries of everybody's.
func (q EveryoneQuery) arguments() []any {
	after := q.After
	if after == "" {
		after = afterAllIDs
	}
	return []any{after, q.Text, q.Text, q.Text, q.Text, db.PageSize(q.Limit) + 1}
}

// check refuses who may not see everybody's, and a text that no name contains.
func (q EveryoneQuery) check(actor models.Actor) error {
	if err := actor.NeedOversight(); err != nil {
		return err
	}
	return models.CheckText("q", q.Text, maxOwnerSearch)
}

// AgentPage lists everybody's agents, disabled ones too, newest first, or the actor's own, with their tokens that
// work. Everybody's are for admins and the operator, own ones for people, else CodeForbidden; CodeInvalid names "q".
func (p *People) AgentPage(ctx context.Context, actor models.Actor, q EveryoneQuery) (AgentsPage, error) {
	if q.Own {
		if !actor.IsPerson() {
			return AgentsPage{}, models.Errorf(models.CodeForbidden, "Only a person has agents.")
		}
		return p.agentsPage(ctx, ownAgents, []any{actor.ID, q.After, db.PageSize(q.Limit) + 1}, q.Limit)
	}
	if err := q.check(actor); err != nil {
		return AgentsPage{}, err
	}
	return p.agentsPage(ctx, everyonesAgents, q.arguments(), q.Limit)
}

// Agent is an agent of the actor's, for admins of anybody's, with its newest tokens, those that ended too; else
// CodeNotFound.
func (p *People) Agent(ctx context.Context, actor models.Actor, id models.AgentID) (*models.OwnedAgent, error) {
	if err := needPersonOrOperator(actor); err != nil {
		return nil, err
	}
	found, err := p.agents(ctx, oneAgent, []any{id, actor.ID, actor.Oversees()})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, models.NotFound("agent")
	}
	a := &found[0]
	a.Tokens, err = p.tokens(ctx, tokensOfAgent, id, maxTokensOfAgent)
	return a, err
}

// maxTokensOfAgent is how many tokens of an agent its page lists. A new one replaces all before it.
const maxTokensOfAgent = 20

// agentsPage reads one page of a list of agents: the query gives one more than fit.
func (p *People) agentsPage(ctx context.Context, query string, args []any, limit int) (out AgentsPage, err error) {
	if out.Agents, err = p.agents(ctx, query, args); err != nil {
		return AgentsPage{}, err
	}
	if n := db.PageSize(limit); len(out.Agents) > n {
		out.Agents, out.Next = out.Agents[:n], string(out.Agents[n-1].ID)
	}
	return out, p.addTokens(ctx, out.Agents)
}

// agents reads agents with their owners.
func (p *People) agents(ctx context.Context, query string, args []any) (out []models.OwnedAgent, err error) {
	err = p.eachRow(ctx, query, args, func(row db.Scanner) error {
		var a models.OwnedAgent
		err := row.Scan(append(agentRow.Targets(&a.Agent), &a.OwnerName, &a.OwnerEmail)...)
		out = append(out, a)
		return err
	})
	return out, err
}

// tokens reads tokens as they are now.
func (p *People) tokens(ctx context.Context, query string, args ...any) (out []models.Token, err error) {
	err = p.eachRow(ctx, query, args, func(row db.Scanner) error {
		var t models.Token
		err := row.Scan(tokenRow.Targets(&t)...)
		out = append(out, t)
		return err
	})
	p.access.overlay(out)
	return out, err
}

// addTokens gives agents their tokens that work now.
func (p *People) addTokens(ctx context.Context, agents []models.OwnedAgent) error {
	ids, at := make([]models.AgentID, 0, len(agents)), make(map[models.AgentID]int, len(agents))
	for i := range agents {
		ids, at[agents[i].ID] = append(ids, agents[i].ID), i
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return fmt.Errorf("list tokens: %w", err)
	}
	tokens, err := p.tokens(ctx, tokensOfAgents, string(list))
	if err != nil {
		return err
	}
	now := p.db.Now()
	for i := range tokens {
		if t := &tokens[i]; t.Live(now) {
			a := &agents[at[*t.AgentID]]
			a.Tokens = append(a.Tokens, *t)
		}
	}
	return nil
}

// EveryonesTokens lists the tokens by which people act that were not revoked. For admins
// and the operator, else CodeForbidden; CodeInvalid names "q".
func (p *People) EveryonesTokens(ctx context.Context, actor models.Actor, q EveryoneQuery) (EveryonesTokens, error) {
	if err := q.check(actor); err != nil {
		return EveryonesTokens{}, err
	}
	var out EveryonesTokens
	err := p.eachRow(ctx, everyonesTokens, q.arguments(), func(row db.Scanner) error {
		var t models.OwnedToken
		err := row.Scan(append(tokenRow.Targets(&t.Token), &t.OwnerName, &t.OwnerEmail)...)
		out.Tokens = append(out.Tokens, t)
		return err
	})
	if err != nil {
		return EveryonesTokens{}, err
	}
	if n := db.PageSize(q.Limit); len(out.Tokens) > n {
		out.Tokens, out.Next = out.Tokens[:n], string(out.Tokens[n-1].ID)
	}
	tokens := make([]models.Token, len(out.Tokens))
	for i := range out.Tokens {
		tokens[i] = out.Tokens[i].Token
	}
	p.access.overlay(tokens)
	for i := range tokens {
		out.Tokens[i].Token = tokens[i]
	}
	return out, nil
}

// eachRow hands on each row of a query.
func (p *People) eachRow(ctx context.Context, query string, args []any, each func(db.Scanner) error) error {
	rows, err := p.db.Reads().QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("list everybody's: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return fmt.Errorf("list everybody's: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("list everybody's: %w", err)
	}
	return nil
}
