// Package store keeps requests and what belongs to them: conversations, responses with their approvals, votes,
// budgets, grants and the policy.
//
// One exported method is one use case is one transaction. It takes the actor and checks their rights: a missing right
// is CodeForbidden before any look-up, a row that the actor may not see is CodeNotFound. A change runs in write, with
// its ledger entry; it may run twice, and no one hears of it before it is on the disk (I2). Rooms after this one
// change its rows by the methods that its Tx exports.
//
// A request begins in ask.go (find.go, join.go, check_ask.go, quota.go), respond.go or reported.go; it waits in
// presence.go and await.go; it ends in decide.go, by way of hold.go and undo.go, in deadline.go, cancel.go or
// withdraw.go. The hot statements of all of these are in statements.go; the reads of people and programs are in
// models/requests.
package store

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/insights"
	"countersign/models/ledger"
	"countersign/models/nodes"
	"countersign/models/people"
	"countersign/models/policy"
	"countersign/models/requests"
	"countersign/models/webhooks"
)

// Options are what a Store is opened with.
type Options struct {
	Dir     string           // the data folder; made with mode 0700 if missing
	URL     string           // of a PostgreSQL database; empty: SQLite, in the data folder
	Now     func() time.Time // the clock; nil: the database's, or this machine's where it has none
	Log     *slog.Logger     // slog.Default if nil
	Version string           // of this program

	// Machine is this machine's clock, time.Now if nil; tests have one that is wrong.
	Machine func() time.Time

	// See ARCHITECTURE.md, "Limits"; zero means the default, negative means off.
	AsksPerMinute   int // per token, initially 600
	PendingPerAgent int // initially 10,000
	ReportsPerHour  int // events, per token, initially 20,000
	RunsPerHour     int // per token, initially 1,000
	MessagesPerHour int // per token or person, initially 1,000

	PasswordCost people.PasswordCost // what hashing a password takes; zero: as advised
	// WinsLot is the chance of one of so many at an account that is slowed down; tests decide.
	WinsLot func(of int) bool
	// BeforeHash is called whenever a password is hashed or compared; tests
	// count and hold back with it.
	BeforeHash func()

	// CheckTarget refuses, naming the field, an address of a webhook that nothing would be
	// sent to, by the hosts that are allowed. nil: it is judged at each sending only.
	CheckTarget func(ctx context.Context, field, url string, hosts []models.NotificationHost) error

	// AcceptLoss is the number of the last entry that was acknowledged and is missing, if it is
	// accepted that they are. AcceptedBy does.
	AcceptLoss int64
	AcceptedBy models.Actor

	Keys       string // the folder of the key files; empty: the data folder
	AcceptKeys bool   // this server's key files become the installation's

	// Listen has it hear what other processes do, as they do it.
	Listen bool
	// Observe hears of every commit that wrote: how many callers shared it and
	// how long it took. It must be quick and must not call the store.
	Observe func(callers int, took time.Duration)
	// ObserveOutcome hears of every request that was settled, at the ask or
	// later, after the commit. It must be quick and must not call the store.
	ObserveOutcome func(models.Outcome)
	// ObserveTold hears how long after its decision an outcome woke a caller that waited. It
	// must be quick and must not call the store.
	ObserveTold func(after time.Duration)
	// ObserveSignInFailure hears of every sign-in that failed, and why in one word. It
	// must be quick and must not call the store.
	ObserveSignInFailure func(reason string)
	// BeforeCommit is called before each COMMIT; tests hold the commit back with it to check that no waiter hears
	// early.
	BeforeCommit func()
	// BeforeRead is called before each statement of a read that needs several; tests
	// write between two of them with it.
	BeforeRead func(text string)
}

// Store is the open database. All methods are safe for concurrent use.
type Store struct {
	Ledger *ledger.Ledger
	People *people.People
	// Requests reads requests and conversations, for those who may see them.
	Requests *requests.Requests
	// Webhooks are the endpoints that get the ledger's events.
	Webhooks *webhooks.Webhooks
	// Nodes are the servers of the installation.
	Nodes *nodes.Nodes
	// Insights are sums of what became of requests.
	Insights *insights.Insights

	db   *db.DB
	opts Options
	log  *slog.Logger

	logsInfo, logsDebug bool

	hot   hotWriting
	reads hotReading
	known known // of the writer

	waiters waiters
	quota   quota
	ready   readiness

	policies compiledPolicies
	lastUsed atomic.Pointer[policy.Policy] // the one that a transaction used last

	opened   time.Time
	deadline chan struct{} // signalled when an earlier deadline was stored
	end      chan struct{} // closed: waits return the current row
	endOnce  sync.Once

	closeOnce sync.Once
}

