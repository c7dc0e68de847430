package audit_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"countersign/cmd/process"
	"countersign/models"
	"countersign/models/storetest"
)

// readOnlyCopy copies the files of a data folder, but for those named, to a volume
// that then cannot be written.
func readOnlyCopy(t *testing.T, dir string, without ...string) string {
	t.Helper()
	volume := t.TempDir()
	if err := unix.Mount("tmpfs", volume, "tmpfs", 0, "mode=0700"); err != nil {
		t.Skipf("this machine mounts no volume: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(volume, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	// A program that another test starts holds what is open for writing here until
	// it runs, and then the volume cannot be made read-only: none starts meanwhile.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for _, name := range process.FileNames(t, dir) {
		if slices.Contains(without, name) {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(volume, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mount("", volume, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("this machine makes no volume read-only: %v", err)
	}
	return volume
}

// cutOff is a folder as a server leaves it that is killed: the log holds requests
// that the database does not.
func cutOff(t *testing.T) string {
	t.Helper()
	dir := process.Patient(t)
	s := storetest.New(t, storetest.WithDir(dir))
	agent, _ := storetest.AgentToken(t, s, storetest.Reviewer(t, s, "second@example.com"), "late")
	if _, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "deploy", ToolUseID: "late", Explicit: true}); err != nil {
		t.Fatal(err)
	}
	copied := storetest.Dir(t)
	for _, name := range process.FileNames(t, dir) {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(copied, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(filepath.Join(copied, models.DatabaseFile+"-wal")); err != nil || info.Size() == 0 {
		t.Fatalf("the log: %v, %v", info, err)
	}
	return copied
}

// verified is what `audit verify --rows --json` tells.
type verified struct {
	OK      bool
	Entries int64
	Found   int64
	Rows    map[string]int64
	Faults  []map[string]any
}

func verifyRows(t *testing.T, dir string) (v verified, code int) {
	t.Helper()
	out, said, code := process.Run(t, "", "audit", "verify", "--rows", "--json", "--data", dir)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("exit %d: %v: %s%s", code, err, out, said)
	}
	return v, code
}

func TestAReadOnlyVolumeIsVerifiedAndExamined(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"closed": process.Patient(t), "cut off": cutOff(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			volume := readOnlyCopy(t, dir)
			before := process.FileNames(t, volume)
			out := process.Must(t, "", "audit", "verify", "--data", volume)
			if !strings.Contains(out, "the ledger is whole") {
				t.Errorf("%s", out)
			}
			got, code := verifyRows(t, volume)
			found, exit := process.Examine(t, volume)
			if after := process.FileNames(t, volume); !slices.Equal(before, after) {
				t.Errorf("files %v became %v", before, after)
			}
			want, _ := verifyRows(t, dir)
			if code != 0 || !got.OK || got.Entries != want.Entries || !maps.Equal(got.Rows, want.Rows) || got.Rows["responses"] == 0 {
				t.Errorf("exit %d: %+v, want %+v", code, got, want)
			}
			if d := found["database"]; exit != 0 || d.Result != "warn" || !strings.Contains(d.Text, "read-only") {
				t.Errorf("exit %d: %+v", exit, found)
			}
			for _, check := range []string{"permissions", "migrations", "ledger", "rows", "energy", "grants"} {
				if d := found[check]; d.Result != "ok" {
					t.Errorf("%s: %+v", check, d)
				}
			}
		})
	}
}

// TestWhatAReadOnlyVolumeCannotTell says how to go on.
func TestWhatAReadOnlyVolumeCannotTell(t *testing.T) {
	t.Parallel()
	volume := readOnlyCopy(t, cutOff(t), models.DatabaseFile+"-shm")
	if _, said, code := process.Run(t, "", "audit", "verify", "--data", volume); code != 2 || !strings.Contains(said, "copy the whole folder") {
		t.Errorf("exit %d: %s", code, said)
	}
	if found, code := process.Examine(t, volume); code != 1 || !strings.Contains(found["database"].Text, "copy the whole folder") {
		t.Errorf("exit %d: %+v", code, found["database"])
	}
}

func TestAuditVerifyMigratesNothing(t *testing.T) {
	t.Parallel()
	dir := process.Patient(t)
	process.Infect(t, dir, `DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`)
	process.Must(t, "", "audit", "verify", "--data", dir)
	if _, said, code := process.Run(t, "", "audit", "verify", "--rows", "--data", dir); code != 2 || !strings.Contains(said, "countersign migrate") {
		t.Errorf("exit %d: %s", code, said)
	}
	if found, _ := process.Examine(t, dir); found["migrations"].Result != "fail" {
		t.Errorf("%+v", found["migrations"])
	}
}

// TestAFolderOfBeforeTheBaseline is inspected as it is, backed up, restored, and taken over when
// a command opens it; one that has not all of the migrations of then is sent on.
func TestAFolderOfBeforeTheBaseline(t *testing.T) {
	t.Parallel()
	const last = `SELECT max(version_id) FROM goose_db_version`
	at := func(dir string) (version int) {
		t.Helper()
		storetest.ReadFile(t, filepath.Join(dir, models.DatabaseFile), last, &version)
		return version
	}
	dir := storetest.Dir(t)
	storetest.Before(t, dir)
	process.Must(t, "", "audit", "verify", "--data", dir)
	// Its rows are those of an older schema: they are compared once it is migrated.
	if _, said, code := process.Run(t, "", "audit", "verify", "--rows", "--data", dir); code == 0 || !strings.Contains(said, "run `countersign migrate`") {
		t.Errorf("exit %d: %s", code, said)
	}
	if found, _ := process.Examine(t, dir); found["ledger"].Result != "ok" || found["rows"].Result != "skipped" || !strings.Contains(found["migrations"].Text+found["migrations"].Remedy, "migrat") {
		t.Errorf("doctor: %+v", found)
	}
	backup := filepath.Join(t.TempDir(), "copy.db")
	process.Must(t, "", "backup", backup, "--data", dir)
	if version := at(dir); version != 46 {
		t.Errorf("looking has taken it over, to %d", version)
	}
	newest := storetest.Scalar[int64](t, storetest.New(t), `SELECT max(version_id) FROM goose_db_version`)
	into := filepath.Join(t.TempDir(), "data")
	process.Must(t, "", "restore", backup, "--data", into)
	for _, dir := range []string{dir, into} {
		process.Must(t, "", "migrate", "--data", dir)
		if version := int64(at(dir)); version != newest {
			t.Errorf("after `countersign migrate` it is at %d", version)
		}
		if got, code := verifyRows(t, dir); code != 0 || !got.OK {
			t.Errorf("exit %d: %+v", code, got)
		}
	}

	older := storetest.Dir(t)
	storetest.Before(t, older)
	process.Infect(t, older, `ALTER TABLE responses DROP COLUMN outside_run`, `DELETE FROM goose_db_version WHERE version_id = 46`)
	for _, args := range [][]string{
		{"migrate", "--data", older},
		{"audit", "verify", "--rows", "--data", older},
		{"backup", backup + ".older", "--data", older},
		{"restore", filepath.Join(older, models.DatabaseFile), "--data", filepath.Join(t.TempDir(), "data")},
	} {
		if _, said, code := process.Run(t, "", args...); code == 0 || !strings.Contains(said, "commit ad764860") {
			t.Errorf("%s: exit %d: %s", args[0], code, said)
		}
	}
	if found, _ := process.Examine(t, older); found["migrations"].Result != "fail" || !strings.Contains(found["migrations"].Text, "commit ad764860") {
		t.Errorf("doctor: %+v", found["migrations"])
	}
	if version := at(older); version != 45 {
		t.Errorf("the older one is at %d", version)
	}
}

func TestAuditVerifyNamesRowsThatDiffer(t *testing.T) {
	t.Parallel()
	dir := process.Patient(t)
	if got, code := verifyRows(t, dir); code != 0 || !got.OK || got.Found != 0 || got.Rows["users"] != 2 {
		t.Errorf("exit %d: %+v", code, got)
	}
	process.Infect(t, dir, `UPDATE users SET role = 'admin' WHERE email = 'owner@example.com'`)
	got, code := verifyRows(t, dir)
	if code != 1 || got.OK || got.Found != 1 || len(got.Faults) != 1 {
		t.Errorf("exit %d: %+v", code, got)
	}
	out, said, code := process.Run(t, "", "audit", "verify", "--rows", "--data", dir)
	if code != 1 || !strings.Contains(out, "1 differ") || !strings.Contains(out, "users ") || !strings.Contains(out, "differs from what was recorded (ledger entry 3)") || !strings.Contains(said, "evidence") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	if out := process.Must(t, "", "audit", "verify", "--data", dir); !strings.Contains(out, "the ledger is whole") {
		t.Errorf("without --rows: %s", out)
	}
}
