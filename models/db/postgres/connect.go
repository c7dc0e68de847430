package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
)

// durable are the settings of synchronous_commit with which a commit waits for the disk.
var durable = []string{"on", "remote_apply"}

// Open opens a pool of connections to the database of an address, and sees that it is there. Those of a reading pool
// change nothing. inOtherWords has statements for which Translate has no rule. The password may be in the address, in a file (passfile=) or in PGPASSWORD and PGPASSFILE; errors never
// have it.
func Open(ctx context.Context, address string, reads bool, inOtherWords map[string]string) (*sql.DB, error) {
	made, err := connect(address, reads)
	if err != nil {
		return nil, err
	}
	known := &statements{}
	for ours, theirs := range inOtherWords {
		known.byText.Store(ours, Statement{Text: theirs})
	}
	return seen(ctx, sql.OpenDB(connector{made, known}))
}

// OpenPlain is Open without a translation, for migrations.
func OpenPlain(ctx context.Context, address string) (*sql.DB, error) {
	made, err := connect(address, false)
	if err != nil {
		return nil, err
	}
	return seen(ctx, sql.OpenDB(made))
}

func connect(address string, reads bool) (driver.Connector, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("read the address of the database: %w", err) // pgx leaves the password out
	}
	config.RuntimeParams["timezone"] = "UTC"
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "countersign"
	}
	if reads {
		config.RuntimeParams["default_transaction_read_only"] = "on"
	}
	return stdlib.GetConnector(*config, stdlib.OptionAfterConnect(ready)), nil
}

func seen(ctx context.Context, pool *sql.DB) (*sql.DB, error) {
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), pool.Close())
	}
	return pool, nil
}

// ready makes a fresh connection ready, or refuses it.
func ready(ctx context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	var commit, charset, collation string
	if err := conn.QueryRow(ctx, `SELECT current_setting('synchronous_commit'), current_setting('server_encoding'), datcollate
 FROM pg_database WHERE datname = current_database()`).Scan(&commit, &charset, &collation); err != nil {
		return fmt.Errorf("read the settings of the database: %w", err)
	}
	if !slices.Contains(durable, commit) {
		return fmt.Errorf("connection has synchronous_commit = %s, want on or remote_apply", commit)
	}
	if charset != "UTF8" || collation != "C" {
		return fmt.Errorf("the database has encoding %s and collation %s, want UTF8 and C: "+
			"CREATE DATABASE countersign ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0", charset, collation)
	}
	return nil
}

// statements are those that a pool has translated: few dozen texts, each once.
type statements struct{ byText sync.Map }

func (s *statements) of(text string) (Statement, error) {
	if known, ok := s.byText.Load(text); ok {
		return known.(Statement), nil //nolint:forcetypeassert // nothing else is stored
	}
	out, err := Translate(text)
	if err == nil {
		s.byText.Store(text, out)
	}
	return out, err
}

// connector makes connections that translate what they are given.
type connector struct {
	driver.Connector

	known *statements
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	inner, ok := made.(*stdlib.Conn)
	if !ok {
		return nil, fmt.Errorf("a connection is a %T", made)
	}
	return &conn{inner, c.known}, nil
}

// conn is a connection to the server.
type conn struct {
	*stdlib.Conn

	known *statements
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.known.of(query)
	if err != nil {
		return nil, err
	}
	made, err := c.Conn.PrepareContext(ctx, s.Text)
	if err != nil {
		return nil, err
	}
	inner, ok := made.(*stdlib.Stmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a statement is a %T", made), made.Close())
	}
	return &stmt{inner, s}, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.known.of(query)
	if err == nil {
		args, err = s.args(args)
	}
	if err != nil {
		return nil, err
	}
	return c.Conn.ExecContext(ctx, s.Text, args)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.known.of(query)
	if err == nil {
		args, err = s.args(args)
	}
	if err != nil {
		return nil, err
	}
	return c.Conn.QueryContext(ctx, s.Text, args)
}

// stmt is a prepared statement.
type stmt struct {
	*stdlib.Stmt

	statement Statement
}

// NumInput leaves the count to the server: one argument may have several places, or none.
func (*stmt) NumInput() int { return -1 }

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	args, err := s.statement.args(args)
	if err != nil {
		return nil, err
	}
	return s.Stmt.ExecContext(ctx, args)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	args, err := s.statement.args(args)
	if err != nil {
		return nil, err
	}
	return s.Stmt.QueryContext(ctx, args)
}

// args puts a caller's arguments into PostgreSQL's order.
func (s Statement) args(all []driver.NamedValue) ([]driver.NamedValue, error) {
	out := make([]driver.NamedValue, len(s.Places))
	for i, place := range s.Places {
		at := slices.IndexFunc(all, func(v driver.NamedValue) bool {
			return place.Name != "" && v.Name == place.Name || place.Name == "" && v.Ordinal == place.Number
		})
		if at < 0 {
			return nil, fmt.Errorf("an argument is missing: %s%d", place.Name, place.Number)
		}
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: all[at].Value}
	}
	return out, nil
}
