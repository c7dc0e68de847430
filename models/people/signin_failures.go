package people

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/ledger"
)

// signInFailed logs and counts a sign-in that was refused. An account that does not
// exist is not named: people type passwords into the wrong field.
func (p *People) signInFailed(ctx context.Context, err error, email string, from SignInFrom) {
	code := models.ErrorCode(err)
	if code != models.CodeUnauthenticated && code != models.CodeTooManyRequests {
		return
	}
	found, lookErr := p.userWithEmail(ctx, email)
	if lookErr != nil {
		found = nil // the failure is returned all the same
	}
	reason := "too_many"
	if code == models.CodeUnauthenticated {
		switch {
		case found == nil:
			reason = "unknown_account"
		case !found.Enabled():
			reason = "disabled"
		default:
			reason = "wrong_password"
		}
	}
	account := "unknown"
	if found != nil {
		account = found.Email
	}
	p.log.WarnContext(ctx, "sign-in failed", "reason", reason, "account", account, "address", shorten(from.Address))
	if p.opts.ObserveSignInFailure != nil {
		p.opts.ObserveSignInFailure(reason)
	}
}

// UnlockUser forgets the failed sign-ins of an account, so that it can be signed in
// to at once. For admins and the operator, else CodeForbidden; CodeNotFound if
// there is no such user.
func (p *People) UnlockUser(ctx context.Context, actor models.Actor, id models.UserID) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	return p.write(ctx, func(t *tx) error {
		user, err := t.user(id)
		if err != nil {
			return err
		}
		if err := t.Gorm().Where("account IN ?",
			[]string{accountKey(user.Email), string(user.ID)}).Delete(&models.SignInFailure{}).Error; err != nil {
			return fmt.Errorf("forget sign-in failures: %w", err)
		}
		return t.record(actor, "user.unlocked", ledger.Subject{Owner: user.ID}, userData{UserID: user.ID, Email: user.Email})
	})
}
