package people_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
	"countersign/models/storetest"
)

func accepted(t *testing.T, s *store.Store, secret string) bool {
	t.Helper()
	err := storetest.Err(s.People.AuthenticateToken(t.Context(), secret))
	if err != nil {
		storetest.Refused(t, err, models.CodeUnauthenticated)
	}
	return err == nil
}

func TestTokensStandForWhoTheyWereMadeFor(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	session, _ := storetest.Session(t, s, storetest.AdminEmail)
	for scope, prefix := range map[models.Scope]string{
		models.ScopeAgent: "cs_agent_", models.ScopeReviewer: "cs_rev_", models.ScopeAdmin: "cs_adm_",
	} {
		in := people.NewToken{Scope: scope, Name: "laptop"}
		if scope == models.ScopeAgent {
			in = people.NewToken{Scope: scope, Agent: " bot "}
		}
		secret, token, err := s.People.AddToken(t.Context(), session, in)
		storetest.Must(t, err)
		if !strings.HasPrefix(secret, prefix) || len(secret) != len(prefix)+43 {
			t.Errorf("%s: the secret has not the form %s and 32 bytes", scope, prefix)
		}
		if !strings.HasPrefix(secret, token.Hint) || len(token.Hint) <= len(prefix) || len(token.Hint) > 16 {
			t.Errorf("%s: hint %q", scope, token.Hint)
		}
		if token.SecretHash != nil {
			t.Errorf("%s: AddToken hands the hash out", scope)
		}
		actor, err := s.People.AuthenticateToken(t.Context(), secret)
		storetest.Must(t, err)
		want := models.Actor{
			Kind: models.ActorUser, ID: admin.ID, Name: admin.Name, OwnerID: admin.OwnerID,
			Admin: scope == models.ScopeAdmin, TokenID: token.ID,
		}
		if scope == models.ScopeAgent {
			want.Kind, want.ID, want.Name, want.OwnerName = models.ActorAgent, string(*token.AgentID), "bot", admin.Name
		}
		if !reflect.DeepEqual(actor, want) {
			t.Errorf("%s: actor %+v, want %+v", scope, actor, want)
		}
	}
}

func TestI4AgentsHaveNoHandInCredentials(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "bot")
	claims := agent
	claims.Admin = true
	for _, actor := range []models.Actor{agent, claims, {}, models.System("expirer"), {Kind: models.ActorUser, Admin: true}} {
		for _, scope := range []models.Scope{models.ScopeAgent, models.ScopeReviewer, models.ScopeAdmin, ""} {
			_, _, err := s.People.AddToken(t.Context(), actor, people.NewToken{Scope: scope, Agent: "bot", Name: "x", UserID: admin.OwnerID})
			storetest.Refused(t, err, models.CodeForbidden)
		}
		storetest.Refused(t, s.People.RevokeToken(t.Context(), actor, agent.TokenID), models.CodeForbidden)
		storetest.Refused(t, s.People.RevokeToken(t.Context(), actor, "unknown"), models.CodeForbidden)
		storetest.Refused(t, storetest.Err(s.People.Tokens(t.Context(), actor, false)), models.CodeForbidden)
		storetest.Refused(t, storetest.Err(s.People.Agents(t.Context(), actor)), models.CodeForbidden)
	}
}

