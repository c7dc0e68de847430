package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"countersign/models"
)

// durable are the settings of synchronous_commit with which a commit waits for the disk.
var durable = []string{"on", "remote_apply"}

// Open opens a pool of connections to the database of an address, and sees that it is there. Those of a reading pool
// change nothing. inOtherWords has statements for which Translate has no rule. The password may be in the address, in a file (passfile=) or in PGPASSWORD and PGPASSFILE; errors never
// have it.
func Open(ctx context.Context, address string, reads bool, inOtherWords map[string]string) (*sql.DB, error) {
	return open(ctx, address, reads, sharedLock, inOtherWords)
}

// OpenAlone is Open of one connection, beside which no other process of ours has any, for as long as it is there.
func OpenAlone(ctx context.Context, address string, inOtherWords map[string]string) (*sql.DB, error) {
	pool, err := open(ctx, address, false, soleLock, inOtherWords)
	if err == nil {
		pool.SetMaxOpenConns(1)
	}
	return pool, err
}

// Ways to have a database: each connection to it holds one lock, a shared one or the only one.
const (
	sharedLock = `pg_try_advisory_lock_shared(4920)`
	soleLock   = `pg_try_advisory_lock(4920)`
	noLock     = `TRUE`
)

// ErrHeld is that the lock is another's.
var ErrHeld = errors.New("the database is in use")

// ErrMove is ErrHeld for who would have the database among others.
var ErrMove = fmt.Errorf("%w by `countersign move`: wait until that has ended", ErrHeld)

func open(ctx context.Context, address string, reads bool, lock string, inOtherWords map[string]string) (*sql.DB, error) {
	made, err := connect(address, reads, lock)
	if err != nil {
		return nil, err
	}
	for ours, theirs := range inOtherWords {
		known.byText.Store(ours, Statement{Text: theirs})
	}
	return seen(ctx, sql.OpenDB(connector{made, reads}))
}

// OpenPlain is Open without a translation, for migrations.
func OpenPlain(ctx context.Context, address string) (*sql.DB, error) {
	made, err := connect(address, false, noLock)
	if err != nil {
		return nil, err
	}
	return seen(ctx, sql.OpenDB(made))
}

// configOf reads the address of a database.
func configOf(address string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("read the address of the database: %w", err) // pgx leaves the password out
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "countersign"
	}
	return config, nil
}

func connect(address string, reads bool, lock string) (driver.Connector, error) {
	config, err := configOf(address)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["timezone"] = "UTC"
	config.RuntimeParams["jit"] = "off" // a statement of ours takes less than its compilation
	if reads {
		config.RuntimeParams["default_transaction_read_only"] = "on"
	}
	return stdlib.GetConnector(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		err := ready(ctx, conn, lock)
		if err != nil {
			_ = conn.Close(ctx)
		}
		return err
	})), nil
}

func seen(ctx context.Context, pool *sql.DB) (*sql.DB, error) {
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), pool.Close())
	}
	return pool, nil
}

// ready makes a fresh connection ready, or refuses it.
func ready(ctx context.Context, conn *pgx.Conn, lock string) error {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	var commit, charset, collation string
	var locks bool
	if err := conn.QueryRow(ctx, `SELECT current_setting('synchronous_commit'), current_setting('server_encoding'), datcollate, `+lock+`
 FROM pg_database WHERE datname = current_database()`).Scan(&commit, &charset, &collation, &locks); err != nil {
		return fmt.Errorf("read the settings of the database: %w", err)
	}
	if !locks {
		if lock == soleLock {
			return ErrHeld
		}
		return ErrMove
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

// statements are those that were translated: some hundred texts, each once.
type statements struct{ byText sync.Map }

var known statements

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

// Lost reports whether an error means that the connection is gone, with all that was not committed. At a COMMIT it is not
// known whether it was.
func Lost(err error) bool {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return answer.Code[:2] == "08" || slices.Contains(shutdown, answer.Code)
	}
	var unreachable *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &unreachable) || errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded) || pgconn.SafeToRetry(err) ||
		slices.ContainsFunc([]error{driver.ErrBadConn, pgconn.ErrConnClosed, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed},
			func(gone error) bool { return errors.Is(err, gone) })
}

// shutdown are the errors of a server that stops, crashed or starts: admin_shutdown, crash_shutdown, cannot_connect_now.
var shutdown = []string{"57P01", "57P02", "57P03"}

// connector makes connections that translate what they are given.
type connector struct {
	driver.Connector

	reads bool
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := c.Connector.Connect(ctx)
	if Lost(err) {
		return nil, unreachable{err}
	}
	if err != nil {
		return nil, err
	}
	inner, ok := made.(*stdlib.Conn)
	if !ok {
		return nil, fmt.Errorf("a connection is a %T", made)
	}
	return &conn{Conn: inner, reads: c.reads}, nil
}

// unreachable is why there is no connection. Callers of a server of ours hear that they may ask again.
type unreachable struct{ error }

var errUnreachable = models.Errorf(models.CodeUnavailable, "The database can't be reached now; ask again later. The server's log says why.")

