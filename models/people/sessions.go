package people

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// A session ends after 12 hours without a request, and after 14 days anyway.
const (
	sessionIdle   = 12 * time.Hour
	SessionLength = 14 * 24 * time.Hour
	// sessionSeenEvery is how exactly the last request is known.
	sessionSeenEvery = time.Minute

	sessionPrefix = "cs_ses_"
)

// cachedSession is an open session of an enabled person. Times are Unix
// microseconds, so that requests side by side can move them.
type cachedSession struct {
	actor    models.Actor
	user     models.User
	expires  time.Time
	lastSeen atomic.Int64
}

func (c *cachedSession) ended(now time.Time) bool {
	return !now.Before(c.expires) || !now.Before(time.UnixMicro(c.lastSeen.Load()).Add(sessionIdle))
}

func (c *accessCache) session(hash [sha256.Size]byte) (*cachedSession, uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.sessions[hash], c.gen
}

func (c *accessCache) putSession(hash [sha256.Size]byte, session *cachedSession, gen uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gen != gen {
		return
	}
	if len(c.sessions) >= maxCachedTokens {
		clear(c.sessions)
	}
	c.sessions[hash] = session
}

func notSignedIn() error {
	return models.Errorf(models.CodeUnauthenticated, "Your session has expired. Sign in again.")
}

// personActor is the actor of a person by no credential yet.
func personActor(user *models.User) models.Actor {
	return models.Actor{
		Kind: models.ActorUser, ID: string(user.ID), Name: user.Name, OwnerID: user.ID,
		Admin: user.Role == models.RoleAdmin, Auditor: user.Role == models.RoleAuditor,
		PolicyEditor: user.Role == models.RolePolicyEditor,
	}
}

// AuthenticateSession returns the person of a cookie's secret, with their current rights: CodeUnauthenticated if the
// session is unknown, closed, idle for 12 hours or 14 days old, or the person is disabled.
func (p *People) AuthenticateSession(ctx context.Context, secret string) (models.Actor, *models.User, error) {
	if secret == "" || len(secret) > 200 {
		return models.Actor{}, nil, notSignedIn()
	}
	hash, now := hashSecret(secret), p.db.Now()
	session, gen := p.access.session(hash)
	if session == nil {
		var row models.WebSession
		if err := p.db.Gorm(ctx).Where("secret_hash = ?", hash[:]).Take(&row).Error; err != nil {
			return models.Actor{}, nil, db.NotFoundAs(err, notSignedIn())
		}
		var err error
		if session, err = p.loadSession(ctx, &row, now); err != nil {
			return models.Actor{}, nil, err
		}
		p.access.putSession(hash, session, gen)
	}
	if session.ended(now) {
		return models.Actor{}, nil, notSignedIn()
	}
	p.sessionSeen(ctx, session, now)
	user := session.user
	return session.actor, &user, nil
}

// loadSession judges a stored session and makes its actor.
func (p *People) loadSession(ctx context.Context, row *models.WebSession, now time.Time) (*cachedSession, error) {
	var user models.User
	if err := p.db.Gorm(ctx).Where("id = ?", row.UserID).Take(&user).Error; err != nil {
		return nil, db.NotFoundAs(err, notSignedIn())
	}
	session := &cachedSession{actor: personActor(&user), user: *withoutHash(&user), expires: row.ExpiresAt}
	session.actor.SessionID = row.ID
	var err error
	if session.actor.Groups, err = groupsOf(p.db.Gorm(ctx), user.ID); err != nil {
		return nil, err
	}
	session.lastSeen.Store(row.LastSeenAt.UnixMicro())
	if row.RevokedAt != nil || !user.Enabled() || session.ended(now) {
		return nil, notSignedIn()
	}
	return session, nil
}

// SessionActor judges a session that is known by its id.
func (p *People) SessionActor(ctx context.Context, id models.SessionID) (models.Actor, error) {
	var row models.WebSession
	if err := p.db.Gorm(ctx).Where("id = ?", id).Take(&row).Error; err != nil {
		return models.Actor{}, db.NotFoundAs(err, notSignedIn())
	}
	session, err := p.loadSession(ctx, &row, p.db.Now())
	if err != nil {
		return models.Actor{}, err
	}
	return session.actor, nil
}

