package upkeep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
	"countersign/models/store"
)

// Inspection looks at a data folder from outside, as it is: it makes nothing,
// migrates nothing and works beside a server and on a read-only volume.
type Inspection struct {
	db       *sql.DB
	path     string
	url      string // of a PostgreSQL database; empty: it is a file
	readOnly bool
	keys     string // the folder of the key files
}

// KeysIn says in which folder the key files are; empty: in the data folder.
func (i *Inspection) KeysIn(folder string) {
	if folder != "" {
		i.keys = folder
	}
}

// Inspect opens the database of an installation: of PostgreSQL at a URL, or, where that is empty, the one that its data
// folder must have. Close it.
func Inspect(ctx context.Context, dir, url string) (*Inspection, error) {
	if url != "" {
		pool, err := db.OpenPostgres(ctx, url, true)
		if err != nil {
			return nil, err
		}
		return &Inspection{db: pool, path: filepath.Join(dir, models.DatabaseFile), url: url, keys: dir}, nil
	}
	path, err := databaseIn(dir)
	if err != nil {
		return nil, err
	}
	i := &Inspection{path: path, keys: dir, readOnly: isReadOnly(dir) || isReadOnly(path)}
	if i.db, err = db.OpenInspected(ctx, path, "mode=rw"); err == nil {
		return i, nil
	}
	if !i.readOnly {
		return nil, err
	}
	// SQLite cannot make its index of the log there. With nothing in the log the file has all rows, and no process
	// changes it.
	if size := logSize(path); size > 0 {
		return nil,
			fmt.Errorf("%s is read-only, and %s has %d bytes that a server left there when it was cut off, without %s to read them: copy the whole folder to a place that can be written (chmod 700), and give the copy with --data",
				dir, models.DatabaseFile+"-wal", size, models.DatabaseFile+"-shm")
	}
	if i.db, err = db.OpenInspected(ctx, path, "mode=ro&immutable=1"); err != nil {
		return nil, err
	}
	return i, nil
}

// isReadOnly reports whether this program cannot write there, be it for the mode or
// for the volume.
func isReadOnly(path string) bool {
	err := unix.Access(path, unix.W_OK)
	return errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES)
}

