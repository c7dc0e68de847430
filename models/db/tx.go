package db

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"countersign/models/events"
)

// Tx is one caller's share of a transaction. Rooms wrap it.
type Tx struct {
	conn
	// Now is the time of the whole share: UTC, cut to the precision that is stored.
	Now time.Time
	// Caller names the caller in the log: who began the function. It ends nothing, since a
	// commit serves many.
	Caller context.Context
	// Part is what a room that others call keeps for the length of this share.
	Part any

	d           *DB
	g           *gorm.DB
	topics      []events.Topic
	afterCommit []func()
}

// Gorm is the transaction through GORM, for everything that is not hot. A row is written
// with its own columns only: what it belongs to is for reads.
func (t *Tx) Gorm() *gorm.DB {
	if t.g == nil {
		g := t.d.gw.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(t.Caller)})
		g.Statement.ConnPool = &t.conn
		t.g = g.Omit(clause.Associations).Session(&gorm.Session{})
	}
	return t.g
}

// Publish names topics to announce on the bus after the commit.
func (t *Tx) Publish(topics ...events.Topic) { t.topics = append(t.topics, topics...) }

// AfterCommit registers fn to run after the commit, before anything is announced on
// the bus and before the caller goes on. It must not block, nor write.
func (t *Tx) AfterCommit(fn func()) { t.afterCommit = append(t.afterCommit, fn) }

// ExactlyOne checks a compare-and-set: an UPDATE that names the state it leaves must
// have changed one row.
func ExactlyOne(n int64) bool { return n == 1 }

// refusal is an error that the caller gets although the transaction is committed: a
// refused response may leave a request for more budget behind.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// Commits makes err a refusal: the transaction is committed, and Write returns err.
func Commits(err error) error { return &refusal{err} }

// Refused splits the error of a function: callerErr goes to the caller although the
// transaction is committed, txErr rolls the transaction back. At most one is set.
func Refused(err error) (callerErr, txErr error) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.err, nil
	}
	return nil, err
}
