package ledger

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"countersign/models/db"
	"countersign/models/proof"
)

// changing are the rows that a transaction changes and that no entry proves yet.
type changing struct {
	by     *db.Tx
	rows   []proof.Row
	before map[string]string // their digests, by their names
}

// of are the rows of a transaction. What another left without an entry is forgotten: the check of
// all rows finds it.
func (c *changing) of(t *db.Tx) *changing {
	if c.by != t {
		*c = changing{by: t, before: map[string]string{}}
	}
	return c
}

// Changes says that a row is about to change, or to be removed: the next entry proves its state before and after. It
// comes before the change.
func (l *Ledger) Changes(t *db.Tx, table string, key ...any) error {
	c, row := l.changes.of(t), proof.Of(table, key...)
	name := row.Name()
	if _, ok := c.before[name]; ok {
		return nil
	}
	before, err := l.rows.Digest(t, row)
	if err != nil {
		return err
	}
	c.rows, c.before[name] = append(c.rows, row), before
	return nil
}

// Adds says that a row is new: the next entry proves it.
func (l *Ledger) Adds(t *db.Tx, table string, key ...any) {
	c, row := l.changes.of(t), proof.Of(table, key...)
	c.rows, c.before[row.Name()] = append(c.rows, row), ""
}

// Changed reports whether a transaction has changed rows that no entry proves yet.
func (l *Ledger) Changed(t *db.Tx) (bool, error) {
	said, err := l.changed(t)
	return len(said.Proof) > 0, err
}

// changed is what there is to prove.
func (l *Ledger) changed(t *db.Tx) (proof.Said, error) {
	c := l.changes.of(t)
	said := proof.Said{Proof: make(map[string]string, len(c.rows))}
	for _, row := range c.rows {
		now, err := l.rows.Digest(t, row)
		if err != nil {
			return said, err
		}
		if before := c.before[row.Name()]; now != before {
			said.Proof[row.Name()] = proof.Change(before, now)
		}
	}
	return said, nil
}

// withProof adds to the data of an entry what it proves of rows.
func (l *Ledger) withProof(t *db.Tx, data []byte) ([]byte, error) {
	said, err := l.changed(t)
	if err != nil {
		return nil, err
	}
	l.changes = changing{}
	member, err := json.Marshal(said, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode digests of rows: %w", err)
	}
	if string(data) == "{}" {
		return member, nil
	}
	return append(append(data[:len(data)-1], ','), member[1:]...), nil
}