// logSize is how many bytes the log beside a database holds.
func logSize(path string) int64 {
	info, err := os.Stat(path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// migrated is the schema that it should have.
func (i *Inspection) migrated(ctx context.Context) (map[string]db.Statement, error) {
	return db.MigratedAt(ctx, i.url)
}

// ReadOnly reports whether the folder or its database cannot be written.
func (i *Inspection) ReadOnly() bool { return i.readOnly }

// Close ends the inspection.
func (i *Inspection) Close() error { return i.db.Close() }

// Size is how many bytes the database takes, its log included.
func (i *Inspection) Size() int64 {
	var size int64
	if i.url != "" {
		_ = i.db.QueryRowContext(context.Background(), db.SizeQuery).Scan(&size)
		return size
	}
	for _, end := range beside {
		if info, err := os.Stat(i.path + end); err == nil {
			size += info.Size()
		}
	}
	return size
}

// Sound reports whether every page and every reference is whole and, unless the
// folder is read-only, the file can be written.
func (i *Inspection) Sound(ctx context.Context) error {
	if i.url != "" {
		return i.db.PingContext(ctx) // its pages are the server's to check
	}
	if err := db.SoundPages(ctx, i.db); err != nil || i.readOnly {
		return err
	}
	dbtx, err := i.db.BeginTx(ctx, nil) // takes the lock for writing
	if err != nil {
		return fmt.Errorf("the database cannot be written: %w", err)
	}
	return dbtx.Rollback()
}

// Schema is the version of the database's schema and the one of this program.
func (i *Inspection) Schema(ctx context.Context) (have, want int64, err error) {
	return db.SchemaOf(ctx, i.db)
}

// Usable is why this program must not use a schema that is newer than it knows; nil: it may.
func (i *Inspection) Usable(ctx context.Context) error {
	have, want, err := i.Schema(ctx)
	if err != nil {
		return err
	}
	return db.CheckUse(ctx, i.db, have, want)
}

// Unfinished is the schema that migrations are on the way to, if they began and did not
// end; else 0.
func (i *Inspection) Unfinished(ctx context.Context) (to int64, err error) {
	return db.Unfinished(ctx, i.db)
}

// Moved says where the installation was moved, or that a move to here has not ended.
func (i *Inspection) Moved(ctx context.Context) error {
	move, err := db.MoveOf(ctx, i.db)
	if move != nil {
		err = move.Refusal()
	}
	return err
}

// Ledger walks the whole chain, and tells its head and the largest time of an
// entry (zero: there is none). A broken one is a *models.ChainError.
func (i *Inspection) Ledger(ctx context.Context) (models.Head, time.Time, error) {
	head, err := ledger.VerifyIn(ctx, i.db, nil)
	if err != nil || head.Seq == 0 {
		return head, time.Time{}, err
	}
	newest, err := ledger.NewestIn(ctx, i.db)
	return head, newest, err
}

// Lost is a *models.LostError if the database lacks entries that were acknowledged, as the head
// that is kept beside it says.
func (i *Inspection) Lost(ctx context.Context) error { return ledger.LostIn(ctx, i.db, i.path) }

// Verify compares the ledger with a head that was kept, if there is one, and with
// rows all other tables with the ledger. A broken chain is a *models.ChainError.
func (i *Inspection) Verify(ctx context.Context, kept *models.Head, rows bool) (*models.RowReport, error) {
	if !rows {
		head, err := ledger.VerifyIn(ctx, i.db, kept)
		return &models.RowReport{Head: head}, err
	}
	have, want, err := i.Schema(ctx)
	switch {
	case err != nil:
		return nil, err
	case have < want:
		return nil, fmt.Errorf("the database has schema %d, and this program compares rows of schema %d: run the version that wrote it, or make a backup and run `countersign migrate`", have, want)
	case have > want:
		return nil, fmt.Errorf("the database has schema %d, and this program compares rows of schema %d: run the newer one that wrote it", have,
			want)
	}
	return verifyRows(ctx, i.db, i.migrated, kept)
}

// Policy is the current document, as stored.
func (i *Inspection) Policy(ctx context.Context) (version int64, document string, err error) {
	err = i.db.QueryRowContext(ctx, `SELECT version, document FROM policies ORDER BY version DESC LIMIT 1`).Scan(&version,
		&document)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, "", errors.New("there is no policy")
	}
	if err != nil {
		return 0, "", fmt.Errorf("read policy: %w", err)
	}
	return version, document, nil
}

// Retention is how long contents are kept now, and what changes soon.
func (i *Inspection) Retention(ctx context.Context, now time.Time) (store.Retention, error) {
	return store.ReadRetention(ctx, i.db, now)
}

// CheckFolder reports whether a data folder and the files of ours in it are
// private to the one who runs this program. One that is not there yet is.
func CheckFolder(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := errors.Join(db.FolderMode(dir), db.FileModes(dir)); err != nil {
		return err
	}
	return owners(dir)
}

// owners: a database that root left in another's folder is one that the server
// cannot open.
func owners(dir string) error {
	folder, err := ownerOf(dir)
	if err != nil {
		return err
	}
	if me := os.Geteuid(); me != 0 && me != folder {
		return fmt.Errorf("data folder %s belongs to user %d, and this program runs as user %d: run it as the server's user",
			dir, folder, me)
	}
	names := []string{models.KeyFile, models.PushKeyFile}
	for _, end := range beside {
		names = append(names, models.DatabaseFile+end)
	}
	for _, name := range names {
		owner, err := ownerOf(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if owner != folder {
			return fmt.Errorf("%s belongs to user %d, and the data folder to user %d: run chown on it", name, owner, folder)
		}
	}
	return nil
}

func ownerOf(path string) (int, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("look at %s: %w", path, err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid), nil
	}
	return os.Geteuid(), nil // a system that does not tell
}
