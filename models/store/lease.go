package store

import (
	"context"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// TakeLease gives holder the right to do what one process of the installation
// does at a time, or renews it; nil while another holds it.
func (s *Store) TakeLease(ctx context.Context, name, holder string, ttl time.Duration) (*models.Lease, error) {
	var out *models.Lease
	err := s.writeAnyway(ctx, func(t *tx) error {
		out = nil
		var rows []models.Lease
		if err := t.Gorm().Where("name = ?", name).Limit(1).Find(&rows).Error; err != nil {
			return err
		}
		l := models.Lease{Name: name, Holder: holder, Number: 1, Until: db.Stamp(t.Now.Add(ttl))}
		if len(rows) > 0 {
			old := rows[0]
			if old.Holder != holder && old.Until.After(t.Now) {
				return nil
			}
			if l.Number = old.Number; old.Holder != holder {
				l.Number++
			}
		}
		out = &l
		return t.Gorm().Exec(`INSERT INTO leases (name, number, holder, until) VALUES (?, ?, ?, ?)`+
			db.OrReplace(`number`, `holder`, `until`), l.Name, l.Number, l.Holder, l.Until).Error
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// DropLease gives a lease back, so that another need not wait for its end.
func (s *Store) DropLease(ctx context.Context, l *models.Lease) error {
	return s.writeAnyway(ctx, func(t *tx) error {
		return t.Gorm().Exec(`UPDATE leases SET until = ? WHERE name = ? AND holder = ? AND number = ?`, t.Now, l.Name, l.Holder, l.Number).Error
	})
}

// holds refuses whoever has lost the lease: nothing is written.
func (t *tx) holds(l *models.Lease) error {
	var rows []models.Lease
	if err := t.Gorm().Where("name = ? AND holder = ? AND number = ? AND until > ?", l.Name, l.Holder, l.Number, t.Now).Limit(1).Find(&rows).Error; err != nil {
		return err
	}
	if len(rows) == 0 {
		return models.Errorf(models.CodeConflict, "Another process has taken this work over.")
	}
	return nil
}

// HoldsLease refuses, within another room's share, whoever has lost the lease.
func (s *Store) HoldsLease(share *db.Tx, l *models.Lease) error { return s.within(share).holds(l) }
