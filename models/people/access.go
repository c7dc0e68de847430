package people

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// accessCache keeps who uses which credential, until anything about users, agents, tokens or sessions changes here or
// in another process.
type accessCache struct {
	mu       sync.RWMutex
	tokens   map[[sha256.Size]byte]cachedToken
	sessions map[[sha256.Size]byte]*cachedSession
	gen      uint64 // counts drops, so that a slow load cannot store stale access
	uses     map[models.TokenID]time.Time
	usedMu   sync.Mutex
}

// maxCachedTokens bounds the cache of tokens, and that of sessions: beyond it, it
// starts again.
const maxCachedTokens = 10_000

type cachedToken struct {
	actor   models.Actor
	expires *time.Time
}

func (c *accessCache) init() {
	c.tokens = make(map[[sha256.Size]byte]cachedToken)
	c.sessions = make(map[[sha256.Size]byte]*cachedSession)
	c.uses = make(map[models.TokenID]time.Time)
}

func (c *accessCache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.tokens)
	clear(c.sessions)
	c.gen++
}

func (c *accessCache) get(hash [sha256.Size]byte) (cachedToken, uint64, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t, ok := c.tokens[hash]
	return t, c.gen, ok
}

func (c *accessCache) put(hash [sha256.Size]byte, t cachedToken, gen uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gen != gen {
		return
	}
	if len(c.tokens) >= maxCachedTokens {
		clear(c.tokens)
	}
	c.tokens[hash] = t
}

func (c *accessCache) touch(id models.TokenID, now time.Time) {
	c.usedMu.Lock()
	defer c.usedMu.Unlock()
	c.uses[id] = now
}

func unauthenticated() error {
	return models.Errorf(models.CodeUnauthenticated, "A valid bearer token is needed: Authorization: Bearer TOKEN.")
}

// hashSecret is how bearer and session secrets are stored and found. They are
// long and random, so a fast hash is enough.
func hashSecret(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// AuthenticateToken returns the user of a bearer token: CodeUnauthenticated if it is unknown, revoked, expired, or its
// person or agent was disabled. An agent's token outlives its owner's disabling: others may still decide.
func (p *People) AuthenticateToken(ctx context.Context, secret string) (models.Actor, error) {
	if secret == "" || len(secret) > 200 {
		return models.Actor{}, unauthenticated()
	}
	hash, now := hashSecret(secret), p.db.Now()
	t, gen, ok := p.access.get(hash)
	if !ok {
		var token models.Token
		if err := p.db.Gorm(ctx).Where("secret_hash = ?", hash[:]).Take(&token).Error; err != nil {
			return models.Actor{}, db.NotFoundAs(err, unauthenticated())
		}
		var err error
		if t, err = p.loadToken(ctx, &token, now); err != nil {
			return models.Actor{}, err
		}
		p.access.put(hash, t, gen)
	}
	if t.expires != nil && !now.Before(*t.expires) {
		return models.Actor{}, unauthenticated()
	}
	p.access.touch(t.actor.TokenID, now)
	return t.actor, nil
}

// loadToken judges a stored token and makes its actor.
func (p *People) loadToken(ctx context.Context, token *models.Token, now time.Time) (cachedToken, error) {
	pool := p.db.Gorm(ctx)
	var user models.User
	if err := pool.Where("id = ?", token.UserID).Take(&user).Error; err != nil {
		return cachedToken{}, db.NotFoundAs(err, unauthenticated())
	}
	if !token.Live(now) {
		return cachedToken{}, unauthenticated()
	}
	actor := models.Actor{OwnerID: token.UserID, TokenID: token.ID}
	switch token.Scope {
	case models.ScopeAgent:
		if token.AgentID == nil {
			return cachedToken{}, unauthenticated()
		}
		var agent models.Agent
		if err := pool.Where("id = ?", *token.AgentID).Take(&agent).Error; err != nil {
			return cachedToken{}, db.NotFoundAs(err, unauthenticated())
		}
		if agent.DisabledAt != nil {
			return cachedToken{}, unauthenticated()
		}
		actor.Kind, actor.ID, actor.Name = models.ActorAgent, string(agent.ID), agent.Name
		if user.Enabled() {
			actor.OwnerName = user.Name
		}
	case models.ScopeReviewer, models.ScopeAdmin:
		if !user.Enabled() || (token.Scope == models.ScopeAdmin && user.Role != models.RoleAdmin) {
			return cachedToken{}, unauthenticated()
		}
		actor.Kind, actor.ID, actor.Name = models.ActorUser, string(user.ID), user.Name
		actor.Admin, actor.Auditor = token.Scope == models.ScopeAdmin, user.Role == models.RoleAuditor
		actor.PolicyEditor = user.Role == models.RolePolicyEditor
		var err error
		if actor.Groups, err = groupsOf(pool, user.ID); err != nil {
			return cachedToken{}, err
		}
	default:
		return cachedToken{}, unauthenticated()
	}
	return cachedToken{actor: actor, expires: token.ExpiresAt}, nil
}

// CheckCredential reports whether what the actor came with is still good: the
// token live, the session open, the person enabled. CodeUnauthenticated if not.
func (p *People) CheckCredential(ctx context.Context, actor models.Actor) error {
	switch {
	case actor.TokenID != "":
		var token models.Token
		if err := p.db.Gorm(ctx).Where("id = ?", actor.TokenID).Take(&token).Error; err != nil {
			return db.NotFoundAs(err, unauthenticated())
		}
		_, err := p.loadToken(ctx, &token, p.db.Now())
		return err
	case actor.SessionID != "":
		_, err := p.SessionActor(ctx, actor.SessionID)
		return err
	}
	return nil
}

// FlushLastUse writes down when tokens were last used: bookkeeping, gathered in
// memory so that authenticating a request writes nothing.
func (p *People) FlushLastUse(ctx context.Context) error {
	p.access.usedMu.Lock()
	uses := p.access.uses
	p.access.uses = make(map[models.TokenID]time.Time)
	p.access.usedMu.Unlock()
	if len(uses) == 0 {
		return nil
	}
	err := p.write(ctx, func(t *tx) error {
		for id, at := range uses {
			if err := t.Gorm().Model(&models.Token{}).Where("id = ?", id).Update("last_used_at", at).Error; err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		p.access.keep(uses)
		return fmt.Errorf("write last use of tokens: %w", err)
	}
	return nil
}

// keep takes back uses that could not be written, unless there are later ones.
func (c *accessCache) keep(uses map[models.TokenID]time.Time) {
	c.usedMu.Lock()
	defer c.usedMu.Unlock()
	for id, at := range uses {
		if at.After(c.uses[id]) {
			c.uses[id] = at
		}
	}
}

// overlay shows uses that were not written down yet.
func (c *accessCache) overlay(tokens []models.Token) {
	c.usedMu.Lock()
	defer c.usedMu.Unlock()
	for i := range tokens {
		if at, ok := c.uses[tokens[i].ID]; ok {
			tokens[i].LastUsedAt = &at
		}
	}
}
