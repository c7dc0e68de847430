package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
)

// TestBackupBesideAServerAndRestoreI8 takes a backup of a running server, brings
// it to life elsewhere, and has the agent meet its own request there.
func TestBackupBesideAServerAndRestoreI8(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	ask := wire.AskRequest{ToolUseID: "call-1", ToolName: "deploy"}
	asked, err := w.Client(w.Agent).Ask(t.Context(), ask, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "copy.db")
	wrote := process.Must(t, "", "backup", file, "--data", w.Dir)
	_, head, _ := strings.Cut(strings.TrimSpace(wrote), "head ")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v; want mode 0600", file, info, err)
	}
	if _, said, code := process.Run(t, "", "backup", file, "--data", w.Dir); code != 1 || !strings.Contains(said, "already") {
		t.Errorf("over the backup: exit %d, %s", code, said)
	}

	dir := filepath.Join(t.TempDir(), "elsewhere")
	if out := process.Must(t, "", "restore", file, "--data", dir); !strings.Contains(out, head) {
		t.Errorf("restore printed %q, want the head %s", out, head)
	}
	process.Must(t, "", "audit", "verify", "--head", head, "--data", dir)
	w.Stop()
	elsewhere := &process.World{Server: process.Serve(t, dir, ""), Admin: w.Admin, Agent: w.Agent, Reviewer: w.Reviewer}
	elsewhere.Respond(t, models.ResponseID(asked.ApprovalID), wire.RespondRequest{Approved: new(true)})
	got, err := elsewhere.Client(w.Agent).Ask(t.Context(), ask, 0)
	if err != nil || got.ApprovalID != asked.ApprovalID || got.Status != wire.StatusApproved {
		t.Errorf("the request of before the backup: %+v, %v", got, err)
	}
}

func TestRestoreRefusesWhereAServerRuns(t *testing.T) {
	t.Parallel()
	v := process.NewVictim(t)
	file := filepath.Join(t.TempDir(), "copy.db")
	process.Must(t, "", "backup", file, "--data", v.Dir)
	for _, args := range [][]string{{}, {"--force"}} {
		_, said, code := process.Run(t, "", append([]string{"restore", file, "--data", v.Dir}, args...)...)
		if code != 1 || !strings.Contains(said, "stop it first") {
			t.Errorf("restore %v beside a server: exit %d, %s", args, code, said)
		}
	}
	v.Signal(t, syscall.SIGKILL)
	v.Exit(t)
	if _, said, code := process.Run(t, "", "restore", file, "--data", v.Dir); code != 1 || !strings.Contains(said, "--force") {
		t.Errorf("restore over a database: exit %d, %s", code, said)
	}
	if out := process.Must(t, "", "restore", file, "--force", "--data", v.Dir); !strings.Contains(out, "is now") {
		t.Errorf("restore printed %q, want where the old database is", out)
	}
	aside, err := filepath.Glob(filepath.Join(v.Dir, "countersign.db.before-*Z"))
	if err != nil || len(aside) != 1 {
		t.Fatalf("moved aside: %v, %v", aside, err)
	}
	// The server was killed: its log went with its database, or it would be lost.
	old := storetest.Dir(t)
	for _, end := range []string{"", "-wal"} {
		if err := os.Rename(aside[0]+end, filepath.Join(old, "countersign.db"+end)); err != nil {
			t.Fatal(err)
		}
	}
	process.Must(t, "", "audit", "verify", "--data", old)
}

func TestBackupMakesNoDatabase(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mistyped")
	if _, said, code := process.Run(t, "", "backup", filepath.Join(t.TempDir(), "copy.db"), "--data", dir); code != 1 || !strings.Contains(said, "no Countersign data") {
		t.Errorf("backup of nothing: exit %d, %s", code, said)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder was made: %v", err)
	}
}

// What is wrong with a move is said of the flag, before anything is touched.
func TestMoveNamesTheFlagThatIsWrong(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.Stop()
	for _, one := range []struct{ args, want string }{
		{"", "--to is missing"},
		{"--to " + t.TempDir(), "use `countersign backup` and `countersign restore`"},
		{"--to mysql://x/y", "--to: must be the address of a PostgreSQL database"},
		{"--to postgres://me:secret@127.0.0.1:1/x", "--to: must not have the password"},
		{"--to postgres://127.0.0.1:1/x", "--to: PostgreSQL database x on 127.0.0.1:1"},
		{"--to postgres://127.0.0.1:1/x --database-url postgres://127.0.0.1:1/y", "use pg_dump and pg_restore"},
		{"--to x --undo", "--undo and --to"},
		{"--undo", "was not moved"},
	} {
		_, said, code := process.Run(t, "", append(strings.Fields("move "+one.args), "--data", w.Dir)...)
		if code != 1 || !strings.Contains(said, one.want) || strings.Contains(said, "secret") {
			t.Errorf("move %s: exit %d, %s; want %q", one.args, code, said, one.want)
		}
	}
	process.Must(t, "", "user", "list", "--data", w.Dir)
}
