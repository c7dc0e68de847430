package upkeep_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestARestoreByRootKeepsTheFoldersOwner, or the server could not open what it restored.
func TestARestoreByRootKeepsTheFoldersOwner(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, noBackups)
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	const owner = 65532
	file := backupOf(t, "ann@example.com")
	dir := storetest.Dir(t)
	storetest.Must(t, os.MkdirAll(dir, 0o700))
	storetest.Must(t, os.Chown(dir, owner, owner))
	done, err := upkeep.Restore(t.Context(), file, dir, true, time.Now())
	storetest.Must(t, err)
	if done.Head.Seq == 0 {
		t.Error("nothing was restored")
	}
	for _, end := range []string{"", models.HeadEnd} {
		info, err := os.Stat(filepath.Join(dir, models.DatabaseFile+end))
		if err != nil {
			t.Fatal(err)
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != owner {
			t.Errorf("%s belongs to %d", info.Name(), st.Uid)
		}
	}
}
