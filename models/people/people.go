package people

import (
	"context"
	"log/slog"
	"slices"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

// Options are what People are opened with.
type Options struct {
	PasswordCost PasswordCost // what hashing a password takes; zero: as advised
	// BeforeHash is called whenever a password is hashed or compared; tests
	// count and hold back with it.
	BeforeHash func()
	// WinsLot decides whether one of so many may try at an account that is slowed down; nil: by
	// chance.
	WinsLot func(of int) bool
	// ObserveSignInFailure hears of every sign-in that failed, and why in one word. It
	// must be quick and must not call the database.
	ObserveSignInFailure func(reason string)

	// OnAccessEnd is called, within the transaction, after somebody has got or lost the right to decide: it ends requests
	// without a possible approver.
	OnAccessEnd func(*db.Tx) error
	// Joined is called, within the transaction, after somebody has come into a group: the group's pending requests go
	// into their inbox.
	Joined func(t *db.Tx, actor models.Actor, user models.UserID, group string) error
	// Left is called, within the transaction, after people have gone out of a group: the group's pending requests leave
	// their inboxes.
	Left func(t *db.Tx, actor models.Actor, users []models.UserID, group string) error
	// NamingGroup are the rules and templates of the policy that name a group, in words.
	NamingGroup func(t *db.Tx, group string) ([]string, error)
	// Seal and Unseal encrypt what must be used again and never shown, tied to what it is about.
	Seal   func(secret, about string) ([]byte, error)
	Unseal func(ciphertext []byte, about string) (string, error)
	// OnAccess is called after a commit that changed what a credential allows.
	OnAccess func()
}

// People are the users, their agents and every way in: passwords, sessions, tokens,
// invites and the set-up link. All methods are safe for concurrent use.
type People struct {
	db     *db.DB
	ledger *ledger.Ledger
	log    *slog.Logger
	opts   Options

	access    accessCache
	passwords passwordHasher

	// Of the writer: who is enabled, and the statement that tells.
	enabled     map[models.UserID]bool
	userEnabled *db.Stmt
}

// maxKnownUsers bounds what the writer remembers of people.
const maxKnownUsers = 10_000

// New is the people of a database, with which it registers.
func New(d *db.DB, l *ledger.Ledger, opts Options) *People {
	if opts.WinsLot == nil {
		opts.WinsLot = oneOf
	}
	p := &People{db: d, ledger: l, log: d.Log(), opts: opts}
	p.access.init()
	p.passwords.init(opts)
	d.Register(db.Room{
		Statements: map[**db.Stmt]string{&p.userEnabled: `SELECT 1 FROM users WHERE id = ? AND ` + MayDecide(`users`)},
		Forget:     func() { p.enabled = make(map[models.UserID]bool) },
		Outside:    p.access.drop,
		Heard: func(topics []events.Topic) {
			if slices.Contains(topics, events.Access) {
				p.access.drop()
			}
		},
	})
	return p
}

// Enabled reports whether a person may sign in and decide.
func (p *People) Enabled(t *db.Tx, user models.UserID) (bool, error) {
	if enabled, ok := p.enabled[user]; ok {
		return enabled, nil
	}
	enabled, err := db.Exists(t.Row(p.userEnabled, user))
	if err == nil && len(p.enabled) < maxKnownUsers {
		p.enabled[user] = enabled
	}
	return enabled, err
}

// tx is one caller's share of a transaction.
type tx struct {
	*db.Tx
	p *People

	access bool // what a credential allows has changed
}

// write is the only way to change anything: see db.DB.Write.
func (p *People) write(ctx context.Context, fn func(*tx) error) error {
	return p.db.Write(ctx, func(t *db.Tx) error { return fn(&tx{Tx: t, p: p}) })
}

// writeAnyway is write for what must go on when the disk is full: signing in and out,
// and what takes rights away.
func (p *People) writeAnyway(ctx context.Context, fn func(*tx) error) error {
	return p.db.WriteAnyway(ctx, func(t *db.Tx) error { return fn(&tx{Tx: t, p: p}) })
}

// changes and adds say that a row is about to change, or that it is new: see
// ledger.Ledger.Changes.
func (t *tx) changes(table string, key ...any) error { return t.p.ledger.Changes(t.Tx, table, key...) }

func (t *tx) adds(table string, key ...any) { t.p.ledger.Adds(t.Tx, table, key...) }

// record appends an entry to the ledger: see ledger.Ledger.Append.
func (t *tx) record(actor models.Actor, action string, about ledger.Subject, data any) error {
	return t.p.ledger.Append(t.Tx, actor, action, about, data)
}

// accessChanged drops cached credentials after the commit and has open waits and
// streams check theirs.
func (t *tx) accessChanged() {
	clear(t.p.enabled)
	if t.access {
		return
	}
	t.access = true
	t.AfterCommit(func() {
		t.p.access.drop()
		if t.p.opts.OnAccess != nil {
			t.p.opts.OnAccess()
		}
		t.Publish(events.Access)
	})
}

// endStranded ends requests without a possible approver.
func (t *tx) endStranded() error {
	if t.p.opts.OnAccessEnd == nil {
		return nil
	}
	return t.p.opts.OnAccessEnd(t.Tx)
}
