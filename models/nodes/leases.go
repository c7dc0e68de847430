package nodes

import (
	"context"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// TakeLease gives holder the right to do what one process of the installation
// does at a time, or renews it; nil while another holds it. One that has ended without giving it
// back, as after kill -9, does not, if it was on this machine and named itself by Holder.
func (n *Nodes) TakeLease(ctx context.Context, name, holder string, ttl time.Duration) (*models.Lease, error) {
	var out *models.Lease
	err := n.db.WriteAnyway(ctx, func(t *db.Tx) error {
		out = nil
		var rows []models.Lease
		if err := t.Gorm().Where("name = ?", name).Limit(1).Find(&rows).Error; err != nil {
			return err
		}
		l := models.Lease{Name: name, Holder: holder, Number: 1, Until: db.Stamp(t.Now.Add(ttl))}
		if len(rows) > 0 {
			old := rows[0]
			if old.Holder != holder && old.Until.After(t.Now) && !n.db.HolderGone(old.Holder) {
				return nil
			}
			if l.Number = old.Number; old.Holder != holder {
				l.Number++
			}
		}
		out = &l
		return t.Gorm().Exec(`INSERT INTO leases (name, number, holder, until) VALUES (?, ?, ?, ?)`+
			db.OrReplace(`name`, `number`, `holder`, `until`), l.Name, l.Number, l.Holder, l.Until).Error
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// DropLease gives a lease back, so that another need not wait for its end.
func (n *Nodes) DropLease(ctx context.Context, l *models.Lease) error {
	return n.db.WriteAnyway(ctx, func(t *db.Tx) error {
		return t.Gorm().Exec(`UPDATE leases SET until = ? WHERE name = ? AND holder = ? AND number = ?`, t.Now, l.Name,
			l.Holder, l.Number).Error
	})
}

// Holds refuses a caller that has lost the lease, with CodeConflict: nothing is written.
func Holds(t *db.Tx, l *models.Lease) error {
	var rows []models.Lease
	if err := t.Gorm().Where("name = ? AND holder = ? AND number = ? AND until > ?", l.Name, l.Holder, l.Number,
		t.Now).Limit(1).Find(&rows).Error; err != nil {
		return err
	}
	if len(rows) == 0 {
		return models.Errorf(models.CodeConflict, "Another process has taken this work over.")
	}
	return nil
}