func TestWhoMayMakeWhichToken(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	gone := storetest.Reviewer(t, s, "gone@example.com")
	storetest.Must(t, storetest.Err(s.People.DisableUser(t.Context(), admin, gone.OwnerID)))
	narrow, _ := storetest.ReviewerToken(t, s, admin)
	nobody := models.NewID[models.UserID]()
	for _, c := range []struct {
		what  string
		actor models.Actor
		in    people.NewToken
		want  models.Code
		field string
	}{
		{"reviewer for herself", ada, people.NewToken{Scope: models.ScopeReviewer, Name: "x"}, "", ""},
		{"agent for herself", ada, people.NewToken{Scope: models.ScopeAgent, Agent: "x"}, "", ""},
		{"named herself", ada, people.NewToken{Scope: models.ScopeReviewer, Name: "x", UserID: ada.OwnerID}, "", ""},
		{"for another", ada, people.NewToken{Scope: models.ScopeReviewer, Name: "x", UserID: admin.OwnerID}, models.CodeForbidden, ""},
		{"for nobody, by a reviewer", ada, people.NewToken{Scope: models.ScopeReviewer, Name: "x", UserID: nobody}, models.CodeForbidden, ""},
		{"admin scope by a reviewer", ada, people.NewToken{Scope: models.ScopeAdmin, Name: "x"}, models.CodeForbidden, ""},
		{"admin scope by a reviewer token of an admin", narrow, people.NewToken{Scope: models.ScopeAdmin, Name: "x"}, models.CodeForbidden, ""},
		{"admin for another", admin, people.NewToken{Scope: models.ScopeAgent, Agent: "y", UserID: ada.OwnerID}, "", ""},
		{"admin scope for an admin", admin, people.NewToken{Scope: models.ScopeAdmin, Name: "x"}, "", ""},
		{"admin scope for a reviewer", admin, people.NewToken{Scope: models.ScopeAdmin, Name: "x", UserID: ada.OwnerID}, models.CodeInvalid, "scope"},
		{"for a disabled user", admin, people.NewToken{Scope: models.ScopeReviewer, Name: "x", UserID: gone.OwnerID}, models.CodeInvalid, "userId"},
		{"agent of a disabled user", admin, people.NewToken{Scope: models.ScopeAgent, Agent: "x", UserID: gone.OwnerID}, models.CodeInvalid, "userId"},
		{"by a disabled user", gone, people.NewToken{Scope: models.ScopeReviewer, Name: "x"}, models.CodeInvalid, "userId"},
		{"for nobody", admin, people.NewToken{Scope: models.ScopeReviewer, Name: "x", UserID: nobody}, models.CodeNotFound, ""},
		{"operator", storetest.Operator(), people.NewToken{Scope: models.ScopeAdmin, Name: "x", UserID: admin.OwnerID}, "", ""},
		{"operator without user", storetest.Operator(), people.NewToken{Scope: models.ScopeReviewer, Name: "x"}, models.CodeInvalid, "userId"},
		{"unknown scope", ada, people.NewToken{Scope: "root", Name: "x"}, models.CodeInvalid, "scope"},
		{"no agent", ada, people.NewToken{Scope: models.ScopeAgent, Name: "x"}, models.CodeInvalid, "agent"},
		{"agent of 201 bytes", ada, people.NewToken{Scope: models.ScopeAgent, Agent: strings.Repeat("a", 201), Name: "x"}, models.CodeInvalid, "agent"},
		{"agent with a line break", ada, people.NewToken{Scope: models.ScopeAgent, Agent: "a\nb", Name: "x"}, models.CodeInvalid, "agent"},
		{"agent with a reviewer's scope", ada, people.NewToken{Scope: models.ScopeReviewer, Agent: "x", Name: "x"}, models.CodeInvalid, "agent"},
		{"no name", ada, people.NewToken{Scope: models.ScopeReviewer}, models.CodeInvalid, "name"},
		{"name of 201 bytes", ada, people.NewToken{Scope: models.ScopeReviewer, Name: strings.Repeat("n", 201)}, models.CodeInvalid, "name"},
		{"expires before now", ada, people.NewToken{Scope: models.ScopeReviewer, Name: "x", Expires: -time.Second}, models.CodeInvalid, "expires"},
	} {
		before := storetest.LedgerAt(t, s)
		_, _, err := s.People.AddToken(t.Context(), c.actor, c.in)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		if models.ErrorCode(err) != c.want {
			t.Errorf("%s: got %v, want %s", c.what, err, c.want)
			continue
		}
		if e := storetest.Refused(t, err, c.want); c.field != "" && (len(e.Fields) != 1 || e.Fields[c.field] == "") {
			t.Errorf("%s: fields %v, want only %s", c.what, e.Fields, c.field)
		}
		if storetest.LedgerAt(t, s) != before {
			t.Errorf("%s: refused, and yet in the ledger", c.what)
		}
	}
	if n := storetest.Scalar[int](t, s, `SELECT count(*) FROM agents WHERE owner_id = ?`, gone.ID); n != 0 {
		t.Error("a refused token left an agent behind")
	}
}