// Open makes or opens the database in the data folder, brings its schema up to
// date and seeds the first policy version. The server and the command line
// open it alike and may do so side by side.
func Open(ctx context.Context, opts Options) (*Store, error) {
	d, err := db.Open(ctx,
		db.Options{
			Dir: opts.Dir, URL: opts.URL, Now: opts.Now, Machine: opts.Machine, Version: opts.Version, Listen: opts.Listen, Log: opts.Log, Observe: opts.Observe, BeforeCommit: opts.BeforeCommit,
			BeforeRead: opts.BeforeRead,
		})
	if err != nil {
		return nil, err
	}
	l, err := ledger.New(ctx, d)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	r, err := requests.New(ctx, d, l)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	s := &Store{
		Ledger: l, Requests: r, Nodes: nodes.New(d), Insights: insights.New(d), db: d, opts: opts, log: d.Log(), logsInfo: logsAt(d.Log(), slog.LevelInfo),
		logsDebug: logsAt(d.Log(), slog.LevelDebug),
		deadline:  make(chan struct{}, 1),
		end:       make(chan struct{}),
	}
	s.People = people.New(d, s.Ledger, people.Options{
		PasswordCost: opts.PasswordCost, BeforeHash: opts.BeforeHash, WinsLot: opts.WinsLot,
		ObserveSignInFailure: opts.ObserveSignInFailure,
		OnAccessEnd:          s.stranded, Joined: s.joined, Left: s.dropMembers, NamingGroup: s.namingGroup, OnAccess: s.waiters.wakeAll,
		Seal: s.seal, Unseal: s.unseal,
	})
	s.Webhooks = webhooks.New(d, s.Ledger,
		webhooks.Options{Seal: s.seal, Unseal: s.unseal, Check: s.checkTarget(), Holds: nodes.Holds, Tell: s.tellOfPause})
	s.opened = s.db.Now()
	s.waiters.init(d.Shared())
	s.quota.init(opts)
	d.Register(db.Room{
		Statements: s.hot.texts(), Outside: s.outside, Heard: s.heard, Changes: s.known.changes, Forget: s.known.forget,
	})
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := s.reads.prepare(ctx, s.db); err != nil {
		return err
	}
	if err := s.checkKept(ctx); err != nil {
		return err
	}
	if err := s.Ledger.ProveOld(ctx); err != nil {
		return err
	}
	return s.seedPolicy(ctx)
}

// outside has everybody look again after another process has written.
func (s *Store) outside() {
	s.waiters.wakeAll()
	s.db.Bus().Publish(events.Outside, events.Access)
	s.wakeExpirer()
}

// heard has those look again who wait for what another process has changed.
func (s *Store) heard(topics []events.Topic) {
	for _, topic := range topics {
		if id, ok := topic.IsApproval(); ok {
			s.waiters.lookAgain(models.ResponseID(id))
		}
	}
	if slices.Contains(topics, events.Access) {
		s.waiters.wakeAll()
	}
	s.wakeExpirer()
}

// CheckOutside notices what another process (the command line, a second server)
// has committed: it drops cached credentials and has waiters, streams and the
// expirer look again. The server calls it each second.
func (s *Store) CheckOutside(ctx context.Context) error { return s.db.CheckOutside(ctx) }

// KeepReserve makes the reserve if it is not there, and has all go on once there
// is space for it. The server calls it at its start and now and then.
func (s *Store) KeepReserve(ctx context.Context) error { return s.db.KeepReserve(ctx) }

// Close waits for writes that have begun, refuses new ones, ends open waits and
// closes the database; a clean stop leaves one file. Closing twice is harmless.
func (s *Store) Close() error {
	var err error
	s.closeOnce.Do(func() {
		flushErr := s.People.FlushLastUse(context.Background())
		s.EndWaits()
		kept := s.Ledger.Keep(context.Background())
		err = errors.Join(flushErr, kept, s.db.Close())
	})
	return err
}

// DB is the database, for the rooms above this one.
func (s *Store) DB() *db.DB { return s.db }

// Path is the database file.
func (s *Store) Path() string { return s.db.Path() }

// Now is the store's clock: UTC, cut to the precision that is stored.
func (s *Store) Now() time.Time { return s.db.Now() }

// Bus is where changes are announced after they were committed.
func (s *Store) Bus() *events.Bus { return s.db.Bus() }
