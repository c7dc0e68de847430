package store_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/storetest"
)

func TestI7EachChangeToPeopleIsOneEntryWithoutSecrets(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := t.Context()
	admin := storetest.Admin(t, s)
	start := storetest.LedgerAt(t, s)

	ada := storetest.Reviewer(t, s, "ada@example.com")
	session, cookie := storetest.Session(t, s, "ada@example.com")
	_, cookie2 := storetest.Session(t, s, "ada@example.com")
	first, tok, err := s.People.AddToken(ctx, session, people.NewToken{Scope: models.ScopeAgent, Agent: "bot"})
	storetest.Must(t, err)
	second, tok2, err := s.People.AddToken(ctx, session, people.NewToken{Scope: models.ScopeAgent, Agent: "bot"})
	storetest.Must(t, err)
	storetest.Must(t, s.People.RevokeToken(ctx, admin, tok.ID))
	storetest.Must(t, s.People.RevokeToken(ctx, admin, tok2.ID))
	const next = "a new one that is long"
	storetest.Must(t, s.People.ChangePassword(ctx, session, storetest.Password, next))
	storetest.Must(t, s.People.SignOut(ctx, session))
	storetest.Must(t, s.People.SetPassword(ctx, admin, ada.OwnerID, storetest.Password))
	_, err = s.People.DisableUser(ctx, admin, ada.OwnerID)
	storetest.Must(t, err)

	id := ada.ID
	storetest.SameStrings(t, "ledger", storetest.ActionsSince(t, s, start), []string{
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
	hash := storetest.Scalar[string](t, s, `SELECT password_hash FROM users WHERE id = ?`, id)
	all := storetest.Scalar[string](t, s, `SELECT group_concat(data) FROM ledger`)
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
		row := storetest.Scalar[[]byte](t, s, `SELECT secret_hash FROM `+table)
		if len(row) != 32 {
			t.Errorf("%s: secret_hash has %d bytes, want those of one SHA-256", table, len(row))
		}
		if n := storetest.Scalar[int](t, s, `SELECT count(*) FROM `+table+` WHERE instr(CAST(secret_hash AS TEXT), ?) > 0`, secret); n != 0 {
			t.Errorf("%s holds a secret as it is", table)
		}
	}
	if hash := storetest.Scalar[string](t, s, `SELECT password_hash FROM users`); !strings.HasPrefix(hash, "$argon2id$v=19$") {
		t.Errorf("password_hash begins %.12q, want argon2id", hash)
	}
}
