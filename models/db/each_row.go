package db

import (
	"context"
	"errors"
)

// ErrEnough ends EachRow early.
var ErrEnough = errors.New("enough was read")

// EachRow runs a query and hands each row on.
func EachRow(ctx context.Context, pool Querier, query string, args []any, each func(Scanner) error) error {
	rows, err := pool.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); errors.Is(err, ErrEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}
