package people

import (
	"context"
	"fmt"

	"countersign/models"
)

// devicesEach is how many browsers are remembered for one person; the one that
// was used longest ago goes first.
const devicesEach = 20

const devicePrefix = "cs_dev_"

// RememberDevice returns the secret by which this browser is known from now on as
// one in which the person has signed in: device, if it is known as that already.
func (p *People) RememberDevice(ctx context.Context, user models.UserID, device string) (secret string, err error) {
	fresh := newSecret(devicePrefix)
	err = p.writeAnyway(ctx, func(t *tx) error {
		hash := hashSecret(device)
		use := t.Gorm().Model(&models.KnownDevice{}).Where("secret_hash = ? AND user_id = ?", hash[:], user).Update("used_at",
			t.Now)
		if use.Error != nil {
			return fmt.Errorf("remember device: %w", use.Error)
		}
		if secret = device; use.RowsAffected > 0 {
			return nil
		}
		secret, hash = fresh, hashSecret(fresh)
		if err := t.Gorm().Create(&models.KnownDevice{
			SecretHash: hash[:], UserID: user, CreatedAt: t.Now, UsedAt: t.Now,
		}).Error; err != nil {
			return fmt.Errorf("remember device: %w", err)
		}
		return t.forgetDevices(user, devicesEach)
	})
	return secret, err
}

// forgetDevices keeps the few of a person's browsers that were used last.
func (t *tx) forgetDevices(user models.UserID, keep int) error {
	err := t.Gorm().Exec(`DELETE FROM known_devices WHERE secret_hash IN
 (SELECT secret_hash FROM known_devices WHERE user_id = ? ORDER BY used_at DESC, secret_hash LIMIT 1000 OFFSET ?)`, user, keep).Error
	if err != nil {
		return fmt.Errorf("forget devices: %w", err)
	}
	return nil
}

// knowsDevice reports whether the person of an account has signed in there.
func (t *tx) knowsDevice(email, device string) (bool, error) {
	if device == "" {
		return false, nil
	}
	hash := hashSecret(device)
	var n int64
	err := t.Gorm().Raw(`SELECT count(*) FROM known_devices d JOIN users u ON u.id = d.user_id WHERE d.secret_hash = ? AND u.email = ?`,
		hash[:], FoldEmail(email)).Scan(&n).Error
	if err != nil {
		return false, fmt.Errorf("look for a device: %w", err)
	}
	return n > 0, nil
}
