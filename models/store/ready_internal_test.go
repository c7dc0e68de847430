package store

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
)

func TestReadyNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	exec := func(t *testing.T, s *Store, text string) {
		t.Helper()
		if err := s.write(t.Context(), func(tx *tx) error { _, err := tx.ExecContext(t.Context(), text); return err }); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ name, plant, want string }{
		{"nothing", `SELECT 1`, ""},
		{"the database refuses writes", `PRAGMA query_only = 1`, "cannot be written"},
		{"the ledger has no head", `DELETE FROM ledger_head`, "head of the ledger"},
		{"a newer program has migrated", `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`, "schema"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			now := time.Unix(1_800_000_000, 0)
			s := openTemp(t, Options{Now: func() time.Time { return now }})
			if err := s.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			exec(t, s, tt.plant)
			if err := s.Ready(t.Context()); err != nil {
				t.Errorf("asked again at once: %v", err)
			}
			now = now.Add(readyFor)
			err := s.Ready(t.Context())
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want one that says %q", err, tt.want)
			}
			// A failure is not remembered as a success; the refusing connection
			// was given up for another.
			if again := s.Ready(t.Context()); (again == nil) != (tt.want == "" || strings.Contains(tt.plant, "query_only")) {
				t.Errorf("asked again: %v", again)
			}
		})
	}
}