// sessionSeen writes down, at most once a minute, that the session is in use.
// It is bookkeeping: no ledger entry, and a failure ends no request.
func (p *People) sessionSeen(ctx context.Context, session *cachedSession, now time.Time) {
	last := session.lastSeen.Load()
	if now.Sub(time.UnixMicro(last)) < sessionSeenEvery || !session.lastSeen.CompareAndSwap(last, now.UnixMicro()) {
		return
	}
	err := p.write(context.WithoutCancel(ctx), func(t *tx) error {
		return t.Gorm().Model(&models.WebSession{}).
			Where("id = ? AND last_seen_at < ?", session.actor.SessionID, now).Update("last_seen_at", now).Error
	})
	if err != nil {
		p.log.WarnContext(ctx, "session use not written down", "error", err)
	}
}

// SignOut closes the session that the actor came with. Closing twice is
// harmless. CodeForbidden for an actor without a session.
func (p *People) SignOut(ctx context.Context, actor models.Actor) error {
	if !actor.IsPerson() || actor.SessionID == "" {
		return models.Errorf(models.CodeForbidden, "Only a person who is signed in can sign out.")
	}
	return p.writeAnyway(ctx, func(t *tx) error { return t.closeSession(actor, actor.UserID(), actor.SessionID) })
}

// openSession stores a new session and deletes those past their end, with the browsers that
// were told by them.
func (t *tx) openSession(user *models.User, secret string, from SignInFrom) error {
	var sessions []models.WebSession
	if err := t.Gorm().Select("id, user_id").Where("expires_at <= ?",
		t.Now).Order("id").Find(&sessions).Error; err != nil {
		return fmt.Errorf("look for ended sessions: %w", err)
	}
	for i := range sessions {
		if err := t.removePush(models.System("sessions"), sessions[i].UserID, sessions[i].ID); err != nil {
			return err
		}
	}
	if err := t.Gorm().Where("expires_at <= ?", t.Now).Delete(&models.WebSession{}).Error; err != nil {
		return fmt.Errorf("delete ended sessions: %w", err)
	}
	hash := hashSecret(secret)
	address := shorten(from.Address)
	if ip, ok := parseAddress(from.Address); ok {
		address = ip.String()
	}
	session := models.WebSession{
		ID: models.NewID[models.SessionID](), SecretHash: hash[:], UserID: user.ID,
		CreatedAt: t.Now, LastSeenAt: t.Now, ExpiresAt: t.Now.Add(SessionLength),
		Address: address, UserAgent: shorten(from.UserAgent),
	}
	if err := t.Gorm().Create(&session).Error; err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	actor := personActor(user)
	actor.SessionID = session.ID
	t.adds("web_sessions", session.ID)
	return t.record(actor, "session.opened", ledger.Subject{Owner: user.ID},
		sessionData{SessionID: session.ID, Address: address})
}

// sessionData is what the ledger keeps of a session.
type sessionData struct {
	SessionID models.SessionID `json:"sessionId"`
	Address   string           `json:"address,omitzero"`
}

// closeSession closes one session of a user if it is open.
func (t *tx) closeSession(actor models.Actor, owner models.UserID, id models.SessionID) error {
	if err := t.changes("web_sessions", id); err != nil {
		return err
	}
	update := t.Gorm().Model(&models.WebSession{}).
		Where("id = ? AND user_id = ? AND revoked_at IS NULL", id, owner).Update("revoked_at", t.Now)
	if update.Error != nil {
		return fmt.Errorf("close session: %w", update.Error)
	}
	if !db.ExactlyOne(update.RowsAffected) {
		return nil
	}
	t.accessChanged()
	if err := t.removePush(actor, owner, id); err != nil {
		return err
	}
	return t.record(actor, "session.closed", ledger.Subject{Owner: owner}, sessionData{SessionID: id})
}

// closeSessions closes all open sessions of a user but for keep. Browsers whose session is over
// already are told nothing more either.
func (t *tx) closeSessions(actor models.Actor, owner models.UserID, keep models.SessionID) error {
	var ids []models.SessionID
	err := t.Gorm().Model(&models.WebSession{}).
		Where("user_id = ? AND revoked_at IS NULL AND id <> ? AND expires_at > ?", owner, keep, t.Now).Order("id").Pluck("id",
		&ids).Error
	if err != nil {
		return fmt.Errorf("list sessions: %w", err)
	}
	for _, id := range ids {
		if err := t.closeSession(actor, owner, id); err != nil {
			return err
		}
	}
	return t.removePushBut(actor, owner, keep)
}
