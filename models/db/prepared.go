package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// statementCache keeps the prepared reading statements of waits and lists: as many as
// lists have forms, a few dozen.
type statementCache struct {
	mu     sync.Mutex
	byText map[string]*sql.Stmt
}

// Prepared returns a reading statement, which is prepared at its first use and kept
// until the database is closed. There must be few texts: values are arguments. With the
// context of a Snapshot it runs in that.
func (d *DB) Prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if s := d.snapshotOf(ctx); s != nil {
		return s.prepared(ctx, d, text)
	}
	return d.reads.of(ctx, d.r, text)
}

func (p *statementCache) known(text string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byText[text]
}

func (p *statementCache) of(ctx context.Context, pool *sql.DB, text string) (*sql.Stmt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stmt, ok := p.byText[text]; ok {
		return stmt, nil
	}
	stmt, err := pool.PrepareContext(context.WithoutCancel(ctx), text)
	if err != nil {
		return nil, fmt.Errorf("prepare %.40q: %w", text, err)
	}
	if p.byText == nil {
		p.byText = make(map[string]*sql.Stmt)
	}
	p.byText[text] = stmt
	return stmt, nil
}

func (p *statementCache) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, stmt := range p.byText {
		errs = append(errs, stmt.Close())
	}
	p.byText = nil
	return errors.Join(errs...)
}
