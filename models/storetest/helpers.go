package storetest

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/people"
	"countersign/models/store"
)

// Somewhere is from where people of tests sign in.
var Somewhere = people.SignInFrom{Address: "192.0.2.7:50123", UserAgent: "Firefox"}

// Refused fails unless err has the code, and returns it.
func Refused(tb testing.TB, err error, want models.Code) models.Error {
	tb.Helper()
	var e *models.Error
	if !errors.As(err, &e) {
		tb.Fatalf("got %v, want an error with code %s", err, want)
	}
	if e.Code != want {
		tb.Fatalf("got code %s (%v), want %s", e.Code, e, want)
	}
	return *e
}

// Must ends the test where err is not nil.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Beside opens the file beside the store.
func Beside(tb testing.TB, s *store.Store) *sql.DB {
	tb.Helper()
	return dbtest.Beside(tb, s.Path())
}

// Scalar is the one value of a query.
func Scalar[T any](tb testing.TB, s *store.Store, query string, args ...any) T {
	tb.Helper()
	var v T
	if err := dbtest.Look(tb, s.Path()).QueryRowContext(tb.Context(), query, args...).Scan(&v); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return v
}

// ActionsSince lists what the ledger recorded after an entry, in order, as
// "action owner".
func ActionsSince(tb testing.TB, s *store.Store, seq int64) []string {
	tb.Helper()
	rows, err := dbtest.Look(tb, s.Path()).QueryContext(tb.Context(),
		`SELECT action || ' ' || owner_id FROM ledger WHERE seq > ? ORDER BY seq`, seq)
	Must(tb, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var line string
		Must(tb, rows.Scan(&line))
		out = append(out, line)
	}
	Must(tb, rows.Err())
	return out
}

// LedgerAt is the number of the last entry of the ledger.
func LedgerAt(tb testing.TB, s *store.Store) int64 {
	tb.Helper()
	h, err := s.Ledger.Head(tb.Context())
	Must(tb, err)
	return h.Seq
}

// SameStrings compares two lists, line by line.
func SameStrings(tb testing.TB, what string, got, want []string) {
	tb.Helper()
	if !slices.Equal(got, want) {
		tb.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// WhoMayNot are actors without the rights of an admin, as they really come.
func WhoMayNot(tb testing.TB, s *store.Store) map[string]models.Actor {
	tb.Helper()
	admin := User(tb, s, "other-admin@example.com", models.RoleAdmin)
	reviewer := Reviewer(tb, s, "plain@example.com")
	session, _ := Session(tb, s, "plain@example.com")
	agent, _ := AgentToken(tb, s, admin, "agent of an admin")
	narrow, _ := ReviewerToken(tb, s, admin)
	return map[string]models.Actor{
		"reviewer":                  reviewer,
		"reviewer's session":        session,
		"agent of an admin":         agent,
		"reviewer token of admin":   narrow,
		"system":                    models.System("expirer"),
		"nobody":                    {},
		"person without an id":      {Kind: models.ActorUser, Admin: true},
		"agent that claims to rule": {Kind: models.ActorAgent, ID: agent.ID, OwnerID: agent.OwnerID, Admin: true},
	}
}

// Err drops a result and keeps the error.
func Err[T any](_ T, err error) error { return err }

// Err3 is the error of a call that returns two values beside it.
func Err3[T, U any](_ T, _ U, err error) error { return err }

// Pick draws one of a list; where there is none, the step is skipped.
func Pick[T any](rt *rapid.T, name string, from []T) T {
	if len(from) == 0 {
		rt.Skip("there is none")
	}
	return rapid.SampledFrom(from).Draw(rt, name)
}

// PresenceOf is whether the agent of a request waits.
func PresenceOf(tb testing.TB, s interface {
	Presences(ctx context.Context, ids ...models.ResponseID) (map[models.ResponseID]models.Presence, error)
}, id models.ResponseID,
) models.Presence {
	tb.Helper()
	all, err := s.Presences(tb.Context(), id)
	Must(tb, err)
	return all[id]
}
