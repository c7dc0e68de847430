package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gorm.io/gorm"
)

// Scanner is a row, or the rows of a query one after another.
type Scanner interface{ Scan(dest ...any) error }

// Querier is the read pool, or a transaction on it.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// RowQuerier is the same for a query of one row.
type RowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Exists reports whether a one-column query found a row.
func Exists(row *sql.Row) (bool, error) {
	var one int
	switch err := row.Scan(&one); {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look up: %w", err)
	}
	return true, nil
}

// NotFoundAs replaces GORM's "record not found" by want and leaves other errors.
func NotFoundAs(err, want error) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return want
	}
	return err
}
