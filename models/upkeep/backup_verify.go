package upkeep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// Verified is what a sound database file holds.
type Verified struct {
	Schema int64 // number of its last migration
	Head   models.Head
}

// VerifyFile checks a database file that no server uses, such as a backup: it
// is whole, its references hold, its ledger verifies, and this program knows its
// schema. It changes nothing.
func VerifyFile(ctx context.Context, file string) (_ Verified, err error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return Verified{}, err
	case !info.Mode().IsRegular() || info.Size() == 0:
		return Verified{}, fmt.Errorf("%s is not a database file", file)
	}
	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		return Verified{}, fmt.Errorf("%s has a log beside it: it is in use, or was copied from under a server", file)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Verified{}, err
	}
	pool, err := db.OpenAlone(file)
	if err != nil {
		return Verified{}, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	return verify(ctx, pool)
}

func verify(ctx context.Context, pool *sql.DB) (Verified, error) {
	var v Verified
	if err := db.SoundPages(ctx, pool); err != nil {
		return v, err
	}
	has, wants, err := db.SchemaOf(ctx, pool)
	if err != nil {
		return v, err
	}
	if has > wants {
		return v, fmt.Errorf("the file has schema %d, and this program knows %d: it was written by a newer one", has, wants)
	}
	to, err := db.Unfinished(ctx, pool)
	if err != nil {
		return v, err
	}
	if to != 0 {
		return v, fmt.Errorf("the file was copied in the middle of migrations to schema %d: take a backup from before them or after", to)
	}
	v.Schema = has
	v.Head, err = ledger.VerifyIn(ctx, pool, nil)
	return v, err
}
