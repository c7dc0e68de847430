package people

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// Guessing is limited per account and address, so that a stranger cannot lock
// the owner out, and per address, against trying many accounts. Against guesses
// from many addresses an account is slowed down as a whole: after some failures an
// address has one try, as long as few addresses have failed there, and those who want
// more draw lots, about one try a minute. Browsers known to be the owner's do not.
const (
	signInWindow       = 15 * time.Minute
	failuresPerPair    = 5
	failuresPerAddress = 20
	failuresPerAccount = 10
	firstTries         = 20 // of as many addresses at a slowed account, in the window
	slowedTo           = time.Minute
)

// SignInFrom is where a sign-in comes from: the peer's address, with or without
// a port, and what its browser calls itself.
type SignInFrom struct {
	Address   string
	UserAgent string
	Device    string // the secret of RememberDevice, if the browser has one
}

// attempt is one try at a password.
type attempt struct {
	account, address string
	known            bool // by the account's owner, or from one of the owner's browsers
}

// SignIn checks a password and opens a session: secret is the cookie's content.
// CodeUnauthenticated with one text for a wrong password, an unknown account and
// a disabled one, at the same cost. After 5 failures per account and address, or
// 20 per address, within 15 minutes, and after 10 per account unless the browser is
// known, the address new there, or the lot won: CodeTooManyRequests with RetryAfterSeconds, before
// anything is hashed; those refusals do not count. The same when too many wait for
// their password to be compared. Failures are logged and counted.
func (p *People) SignIn(
	ctx context.Context, email, password string, from SignInFrom,
) (secret string, user *models.User, err error) {
	var found *models.User
	defer func() { p.signInFailed(ctx, err, email, from) }()
	leave, err := p.passwords.queue()
	if err != nil {
		return "", nil, err
	}
	defer leave()
	try := attempt{account: accountKey(email), address: addressKey(from.Address)}
	// Counted before it is judged and forgotten on success: guesses sent side by
	// side could otherwise all pass the check before the first has failed.
	if err := p.admit(ctx, &try, email, from.Device); err != nil {
		return "", nil, err
	}
	if found, err = p.userWithEmail(ctx, email); err != nil {
		return "", nil, err
	}
	known := found != nil && found.Enabled()
	hash := p.passwords.nobodys
	if known {
		hash = found.PasswordHash
	}
	ok, err := p.passwords.matches(ctx, password, hash)
	if err != nil {
		return "", nil, err
	}
	if !ok || !known {
		return "", nil, wrongPassword()
	}
	secret = newSecret(sessionPrefix)
	err = p.writeAnyway(ctx, func(t *tx) error {
		now, err := t.user(found.ID)
		if err != nil {
			return err
		}
		if !now.Enabled() || now.PasswordHash != found.PasswordHash {
			return wrongPassword()
		}
		user = withoutHash(now)
		if err := t.forgetAttempts(try); err != nil {
			return err
		}
		return t.openSession(now, secret, from)
	})
	if err != nil {
		return "", nil, err
	}
	return secret, user, nil
}

// admit counts an attempt, or refuses it.
func (p *People) admit(ctx context.Context, try *attempt, email, device string) error {
	return p.writeAnyway(ctx, func(t *tx) error {
		var err error
		if try.known, err = t.knowsDevice(email, device); err != nil {
			return err
		}
		return t.countAttempt(*try)
	})
}

// tooManyFailures says when to come back.
func tooManyFailures(wait time.Duration) error {
	seconds := int((wait + time.Second - 1) / time.Second)
	e := models.Errorf(models.CodeTooManyRequests, "Too many wrong passwords: try again in %s.",
		models.SpokenDuration(time.Duration(seconds)*time.Second))
	e.RetryAfterSeconds = seconds
	return e
}

func wrongPassword() error {
	return models.Errorf(models.CodeUnauthenticated, "The e-mail or the password is wrong.")
}

