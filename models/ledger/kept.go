package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// Keep writes the last entry's number and hash into a file of its own beside the database, if it has moved since: a
// database that later ends before it has lost acknowledged entries. The head is read after its commit, so the file
// never knows more than the disk did.
func (l *Ledger) Keep(ctx context.Context) error {
	l.keepLock.Lock()
	defer l.keepLock.Unlock()
	if l.db.Failing() != nil || l.db.Full() {
		return nil // the open file may not be the one that the name leads to, or there is no room
	}
	head, err := l.Head(ctx)
	if err != nil || sameHead(head, l.kept) {
		return err
	}
	err = WriteKept(l.db.Path(), models.KeptHead{Head: head, At: l.db.Now()})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the folder is gone, and the database with it
	}
	if err != nil {
		return err
	}
	l.kept = head
	return nil
}

// CheckKept is a *models.LostError if the database lacks entries that were acknowledged.
func (l *Ledger) CheckKept(ctx context.Context) error {
	l.keepLock.Lock()
	defer l.keepLock.Unlock()
	kept, err := ReadKept(l.db.Path())
	if err != nil || kept == nil {
		return err
	}
	l.kept = kept.Head
	return lostIn(ctx, l.db.Reads(), kept)
}

// LostIn is CheckKept of a database that is open by other means.
func LostIn(ctx context.Context, pool *sql.DB, database string) error {
	kept, err := ReadKept(database) // first: a server beside this may go on
	if err != nil || kept == nil {
		return err
	}
	return lostIn(ctx, pool, kept)
}

func lostIn(ctx context.Context, pool *sql.DB, kept *models.KeptHead) error {
	if kept.Seq == 0 {
		return nil
	}
	var has models.Head
	if err := pool.QueryRowContext(ctx, `SELECT seq, hash FROM ledger_head WHERE id = 1`).Scan(&has.Seq,
		&has.Hash); err != nil {
		return fmt.Errorf("read ledger head: %w", err)
	}
	var hash []byte
	err := pool.QueryRowContext(ctx, `SELECT hash FROM ledger WHERE seq = ?`, kept.Seq).Scan(&hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read the entry that was kept: %w", err)
	}
	if bytes.Equal(hash, kept.Hash) {
		return nil
	}
	return &models.LostError{Kept: *kept, Has: has}
}

func sameHead(a, b models.Head) bool { return a.Seq == b.Seq && bytes.Equal(a.Hash, b.Hash) }

func keptFile(database string) string { return database + models.HeadEnd }

// ReadKept is the head that is kept beside a database; nil: none is.
func ReadKept(database string) (*models.KeptHead, error) {
	text, err := os.ReadFile(keptFile(database))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the head that was kept: %w", err)
	}
	first, at, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	head, err := models.ParseHead(first)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: delete it if `countersign audit verify` finds nothing wrong and no entry is missing", keptFile(database))
	}
	kept := &models.KeptHead{Head: head}
	kept.At, _ = time.Parse(db.TimeFormat, at) // it is for people only
	return kept, nil
}

// WriteKept keeps a head beside a database, in one step.
func WriteKept(database string, head models.KeptHead) (err error) {
	path := keptFile(database)
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep the head of the ledger: %w", err)
		}
	}()
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	err = db.OwnAsFolder(f)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s %s\n", head.Head, head.At.UTC().Format(db.TimeFormat))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
