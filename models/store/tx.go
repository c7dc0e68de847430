package store

import (
	"context"
	"errors"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// Tx is one caller's share of a transaction: what rooms after the store change goes through its
// methods. None of them judges rights, unless it says so, and all of them may run twice: they have
// no effects outside of the transaction.
type Tx struct {
	*db.Tx
	s *Store

	early  *earlyJudgement // what the policy was asked before; nil: nothing
	leaves bool            // the function is left where conditions are to be judged

	result
}

// result is what the commit announces.
type result struct {
	outcomes     []*models.Approval  // requests settled, at the ask or later
	activity     []activity          // for the log
	questions    []models.ResponseID // a question about it was asked
	wakesExpirer bool
	notices      bool // somebody is to be told of something, or of less
	hasCommit    bool
}

// known is what the writer remembers from one batch to the next. It holds as
// long as no other process has written, which the first statement of a batch
// tells, and is dropped when this process changes it or rolls back.
type known struct {
	policy        int64
	active        map[models.ConversationID]time.Time // the minute that active_at has
	early         *bool                               // whether results wait for their calls; nil: not looked yet
	substitutions *substitutions                      // who acts for whom; nil: not looked yet
	recipients    *recipients                         // who has a channel; nil: not looked yet
	stops         []models.Stop                       // in force; nil: not looked yet
	// when the last grant that was not revoked expires, zero: there is none; nil: not looked yet
	grants *time.Time
	// upper bounds of how many requests of each agent wait
	pending map[models.AgentID]int
	floods  map[models.AgentID]time.Time // until when agents that flood are not looked at again
}

func (k *known) forget() {
	*k = known{
		active: make(map[models.ConversationID]time.Time), pending: make(map[models.AgentID]int),
		floods: make(map[models.AgentID]time.Time),
	}
}

// maxKnownAgents bounds what the writer remembers of agents.
const maxKnownAgents = 10_000

func (k *known) pendingAtMost(agent models.AgentID, n int) {
	if len(k.pending) >= maxKnownAgents {
		clear(k.pending)
	}
	k.pending[agent] = n
}

func (k *known) floodUntil(agent models.AgentID, until time.Time) {
	if len(k.floods) >= maxKnownAgents {
		clear(k.floods)
	}
	k.floods[agent] = until
}

// changes drops the cache of a table that is about to be changed; empty: of all.
func (k *known) changes(table string) {
	if table == "" || recipientTables[table] {
		k.recipients = nil
	}
	if table == "" || substitutionTables[table] {
		k.substitutions = nil
	}
}

// write is the only way to change anything: see db.DB.Write. fn may run twice and
// must have no outside effects.
func (s *Store) write(ctx context.Context, fn func(*Tx) error) error {
	return s.writeBy(ctx, s.db.Write, nil, fn)
}

// writeAnyway is write for what must go on when the disk is full: signing in and out,
// what takes rights away, and what ends a request without approving it.
func (s *Store) writeAnyway(ctx context.Context, fn func(*Tx) error) error {
	return s.writeBy(ctx, s.db.WriteAnyway, nil, fn)
}

func (s *Store) writeBy(
	ctx context.Context, write func(context.Context, func(*db.Tx) error) error, early *earlyJudgement, fn func(*Tx) error,
) error {
	var last *Tx
	var err error
	for left := 0; ; left++ {
		err = write(ctx, func(share *db.Tx) error {
			last = s.within(share)
			last.early, last.leaves = early, left < leavesMost
			return fn(last)
		})
		first, ok := errors.AsType[*unjudgedError](err)
		if !ok {
			break
		}
		early = first.judge()
	}
	// Each caller writes its own log lines, after the commit, so that no caller waits for another's.
	if last != nil && last.hasCommit {
		s.logActivity(ctx, last.activity)
	}
	return err
}

// within is the store's part of a share: the same one each time.
func (s *Store) within(share *db.Tx) *Tx {
	if t, ok := share.Part.(*Tx); ok {
		return t
	}
	t := &Tx{Tx: share, s: s}
	share.Part = t
	share.AfterCommit(t.announce)
	return t
}

// Write has fn change something for a room after the store: see db.DB.Write. fn may run twice and must have no outside
// effects. Conditions of the policy are judged before the transaction, not in it, and the requests that began and
// ended are logged.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error { return s.write(ctx, fn) }

// WriteAnyway is Write for what must go on when the disk is full.
func (s *Store) WriteAnyway(ctx context.Context, fn func(*Tx) error) error {
	return s.writeAnyway(ctx, fn)
}

// stranded ends the requests that no person can approve any more, within another room's share.
func (s *Store) stranded(share *db.Tx) error {
	t := s.within(share)
	share.AfterCommit(func() { s.logActivity(t.Caller, t.activity) })
	if err := t.rerouteAll(models.System("policy")); err != nil {
		return err
	}
	return t.endStranded()
}

// announce hands the committed outcomes to their waiters.
func (t *Tx) announce() {
	s := t.s
	t.hasCommit = true
	for _, a := range t.outcomes {
		s.waiters.tell(a)
	}
	for _, id := range t.questions {
		s.waiters.note(id)
	}
	s.observe(&t.result)
	if t.wakesExpirer {
		s.wakeExpirer()
	}
}

// wakeExpirer has the expirer look again for the next deadline.
func (s *Store) wakeExpirer() {
	select {
	case s.deadline <- struct{}{}:
	default:
	}
}

// Changes says that a row is about to change, so that the entry that follows proves it: see
// ledger.Ledger.Changes.
func (t *Tx) Changes(table string, key ...any) error { return t.s.Ledger.Changes(t.Tx, table, key...) }

// Adds says that a row is new: see ledger.Ledger.Adds.
func (t *Tx) Adds(table string, key ...any) { t.s.Ledger.Adds(t.Tx, table, key...) }

// Record appends an entry to the ledger: see ledger.Ledger.Append.
func (t *Tx) Record(actor models.Actor, action string, about ledger.Subject, data any) error {
	return t.s.Ledger.Append(t.Tx, actor, action, about, data)
}

// tell hands the outcome to those who wait for it after the commit.
func (t *Tx) tell(a *models.Approval) { t.outcomes = append(t.outcomes, a) }

// Enabled reports whether a person may sign in: see people.People.
func (t *Tx) Enabled(user models.UserID) (bool, error) { return t.s.People.Enabled(t.Tx, user) }

// AgentNamed is an agent of an owner, made if there is none of that name: see people.People.
func (t *Tx) AgentNamed(actor models.Actor, owner models.UserID, name string) (*models.Agent, error) {
	return t.s.People.AgentNamed(t.Tx, actor, owner, name)
}

// deadlineStored wakes the expirer after the commit if at is not "none".
func (t *Tx) deadlineStored(at time.Time) {
	if at.Before(models.NoDeadline) {
		t.wakesExpirer = true
	}
}
