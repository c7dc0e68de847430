package webhooks_test

import (
	"os"
	"path/filepath"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// After a backup was restored, endpoints get what happens since, though its numbers were used
// before: the ids are others. Without the key file nothing goes out, and the test says why.
func TestARestoredBackupSendsWhatHappensSince(t *testing.T) {
	t.Parallel()
	storetest.OnlySQLite(t, "pg_dump makes the backups of PostgreSQL")
	dir, r := storetest.Dir(t), newReceiver(t)
	p := newPlace(t, storetest.WithDir(dir))
	h := p.add(t, r, requested())
	p.runs(t)
	p.ask(t, "run", "before")
	r.await(t, "the first", func() bool { return p.sent(t, h.ID) && r.count() == 1 })
	file := filepath.Join(t.TempDir(), "copy.db")
	_, err := upkeep.Backup(t.Context(), dir, file)
	storetest.Must(t, err)
	p.ask(t, "run", "lost")
	r.await(t, "the second", func() bool { return p.sent(t, h.ID) && r.count() == 2 })
	p.stop()

	fresh := filepath.Join(t.TempDir(), "fresh")
	_, err = upkeep.Restore(t.Context(), file, fresh, false, p.Now())
	storetest.Must(t, err)
	q := *p
	q.Store = storetest.New(t, storetest.WithDir(fresh), storetest.WithClock(p.clock))
	again := q.ask(t, "run", "since")
	w := q.runs(t)
	_, err = w.Test(t.Context(), q.admin, h.ID)
	storetest.Refused(t, err, models.CodeConflict)
	q.stop()
	if s := q.state(t, h.ID); r.count() != 2 || s.Behind == 0 || s.BlockCount != 0 {
		t.Errorf("without its key: %d came, %+v", r.count(), s)
	}
	key, err := os.ReadFile(filepath.Join(dir, models.KeyFile))
	storetest.Must(t, err)
	storetest.Must(t, os.WriteFile(filepath.Join(fresh, models.KeyFile), key, 0o600))
	storetest.Must(t, q.Close())
	q.Store = storetest.New(t, storetest.WithDir(fresh), storetest.WithClock(p.clock))
	q.runs(t)
	r.await(t, "what happens since", func() bool { return attempts(r.got(), again) == 1 })
	got := r.got()
	if last, lost := got[len(got)-1], got[1]; last.Data.Sequence != lost.Data.Sequence || last.ID == lost.ID {
		t.Errorf("entry %d came as %s, and entry %d, which is lost, had come as %s", last.Data.Sequence, last.ID, lost.Data.Sequence, lost.ID)
	}
}
