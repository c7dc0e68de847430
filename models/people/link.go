package people

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

// addByLink adds the person who follows a one-time link. use makes the link useless and
// records it, in the same transaction: of two at once the second has none any more.
func (p *People) addByLink(
	ctx context.Context, in NewUser, use func(t *tx, user *models.User) error,
) (*models.User, error) {
	in, err := in.checked()
	if err != nil {
		return nil, err
	}
	passwordHash, err := p.passwords.hash(ctx, in.Password)
	if err != nil {
		return nil, err
	}
	var user *models.User
	err = p.write(ctx, func(t *tx) error {
		user = t.newUser(in, passwordHash)
		if err := use(t, user); err != nil {
			return err
		}
		return t.addUser(personActor(user), user)
	})
	if err != nil {
		return nil, err
	}
	return withoutHash(user), nil
}

// useLink marks a link as used: the one row that open, a condition, says is not used
// yet. bad is the answer when there is none.
func (t *tx) useLink(link any, bad error, open string, args ...any) error {
	use := t.Gorm().Model(link).Where(open, args...).Update("used_at", t.Now)
	if use.Error != nil {
		return fmt.Errorf("use a link: %w", use.Error)
	}
	if !db.ExactlyOne(use.RowsAffected) {
		return bad
	}
	return nil
}