func TestASecondAgentTokenRotates(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	eve := storetest.Reviewer(t, s, "eve@example.com")
	agent, first := storetest.AgentToken(t, s, ada, "bot")
	other, otherSecret := storetest.AgentToken(t, s, ada, "bot 2")
	theirs, theirSecret := storetest.AgentToken(t, s, eve, "bot")
	again, second := storetest.AgentToken(t, s, ada, "bot")
	if again.ID != agent.ID || other.ID == agent.ID || theirs.ID == agent.ID {
		t.Errorf("agents %s, %s, %s, %s: want the first and the last the same, no others", agent.ID, other.ID, theirs.ID, again.ID)
	}
	if accepted(t, s, first) {
		t.Error("the rotated token still works")
	}
	storetest.Refused(t, s.People.CheckCredential(t.Context(), agent), models.CodeUnauthenticated)
	if !accepted(t, s, second) || !accepted(t, s, otherSecret) || !accepted(t, s, theirSecret) {
		t.Error("another token stopped working")
	}
	agents, err := s.People.Agents(t.Context(), ada)
	storetest.Must(t, err)
	if len(agents) != 2 || agents[0].Name != "bot" || agents[1].Name != "bot 2" {
		t.Errorf("agents of ada %+v, want bot and bot 2", agents)
	}
}

func TestTokensExpire(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	ada := storetest.Reviewer(t, s, "ada@example.com")
	secret, token, err := s.People.AddToken(t.Context(), ada, people.NewToken{Scope: models.ScopeReviewer, Name: "x", Expires: time.Hour})
	storetest.Must(t, err)
	if token.ExpiresAt == nil || !token.ExpiresAt.Equal(clock.Now().Add(time.Hour)) {
		t.Errorf("expires %v, want in an hour", token.ExpiresAt)
	}
	clock.Step(time.Hour - time.Microsecond)
	if !accepted(t, s, secret) {
		t.Error("refused before its end")
	}
	clock.Step(time.Microsecond)
	if accepted(t, s, secret) {
		t.Error("accepted at its end")
	}
}

func TestRevokingATokenEndsItAtOnce(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	eve := storetest.Reviewer(t, s, "eve@example.com")
	for who, actor := range map[string]models.Actor{"owner": ada, "admin": admin, "operator": storetest.Operator()} {
		for _, made := range []func() (models.Actor, string){
			func() (models.Actor, string) { return storetest.ReviewerToken(t, s, ada) },
			func() (models.Actor, string) { return storetest.AgentToken(t, s, ada, "bot") },
		} {
			token, secret := made()
			storetest.Refused(t, s.People.RevokeToken(t.Context(), eve, token.TokenID), models.CodeNotFound)
			if !accepted(t, s, secret) {
				t.Fatal("a stranger revoked a token")
			}
			storetest.Must(t, s.People.RevokeToken(t.Context(), actor, token.TokenID))
			if accepted(t, s, secret) {
				t.Errorf("accepted after its %s revoked it", who)
			}
			storetest.Refused(t, s.People.CheckCredential(t.Context(), token), models.CodeUnauthenticated)
			entries := storetest.LedgerAt(t, s)
			storetest.Must(t, s.People.RevokeToken(t.Context(), actor, token.TokenID))
			if storetest.LedgerAt(t, s) != entries {
				t.Error("revoking twice is in the ledger twice")
			}
		}
	}
	storetest.Refused(t, s.People.RevokeToken(t.Context(), admin, models.NewID[models.TokenID]()), models.CodeNotFound)
}

func TestRevokingElsewhereIsNoticed(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	token, secret := storetest.ReviewerToken(t, s, ada)
	_, rotated := storetest.AgentToken(t, s, ada, "bot")
	storetest.Must(t, s.CheckOutside(t.Context()))
	cli := storetest.Again(t, s)
	storetest.Must(t, cli.People.RevokeToken(t.Context(), storetest.Operator(), token.TokenID))
	storetest.AgentToken(t, cli, ada, "bot")
	storetest.Must(t, s.CheckOutside(t.Context()))
	if accepted(t, s, secret) || accepted(t, s, rotated) {
		t.Error("accepted after it was revoked elsewhere")
	}
}

