package store

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/requests"
)

// BenchmarkPreparedOrGORM measures what each kind of prepared statement is worth: the
// same row is read or written by it, and by GORM as all else is. DECISIONS.md, D17 says which
// of them stay prepared.
func BenchmarkPreparedOrGORM(b *testing.B) {
	s, agent, owner := openWithAgent(b, Options{})
	var asked []*models.Approval
	for i := range 51 {
		a, err := s.Ask(b.Context(), agent, models.AskInput{ToolName: "bench", Input: []byte(`{"n":` + strconv.Itoa(i) + `}`), Explicit: true})
		if err != nil {
			b.Fatal(err)
		}
		asked = append(asked, a)
	}
	keys := make([]requests.Key, 50)
	for i := range keys {
		a, err := s.Requests.ReadApproval(b.Context(), asked[i].ID) // the database has given it its number
		if err != nil {
			b.Fatal(err)
		}
		keys[i] = requests.Key{Number: a.Number, ID: string(a.ID)}
	}
	numbers := make([]int64, len(keys))
	for i := range keys {
		numbers[i] = keys[i].Number
	}
	last := asked[50]
	ctx := b.Context()
	reads := map[string]func() error{
		"one request/prepared": func() error { _, err := s.Requests.ReadApproval(ctx, last.ID); return err },
		"one request/gorm": func() error {
			_, err := requests.FindApprovals(s.db.Gorm(ctx).Where("id = ?", last.ID), s.db.Now())
			return err
		},
		"a page of 50/prepared": func() error { _, err := s.Requests.RowsWithin(ctx, keys, 1<<30); return err },
		"a page of 50/gorm": func() error {
			_, err := requests.FindApprovals(s.db.Gorm(ctx).Where("number IN ?", numbers), s.db.Now())
			return err
		},
	}
	for name, read := range reads {
		b.Run("read "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	n := int64(0)
	request := func() *models.Response {
		n++
		r := last.Response
		r.ID, r.Sequence, r.Number = models.NewID[models.ResponseID](), last.Sequence+n, 0
		return &r
	}
	vote := func() *models.Vote {
		return &models.Vote{
			ID: models.NewID[models.VoteID](), ResponseID: last.ID, UserID: owner.UserID(), UserName: "Ada", Verdict: models.VerdictApprove, Digest: last.Digest, At: s.db.Now(),
		}
	}
	at := s.db.Now()
	later := func() time.Time { at = at.Add(time.Second); return at }
	writes := map[string]func(*Tx) error{
		"an ask/prepared": func(t *Tx) error { return t.addResponse(request()) },
		"an ask/gorm":     func(t *Tx) error { return t.Gorm().Create(request()).Error },
		"a vote/prepared": func(t *Tx) error { return t.addVote(vote()) },
		"a vote/gorm":     func(t *Tx) error { return t.Gorm().Create(vote()).Error },
		"an outcome that comes late/prepared": func(t *Tx) error {
			_, err := t.Exec(t.s.hot.expire, "Late.", last.ID, t.Now)
			return err
		},
		"an outcome that comes late/gorm": func(t *Tx) error {
			return t.Gorm().Model(&models.Response{}).Where("id = ? AND approval_status = ? AND held_until IS NULL AND approval_timeout_at <= ?", last.ID, models.StatusPending, t.Now).
				UpdateColumns(map[string]any{"approval_status": models.StatusExpired, "approval_feedback": "Late.", "cause": models.CauseTimeout}).Error
		},
		"a column/prepared": func(t *Tx) error {
			_, err := t.Exec(t.s.hot.touch, later(), last.ConversationID)
			return err
		},
		"a column/gorm": func(t *Tx) error {
			when := later()
			return t.Gorm().Model(&models.Conversation{}).Where("id = ? AND active_at < ?", last.ConversationID, when).UpdateColumn("active_at", when).Error
		},
	}
	undone := errors.New("undone")
	for name, write := range writes {
		b.Run("write "+name, func(b *testing.B) {
			b.ReportAllocs()
			err := s.write(ctx, func(t *Tx) error {
				for b.Loop() {
					if err := write(t); err != nil {
						return fmt.Errorf("%s: %w", name, err)
					}
				}
				return undone
			})
			if !errors.Is(err, undone) {
				b.Fatal(err)
			}
		})
	}
}

// benchStore is a store with an agent and its owner.
// openWithAgent is openTemp with an admin and an agent of theirs.
func openWithAgent(tb testing.TB, opts Options) (s *Store, agent, owner models.Actor) {
	tb.Helper()
	opts.Log = slog.New(slog.DiscardHandler)
	s = openTemp(tb, opts)
	user, err := s.People.AddUser(tb.Context(), models.Operator("test"), people.NewUser{Email: "ada@example.com", Name: "Ada", Role: models.RoleAdmin, Password: "a correct horse battery"})
	if err != nil {
		tb.Fatal(err)
	}
	secret, _, err := s.People.AddToken(tb.Context(), models.Operator("test"), people.NewToken{Scope: models.ScopeAgent, Agent: "bot", UserID: user.ID})
	if err != nil {
		tb.Fatal(err)
	}
	if agent, err = s.People.AuthenticateToken(tb.Context(), secret); err != nil {
		tb.Fatal(err)
	}
	return s, agent, models.Actor{Kind: models.ActorUser, ID: string(user.ID), Name: user.Name, OwnerID: user.ID, Admin: true}
}
