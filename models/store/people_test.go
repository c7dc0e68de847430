package store_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
	"countersign/models/storetest"
)

var somewhere = people.SignInFrom{Address: "192.0.2.7:50123", UserAgent: "Firefox"}

// refused fails unless err has the code, and returns it.
func refused(t *testing.T, err error, want models.Code) models.Error {
	t.Helper()
	var e *models.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an error with code %s", err, want)
	}
	if e.Code != want {
		t.Fatalf("got code %s (%v), want %s", e.Code, e, want)
	}
	return *e
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rawDB opens the file beside the store.
func rawDB(t *testing.T, s *store.Store) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+s.Path()+"?_busy_timeout=5000")
	mustDo(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func scalar[T any](t *testing.T, s *store.Store, query string, args ...any) T {
	t.Helper()
	var v T
	if err := rawDB(t, s).QueryRowContext(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// actionsSince lists what the ledger recorded after an entry, in order, as
// "action owner".
func actionsSince(t *testing.T, s *store.Store, seq int64) []string {
	t.Helper()
	rows, err := rawDB(t, s).QueryContext(t.Context(), `SELECT action || ' ' || owner_id FROM ledger WHERE seq > ? ORDER BY seq`, seq)
	mustDo(t, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var line string
		mustDo(t, rows.Scan(&line))
		out = append(out, line)
	}
	mustDo(t, rows.Err())
	return out
}

func ledgerAt(t *testing.T, s *store.Store) int64 {
	t.Helper()
	h, err := s.Ledger.Head(t.Context())
	mustDo(t, err)
	return h.Seq
}

func sameStrings(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// whoMayNot are actors without the rights of an admin, as they really come.
func whoMayNot(t *testing.T, s *store.Store) map[string]models.Actor {
	t.Helper()
	admin := storetest.User(t, s, "other-admin@example.com", models.RoleAdmin)
	reviewer := storetest.Reviewer(t, s, "plain@example.com")
	session, _ := storetest.Session(t, s, "plain@example.com")
	agent, _ := storetest.AgentToken(t, s, admin, "agent of an admin")
	narrow, _ := storetest.ReviewerToken(t, s, admin)
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

func TestI7EachChangeToPeopleIsOneEntryWithoutSecrets(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := t.Context()
	admin := storetest.Admin(t, s)
	start := ledgerAt(t, s)

	ada := storetest.Reviewer(t, s, "ada@example.com")
	session, cookie := storetest.Session(t, s, "ada@example.com")
	_, cookie2 := storetest.Session(t, s, "ada@example.com")
	first, tok, err := s.People.AddToken(ctx, session, people.NewToken{Scope: models.ScopeAgent, Agent: "bot"})
	mustDo(t, err)
	second, tok2, err := s.People.AddToken(ctx, session, people.NewToken{Scope: models.ScopeAgent, Agent: "bot"})
	mustDo(t, err)
	mustDo(t, s.People.RevokeToken(ctx, admin, tok.ID))
	mustDo(t, s.People.RevokeToken(ctx, admin, tok2.ID))
	const next = "a new one that is long"
	mustDo(t, s.People.ChangePassword(ctx, session, storetest.Password, next))
	mustDo(t, s.People.SignOut(ctx, session))
	mustDo(t, s.People.SetPassword(ctx, admin, ada.OwnerID, storetest.Password))
	_, err = s.People.DisableUser(ctx, admin, ada.OwnerID)
	mustDo(t, err)

	id := ada.ID
	sameStrings(t, "ledger", actionsSince(t, s, start), []string{
		"user.added " + id,
		"session.opened " + id,
		"session.opened " + id,
		"agent.registered " + id,
		"token.added " + id,
		"token.revoked " + id, // rotated
		"token.added " + id,
		"token.revoked " + id, // the first was revoked already
		"user.password_changed " + id,
		"session.closed " + id, // the other one
		"session.closed " + id, // signed out
		"user.password_changed " + id,
		"user.disabled " + id,
	})
	if _, err := s.Ledger.Verify(ctx, nil); err != nil {
		t.Errorf("ledger: %v", err)
	}
	hash := scalar[string](t, s, `SELECT password_hash FROM users WHERE id = ?`, id)
	all := scalar[string](t, s, `SELECT group_concat(data) FROM ledger`)
	for what, secret := range map[string]string{
		"password": storetest.Password, "new password": next, "hash": hash,
		"cookie": cookie, "other cookie": cookie2, "token": first, "second token": second,
	} {
		if strings.Contains(all, secret) {
			t.Errorf("the ledger holds the %s", what)
		}
	}
}

func TestSecretsAreStoredHashed(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	_, cookie := storetest.Session(t, s, storetest.AdminEmail)
	_, token := storetest.AdminToken(t, s, admin)
	for table, secret := range map[string]string{"web_sessions": cookie, "tokens": token} {
		row := scalar[string](t, s, `SELECT group_concat(hex(secret_hash)) FROM `+table)
		if len(row) != 64 {
			t.Errorf("%s: secret_hash is %d hexadecimal digits long, want those of one SHA-256", table, len(row))
		}
		if n := scalar[int](t, s, `SELECT count(*) FROM `+table+` WHERE instr(CAST(secret_hash AS TEXT), ?)`, secret); n != 0 {
			t.Errorf("%s holds a secret as it is", table)
		}
	}
	if hash := scalar[string](t, s, `SELECT password_hash FROM users`); !strings.HasPrefix(hash, "$argon2id$v=19$") {
		t.Errorf("password_hash begins %.12q, want argon2id", hash)
	}
}
