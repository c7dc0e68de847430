package people_test

import (
	"slices"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/storetest"
)

// TestAdminsSeeAndRevokeEverybodysTokens, and nobody else does.
func TestAdminsSeeAndRevokeEverybodysTokens(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin, ada := storetest.Admin(t, s), storetest.Reviewer(t, s, "ada@example.com")
	bot, secret := storetest.AgentToken(t, s, ada, "Release-bot")
	own, _ := storetest.AgentToken(t, s, admin, "own-bot")
	_, laptop, err := s.People.AddToken(t.Context(), ada, people.NewToken{Scope: models.ScopeReviewer, Name: "laptop"})
	storetest.Must(t, err)

	for _, who := range []models.Actor{ada, bot, {}} {
		storetest.Refused(t, storetest.Err(s.People.AgentPage(t.Context(), who, people.EveryoneQuery{})), models.CodeForbidden)
		storetest.Refused(t, storetest.Err(s.People.EveryonesTokens(t.Context(), who, people.EveryoneQuery{})), models.CodeForbidden)
	}
	if e := storetest.Refused(t, storetest.Err(s.People.AgentPage(t.Context(), admin, people.EveryoneQuery{Text: strings.Repeat("x", 201)})), models.CodeInvalid); e.Fields["q"] == "" {
		t.Errorf("%v", e.Fields)
	}
	find := func(text string) []models.OwnedAgent {
		t.Helper()
		got, err := s.People.AgentPage(t.Context(), admin, people.EveryoneQuery{Text: text})
		storetest.Must(t, err)
		return got.Agents
	}
	for text, want := range map[string]int{"": 2, "RELEASE": 1, "ada@": 1, "bot": 2, "%": 0} {
		if got := find(text); len(got) != want {
			t.Errorf("%q finds %+v", text, got)
		}
	}
	if got := find(""); got[0].ID != own.AgentID() || got[1].OwnerEmail != "ada@example.com" || len(got[1].Tokens) != 1 || got[1].Tokens[0].SecretHash != nil {
		t.Errorf("%+v", got)
	}
	tokens, err := s.People.EveryonesTokens(t.Context(), admin, people.EveryoneQuery{Text: "LAPTOP"})
	if storetest.Must(t, err); len(tokens.Tokens) != 1 || tokens.Tokens[0].ID != laptop.ID || tokens.Tokens[0].OwnerEmail != "ada@example.com" {
		t.Errorf("%+v", tokens)
	}

	storetest.Must(t, s.People.RevokeToken(t.Context(), admin, find("release")[0].Tokens[0].ID))
	if accepted(t, s, secret) {
		t.Error("a revoked token is accepted")
	}
	if got := find("release"); len(got) != 1 || len(got[0].Tokens) != 0 {
		t.Errorf("after it was revoked: %+v", got)
	}
	last, _, err := s.Ledger.Entry(t.Context(), admin, storetest.LedgerAt(t, s))
	if storetest.Must(t, err); last.Action != "token.revoked" || last.ActorID != admin.ID || last.OwnerID != ada.UserID() {
		t.Errorf("the ledger says %+v", last)
	}
}

// TestEverybodysAgentsPageByKey: each once, newest first.
func TestEverybodysAgentsPageByKey(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin, ada := storetest.Admin(t, s), storetest.Reviewer(t, s, "ada@example.com")
	var want []models.AgentID
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		agent, _ := storetest.AgentToken(t, s, ada, name)
		want = append(want, agent.AgentID())
	}
	slices.Reverse(want)
	var got []models.AgentID
	for q := (people.EveryoneQuery{Limit: 2}); ; {
		page, err := s.People.AgentPage(t.Context(), admin, q)
		storetest.Must(t, err)
		for _, a := range page.Agents {
			got = append(got, a.ID)
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAdminsChooseAmongEverybodysAgents, others among their own.
func TestAdminsChooseAmongEverybodysAgents(t *testing.T) {
	t.Parallel()
	s := storetest.New(t, storetest.WithClock(storetest.NewClock()))
	admin, ada := storetest.Admin(t, s), storetest.Reviewer(t, s, "ada@example.com")
	storetest.AgentToken(t, s, ada, "theirs")
	storetest.AgentToken(t, s, admin, "z-own")
	for _, c := range []struct {
		who  models.Actor
		want []string
	}{{admin, []string{"z-own", "theirs"}}, {ada, []string{"theirs"}}} {
		agents, err := s.People.AgentsToChoose(t.Context(), c.who)
		storetest.Must(t, err)
		var names []string
		for _, a := range agents {
			names = append(names, a.Name)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("%s chooses among %v", c.who.Name, names)
		}
	}
}
