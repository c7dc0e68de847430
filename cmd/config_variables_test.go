package cmd_test

import (
	"path/filepath"
	"strings"
	"testing"

	"countersign/cmd/process"
)

// TestVariablesThatNoSettingHasAreRefused, but for those of others.
func TestVariablesThatNoSettingHasAreRefused(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	for variable, want := range map[string]string{
		"COUNTERSIGN_TRUSTED_PROXY=127.0.0.1": "did you mean COUNTERSIGN_TRUSTED_PROXIES?",
		"COUNTERSIGN_DATADIR=/data":           "did you mean COUNTERSIGN_DATA?",
		"COUNTERSIGN_SOMETHING_ELSE=1":        "--help",
	} {
		for _, args := range [][]string{{"migrate"}, {"serve"}, {"doctor"}, {"token", "list"}, {"setup-link"}} {
			name, _, _ := strings.Cut(variable, "=")
			if _, said, code := process.RunWith(t, []string{variable}, "", append(args, "--data", data)...); code != 64 || !strings.Contains(said, name) || !strings.Contains(said, want) {
				t.Errorf("%s, %v: exit %d, %s", variable, args, code, said)
			}
		}
	}
	others := []string{
		"COUNTERSIGN_PORT=tcp://10.0.0.1:8080", "COUNTERSIGN_SERVICE_HOST=10.0.0.1", "COUNTERSIGN_SERVICE_PORT_HTTP=8080", "COUNTERSIGN_PORT_8080_TCP_ADDR=10.0.0.1",
		"COUNTERSIGN_SERVER=http://127.0.0.1:1", "COUNTERSIGN_TOKEN=x", "COUNTERSIGN_WEBHOOK_SECRET=x",
	}
	if _, said, code := process.RunWith(t, others, "", "migrate", "--data", data); code != 0 {
		t.Errorf("with variables of others: exit %d, %s", code, said)
	}
}
