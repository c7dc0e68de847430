package process_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"countersign/cmd/process"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
)

const (
	smallDisk = 40 << 20
	filler    = 12 << 20 // of somebody else's, removed when the disk is full
	reserve   = 8 << 20
)

// diskOf mounts a disk of its own for a data folder.
func diskOf(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	err := unix.Mount("countersign-test", root, "tmpfs", 0, "size="+strconv.Itoa(smallDisk)+",mode=0700")
	if err != nil {
		t.Skipf("a small disk cannot be mounted here, which takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(root, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return root
}

// The disk runs full. Nothing that was acknowledged is lost, all that is refused
// is refused for that reason, people sign in and reject all the same, and
// everything goes on when there is space again.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	root := diskOf(t)
	if err := os.WriteFile(filepath.Join(root, "filler"), make([]byte, filler), 0o600); err != nil {
		t.Fatal(err)
	}
	v := process.NewVictimIn(t, filepath.Join(root, "data"), "--limit-reports-per-hour", "0")
	reservePath := filepath.Join(v.Dir, "reserve")
	if size := sizeOf(reservePath); size != reserve {
		t.Fatalf("the reserve has %d bytes", size)
	}
	run, err := v.Client(v.Agent).OpenConversation(t.Context(), wire.OpenRequest{RunID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	var kept []models.ResponseID
	var refusal error
	input := append(append([]byte(`{"a":"`), bytes.Repeat([]byte("x"), 200<<10)...), `"}`...)
	for i := range 2 * smallDisk / len(input) {
		got, err := v.Client(v.Agent).Ask(t.Context(), wire.AskRequest{ToolUseID: strconv.Itoa(i), ToolName: "deploy", Input: input}, 0)
		if err != nil {
			refusal = err
			break
		}
		kept = append(kept, models.ResponseID(got.ApprovalID))
	}
	saysDiskFull(t, "ask", refusal)
	if size := sizeOf(reservePath); size != 0 {
		t.Errorf("the reserve still has %d bytes", size)
	}
	if status, text := ask(t, v, http.MethodGet, "/readyz", "", nil); status != http.StatusServiceUnavailable || !strings.Contains(text, "disk full") {
		t.Errorf("/readyz: %d %s", status, text)
	}
	for what, path := range map[string]string{
		"report": "/v1/conversations/" + string(run.ID) + "/events",
		"run":    "/v1/conversations",
	} {
		body := map[string]string{"report": `[{"type":"reply","id":"1","content":"x"}]`, "run": `{"runId":"another"}`}[what]
		if status, text := ask(t, v, http.MethodPost, path, v.Agent, strings.NewReader(body)); status != http.StatusInsufficientStorage || !strings.Contains(text, `"disk_full"`) {
			t.Errorf("%s: %d %s", what, status, text)
		}
	}
	_, err = v.Client(v.Reviewer).Respond(t.Context(), wire.ResponseID(kept[0]), wire.RespondRequest{Approved: new(true)})
	saysDiskFull(t, "approve", err)
	if _, err := v.Client(v.Reviewer).Respond(t.Context(), wire.ResponseID(kept[0]), wire.RespondRequest{Approved: new(false), Reason: "no space"}); err != nil {
		t.Errorf("reject: %v", err)
	}
	if status, text := ask(t, v, http.MethodPost, "/v1/approvals/"+string(kept[1])+"/cancel", v.Agent, nil); status != http.StatusOK {
		t.Errorf("cancel: %d %s", status, text)
	}
	v.SignIn(t)
	_, stderr, code := process.RunWith(t, []string{"COUNTERSIGN_TOKEN=" + v.Agent, "COUNTERSIGN_SERVER=http://" + v.Addr}, "", "ask", "deploy", "--connect-timeout", "1s")
	if code == 0 || !strings.Contains(strings.ToLower(stderr), "disk full") {
		t.Errorf("countersign ask: exit %d, %s", code, stderr)
	}

	if err := os.Remove(filepath.Join(root, "filler")); err != nil {
		t.Fatal(err)
	}
	process.Eventually(t, "the server is ready again, with its reserve", func() bool {
		status, _ := ask(t, v, http.MethodGet, "/readyz", "", nil)
		return status == http.StatusOK && sizeOf(reservePath) == reserve
	})
	if _, err := v.Client(v.Agent).Ask(t.Context(), wire.AskRequest{ToolUseID: "after", ToolName: "deploy"}, 0); err != nil {
		t.Errorf("ask when there is space again: %v", err)
	}
	for i, id := range kept {
		var got wire.Approval
		v.Get(t, "/v1/approvals/"+string(id), &got)
		want := map[int]wire.Status{0: wire.StatusRejected, 1: wire.StatusCancelled}[i]
		if want == "" {
			want = wire.StatusPending
		}
		if got.Status != want {
			t.Errorf("request %d is %s, want %s", i, got.Status, want)
		}
	}
	process.Must(t, "", "audit", "verify", "--data", v.Dir)
}

func saysDiskFull(t *testing.T, what string, err error) {
	t.Helper()
	e, ok := errors.AsType[*client.AnswerError](err)
	if !ok || e.Status != http.StatusInsufficientStorage || !strings.Contains(e.Error(), "Disk full") {
		t.Errorf("%s: %v", what, err)
	}
}

// sizeOf is 0 for a file that is not there.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// ask sends a request once, without trying again.
func ask(t *testing.T, v *process.Victim, method, path, token string, body io.Reader) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, "http://"+v.Addr+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}
