package people

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"time"

	"countersign/models/db"
)

// Lots say who of many may try at an account that is slowed down. Each address draws once in slowedTo, however often it
// comes and at whichever server, and one of as many as came in that time wins: so quick callers keep no one out.

// comes notes that an address tries at an account. Those that came too long ago to count are forgotten.
func (t *tx) comes(a attempt) error {
	gone := t.Now.Add(-slowedTo)
	if err := t.Gorm().Exec(`DELETE FROM signin_lots WHERE came_at < ?`, gone).Error; err != nil {
		return fmt.Errorf("forget who tried to sign in: %w", err)
	}
	err := t.Gorm().Exec(`INSERT INTO signin_lots (account, address, came_at) VALUES (?, ?, ?)`+
		db.OrReplace(`account, address`, `came_at`), a.account, a.address, t.Now).Error
	if err != nil {
		return fmt.Errorf("note who tries to sign in: %w", err)
	}
	return nil
}

// draw has an address that comes draw a lot: zero if it may try now, else when it may draw again.
func (t *tx) draw(a attempt) (time.Duration, error) {
	var of int
	if err := t.QueryRowContext(t.Caller, `SELECT count(*) FROM signin_lots WHERE account = ?`, a.account).Scan(&of); err != nil {
		return 0, fmt.Errorf("draw lots: %w", err)
	}
	var drew sql.NullTime
	err := t.QueryRowContext(t.Caller, `SELECT drew_at FROM signin_lots WHERE account = ? AND address = ?`, a.account,
		a.address).Scan(&drew)
	if err != nil {
		return 0, fmt.Errorf("draw lots: %w", err)
	}
	if wait := drew.Time.Add(slowedTo).Sub(t.Now); drew.Valid && wait > 0 {
		return wait, nil
	}
	err = t.Gorm().Exec(`UPDATE signin_lots SET drew_at = ? WHERE account = ? AND address = ?`, t.Now, a.account,
		a.address).Error
	if err != nil {
		return 0, fmt.Errorf("draw lots: %w", err)
	}
	if t.p.opts.WinsLot(of) {
		return 0, nil
	}
	return slowedTo, nil
}

// oneOf is the chance of one of so many.
func oneOf(many int) bool { return rand.IntN(many) == 0 } //nolint:gosec // a lot decides who waits, no secret