func TestTokensAreListedToTheirPerson(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	first, _ := storetest.ReviewerToken(t, s, ada)
	second, _ := storetest.AgentToken(t, s, ada, "bot")
	third, _ := storetest.ReviewerToken(t, s, ada)
	foreign, _ := storetest.AdminToken(t, s, admin)
	storetest.Must(t, s.People.RevokeToken(t.Context(), ada, third.TokenID))
	for _, c := range []struct {
		what  string
		actor models.Actor
		all   bool
		want  []models.TokenID // live ones first, newest first
	}{
		{"own", ada, false, []models.TokenID{second.TokenID, first.TokenID, third.TokenID}},
		{"own of an admin", admin, false, []models.TokenID{foreign.TokenID}},
		{"all", admin, true, []models.TokenID{foreign.TokenID, second.TokenID, first.TokenID, third.TokenID}},
		{"operator", storetest.Operator(), false, []models.TokenID{foreign.TokenID, second.TokenID, first.TokenID, third.TokenID}},
	} {
		tokens, err := s.People.Tokens(t.Context(), c.actor, c.all)
		storetest.Must(t, err)
		var got, want []string
		for _, token := range tokens {
			got = append(got, string(token.ID))
			if token.SecretHash != nil {
				t.Errorf("%s: the list hands hashes out", c.what)
			}
		}
		for _, id := range c.want {
			want = append(want, string(id))
		}
		storetest.SameStrings(t, c.what, got, want)
	}
}

func TestTokenUseIsWrittenDown(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	ada := storetest.Reviewer(t, s, "ada@example.com")
	_, secret := storetest.ReviewerToken(t, s, ada)
	entries := storetest.LedgerAt(t, s)
	used := clock.Step(time.Hour)
	if !accepted(t, s, secret) {
		t.Fatal("refused")
	}
	storetest.Must(t, s.People.FlushLastUse(t.Context()))
	tokens, err := s.People.Tokens(t.Context(), ada, false)
	storetest.Must(t, err)
	if len(tokens) != 1 || tokens[0].LastUsedAt == nil || !tokens[0].LastUsedAt.Equal(used) {
		t.Errorf("tokens %+v, want one used at %s", tokens, used)
	}
	if storetest.LedgerAt(t, s) != entries {
		t.Error("using a token is in the ledger")
	}
}

func TestTokensTellTheirLastUseBeforeItIsWrittenDown(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	owner := storetest.Admin(t, s)
	_, secret := storetest.AgentToken(t, s, owner, "bot")
	clock.Step(time.Hour)
	if _, err := s.People.AuthenticateToken(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"before", "after"} {
		tokens, err := s.People.Tokens(t.Context(), owner, false)
		if err != nil || len(tokens) != 1 || tokens[0].LastUsedAt == nil || !tokens[0].LastUsedAt.Equal(clock.Now()) {
			t.Errorf("%s it was written: %+v, %v", when, tokens, err)
		}
		if err := s.People.FlushLastUse(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A token that is live is kept where that is asked for; one that is not is no obstacle.
func TestATokenIsNotReplacedUnasked(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	owner, other := storetest.Reviewer(t, s, "o@example.com"), storetest.Reviewer(t, s, "other@example.com")
	in := people.NewToken{Scope: models.ScopeAgent, Agent: "bot", NoReplace: true, Expires: time.Hour}
	first, token, err := s.People.AddToken(t.Context(), owner, in)
	storetest.Must(t, err)
	_, _, err = s.People.AddToken(t.Context(), owner, in)
	if e := storetest.Refused(t, err, models.CodeConflict); e.Fields["agent"] == "" {
		t.Errorf("the field is not named: %+v", e)
	}
	if !accepted(t, s, first) {
		t.Error("the token was replaced")
	}
	_, _, err = s.People.AddToken(t.Context(), other, in) // an agent of the same name
	storetest.Must(t, err)
	storetest.Must(t, s.People.RevokeToken(t.Context(), owner, token.ID))
	_, _, err = s.People.AddToken(t.Context(), owner, in)
	storetest.Must(t, err)
}
