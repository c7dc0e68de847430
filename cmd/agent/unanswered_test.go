package agent_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/cmd/process"
)

// A server of ours that is broken or stopping is a server that answers: only
// silence, its own or a proxy's in front of it, is followed by a fallback.
func TestAskFallsBackOnSilenceOnlyI11(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content string
		status, code  int
	}{
		{"a proxy without a server", "text/html", http.StatusBadGateway, 0},
		{"a stopping server", "application/problem+json", http.StatusServiceUnavailable, 3},
		{"a broken server", "application/problem+json", http.StatusInternalServerError, 3},
		{"a stranger", "text/html", http.StatusOK, 4},
		{"a redirect", "text/html", http.StatusFound, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.content)
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(`{"code":"unavailable","detail":"Not now."}`))
			}))
			t.Cleanup(srv.Close)
			env := []string{"COUNTERSIGN_SERVER=" + srv.URL, "COUNTERSIGN_TOKEN=x", "XDG_CACHE_HOME=" + t.TempDir()}
			believes(t, env, srv.URL, "deploy")
			if _, said, code := process.RunWith(t, env, "", "ask", "deploy", "--connect-timeout", "1s"); code != tt.code {
				t.Errorf("exit %d, want %d: %s", code, tt.code, said)
			}
		})
	}
}

// believes writes down that a server said a moment ago that fallback is on for a tool.
func believes(t *testing.T, env []string, server, tool string) {
	t.Helper()
	sum := sha256.Sum256([]byte(server + "\x00x"))
	dir := filepath.Join(env[2][len("XDG_CACHE_HOME="):], "countersign", hex.EncodeToString(sum[:16]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	kept, named := fmt.Appendf(nil, `{"on":true,"at":%q}`, time.Now().Format(time.RFC3339Nano)), sha256.Sum256([]byte(tool+"\x00"))
	if err := os.WriteFile(filepath.Join(dir, "fallback-"+hex.EncodeToString(named[:16])+".json"), kept, 0o600); err != nil {
		t.Fatal(err)
	}
}

// What was believed is believed no more once the server refuses the token, says that the agent
// is stopped, or that fallback is off: for all tools, whichever was asked about.
func TestAskForgetsTheFallbackOnBadNewsI11(t *testing.T) {
	t.Parallel()
	const problem, settled = "application/problem+json", "application/json"
	stopped := func(status string) string {
		return `{"approvalId":"01890a5d-ac96-774b-bcce-b302099a8057","status":"` + status + `","cause":"stopped","decision":{"approved":false},"timeoutAt":null}`
	}
	tests := []struct {
		name, content, header, body string
		status, code                int // of the answer; of a call afterwards, without a server
	}{
		{"the token is refused", problem, "", `{"code":"unauthenticated","detail":"No."}`, http.StatusUnauthorized, 3},
		{"it may not", problem, "", `{"code":"forbidden","detail":"No."}`, http.StatusForbidden, 3},
		{"a proxy refuses", "text/html", "", `No.`, http.StatusForbidden, 3},
		{"the agent is stopped", settled, "on", stopped("rejected"), http.StatusOK, 3},
		{"a stop cancelled it", settled, "on", stopped("cancelled"), http.StatusOK, 3},
		{"fallback is off", settled, "off", strings.Replace(stopped("rejected"), "stopped", "policy", 1), http.StatusOK, 3},
		{"fallback is on", settled, "on", strings.Replace(stopped("rejected"), "stopped", "policy", 1), http.StatusOK, 0},
		{"it is broken", problem, "off", `{"code":"internal","detail":"No."}`, http.StatusInternalServerError, 0},
		{"it is unsaid", settled, "", strings.Replace(stopped("rejected"), "stopped", "policy", 1), http.StatusOK, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.content)
				if tt.header != "" {
					w.Header().Set("Countersign-Fallback", tt.header)
				}
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			t.Cleanup(srv.Close)
			env := []string{"COUNTERSIGN_SERVER=" + srv.URL, "COUNTERSIGN_TOKEN=x", "XDG_CACHE_HOME=" + t.TempDir()}
			believes(t, env, srv.URL, "deploy")
			wait := process.Patience // the answer comes at once, however busy the machine is
			if tt.status >= http.StatusInternalServerError {
				wait = 300 * time.Millisecond // which would be asked again for as long
			}
			if _, said, code := process.RunWith(t, env, "", "ask", "rm", "--connect-timeout", wait.String()); code == 0 {
				t.Fatalf("it was released: %s", said)
			}
			srv.Close()
			if _, said, code := process.RunWith(t, env, "", "ask", "deploy", "--connect-timeout", "300ms"); code != tt.code {
				t.Errorf("exit %d, want %d: %s", code, tt.code, said)
			}
			if left := cacheFiles(t, env, "report-"); len(left) > 0 != (tt.code == 0) {
				t.Errorf("reports: %v", left)
			}
		})
	}
}
