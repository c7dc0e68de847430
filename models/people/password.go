package people

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
	"countersign/models/passwords"
)

// PasswordCost is the work of hashing one password. The zero value is OWASP's advice for argon2id: 19 MiB, two passes,
// one thread.
type PasswordCost struct {
	MemoryKiB uint32
	Passes    uint32
	Threads   uint8
}

// hashesAtOnce bounds the memory and processors that sign-ins may take, and
// hashesWaiting how many wait for their turn.
const (
	hashesAtOnce  = 2
	hashesWaiting = 32
)

// passwordHasher hashes and compares, a few at a time.
type passwordHasher struct {
	params *argon2id.Params
	// nobodys is a hash that no password has. Comparing with it costs what any
	// comparison costs, so that an unknown account answers no sooner.
	nobodys string
	slots   chan struct{}
	places  chan struct{}
	before  func()
}

func (p *passwordHasher) init(opts Options) {
	cost := opts.PasswordCost
	if cost == (PasswordCost{}) {
		cost = PasswordCost{MemoryKiB: 19 * 1024, Passes: 2, Threads: 1}
	}
	p.params = &argon2id.Params{
		Memory: cost.MemoryKiB, Iterations: cost.Passes, Parallelism: cost.Threads, SaltLength: 16, KeyLength: 32,
	}
	p.nobodys = fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", cost.MemoryKiB, cost.Passes, cost.Threads,
		base64.RawStdEncoding.EncodeToString(randomBytes(16)), base64.RawStdEncoding.EncodeToString(randomBytes(32)))
	p.slots = make(chan struct{}, hashesAtOnce)
	p.places = make(chan struct{}, hashesAtOnce+hashesWaiting)
	p.before = opts.BeforeHash
}

// queue admits somebody whose password is compared later: CodeTooManyRequests
// where too many wait already.
func (p *passwordHasher) queue() (leave func(), err error) {
	select {
	case p.places <- struct{}{}:
		return func() { <-p.places }, nil
	default:
		e := models.Errorf(models.CodeTooManyRequests, "Too many people are signing in: try again in a moment.")
		e.RetryAfterSeconds = 2
		return nil, e
	}
}

// enter waits for a slot; leave gives it back.
func (p *passwordHasher) enter(ctx context.Context) (leave func(), err error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait to hash a password: %w", ctx.Err())
	}
	if p.before != nil {
		p.before()
	}
	return func() { <-p.slots }, nil
}

// hash must be called outside of any transaction: it takes tens of milliseconds.
func (p *passwordHasher) hash(ctx context.Context, password string) (string, error) {
	leave, err := p.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	hash, err := argon2id.CreateHash(password, p.params)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	return hash, nil
}

// matches compares in constant time, outside of any transaction.
func (p *passwordHasher) matches(ctx context.Context, password, hash string) (bool, error) {
	leave, err := p.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	ok, err := argon2id.ComparePasswordAndHash(password, hash)
	if err != nil {
		return false, fmt.Errorf("compare password: %w", err)
	}
	return ok, nil
}

// passwordFault says why a new password of somebody with this e-mail is refused, or nothing. Length is counted in
// characters, so that a passphrase in any script is as good.
func passwordFault(password, email string) string {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return "must be valid UTF-8"
	case n < models.MinPassword || n > models.MaxPassword:
		return fmt.Sprintf("must have %d to %d characters", models.MinPassword, models.MaxPassword)
	}
	name, _, _ := strings.Cut(email, "@")
	if passwords.Common(password, email, name, "countersign") {
		return "is too easy to guess; choose a longer phrase"
	}
	return ""
}

// SetPassword gives a user a new password and ends all of the user's sessions,
// with one ledger entry each. For admins and the operator, else CodeForbidden;
// CodeInvalid names "password"; CodeNotFound if there is no such user.
func (p *People) SetPassword(ctx context.Context, actor models.Actor, id models.UserID, password string) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	var user models.User
	if err := p.db.Gorm(ctx).Where("id = ?", id).Take(&user).Error; err != nil {
		return db.NotFoundAs(err, models.NotFound("user"))
	}
	if fault := passwordFault(password, user.Email); fault != "" {
		return models.Invalid("password", "%s", fault)
	}
	hash, err := p.passwords.hash(ctx, password)
	if err != nil {
		return err
	}
	return p.write(ctx, func(t *tx) error {
		user, err := t.user(id)
		if err != nil {
			return err
		}
		return t.storePassword(actor, user, hash, "")
	})
}

// ChangePassword gives the signed-in person a new password and ends the person's
// other sessions. It takes a session, never a token: CodeForbidden. CodeInvalid
// names "current" or "next"; guessing at the current one is limited like signing
// in: CodeTooManyRequests. CodeConflict if the password changed meanwhile.
func (p *People) ChangePassword(ctx context.Context, actor models.Actor, current, next string) error {
	if !actor.IsPerson() || actor.SessionID == "" {
		return models.Errorf(models.CodeForbidden, "Sign in to change your password.")
	}
	if fault := passwordFault(next, actor.Name); fault != "" {
		return models.Invalid("next", "%s", fault)
	}
	leave, err := p.passwords.queue()
	if err != nil {
		return err
	}
	defer leave()
	try := attempt{account: actor.ID, address: "session " + string(actor.SessionID), known: true}
	if err := p.write(ctx, func(t *tx) error { return t.countAttempt(try) }); err != nil {
		return err
	}
	var user models.User
	if err := p.db.Gorm(ctx).Where("id = ?", actor.ID).Take(&user).Error; err != nil {
		return db.NotFoundAs(err, notSignedIn())
	}
	ok, err := p.passwords.matches(ctx, current, user.PasswordHash)
	if err != nil {
		return err
	}
	if !ok {
		return models.Invalid("current", "is not the password you sign in with")
	}
	hash, err := p.passwords.hash(ctx, next)
	if err != nil {
		return err
	}
	return p.write(ctx, func(t *tx) error {
		now, err := t.user(user.ID)
		if err != nil {
			return err
		}
		if !now.Enabled() {
			return notSignedIn()
		}
		if now.PasswordHash != user.PasswordHash {
			return models.Errorf(models.CodeConflict, "The password was changed in the meantime.")
		}
		if err := t.forgetAttempts(try); err != nil {
			return err
		}
		return t.storePassword(actor, now, hash, actor.SessionID)
	})
}

// storePassword writes the hash and ends the user's sessions but for keep.
func (t *tx) storePassword(actor models.Actor, user *models.User, hash string, keep models.SessionID) error {
	if err := t.changes("users", user.ID); err != nil {
		return err
	}
	err := t.Gorm().Model(&models.User{}).Where("id = ?", user.ID).Update("password_hash", hash).Error
	if err != nil {
		return fmt.Errorf("store password: %w", err)
	}
	if err := t.record(actor, "user.password_changed", ledger.Subject{Owner: user.ID},
		userData{UserID: user.ID, Email: user.Email}); err != nil {
		return err
	}
	t.accessChanged()
	if err := t.forgetDevices(user.ID, 0); err != nil {
		return err
	}
	return t.closeSessions(actor, user.ID, keep)
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails: it stops the program rather than return weak bytes
	return b
}
