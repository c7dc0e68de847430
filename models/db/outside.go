package db

import (
	"context"
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
		return nil
	}
	first := w.dataVersion == 0
	w.dataVersion = v
	d.forget()
	if !first {
		d.outside.Store(true)
	}
	return nil
}

// CheckOutside notices what another process (the command line, a second server) has
// committed, and tells the rooms.
func (d *DB) CheckOutside(ctx context.Context) error {
	if err := d.WriteAnyway(ctx, func(*Tx) error { return nil }); err != nil {
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