// countAttempt stores a failure, or refuses if there are too many. Those that have left the window are deleted on the
// way.
func (t *tx) countAttempt(a attempt) error {
	wait, err := t.blockedFor(a)
	if err != nil {
		return err
	}
	if wait > 0 {
		return tooManyFailures(wait)
	}
	if wait, err = t.slowedFor(a); err != nil {
		return err
	}
	if wait > 0 {
		return db.Commits(tooManyFailures(wait)) // the lot is drawn
	}
	if err := t.Gorm().Where("at <= ?", t.Now.Add(-signInWindow)).Delete(&models.SignInFailure{}).Error; err != nil {
		return fmt.Errorf("delete old sign-in failures: %w", err)
	}
	if err := t.Gorm().Create(&models.SignInFailure{Account: a.account, Address: a.address, At: t.Now}).Error; err != nil {
		return fmt.Errorf("count sign-in: %w", err)
	}
	return nil
}

// blockedFor is how long until so many failures have left the window that one
// more try is allowed: zero if it is now.
func (t *tx) blockedFor(a attempt) (time.Duration, error) {
	var longest time.Duration
	for _, limit := range []struct {
		most  int
		where string
		args  []any
	}{
		{failuresPerPair, "account = ? AND address = ?", []any{a.account, a.address}},
		{failuresPerAddress, "address = ?", []any{a.address}},
	} {
		var at []time.Time
		err := t.Gorm().Model(&models.SignInFailure{}).Where(limit.where, limit.args...).Where("at > ?",
			t.Now.Add(-signInWindow)).
			Order("at DESC").Offset(limit.most-1).Limit(1).Pluck("at", &at).Error
		if err != nil {
			return 0, fmt.Errorf("count sign-in failures: %w", err)
		}
		if len(at) > 0 {
			longest = max(longest, at[0].Add(signInWindow).Sub(t.Now))
		}
	}
	return longest, nil
}

// isSlowed reports whether an account was guessed at so often that only the lot admits the
// attempt: not the first one of its address, while few addresses have failed there.
func (t *tx) isSlowed(a attempt) (bool, error) {
	if a.known {
		return false, nil
	}
	var by []string // the address of each failure
	err := t.Gorm().Model(&models.SignInFailure{}).Where("account = ?", a.account).Where("at > ?",
		t.Now.Add(-signInWindow)).Pluck("address", &by).Error
	if err != nil {
		return false, fmt.Errorf("count sign-in failures: %w", err)
	}
	if len(by) < failuresPerAccount {
		return false, nil
	}
	slices.Sort(by)
	by = slices.Compact(by)
	return len(by) >= firstTries || slices.Contains(by, a.address), nil
}

// slowedFor is how long an attempt has to wait at an account that is slowed down: not at all if it wins the lot.
func (t *tx) slowedFor(a attempt) (time.Duration, error) {
	if err := t.comes(a); err != nil {
		return 0, err
	}
	slow, err := t.isSlowed(a)
	if err != nil || !slow {
		return 0, err
	}
	return t.draw(a)
}

func (t *tx) forgetAttempts(a attempt) error {
	if err := t.Gorm().Where("account = ? AND address = ?", a.account,
		a.address).Delete(&models.SignInFailure{}).Error; err != nil {
		return fmt.Errorf("forget sign-in failures: %w", err)
	}
	return nil
}

// accountKey names the account tried. It is a digest, for people type passwords
// into the wrong field, and of bounded length.
func accountKey(email string) string {
	sum := sha256.Sum256([]byte(FoldEmail(email)))
	return hex.EncodeToString(sum[:])
}

// addressKey is what counts as one address: for IPv6 the /64, for a household
// has all of it.
func addressKey(address string) string {
	ip, ok := parseAddress(address)
	if !ok {
		return shorten(address)
	}
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}

func parseAddress(address string) (netip.Addr, bool) {
	if p, err := netip.ParseAddrPort(address); err == nil {
		return p.Addr().Unmap().WithZone(""), true
	}
	ip, err := netip.ParseAddr(address)
	return ip.Unmap().WithZone(""), err == nil
}

// shorten keeps what a name may have at most, in valid UTF-8.
func shorten(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), models.MaxName)], "")
}
