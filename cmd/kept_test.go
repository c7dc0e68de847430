package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
	v := newVictim(t)
	for n := range 20 {
		if _, err := v.client(v.agent).Ask(t.Context(), wire.AskRequest{ToolName: "deploy", Input: fmt.Appendf(nil, `{"n":%d}`, n)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(v.dir, models.DatabaseFile)
	_, text, _ := strings.Cut(must(t, "", "audit", "verify", "--data", v.dir), "head ")
	head, err := models.ParseHead(text)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the head is kept", func() bool {
		kept, err := ledger.ReadKept(file)
		return err == nil && kept != nil && kept.Seq >= head.Seq
	})
	v.kill(t)
	if err := os.Remove(file + "-wal"); err != nil {
		t.Fatal(err)
	}
	found, code := examine(t, v.dir)
	if d := found["ledger"]; code != 1 || d.Result != "fail" || !strings.Contains(d.Text, "missing") || !strings.Contains(d.Remedy, "--accept-loss") {
		t.Errorf("the doctor: exit %d, %+v", code, d)
	}
	accept := fmt.Sprintf("--accept-loss %d", head.Seq)
	for _, args := range [][]string{
		{"serve", "--addr", v.addr}, {"serve", "--addr", v.addr, "--accept-loss", "1"}, {"migrate"}, {"token", "list"},
	} {
		if _, said, code := run(t, "", append(args, "--data", v.dir)...); code != 1 || !strings.Contains(said, "missing") || !strings.Contains(said, accept) {
			t.Errorf("%v: exit %d, %s", args, code, said)
		}
	}
	v.settings = strings.Fields(accept)
	v.start(t)
	v.signal(t, syscall.SIGTERM)
	v.exit(t)
	if out := must(t, "", "audit", "export", "--data", v.dir); strings.Count(out, "ledger.loss_accepted") != 1 || !strings.Contains(out, head.String()) {
		t.Errorf("the ledger says of it:\n%s", out)
	}
	if found, code := examine(t, v.dir); code != 0 || found["ledger"].Result != "ok" {
		t.Errorf("the doctor afterwards: exit %d, %+v", code, found["ledger"])
	}
	v.start(t) // the setting that stands accepts nothing more
	if out := must(t, "", "audit", "export", "--data", v.dir); strings.Count(out, "ledger.loss_accepted") != 1 {
		t.Errorf("it was accepted again:\n%s", out)
	}
}

// TestARestoreReplacesTheHead: a backup has fewer entries than were acknowledged, and is what
// the operator chose. What was there goes aside with its own head.
func TestARestoreReplacesTheHead(t *testing.T) {
	t.Parallel()
	dir := patient(t)
	copied := filepath.Join(t.TempDir(), "copy.db")
	must(t, "", "backup", copied, "--data", dir)
	s := storetest.New(t, storetest.WithDir(dir))
	storetest.Reviewer(t, s, "later@example.com")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	must(t, "", "restore", copied, "--force", "--data", dir)
	must(t, "", "migrate", "--data", dir)
	aside, err := filepath.Glob(filepath.Join(dir, "countersign.db.before-*Z"+models.HeadEnd))
	if err != nil || len(aside) != 1 {
		t.Errorf("the head of what was there: %q, %v", aside, err)
	}
	if found, code := examine(t, dir); code != 0 {
		t.Errorf("the doctor: exit %d, %+v", code, found["ledger"])
	}
	// Put there by hand, it is a loss.
	must(t, "", "group", "add", "ops", "--data", dir)
	from, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, models.DatabaseFile), from, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said, code := run(t, "", "migrate", "--data", dir); code != 1 || !strings.Contains(said, "missing") {
		t.Errorf("over a copy: exit %d, %s", code, said)
	}
}
