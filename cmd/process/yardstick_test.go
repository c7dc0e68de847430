package process_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

// The yardstick is the least that a loop takes: the same HTTP library, database, driver
// and fsyncs, a group commit, two rows a step, and waiters in memory. It has no sign-in,
// no policy, no rights and no ledger. What `make bench-loop` says is relative to it, so
// that it hardly depends on the machine.

// yardstickEnv has the test program be the yardstick: the folder of its database, and the
// address, with a space between.
const yardstickEnv = "COUNTERSIGN_YARDSTICK"

const yardstickSchema = `
CREATE TABLE approvals (id INTEGER PRIMARY KEY, public_id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, details TEXT NOT NULL, status TEXT NOT NULL,
 decided_by TEXT, decided_at INTEGER, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL);
CREATE INDEX approvals_pending ON approvals (created_at, id) WHERE status = 'pending';
CREATE INDEX approvals_deadline ON approvals (expires_at) WHERE status = 'pending';
CREATE TABLE audits (id INTEGER PRIMARY KEY, approval_id TEXT NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, at INTEGER NOT NULL, detail TEXT NOT NULL);
CREATE INDEX audits_approval ON audits (approval_id);`

// yardstickStep is one row made or decided, on its way through a commit.
type yardstickStep struct {
	create   bool
	id, a, b string // title and details, or the outcome and who
	err      error
	done     chan struct{}
}

type yardstick struct {
	pool                  *sql.DB
	insert, update, audit *sql.Stmt
	status                *sql.Stmt
	steps                 chan *yardstickStep

	mu      sync.Mutex
	waiting map[string]chan string
}

// runYardstick serves until the process is killed.
func runYardstick(dir, addr string) error {
	y := &yardstick{steps: make(chan *yardstickStep, 4096), waiting: make(map[string]chan string)}
	if err := y.open(filepath.Join(dir, "yardstick.db")); err != nil {
		return err
	}
	go y.commitAll()
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.POST("/requests", y.create)
	e.GET("/requests/:id/wait", y.wait)
	e.POST("/requests/:id/decision", y.decide)
	e.GET("/readyz", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	return e.Start(addr)
}

func (y *yardstick) open(path string) (err error) {
	ctx := context.Background()
	const how = "?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=10000&_txlock=immediate&_cache_size=-32000"
	if y.pool, err = sql.Open("sqlite3", "file:"+path+how); err != nil {
		return err
	}
	y.pool.SetMaxOpenConns(1)
	if _, err := y.pool.ExecContext(ctx, yardstickSchema); err != nil {
		return err
	}
	readers, err := sql.Open("sqlite3", "file:"+path+how)
	if err != nil {
		return err
	}
	readers.SetMaxOpenConns(4)
	readers.SetMaxIdleConns(4)
	prepare := func(pool *sql.DB, text string) *sql.Stmt {
		stmt, failed := pool.PrepareContext(ctx, text)
		err = errors.Join(err, failed)
		return stmt
	}
	y.insert = prepare(y.pool, `INSERT INTO approvals (public_id, title, details, status, created_at, expires_at) VALUES (?, ?, ?, 'pending', ?, ?)`)
	y.update = prepare(y.pool, `UPDATE approvals SET status = ?, decided_by = ?, decided_at = ? WHERE public_id = ? AND status = 'pending'`)
	y.audit = prepare(y.pool, `INSERT INTO audits (approval_id, actor, action, at, detail) VALUES (?, ?, ?, ?, '')`)
	y.status = prepare(readers, `SELECT status FROM approvals WHERE public_id = ?`)
	return err
}

// commitAll commits what has come while the last commit waited for the disk.
func (y *yardstick) commitAll() {
	for first := range y.steps {
		batch := []*yardstickStep{first}
		for len(batch) < 256 && len(y.steps) > 0 {
			batch = append(batch, <-y.steps)
		}
		err := y.commit(batch)
		for _, s := range batch {
			if s.err == nil {
				s.err = err
			}
			if !s.create && s.err == nil {
				y.tell(s.id, s.a)
			}
			close(s.done)
		}
	}
}

func (y *yardstick) commit(batch []*yardstickStep) error {
	tx, err := y.pool.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	now := time.Now().UnixMilli()
	for _, s := range batch {
		actor, action := "agent", "create"
		if s.create {
			_, err = within(tx, y.insert, s.id, s.a, s.b, now, now+600_000)
		} else {
			actor, action = s.b, s.a
			var res sql.Result
			if res, err = within(tx, y.update, s.a, s.b, now, s.id); err == nil {
				if n, _ := res.RowsAffected(); n != 1 {
					s.err = errors.New("it is decided already")
					continue
				}
			}
		}
		if err == nil {
			_, err = within(tx, y.audit, s.id, actor, action, now)
		}
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// within runs a prepared statement in a transaction, which closes it.
func within(tx *sql.Tx, stmt *sql.Stmt, args ...any) (sql.Result, error) {
	ctx := context.Background()
	return tx.StmtContext(ctx, stmt).ExecContext(ctx, args...)
}

func (y *yardstick) do(s *yardstickStep) error {
	s.done = make(chan struct{})
	y.steps <- s
	<-s.done
	return s.err
}

func (y *yardstick) tell(id, status string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if told, ok := y.waiting[id]; ok {
		told <- status
		delete(y.waiting, id)
	}
}

func (y *yardstick) create(c echo.Context) error {
	var in struct{ Title, Details string }
	if err := c.Bind(&in); err != nil {
		return err
	}
	id := strings.ToLower(rand.Text())
	if err := y.do(&yardstickStep{create: true, id: id, a: in.Title, b: in.Details}); err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, map[string]string{"id": id, "status": "pending"})
}

func (y *yardstick) wait(c echo.Context) error {
	id, told := c.Param("id"), make(chan string, 1)
	y.mu.Lock()
	y.waiting[id] = told // before the read: a decision in between is not lost
	y.mu.Unlock()
	var status string
	if err := y.status.QueryRowContext(context.Background(), id).Scan(&status); err != nil {
		return err
	}
	if status == "pending" {
		select {
		case status = <-told:
		case <-c.Request().Context().Done():
			return nil
		}
	}
	return c.JSON(http.StatusOK, map[string]string{"id": id, "status": status})
}

func (y *yardstick) decide(c echo.Context) error {
	var in struct{ Decision string }
	if err := c.Bind(&in); err != nil {
		return err
	}
	if err := y.do(&yardstickStep{id: c.Param("id"), a: in.Decision, b: "ada"}); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"status": in.Decision})
}

// yardstickProcess is the program as the yardstick; false: it is not to be that.
func yardstickProcess() (code int, is bool) {
	dir, addr, is := strings.Cut(os.Getenv(yardstickEnv), " ")
	if !is {
		return 0, false
	}
	fmt.Fprintln(os.Stderr, runYardstick(dir, addr))
	return 1, true
}
