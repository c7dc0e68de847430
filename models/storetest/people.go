package storetest

import (
	"testing"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
)

// Password is what everybody made here signs in with.
const Password = "correct horse battery"

// AdminEmail is the e-mail of Admin.
const AdminEmail = "admin@example.com"

// Operator is the actor of the command line.
func Operator() models.Actor { return models.Operator("tester") }

// Admin adds the person admin@example.com. The actor has no credential: it acts
// as the person would, but nothing can be revoked under it.
func Admin(tb testing.TB, s *store.Store) models.Actor {
	tb.Helper()
	return User(tb, s, AdminEmail, models.RoleAdmin)
}

// Reviewer adds a person who is no admin.
func Reviewer(tb testing.TB, s *store.Store, email string) models.Actor {
	tb.Helper()
	return User(tb, s, email, models.RoleReviewer)
}

// User adds a person, whose name is the e-mail too.
func User(tb testing.TB, s *store.Store, email string, role models.Role) models.Actor {
	tb.Helper()
	u, err := s.People.AddUser(tb.Context(), Operator(),
		people.NewUser{Email: email, Name: email, Role: role, Password: Password})
	if err != nil {
		tb.Fatalf("add user %s: %v", email, err)
	}
	return models.Actor{
		Kind: models.ActorUser, ID: string(u.ID), Name: u.Name, OwnerID: u.ID, Admin: role == models.RoleAdmin,
		Auditor: role == models.RoleAuditor, PolicyEditor: role == models.RolePolicyEditor,
	}
}

// Session signs the person in and returns the actor of that session and the
// cookie's secret.
func Session(tb testing.TB, s *store.Store, email string) (models.Actor, string) {
	tb.Helper()
	secret, _, err := s.People.SignIn(tb.Context(), email, Password,
		people.SignInFrom{Address: "192.0.2.1", UserAgent: "test"})
	if err != nil {
		tb.Fatalf("sign %s in: %v", email, err)
	}
	actor, _, err := s.People.AuthenticateSession(tb.Context(), secret)
	if err != nil {
		tb.Fatalf("authenticate %s: %v", email, err)
	}
	return actor, secret
}

// AgentToken gives the person's agent of that name a token, registering it if it
// is new, and returns the agent as actor and the secret.
func AgentToken(tb testing.TB, s *store.Store, person models.Actor, name string) (models.Actor, string) {
	tb.Helper()
	return token(tb, s, people.NewToken{Scope: models.ScopeAgent, Agent: name, UserID: person.OwnerID})
}

// ReviewerToken gives the person a reviewer's token.
func ReviewerToken(tb testing.TB, s *store.Store, person models.Actor) (models.Actor, string) {
	tb.Helper()
	return token(tb, s, people.NewToken{Scope: models.ScopeReviewer, Name: "reviewer", UserID: person.OwnerID})
}

// AdminToken gives the person, who must be an admin, an admin's token.
func AdminToken(tb testing.TB, s *store.Store, person models.Actor) (models.Actor, string) {
	tb.Helper()
	return token(tb, s, people.NewToken{Scope: models.ScopeAdmin, Name: "admin", UserID: person.OwnerID})
}

func token(tb testing.TB, s *store.Store, in people.NewToken) (models.Actor, string) {
	tb.Helper()
	secret, _, err := s.People.AddToken(tb.Context(), Operator(), in)
	if err != nil {
		tb.Fatalf("add %s token: %v", in.Scope, err)
	}
	actor, err := s.People.AuthenticateToken(tb.Context(), secret)
	if err != nil {
		tb.Fatalf("authenticate %s token: %v", in.Scope, err)
	}
	return actor, secret
}