// Unwrap is the reason, and what callers hear.
func (u unreachable) Unwrap() []error { return []error{u.error, errUnreachable} }

// conn is a connection to the server.
type conn struct {
	*stdlib.Conn

	reads bool // nothing is written on it
	open  bool // rows are being read
}

// errRowsOpen is a fault of a caller. Unlike SQLite, the server does one thing after the other. pgx would call the
// connection broken, and database/sql would wait for the rows before it closes it: forever, if their reader is the caller.
var errRowsOpen = errors.New("a statement was begun before all rows of the one before it were read")

// free refuses a statement while rows are being read.
func (c *conn) free() error {
	if c.open {
		return errRowsOpen
	}
	return nil
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext translates. The server plans a statement when it is used first, and keeps it for the connection: of the
// hundreds that a writer may need, a command needs few.
func (c *conn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	s, err := known.of(query)
	if err != nil {
		return nil, err
	}
	return &stmt{c, s}, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := known.of(query)
	if err == nil {
		args, err = s.args(args, c.reads)
	}
	if err = errors.Join(err, c.free()); err != nil {
		return nil, err
	}
	return c.Conn.ExecContext(ctx, s.Text, args)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := known.of(query)
	if err != nil {
		return nil, err
	}
	return c.query(ctx, s, args)
}

// query has the pool try again on another connection if this one is gone: reading twice does no harm.
func (c *conn) query(ctx context.Context, s Statement, args []driver.NamedValue) (driver.Rows, error) {
	args, err := s.args(args, c.reads)
	if err = errors.Join(err, c.free()); err != nil {
		return nil, err
	}
	rows, err := c.Conn.QueryContext(ctx, s.Text, args)
	if c.reads && Lost(err) {
		return nil, errors.Join(unreachable{err}, driver.ErrBadConn)
	}
	inner, ok := rows.(*stdlib.Rows)
	if err != nil || !ok {
		return rows, err
	}
	c.open = true
	return &openRows{inner, c}, nil
}

// openRows are rows that are being read.
type openRows struct {
	*stdlib.Rows

	on *conn
}

// Next is io.EOF after the last row. A reader hears it if the connection is lost between two of them.
func (r *openRows) Next(row []driver.Value) error {
	err := r.Rows.Next(row)
	if r.on.reads && err != io.EOF && Lost(err) { //nolint:errorlint // database/sql wants it as it is
		return unreachable{err}
	}
	return err
}

// Close ends the reading.
func (r *openRows) Close() error {
	r.on.open = false
	return r.Rows.Close()
}

// stmt is a statement of a connection.
type stmt struct {
	on        *conn
	statement Statement
}

// Close leaves the statement to the connection.
func (*stmt) Close() error { return nil }

// NumInput leaves the count to the server: one argument may have several places, or none.
func (*stmt) NumInput() int { return -1 }

// Exec is the way of older callers.
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

// Query is the way of older callers.
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

func named(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return out
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	args, err := s.statement.args(args, s.on.reads)
	if err = errors.Join(err, s.on.free()); err != nil {
		return nil, err
	}
	if s.statement.Numbered {
		return s.insert(ctx, args)
	}
	return s.on.Conn.ExecContext(ctx, s.statement.Text, args)
}

// insert stores a row, and has its number as the result.
func (s *stmt) insert(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	rows, err := s.on.Conn.QueryContext(ctx, s.statement.Text, args)
	if err != nil {
		return nil, err
	}
	row := make([]driver.Value, 1)
	if err := errors.Join(rows.Next(row), rows.Close()); err != nil {
		return nil, err
	}
	number, ok := row[0].(int64)
	if !ok {
		return nil, fmt.Errorf("a row's number is a %T", row[0])
	}
	return inserted(number), nil
}

// inserted is the number of a row that was stored.
type inserted int64

// LastInsertId is the row's number.
func (n inserted) LastInsertId() (int64, error) { return int64(n), nil }

// RowsAffected is one.
func (inserted) RowsAffected() (int64, error) { return 1, nil }

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.on.query(ctx, s.statement, args)
}

// args puts a caller's arguments into PostgreSQL's order.
//
// A zero byte can't be stored in a text: a writer hears so, and a reader finds nothing.
func (s Statement) args(all []driver.NamedValue, reads bool) ([]driver.NamedValue, error) {
	out := make([]driver.NamedValue, len(s.Places))
	for i, place := range s.Places {
		at := slices.IndexFunc(all, func(v driver.NamedValue) bool {
			return place.Name != "" && v.Name == place.Name || place.Name == "" && v.Ordinal == place.Number
		})
		if at < 0 {
			return nil, fmt.Errorf("an argument is missing: %s%d", place.Name, place.Number)
		}
		value := all[at].Value
		if text, ok := value.(string); ok && strings.Contains(text, "\x00") {
			if !reads {
				return nil, models.Errorf(models.CodeInvalid, "A text has a zero byte (U+0000), which can't be stored.")
			}
			value = models.StoredText(text)
		}
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: value}
	}
	return out, nil
}
