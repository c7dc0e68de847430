package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Listener hears the notices of a channel of the database.
type Listener struct{ conn *pgx.Conn }

// Listen begins to hear the notices of a channel. Close it.
func Listen(ctx context.Context, address, channel string) (*Listener, error) {
	config, err := configOf(address)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("listen to the database: %w", err)
	}
	if _, err := conn.Exec(ctx, `LISTEN `+pgx.Identifier{channel}.Sanitize()); err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("listen to the database: %w", err)
	}
	return &Listener{conn}, nil
}

// Next waits for the next text.
func (l *Listener) Next(ctx context.Context) (string, error) {
	n, err := l.conn.WaitForNotification(ctx)
	if err != nil {
		return "", fmt.Errorf("listen to the database: %w", err)
	}
	return n.Payload, nil
}

// Close ends it.
func (l *Listener) Close() { _ = l.conn.Close(context.Background()) }
