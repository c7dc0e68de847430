package db

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever starts a server on a large database reads what it does and how far it is;
// a small one is migrated in silence.
func TestALongMigrationTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		every int64
		want  []string
	}{
		{"large", 2, []string{
			`from_schema=24 to_schema=46 responses=5`, `step="INSERT INTO response_rows"`, `rows=2 of=5`, `rows=4 of=5`,
			`step="CREATE UNIQUE INDEX responses_history ON responses"`, `the database is migrated`,
		}},
		{"small", 100, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "db")
			before(t, file, 24, `INSERT INTO users VALUES ('u', 'u@example.com', 'U', 'admin', 'x', '2026-01-01', NULL);
INSERT INTO agents (id, owner_id, name, created_at) VALUES ('a', 'u', 'A', '2026-01-01');
INSERT INTO conversations (id, owner_id, agent_id, created_at, updated_at) VALUES ('c', 'u', 'a', '2026-01-01', '2026-01-01');
INSERT INTO responses (id, conversation_id, sequence, owner_id, agent_id, kind, created_at, digest, risk)
 SELECT value, 'c', value, 'u', 'a', 'reply', '2026-01-01', 'd', 'low' FROM json_each('[1, 2, 3, 4, 5]')`)
			var log bytes.Buffer
			if err := migrate(context.Background(), file, &progress{log: slog.New(slog.NewTextHandler(&log, nil)), every: tt.every}); err != nil {
				t.Fatal(err)
			}
			rest := log.String()
			for _, want := range tt.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("no %q, in its order, in\n%s", want, log.String())
				}
				rest = after
			}
			if tt.want == nil && log.Len() > 0 {
				t.Errorf("it is told:\n%s", log.String())
			}
			pool, err := OpenFile(readDSN(file))
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			var kept, none int
			err = pool.QueryRowContext(t.Context(), `SELECT count(*), sum(approval_feedback IS NULL) FROM responses`).Scan(&kept, &none)
			if err != nil || kept != 5 || none != 5 {
				t.Errorf("%d rows, %d without a reason: %v", kept, none, err)
			}
			if err := SoundPages(t.Context(), pool); err != nil {
				t.Error(err)
			}
		})
	}
}

// before makes a database of an older schema, with rows.
func before(t *testing.T, file string, schema int64, rows string) {
	t.Helper()
	pool, err := OpenFile(writeDSN(file))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	provider, err := migrationsOf(pool, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
}
