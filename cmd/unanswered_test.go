package cmd_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
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
			sum := sha256.Sum256([]byte(srv.URL + "\x00x"))
			dir := filepath.Join(env[2][len("XDG_CACHE_HOME="):], "countersign", hex.EncodeToString(sum[:16]))
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			kept := fmt.Appendf(nil, `{"on":true,"at":%q}`, time.Now().Format(time.RFC3339Nano))
			if err := os.WriteFile(filepath.Join(dir, "fallback.json"), kept, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, said, code := runWith(t, env, "", "ask", "deploy", "--connect-timeout", "1s"); code != tt.code {
				t.Errorf("exit %d, want %d: %s", code, tt.code, said)
			}
		})
	}
}
