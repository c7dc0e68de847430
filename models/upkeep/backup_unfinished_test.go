package upkeep_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestASchemaInTheMiddleIsNotBackedUp has a migration fail half-way: what it left is no
// schema that any program knows, so that a copy of it would be refused when it is needed.
func TestASchemaInTheMiddleIsNotBackedUp(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, noBackups)
	dir := t.TempDir()
	storetest.Must(t, os.Chmod(dir, 0o700))
	file := filepath.Join(dir, models.DatabaseFile)
	storetest.Must(t, os.WriteFile(file, nil, 0o600))
	storetest.Plant(t, dir, `CREATE TABLE leases (in_the_way)`)
	if d, err := db.Open(t.Context(), db.Options{Dir: dir}); err == nil {
		t.Fatal("a migration made a table that was there", d.Close())
	}
	backup := filepath.Join(t.TempDir(), "copy.db")
	if _, err := upkeep.Backup(t.Context(), dir, backup); err == nil || !strings.Contains(err.Error(), "in the middle of") {
		t.Errorf("backup: %v", err)
	}
	if left := names(t, filepath.Dir(backup)); len(left) != 0 {
		t.Errorf("the backup left %v", left)
	}
	into := filepath.Join(t.TempDir(), "data")
	if _, err := upkeep.Restore(t.Context(), file, into, false, time.Time{}); err == nil || !strings.Contains(err.Error(), "in the middle of") {
		t.Errorf("restore: %v", err)
	}
	if _, err := os.Stat(into); err == nil {
		t.Errorf("the refused restore made %v", names(t, into))
	}

	storetest.Plant(t, dir, `DROP TABLE leases`)
	d, err := db.Open(t.Context(), db.Options{Dir: dir})
	storetest.Must(t, err)
	storetest.Must(t, d.Close())
	if _, err := upkeep.Backup(t.Context(), dir, backup); err != nil {
		t.Errorf("backup after the migrations ended: %v", err)
	}
}
