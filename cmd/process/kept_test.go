package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/storetest"
)

// TestALostLogIsFoundI2: a server is killed and the log beside its database removed. What it had
// acknowledged is missed at the start, by every other command and by the doctor, until somebody
// accepts that it is gone.
func TestALostLogIsFoundI2(t *testing.T) {
	t.Parallel()
	v := process.NewVictim(t)
	for n := range 20 {
		if _, err := v.Client(v.Agent).Ask(t.Context(), wire.AskRequest{ToolName: "deploy", Input: fmt.Appendf(nil, `{"n":%d}`, n)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(v.Dir, models.DatabaseFile)
	_, text, _ := strings.Cut(process.Must(t, "", "audit", "verify", "--data", v.Dir), "head ")
	head, err := models.ParseHead(text)
	if err != nil {
		t.Fatal(err)
	}
	process.Eventually(t, "the head is kept", func() bool {
		kept, err := ledger.ReadKept(file)
		return err == nil && kept != nil && kept.Seq >= head.Seq
	})
	v.Kill(t)
	if err := os.Remove(file + "-wal"); err != nil {
		t.Fatal(err)
	}
	found, code := process.Examine(t, v.Dir)
	if d := found["ledger"]; code != 1 || d.Result != "fail" || !strings.Contains(d.Text, "missing") || !strings.Contains(d.Remedy, "--accept-loss") {
		t.Errorf("the doctor: exit %d, %+v", code, d)
	}
	accept := fmt.Sprintf("--accept-loss %d", head.Seq)
	for _, args := range [][]string{
		{"serve", "--addr", v.Addr}, {"serve", "--addr", v.Addr, "--accept-loss", "1"}, {"migrate"}, {"token", "list"},
	} {
		if _, said, code := process.Run(t, "", append(args, "--data", v.Dir)...); code != 1 || !strings.Contains(said, "missing") || !strings.Contains(said, accept) {
			t.Errorf("%v: exit %d, %s", args, code, said)
		}
	}
	v.Settings = strings.Fields(accept)
	v.Start(t)
	v.Signal(t, syscall.SIGTERM)
	v.Exit(t)
	if out := process.Must(t, "", "audit", "export", "--data", v.Dir); strings.Count(out, "ledger.loss_accepted") != 1 || !strings.Contains(out, head.String()) {
		t.Errorf("the ledger says of it:\n%s", out)
	}
	if found, code := process.Examine(t, v.Dir); code != 0 || found["ledger"].Result != "ok" {
		t.Errorf("the doctor afterwards: exit %d, %+v", code, found["ledger"])
	}
	v.Start(t) // the setting that stands accepts nothing more
	if out := process.Must(t, "", "audit", "export", "--data", v.Dir); strings.Count(out, "ledger.loss_accepted") != 1 {
		t.Errorf("it was accepted again:\n%s", out)
	}
}

// TestARestoreReplacesTheHead: a backup has fewer entries than were acknowledged, and is what
// the operator chose. What was there goes aside with its own head.
func TestARestoreReplacesTheHead(t *testing.T) {
	t.Parallel()
	dir := process.Patient(t)
	copied := filepath.Join(t.TempDir(), "copy.db")
	process.Must(t, "", "backup", copied, "--data", dir)
	s := storetest.New(t, storetest.WithDir(dir))
	storetest.Reviewer(t, s, "later@example.com")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	process.Must(t, "", "restore", copied, "--force", "--data", dir)
	process.Must(t, "", "migrate", "--data", dir)
	aside, err := filepath.Glob(filepath.Join(dir, "countersign.db.before-*Z"+models.HeadEnd))
	if err != nil || len(aside) != 1 {
		t.Errorf("the head of what was there: %q, %v", aside, err)
	}
	if found, code := process.Examine(t, dir); code != 0 {
		t.Errorf("the doctor: exit %d, %+v", code, found["ledger"])
	}
	// Put there by hand, it is a loss.
	process.Must(t, "", "group", "add", "ops", "--data", dir)
	from, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, models.DatabaseFile), from, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said, code := process.Run(t, "", "migrate", "--data", dir); code != 1 || !strings.Contains(said, "missing") {
		t.Errorf("over a copy: exit %d, %s", code, said)
	}
}
