package people_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/storetest"
)

func TestAddUserChecksEveryField(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	good := people.NewUser{Email: "ada@example.com", Name: "Ada", Role: models.RoleReviewer, Password: storetest.Password}
	with := func(change func(*people.NewUser)) people.NewUser {
		in := good
		change(&in)
		return in
	}
	email := func(v string) people.NewUser { return with(func(u *people.NewUser) { u.Email = v }) }
	name := func(v string) people.NewUser { return with(func(u *people.NewUser) { u.Name = v }) }
	password := func(v string) people.NewUser { return with(func(u *people.NewUser) { u.Password = v }) }
	for _, c := range []struct {
		what  string
		in    people.NewUser
		field string // empty: taken
	}{
		{"no e-mail", email(" "), "email"},
		{"no @", email("ada.example.com"), "email"},
		{"nothing before @", email("@example.com"), "email"},
		{"nothing after @", email("ada@"), "email"},
		{"in angle brackets", email("<ada@example.com>"), "email"},
		{"half in angle brackets", email("ada@example.com>"), "email"},
		{"an option", email("-oX@example.com"), "email"},
		{"an option as its host", email("ada@-oX"), "email"},
		{"a list", email("ada@example.com,bo"), "email"},
		{"two @", email("ada@b@example.com"), "email"},
		{"space inside", email("ada l@example.com"), "email"},
		{"control character", email("ada\x00@example.com"), "email"},
		{"right-to-left override", email("ada\u202e@example.com"), "email"},
		{"not UTF-8", email("ada\xff@example.com"), "email"},
		{"201 bytes", email(strings.Repeat("a", 189) + "@example.com"), "email"},
		{"200 bytes", email(strings.Repeat("a", 188) + "@example.com"), ""},
		{"no name", name("  "), "name"},
		{"name with a line break", name("Ada\nL"), "name"},
		{"name of 201 bytes", name(strings.Repeat("n", 201)), "name"},
		{"name not UTF-8", name("\xff"), "name"},
		{"unknown role", with(func(u *people.NewUser) { u.Role = "owner" }), "role"},
		{"no role", with(func(u *people.NewUser) { u.Role = "" }), "role"},
		{"11 characters of 22 bytes", password(strings.Repeat("ä", 11)), "password"},
		{"12 characters", with(func(u *people.NewUser) { u.Email, u.Password = "b@x", "äöüßéèêçñåøæ" }), ""},
		{"128 characters of 512 bytes", with(func(u *people.NewUser) {
			u.Email, u.Password = "c@x", strings.Repeat("😀🙂🚀🎉🌍🔥💡🐢🍀🎈🧭📎🪐🦊🌵🧩", 8)
		}), ""},
		{"one that everybody guesses", password("Password2026!"), "password"},
		{"the e-mail again", with(func(u *people.NewUser) { u.Password = u.Email }), "password"},
		{"129 characters", password(strings.Repeat("a", 129)), "password"},
		{"password not UTF-8", password("correct horse\xff"), "password"},
	} {
		_, err := s.People.AddUser(t.Context(), storetest.Operator(), c.in)
		if c.field == "" {
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		e := storetest.Refused(t, err, models.CodeInvalid)
		if len(e.Fields) != 1 || e.Fields[c.field] == "" {
			t.Errorf("%s: fields %v, want only %s", c.what, e.Fields, c.field)
		}
	}
	e := storetest.Refused(t, storetest.Err(s.People.AddUser(t.Context(), storetest.Operator(), people.NewUser{})), models.CodeInvalid)
	for _, field := range []string{"email", "name", "role", "password"} {
		if e.Fields[field] == "" {
			t.Errorf("an empty user: %s is not named in %v", field, e.Fields)
		}
	}
}

func TestEmailsAreTheSameInAnyCase(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.Admin(t, s)
	for first, again := range map[string]string{"Ada@Example.com": " ada@example.COM ", "ÄDA@example.com": "äda@example.com"} {
		u, err := s.People.AddUser(t.Context(), storetest.Operator(), people.NewUser{Email: first, Name: "Ada", Role: models.RoleReviewer, Password: storetest.Password})
		storetest.Must(t, err)
		if u.PasswordHash != "" {
			t.Error("AddUser hands the hash out")
		}
		found, err := s.People.UserByEmail(t.Context(), storetest.Operator(), again)
		storetest.Must(t, err)
		if found.ID != u.ID || found.PasswordHash != "" {
			t.Errorf("UserByEmail(%q) = %+v, want %s without hash", again, found, u.ID)
		}
		in := people.NewUser{Email: again, Name: "Eve", Role: models.RoleReviewer, Password: storetest.Password}
		storetest.Refused(t, storetest.Err(s.People.AddUser(t.Context(), storetest.Operator(), in)), models.CodeConflict)
		_, err = s.People.DisableUser(t.Context(), storetest.Operator(), u.ID)
		storetest.Must(t, err)
		storetest.Refused(t, storetest.Err(s.People.AddUser(t.Context(), storetest.Operator(), in)), models.CodeConflict)
	}
	storetest.Refused(t, storetest.Err(s.People.UserByEmail(t.Context(), storetest.Operator(), "nobody@example.com")), models.CodeNotFound)
	users, err := s.People.Users(t.Context(), storetest.Operator())
	storetest.Must(t, err)
	if len(users) != 3 || users[0].Email != "ada@example.com" || users[1].Email != storetest.AdminEmail {
		t.Errorf("Users = %+v, want three by e-mail", users)
	}
	for _, u := range users {
		if u.PasswordHash != "" {
			t.Error("Users hands hashes out")
		}
	}
}

func TestI4OnlyAdminsChangePeople(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	// Nothing about what is asked for shows: ids that exist, ids that do not,
	// and input that is wrong are refused alike.
	uses := map[string]func(models.Actor) error{
		"AddUser": func(a models.Actor) error { return storetest.Err(s.People.AddUser(t.Context(), a, people.NewUser{})) },
		"Users":   func(a models.Actor) error { return storetest.Err(s.People.Users(t.Context(), a)) },
		"UserByEmail": func(a models.Actor) error {
			return storetest.Err(s.People.UserByEmail(t.Context(), a, "ada@example.com"))
		},
		"DisableUser":         func(a models.Actor) error { return storetest.Err(s.People.DisableUser(t.Context(), a, ada.OwnerID)) },
		"DisableUser unknown": func(a models.Actor) error { return storetest.Err(s.People.DisableUser(t.Context(), a, "x")) },
		"SetPassword": func(a models.Actor) error {
			return s.People.SetPassword(t.Context(), a, ada.OwnerID, storetest.Password)
		},
		"SetPassword unknown": func(a models.Actor) error { return s.People.SetPassword(t.Context(), a, "x", "short") },
		"Tokens of all":       func(a models.Actor) error { return storetest.Err(s.People.Tokens(t.Context(), a, true)) },
	}
	actors := storetest.WhoMayNot(t, s)
	start := storetest.LedgerAt(t, s)
	for who, actor := range actors {
		for what, use := range uses {
			if err := use(actor); models.ErrorCode(err) != models.CodeForbidden {
				t.Errorf("%s by %s: %v, want %s", what, who, err, models.CodeForbidden)
			}
		}
	}
	if now := storetest.LedgerAt(t, s); now != start {
		t.Errorf("the ledger moved from %d to %d", start, now)
	}
	admin := storetest.Admin(t, s)
	for what, use := range uses {
		if models.ErrorCode(use(admin)) == models.CodeForbidden {
			t.Errorf("%s is refused to an admin", what)
		}
	}
}

func TestDisablingEndsAccessAtOnce(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	other := storetest.Admin(t, s)
	ada := storetest.User(t, s, "ada@example.com", models.RoleAdmin)
	session, cookie := storetest.Session(t, s, "ada@example.com")
	_, agentSecret := storetest.AgentToken(t, s, ada, "bot")
	_, revoked := storetest.AgentToken(t, s, ada, "bot 2")
	_, _ = storetest.AgentToken(t, s, ada, "bot 2") // rotates
	reviewer, reviewerSecret := storetest.ReviewerToken(t, s, ada)
	_, adminSecret := storetest.AdminToken(t, s, ada)

	n, err := s.People.DisableUser(t.Context(), other, ada.OwnerID)
	storetest.Must(t, err)
	if n != 2 {
		t.Errorf("%d agent tokens still work, want 2", n)
	}
	_, _, err = s.People.AuthenticateSession(t.Context(), cookie)
	storetest.Refused(t, err, models.CodeUnauthenticated)
	storetest.Refused(t, s.People.CheckCredential(t.Context(), session), models.CodeUnauthenticated)
	storetest.Refused(t, s.People.CheckCredential(t.Context(), reviewer), models.CodeUnauthenticated)
	for what, secret := range map[string]string{"reviewer": reviewerSecret, "admin": adminSecret, "rotated agent": revoked} {
		if err := storetest.Err(s.People.AuthenticateToken(t.Context(), secret)); models.ErrorCode(err) != models.CodeUnauthenticated {
			t.Errorf("%s token: %v, want %s", what, err, models.CodeUnauthenticated)
		}
	}
	if _, err := s.People.AuthenticateToken(t.Context(), agentSecret); err != nil {
		t.Errorf("agent token: %v; others may still decide what it asks", err)
	}
	storetest.Refused(t, signIn(t, s, "ada@example.com", storetest.Password, storetest.Somewhere), models.CodeUnauthenticated)

	start := storetest.LedgerAt(t, s)
	n, err = s.People.DisableUser(t.Context(), other, ada.OwnerID)
	storetest.Must(t, err)
	if n != 2 || storetest.LedgerAt(t, s) != start {
		t.Errorf("disabling again: %d tokens, ledger %d to %d; want 2 and no entry", n, start, storetest.LedgerAt(t, s))
	}
	storetest.Refused(t, storetest.Err(s.People.DisableUser(t.Context(), other, models.NewID[models.UserID]())), models.CodeNotFound)
}

func TestTheLastAdminStays(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	first := storetest.Admin(t, s)
	last := storetest.User(t, s, "b@example.com", models.RoleAdmin)
	storetest.Reviewer(t, s, "c@example.com")
	storetest.Must(t, storetest.Err(s.People.DisableUser(t.Context(), first, first.OwnerID)))
	for _, actor := range []models.Actor{last, storetest.Operator()} {
		storetest.Refused(t, storetest.Err(s.People.DisableUser(t.Context(), actor, last.OwnerID)), models.CodeConflict)
	}
	if _, err := s.People.UserByEmail(t.Context(), last, "b@example.com"); err != nil {
		t.Error(err)
	}
}

func TestDisablingElsewhereIsNoticed(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.Admin(t, s)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	_, cookie := storetest.Session(t, s, "ada@example.com")
	_, secret := storetest.ReviewerToken(t, s, ada)
	storetest.Must(t, s.CheckOutside(t.Context()))

	cli := storetest.Again(t, s)
	storetest.Must(t, storetest.Err(cli.People.DisableUser(t.Context(), storetest.Operator(), ada.OwnerID)))
	storetest.Must(t, s.CheckOutside(t.Context()))
	_, _, err := s.People.AuthenticateSession(t.Context(), cookie)
	storetest.Refused(t, err, models.CodeUnauthenticated)
	storetest.Refused(t, storetest.Err(s.People.AuthenticateToken(t.Context(), secret)), models.CodeUnauthenticated)
}
