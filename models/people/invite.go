package people

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// InviteLength is how long the link of an invitation works.
const InviteLength = 7 * 24 * time.Hour

// maxInvites is how many open invitations are listed, the latest first.
const maxInvites = 100

// inviteData is what the ledger keeps of an invitation; never its secret.
type inviteData struct {
	InviteID models.InviteID `json:"inviteId"`
	Email    string          `json:"email"`
	Role     models.Role     `json:"role"`
}

func dataOf(i *models.Invite) inviteData {
	return inviteData{InviteID: i.ID, Email: i.Email, Role: i.Role}
}

// Invite makes a one-time link for a person with an e-mail and a role. The
// secret is given out here and stored hashed; the link works for seven days, and
// as long as who made it is an enabled admin. An older open invitation of the
// same e-mail is withdrawn. For admins and the operator, else CodeForbidden;
// CodeInvalid names "email" or "role"; CodeConflict if the e-mail is in use.
func (p *People) Invite(
	ctx context.Context, actor models.Actor, email string, role models.Role,
) (secret string, invite *models.Invite, err error) {
	if err := actor.NeedAdmin(); err != nil {
		return "", nil, err
	}
	email = FoldEmail(email)
	faults := make(map[string]string)
	if fault := emailFault(email); fault != "" {
		faults["email"] = fault
	}
	if fault := role.Fault(); fault != "" {
		faults["role"] = fault
	}
	if len(faults) > 0 {
		return "", nil, &models.Error{Code: models.CodeInvalid, Text: "The invitation is not valid.", Fields: faults}
	}
	secret = newSecret("")
	hash := hashSecret(secret)
	err = p.write(ctx, func(t *tx) error {
		if err := t.emailFree(email); err != nil {
			return err
		}
		if err := t.withdrawOlder(actor, email); err != nil {
			return err
		}
		invite = &models.Invite{
			ID: models.NewID[models.InviteID](), SecretHash: hash[:], Email: email, Role: role,
			InviterName: actor.Name, CreatedAt: t.Now, ExpiresAt: t.Now.Add(InviteLength),
		}
		if by := actor.UserID(); by != "" {
			invite.InvitedBy = &by
		}
		if err := t.Gorm().Create(invite).Error; err != nil {
			return fmt.Errorf("add invitation: %w", err)
		}
		t.adds("invites", invite.ID)
		return t.record(actor, "invite.made", ledger.Subject{Owner: actor.UserID()}, dataOf(invite))
	})
	if err != nil {
		return "", nil, err
	}
	invite.SecretHash = nil
	return secret, invite, nil
}

// withdrawOlder ends the open invitations of an e-mail.
func (t *tx) withdrawOlder(actor models.Actor, email string) error {
	var older []models.Invite
	err := t.Gorm().Where("used_at IS NULL AND withdrawn_at IS NULL AND email = ?", email).Order("id").Find(&older).Error
	if err != nil {
		return fmt.Errorf("look for older invitations: %w", err)
	}
	for i := range older {
		if err := t.withdraw(actor, &older[i]); err != nil {
			return err
		}
	}
	return nil
}

// withdraw ends one invitation if it is open.
func (t *tx) withdraw(actor models.Actor, invite *models.Invite) error {
	if err := t.changes("invites", invite.ID); err != nil {
		return err
	}
	change := t.Gorm().Model(&models.Invite{}).
		Where("id = ? AND used_at IS NULL AND withdrawn_at IS NULL", invite.ID).Update("withdrawn_at", t.Now)
	if change.Error != nil {
		return fmt.Errorf("revoke invitation: %w", change.Error)
	}
	if !db.ExactlyOne(change.RowsAffected) {
		return nil
	}
	return t.record(actor, "invite.withdrawn", ledger.Subject{Owner: actor.UserID()}, dataOf(invite))
}

// WithdrawInvite ends an open invitation; twice is harmless. For admins and the
// operator, else CodeForbidden; CodeNotFound if there is none.
func (p *People) WithdrawInvite(ctx context.Context, actor models.Actor, id models.InviteID) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	return p.write(ctx, func(t *tx) error {
		var invite models.Invite
		if err := t.Gorm().Where("id = ?", id).Take(&invite).Error; err != nil {
			return db.NotFoundAs(err, models.NotFound("invitation"))
		}
		return t.withdraw(actor, &invite)
	})
}

