package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Copy stores rows of a table by COPY: all of them, or none. On a connection in a transaction it is part of that.
func Copy(ctx context.Context, on *sql.Conn, table string, columns []string, rows [][]any) error {
	return on.Raw(func(c any) error {
		made, ok := c.(*conn)
		if !ok {
			return fmt.Errorf("a connection is a %T", c)
		}
		_, err := made.Conn.Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
		return err
	})
}

// Location says where the database of an address is, and nothing of who uses it.
func Location(address string) (string, error) {
	config, err := configOf(address)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("PostgreSQL database %s on %s:%d", config.Database, config.Host, config.Port), nil
}
