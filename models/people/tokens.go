package people

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// NewToken is what a token is made with.
type NewToken struct {
	Scope   models.Scope
	Agent   string        // with ScopeAgent: the agent's name; registered if new
	Name    string        // what the token is for; with ScopeAgent the agent's name if empty
	UserID  models.UserID // whose it is; the acting person if empty
	Expires time.Duration // from now; zero: never
	// NoReplace, with ScopeAgent, refuses where the agent has a live token: programs that
	// use it would be shut out.
	NoReplace bool
}

// tokenData is what the ledger keeps of a change to a token.
type tokenData struct {
	TokenID   models.TokenID  `json:"tokenId"`
	Scope     models.Scope    `json:"scope"`
	Name      string          `json:"name"`
	AgentID   *models.AgentID `json:"agentId,omitzero"`
	ExpiresAt *time.Time      `json:"expiresAt,omitzero"`
}

func dataOfToken(token *models.Token) tokenData {
	return tokenData{
		TokenID: token.ID, Scope: token.Scope, Name: token.Name, AgentID: token.AgentID, ExpiresAt: token.ExpiresAt,
	}
}

// tokenPrefixes tell people, and scanners of leaked secrets, what they look at.
var tokenPrefixes = map[models.Scope]string{
	models.ScopeAgent:    "cs_agent_",
	models.ScopeReviewer: "cs_rev_",
	models.ScopeAdmin:    "cs_adm_",
}

// hintLength is how much of a secret's random part stays readable, so that
// tokens can be told apart: 36 of its 256 bits.
const hintLength = 6

func newSecret(prefix string) string {
	return prefix + base64.RawURLEncoding.EncodeToString(randomBytes(32))
}

// maxListedTokens bounds the list; live ones come first.
const maxListedTokens = 1000

// Tokens lists the person's own tokens and those of the person's agents, or with
// all everybody's: live ones first, then newest first, at most 1,000. The
// operator always sees all. CodeForbidden for agents, and for all without being
// an admin.
func (p *People) Tokens(ctx context.Context, actor models.Actor, all bool) ([]models.Token, error) {
	if err := needPersonOrOperator(actor); err != nil {
		return nil, err
	}
	pool := p.db.Gorm(ctx).Omit("secret_hash")
	if all {
		if err := actor.NeedOversight(); err != nil {
			return nil, err
		}
	} else if actor.IsPerson() {
		pool = pool.Where("user_id = ?", actor.ID)
	}
	var tokens []models.Token
	if err := pool.Order("revoked_at IS NOT NULL, id DESC").Limit(maxListedTokens).Find(&tokens).Error; err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	p.access.overlay(tokens)
	return tokens, nil
}

// AddToken makes a token and returns its secret, which is stored hashed and can
// never be shown again. With ScopeAgent it is the credential of that agent: older
// live ones stop working in the same transaction. A person makes own tokens, an
// admin and the operator everybody's. CodeForbidden otherwise, and for
// ScopeAdmin by one who is no admin now; CodeInvalid names the fields that are
// wrong, among them "userId" for a disabled user and "scope" for an admin token
// of a reviewer; CodeNotFound if there is no such user; CodeConflict names "agent"
// where NoReplace kept the token that the agent has.
func (p *People) AddToken(
	ctx context.Context, actor models.Actor, in NewToken,
) (secret string, token *models.Token, err error) {
	if err := needPersonOrOperator(actor); err != nil {
		return "", nil, err
	}
	if in.UserID == "" {
		in.UserID = actor.UserID()
	}
	if in.UserID != actor.UserID() || in.Scope == models.ScopeAdmin {
		if err := actor.NeedAdmin(); err != nil {
			return "", nil, err
		}
	}
	if in, err = in.checked(); err != nil {
		return "", nil, err
	}
	prefix := tokenPrefixes[in.Scope]
	secret = newSecret(prefix)
	hash := hashSecret(secret)
	err = p.write(ctx, func(t *tx) error {
		token = &models.Token{
			ID: models.NewID[models.TokenID](), SecretHash: hash[:], Hint: secret[:len(prefix)+hintLength],
			Scope: in.Scope, UserID: in.UserID, Name: in.Name, CreatedAt: t.Now,
		}
		if in.Expires > 0 {
			end := db.Stamp(t.Now.Add(in.Expires))
			token.ExpiresAt = &end
		}
		return t.addToken(actor, token, in)
	})
	if err != nil {
		return "", nil, err
	}
	token.SecretHash = nil
	return secret, token, nil
}

// checked returns the input as it will be stored, or one CodeInvalid that names
// every field that is wrong.
func (n NewToken) checked() (NewToken, error) {
	n.Agent, n.Name = strings.TrimSpace(n.Agent), strings.TrimSpace(n.Name)
	faults := make(map[string]string)
	if n.UserID == "" {
		faults["userId"] = "must name the user whose token it is"
	}
	if n.Expires < 0 {
		faults["expires"] = "must be a positive length of time, or none"
	}
	switch n.Scope {
	case models.ScopeAgent:
		maps.Copy(faults, models.FieldsOf(models.CheckKey("agent", n.Agent)))
		if n.Agent == models.BuiltIn {
			faults["agent"] = "is the name of the system's own agent; choose another"
		}
		if n.Name == "" {
			n.Name = n.Agent
		}
	case models.ScopeReviewer, models.ScopeAdmin:
		if n.Agent != "" {
			faults["agent"] = "goes with scope agent only"
		}
	default:
		faults["scope"] = "must be agent, reviewer or admin"
	}
	if n.Name != "" || n.Scope != models.ScopeAgent {
		maps.Copy(faults, models.FieldsOf(models.CheckKey("name", n.Name)))
	}
	if len(faults) > 0 {
		return n, &models.Error{Code: models.CodeInvalid, Text: "The token is not valid.", Fields: faults}
	}
	return n, nil
}

