package db

import (
	"sync/atomic"
	"time"
)

// clock tells the time by which everything is judged: on PostgreSQL the database's, so that nodes whose machines differ
// agree.
type clock struct {
	now   func() time.Time // of this machine, or of a test
	fixed bool             // a test's: the database's does not count
	lead  atomic.Int64     // nanoseconds by which the database's is ahead of this machine's
}

func (c *clock) Now() time.Time { return c.now().Add(time.Duration(c.lead.Load())) }

// hear takes the database's time, as it was a moment ago; zero: it has none.
func (c *clock) hear(database time.Time) {
	if !c.fixed && !database.IsZero() {
		c.lead.Store(int64(database.Sub(c.now())))
	}
}

// Now is the clock: UTC, cut to the precision that is stored.
func (d *DB) Now() time.Time { return Stamp(d.clock.Now()) }

// Stamp is the one place where times are cut to their stored form: UTC, whole microseconds, no monotonic part.
func Stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond).Round(0) }
