package db

import (
	"context"
	"errors"
	"fmt"
)

// seesOutside notes, at the begin of a batch, whether another process has
// written since the last one. On the writing connection data_version changes
// with other processes' commits only, not with our own.
func (d *DB) seesOutside(w *writer) error {
	v, err := w.version.number()
	if err != nil {
		return fmt.Errorf("read data version: %w", err)
	}
	if v == w.dataVersion {
		return w.otherSchema
	}
	first := w.dataVersion == 0
	w.dataVersion = v
	d.forget()
	if !first {
		d.outside.Store(true)
	}
	w.otherSchema, err = d.checkSchema(w)
	return errors.Join(err, w.otherSchema)
}

// checkSchema refuses to write where another program has migrated the database: this one
// does not know what the rows mean now.
func (d *DB) checkSchema(w *writer) (other, err error) {
	has, err := w.schema.number()
	if err != nil {
		return nil, fmt.Errorf("read the schema's version: %w", err)
	}
	if has != d.schema {
		return &fault{
			otherSchemaText, fmt.Errorf("the database has schema %d, and this program writes %d", has, d.schema),
		}, nil
	}
	return nil, nil
}

const otherSchemaText = "Another version of Countersign has changed the database: this server writes nothing more. " +
	"Stop it, and start that version."

// CheckOutside notices what another process (the command line, a second server) has
// committed, and tells the rooms.
func (d *DB) CheckOutside(ctx context.Context) error {
	err := d.WriteAnyway(ctx, func(*Tx) error { return nil })
	if d.Failing() != nil {
		return nil //nolint:nilerr // it is logged, and Ready says so
	}
	if err != nil {
		return err
	}
	if !d.outside.Swap(false) {
		return nil
	}
	for _, room := range d.rooms {
		if room.Outside != nil {
			room.Outside()
		}
	}
	return nil
}
