package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// lossPatience is how long callers wait for a database that has gone; lossPause is between two tries.
const (
	lossPatience = 10 * time.Second
	lossPause    = 50 * time.Millisecond
)

const unknownText = "The connection to the database was lost while this was stored, and it is not known whether it was: ask again."

// loss is the state of the writing connection. Only the leader of a batch uses it.
type loss struct {
	gone    bool  // there was none for as long as callers wait
	unknown bool  // it was lost at a COMMIT: batch may be in the database
	batch   int64 // that was committed last
	reopens bool  // there was a connection before
}

// commit runs all of batch in one transaction: on a server whose connection was lost again on another. If it was lost at
// the COMMIT, the batch is looked for before anybody hears yes or no.
func (d *DB) commit(batch []*op) error {
	defer d.under.begin()()
	patience, stop := context.WithTimeout(context.Background(), cmp.Or(d.opts.Patience, lossPatience))
	defer stop()
	if d.loss.gone {
		stop() // those before have waited
	}
	d.loss.unknown = false
	for {
		err := d.attemptOrFind(batch)
		if !d.engine.lost(err) {
			d.loss.gone = false
			return err
		}
		select {
		case <-patience.Done():
			d.loss.gone = true
			if d.loss.unknown {
				return &fault{unknownText, err}
			}
			return err
		case <-time.After(lossPause):
		}
	}
}

// attemptOrFind runs a batch, unless it is in the database already.
func (d *DB) attemptOrFind(batch []*op) error {
	if d.loss.unknown {
		there, err := d.find(d.loss.batch)
		if err != nil {
			return err
		}
		d.loss.unknown = false
		if there {
			d.faults.committed(d.log) // the rooms have forgotten it, and hear of it as of another process's
			return nil
		}
	}
	return d.attempt(batch)
}

// find looks for a batch whose COMMIT was not answered.
func (d *DB) find(batch int64) (there bool, err error) {
	w, err := d.begin()
	if err != nil {
		return false, err
	}
	there, err = d.engine.committed(w, batch)
	if err != nil {
		return false, errors.Join(fmt.Errorf("look for a batch: %w", err), d.dropWriter())
	}
	return there, d.rollback(w)
}
