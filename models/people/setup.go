package people

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/ledger"
)

// HasUsers reports whether anybody was ever added: if not, setup is due.
func (p *People) HasUsers(ctx context.Context) (bool, error) { return hasUsers(p.db.Gorm(ctx)) }

func hasUsers(pool *gorm.DB) (bool, error) {
	var has bool
	if err := pool.Raw("SELECT EXISTS (SELECT 1 FROM users)").Scan(&has).Error; err != nil {
		return false, fmt.Errorf("look for users: %w", err)
	}
	return has, nil
}

// NewSetupLink makes the secret of a one-time link with which the first admin is
// added; older links stop working. For the operator and the starting server,
// else CodeForbidden; CodeConflict as soon as a user exists.
func (p *People) NewSetupLink(ctx context.Context, actor models.Actor) (secret string, err error) {
	if actor.Kind != models.ActorOperator && actor.Kind != models.ActorSystem {
		return "", models.Errorf(models.CodeForbidden, "Only the command line makes setup links.")
	}
	secret = newSecret("")
	hash := hashSecret(secret)
	err = p.write(ctx, func(t *tx) error {
		if has, err := hasUsers(t.Gorm()); err != nil || has {
			return orConflict(err, "There are users already: sign in, or add one with `countersign user add`.")
		}
		if err := t.Gorm().Where("used_at IS NULL").Delete(&models.SetupLink{}).Error; err != nil {
			return fmt.Errorf("replace setup links: %w", err)
		}
		if err := t.Gorm().Create(&models.SetupLink{SecretHash: hash[:], CreatedAt: t.Now}).Error; err != nil {
			return fmt.Errorf("add setup link: %w", err)
		}
		return t.record(actor, "setup_link.made", ledger.Subject{}, struct{}{})
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// CheckSetupLink reports whether the link would work and uses nothing up:
// CodeNotFound if it is unknown, replaced or used, or if a user exists.
func (p *People) CheckSetupLink(ctx context.Context, secret string) error {
	hash := hashSecret(secret)
	var good int64
	err := p.db.Gorm(ctx).
		Raw("SELECT count(*) FROM setup_links WHERE secret_hash = ? AND used_at IS NULL AND NOT EXISTS (SELECT 1 FROM users)",
			hash[:]).
		Scan(&good).Error
	if err != nil {
		return fmt.Errorf("look for setup link: %w", err)
	}
	if good == 0 {
		return badSetupLink()
	}
	return nil
}

// Setup uses a link up and adds the first user, who is an admin whatever Role
// says. CodeNotFound as CheckSetupLink, of two at once for the second;
// CodeInvalid names all fields that are wrong and leaves the link as it is.
func (p *People) Setup(ctx context.Context, secret string, in NewUser) (*models.User, error) {
	// First, or strangers could have passwords hashed.
	if err := p.CheckSetupLink(ctx, secret); err != nil {
		return nil, err
	}
	in.Role = models.RoleAdmin
	hash := hashSecret(secret)
	return p.addByLink(ctx, in, func(t *tx, user *models.User) error {
		if has, err := hasUsers(t.Gorm()); err != nil || has {
			return orNotFound(err)
		}
		if err := t.useLink(&models.SetupLink{}, badSetupLink(), "secret_hash = ? AND used_at IS NULL", hash[:]); err != nil {
			return err
		}
		return t.record(personActor(user), "setup_link.used", ledger.Subject{Owner: user.ID}, struct{}{})
	})
}

func badSetupLink() error {
	return models.Errorf(models.CodeNotFound,
		"This setup link does not work: it was used or replaced. `countersign setup-link` makes a new one while there is no user.")
}

func orConflict(err error, text string) error {
	if err != nil {
		return err
	}
	return models.Errorf(models.CodeConflict, "%s", text)
}

func orNotFound(err error) error {
	if err != nil {
		return err
	}
	return badSetupLink()
}
