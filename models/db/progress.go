package db

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"

	"github.com/mattn/go-sqlite3"
)

// rowsALine is after how many rows a migration logs how far it is.
const rowsALine = 100_000

// progress logs how far a migration is, as a warning, so that commands show it too: the person who started them waits.
// A step with fewer rows than a log line covers takes no time, and logs nothing.
type progress struct {
	log   *slog.Logger
	every int64 // rows a line
	of    int64 // responses: most of what there is
	rows  int64 // written by the statement that runs
}

// begin reads how much there is and listens to the connection that will migrate.
// pool has one.
func (p *progress) begin(ctx context.Context, pool *sql.DB, from, to int64) error {
	var made bool
	if err := pool.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'responses')`).Scan(&made); err != nil || !made {
		return err
	}
	if err := pool.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) FROM responses`).Scan(&p.of); err != nil ||
		!p.big() {
		return err
	}
	p.log.LogAttrs(ctx, slog.LevelWarn,
		"migrating the database: this takes a while, and begins again if it is interrupted",
		slog.Int64("from_schema", from), slog.Int64("to_schema", to), slog.Int64("responses", p.of))
	conn, err := pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("listen to the migration: %w", err)
	}
	defer conn.Close()
	return conn.Raw(func(c any) error {
		if c, ok := c.(*sqlite3.SQLiteConn); ok {
			c.RegisterUpdateHook(func(int, string, string, int64) { p.row(ctx) })
		}
		return nil
	})
}

func (p *progress) big() bool { return p.of >= p.every }

func (p *progress) row(ctx context.Context) {
	if p.rows++; p.rows%p.every == 0 {
		p.log.LogAttrs(ctx, slog.LevelWarn, "migrating the database", slog.Int64("rows", p.rows), slog.Int64("of", p.of))
	}
}

func (p *progress) end(ctx context.Context) {
	if p.big() {
		p.log.LogAttrs(ctx, slog.LevelWarn, "the database is migrated")
	}
}

// statements is the log that gets each statement before it runs.
func (p *progress) statements() *slog.Logger { return slog.New(statementLog{p}) }

type statementLog struct{ p *progress }

func (l statementLog) Enabled(context.Context, slog.Level) bool { return l.p.big() }
func (l statementLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l statementLog) WithGroup(string) slog.Handler            { return l }

func (l statementLog) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "statement" {
			l.p.rows = 0
			begins, _, _ := strings.Cut(strings.TrimSpace(a.Value.String()), "(")
			l.p.log.LogAttrs(ctx, slog.LevelWarn, "migrating the database", slog.String("step", strings.TrimSpace(begins)))
		}
		return true
	})
	return nil
}