// Invites lists the open invitations, the latest first, at most a hundred. For
// admins and the operator, else CodeForbidden.
func (p *People) Invites(ctx context.Context, actor models.Actor) ([]models.Invite, error) {
	if err := actor.NeedOversight(); err != nil {
		return nil, err
	}
	var out []models.Invite
	err := p.db.Gorm(ctx).Omit("secret_hash").
		Where("used_at IS NULL AND withdrawn_at IS NULL AND expires_at > ?",
			p.db.Now()).Order("id DESC").Limit(maxInvites).Find(&out).Error
	if err != nil {
		return nil, fmt.Errorf("list invitations: %w", err)
	}
	return out, nil
}

// openInvite finds the invitation of a link: open, and made by the command line
// or by who is an enabled admin still.
const openInvite = `SELECT i.* FROM invites i LEFT JOIN users u ON u.id = i.invited_by
 WHERE i.secret_hash = ? AND i.used_at IS NULL AND i.withdrawn_at IS NULL AND i.expires_at > ?
 AND (i.invited_by IS NULL OR (u.role = 'admin' AND u.disabled_at IS NULL))`

// CheckInvite is the invitation behind a link; it uses nothing up. CodeNotFound
// if the link is unknown, used, withdrawn or seven days old, or if who made it
// is no enabled admin any more.
func (p *People) CheckInvite(ctx context.Context, secret string) (*models.Invite, error) {
	hash := hashSecret(secret)
	invite, err := inviteOf(p.db.Gorm(ctx), hash[:], p.db.Now())
	if err != nil {
		return nil, err
	}
	invite.SecretHash = nil
	return invite, nil
}

// Join uses an invitation up and adds the person under the name and password
// they chose. CodeNotFound as CheckInvite, of two at once for the second;
// CodeInvalid names "name" or "password" and leaves the link as it is;
// CodeConflict if the e-mail came into use meanwhile.
func (p *People) Join(ctx context.Context, secret, name, password string) (*models.User, error) {
	// First, or strangers could have passwords hashed.
	invite, err := p.CheckInvite(ctx, secret)
	if err != nil {
		return nil, err
	}
	hash := hashSecret(secret)
	in := NewUser{Email: invite.Email, Name: name, Role: invite.Role, Password: password}
	return p.addByLink(ctx, in, func(t *tx, user *models.User) error {
		still, err := inviteOf(t.Gorm(), hash[:], t.Now)
		if err != nil {
			return err
		}
		if err := t.emailFree(user.Email); err != nil {
			return err
		}
		if err := t.changes("invites", still.ID); err != nil {
			return err
		}
		if err := t.useLink(&models.Invite{}, badInvite(), "id = ? AND used_at IS NULL AND withdrawn_at IS NULL",
			still.ID); err != nil {
			return err
		}
		return t.record(personActor(user), "invite.used", ledger.Subject{Owner: user.ID}, dataOf(still))
	})
}

// inviteOf is the open invitation of a link's hash.
func inviteOf(pool *gorm.DB, hash []byte, now time.Time) (*models.Invite, error) {
	var found []models.Invite
	if err := pool.Raw(openInvite, hash, now).Scan(&found).Error; err != nil {
		return nil, fmt.Errorf("look for invitation: %w", err)
	}
	if len(found) == 0 {
		return nil, badInvite()
	}
	return &found[0], nil
}

func badInvite() error {
	return models.Errorf(models.CodeNotFound,
		"This link does not work: it was used or revoked, or it is older than seven days. Ask an admin for a new one.")
}

// emailFree refuses an e-mail that somebody signs in with.
func (t *tx) emailFree(email string) error {
	var count int64
	if err := t.Gorm().Model(&models.User{}).Where("email = ?", email).Count(&count).Error; err != nil {
		return fmt.Errorf("look for the e-mail: %w", err)
	}
	if count > 0 {
		return &models.Error{
			Code: models.CodeConflict, Text: "There is already a user with this e-mail.",
			Fields: map[string]string{"email": "is in use"},
		}
	}
	return nil
}
