package nodes

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// forgetAfter is how long the row of a node stays that ended without saying so.
const forgetAfter = 24 * time.Hour

// Nodes are the servers of the installation, as one of its processes sees them.
type Nodes struct{ db *db.DB }

// New is the nodes of a database.
func New(d *db.DB) *Nodes { return &Nodes{db: d} }

// Holder names this process, as a node and as holder of leases.
func (n *Nodes) Holder() (string, error) { return n.db.Holder() }

const addNode = `INSERT INTO nodes (id, name, version, started_at, seen_at, lag_ms) VALUES (?, ?, ?, ?, ?, ?)`

// Beat writes down that this process is there, as a server of that name and version, and forgets nodes that are gone
// for a day. The server calls it each few seconds.
func (n *Nodes) Beat(ctx context.Context, name, version string, started time.Time) error {
	id, err := n.db.Holder()
	if err != nil {
		return err
	}
	return n.db.WriteAnyway(ctx, func(t *db.Tx) error {
		err := t.Gorm().Exec(addNode+db.OrReplace(`id`, `seen_at`, `lag_ms`), id, name, version, started, t.Now,
			n.db.Lag().Milliseconds()).Error
		if err != nil {
			return fmt.Errorf("note that this server runs: %w", err)
		}
		var gone []string // and those before this one under its name
		err = t.Gorm().Model(&models.Node{}).Where("seen_at < ? OR seen_at < ? AND name = ? AND id <> ?",
			t.Now.Add(-forgetAfter), t.Now.Add(-models.NodeSilent), name, id).Pluck("id", &gone).Error
		if err != nil || len(gone) == 0 {
			return err
		}
		return forget(t, gone)
	})
}

// Leave has the others forget this process, which ends.
func (n *Nodes) Leave(ctx context.Context) error {
	id, err := n.db.Holder()
	if err != nil {
		return err
	}
	return n.db.WriteAnyway(ctx, func(t *db.Tx) error { return forget(t, []string{id}) })
}

func forget(t *db.Tx, ids []string) error {
	if err := t.Gorm().Where("node_id IN ?", ids).Delete(&models.Wait{}).Error; err != nil {
		return fmt.Errorf("forget who waited at a server: %w", err)
	}
	if err := t.Gorm().Where("id IN ?", ids).Delete(&models.Node{}).Error; err != nil {
		return fmt.Errorf("forget a server: %w", err)
	}
	return nil
}

// All are the servers and their leases, by name. It judges no rights.
func (n *Nodes) All(ctx context.Context) ([]models.Node, error) {
	return Read(ctx, n.db.Reads(), n.db.Now())
}

// Read is All of a database that is only looked at.
func Read(ctx context.Context, from db.Querier, now time.Time) (out []models.Node, err error) {
	leases := map[string][]string{}
	err = db.EachRow(ctx, from, `SELECT holder, name FROM leases WHERE until > ? ORDER BY name`, []any{now}, func(row db.Scanner) error {
		var holder, name string
		err := row.Scan(&holder, &name)
		leases[holder] = append(leases[holder], name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read leases: %w", err)
	}
	err = db.EachRow(ctx, from, `SELECT id, name, version, started_at, seen_at, lag_ms FROM nodes ORDER BY name, started_at`, nil,
		func(row db.Scanner) error {
			var one models.Node
			err := row.Scan(&one.ID, &one.Name, &one.Version, &one.StartedAt, &one.SeenAt, &one.LagMS)
			one.Leases = leases[one.ID]
			out = append(out, one)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("read servers: %w", err)
	}
	return out, nil
}