func (t *tx) addToken(actor models.Actor, token *models.Token, in NewToken) error {
	user, err := t.user(token.UserID)
	if err != nil {
		return err
	}
	if !user.Enabled() {
		return models.Invalid("userId", "is disabled")
	}
	if token.Scope == models.ScopeAdmin && user.Role != models.RoleAdmin {
		return models.Invalid("scope", "can be admin only for a user who is an admin")
	}
	if token.Scope == models.ScopeAgent {
		if user.Role == models.RoleAuditor {
			return models.Invalid("scope", "can't be agent for an auditor, who has no agents")
		}
		agent, err := t.agentNamed(actor, user.ID, in.Agent)
		if err != nil {
			return err
		}
		token.AgentID = &agent.ID
		if in.NoReplace {
			if err := t.noTokenOf(agent.ID); err != nil {
				return err
			}
		}
		if err := t.revokeTokensOf(actor, agent.ID); err != nil {
			return err
		}
	}
	if err := t.Gorm().Create(token).Error; err != nil {
		return fmt.Errorf("add token: %w", err)
	}
	t.adds("tokens", token.ID)
	return t.record(actor, "token.added", ledger.Subject{Owner: user.ID}, dataOfToken(token))
}

// RevokeToken ends a token at once, with the waits and streams that use it. Revoking twice is harmless. A person
// revokes own tokens and those of own agents, an admin and the operator all; others' are CodeNotFound. Agents get
// CodeForbidden.
func (p *People) RevokeToken(ctx context.Context, actor models.Actor, id models.TokenID) error {
	if err := needPersonOrOperator(actor); err != nil {
		return err
	}
	return p.writeAnyway(ctx, func(t *tx) error {
		var token models.Token
		if err := t.Gorm().Where("id = ?", id).Take(&token).Error; err != nil {
			return db.NotFoundAs(err, models.NotFound("token"))
		}
		if token.UserID != actor.UserID() && !actor.MayAdminister() {
			return models.NotFound("token")
		}
		if token.RevokedAt != nil {
			return nil
		}
		return t.revokeToken(actor, &token)
	})
}

// RevokeOwnTokens ends all of a person's own tokens and those of the person's agents at once,
// and says how many those were. CodeForbidden for all but people who are signed in.
func (p *People) RevokeOwnTokens(ctx context.Context, actor models.Actor) (n int, err error) {
	if !actor.IsPerson() || actor.SessionID == "" {
		return 0, models.Errorf(models.CodeForbidden, "Sign in to revoke your tokens.")
	}
	err = p.writeAnyway(ctx, func(t *tx) error {
		var tokens []models.Token
		if err := t.live(t.Gorm().Where("user_id = ?", actor.UserID())).Order("id").Find(&tokens).Error; err != nil {
			return fmt.Errorf("list tokens: %w", err)
		}
		for i := range tokens {
			if err := t.revokeToken(actor, &tokens[i]); err != nil {
				return err
			}
		}
		n = len(tokens)
		return nil
	})
	return n, err
}

func (t *tx) revokeToken(actor models.Actor, token *models.Token) error {
	if err := t.changes("tokens", token.ID); err != nil {
		return err
	}
	err := t.Gorm().Model(&models.Token{}).Where("id = ? AND revoked_at IS NULL", token.ID).Update("revoked_at",
		t.Now).Error
	if err != nil {
		return fmt.Errorf("revoke token: %w", err)
	}
	t.accessChanged()
	return t.record(actor, "token.revoked", ledger.Subject{Owner: token.UserID}, dataOfToken(token))
}

// revokeTokensOf revokes the live tokens of an agent.
func (t *tx) revokeTokensOf(actor models.Actor, agent models.AgentID) error {
	var tokens []models.Token
	if err := t.live(t.Gorm().Where("agent_id = ?", agent)).Order("id").Find(&tokens).Error; err != nil {
		return fmt.Errorf("list tokens of agent: %w", err)
	}
	for i := range tokens {
		if err := t.revokeToken(actor, &tokens[i]); err != nil {
			return err
		}
	}
	return nil
}

// noTokenOf refuses where the agent has a live token.
func (t *tx) noTokenOf(agent models.AgentID) error {
	var n int64
	if err := t.live(t.Gorm().Model(&models.Token{}).Where("agent_id = ?", agent)).Count(&n).Error; err != nil {
		return fmt.Errorf("count tokens of agent: %w", err)
	}
	if n == 0 {
		return nil
	}
	return &models.Error{
		Code: models.CodeConflict, Text: "The agent already has a token.",
		Fields: map[string]string{"agent": "already has a token"},
	}
}

// liveAgentTokens counts the tokens of a user's agents that work now.
func (t *tx) liveAgentTokens(owner models.UserID) (int, error) {
	var n int64
	err := t.live(t.Gorm().Model(&models.Token{}).Where("user_id = ? AND scope = ?", owner,
		models.ScopeAgent)).Count(&n).Error
	if err != nil {
		return 0, fmt.Errorf("count agent tokens: %w", err)
	}
	return int(n), nil
}
