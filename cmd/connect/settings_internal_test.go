package connect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Settings that somebody changes between what was shown and what is written are left alone.
func TestSettingsThatChangedMeanwhileAreKept(t *testing.T) {
	t.Setenv("CLAUDE_CONFIG_DIR", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	path := filepath.Join(os.Getenv("CLAUDE_CONFIG_DIR"), "settings.json")
	for name, before := range map[string]string{"changed": "{}", "made": "", "removed": "{ }"} {
		if before != "" {
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := openSettings(false)
		if err != nil {
			t.Fatal(err)
		}
		base, err := s.disconnected()
		if err != nil {
			t.Fatal(err)
		}
		if name == "removed" {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, []byte(`{"new":1}`), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := s.connect(base, []byte(`{"hooks":{}}`)); err == nil || !strings.Contains(err.Error(), "was changed in the meantime") {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(path); name == "removed" && err == nil || name != "removed" && string(got) != `{"new":1}` {
			t.Errorf("%s: the settings are %s", name, got)
		}
		_ = os.Remove(path)
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 0 {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
}
