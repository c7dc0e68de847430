package db

import (
	"bytes"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"countersign/migrations"
)

// Whoever starts a server on a large database reads what it does and how far it is;
// a small one is migrated in silence.
func TestALongMigrationTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	first, err := migrations.SQLite.ReadFile("sqlite/0001_initial.sql")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"sqlite/0001_initial.sql": {Data: first}}
	for _, tt := range []struct {
		name  string
		every int64
		want  []string
	}{
		{"large", 2, []string{
			`from_schema=1 to_schema=2 responses=5`, `step="UPDATE responses SET model_used = lower"`, `rows=2 of=5`, `rows=4 of=5`,
			`step="CREATE INDEX by_model ON responses"`, `the database is migrated`,
		}},
		{"small", 100, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pool, err := OpenFile(writeDSN(filepath.Join(t.TempDir(), "db")))
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			pool.SetMaxOpenConns(1)
			if err := up(t.Context(), pool, files, &progress{every: 100}); err != nil {
				t.Fatal(err)
			}
			if _, err := pool.ExecContext(t.Context(), fiveResponses); err != nil {
				t.Fatal(err)
			}
			more := maps.Clone(files)
			more["sqlite/0002_models.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nUPDATE responses SET model_used = lower('M');\nCREATE INDEX by_model ON responses (model_used);\n")}
			var log bytes.Buffer
			if err := up(t.Context(), pool, more, &progress{log: slog.New(slog.NewTextHandler(&log, nil)), every: tt.every}); err != nil {
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
			var done int
			if err := pool.QueryRowContext(t.Context(), `SELECT count(*) FROM responses WHERE model_used = 'm'`).Scan(&done); err != nil || done != 5 {
				t.Errorf("%d rows are migrated: %v", done, err)
			}
		})
	}
}

const fiveResponses = `INSERT INTO users (id, email, name, role, password_hash, created_at) VALUES ('u', 'u@example.com', 'U', 'admin', 'x', '2026-01-01');
INSERT INTO agents (id, owner_id, name, created_at) VALUES ('a', 'u', 'A', '2026-01-01');
INSERT INTO conversations (id, owner_id, agent_id, created_at, updated_at) VALUES ('c', 'u', 'a', '2026-01-01', '2026-01-01');
INSERT INTO responses (id, conversation_id, sequence, owner_id, agent_id, kind, created_at, digest, risk)
 SELECT value, 'c', value, 'u', 'a', 'reply', '2026-01-01', 'd', 'low' FROM json_each('[1, 2, 3, 4, 5]')`
