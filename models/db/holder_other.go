//go:build !linux

package db

import "countersign/models"

type holder struct{}

// Holder names this process among those on the database, as holder of leases.
func (*DB) Holder() (string, error) { return models.NewID[string](), nil }

// HolderGone reports whether the process of that name has ended: that is not known here.
func (*DB) HolderGone(string) bool { return false }

func (*holder) close() error { return nil }
