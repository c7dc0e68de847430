package gallery

import (
	"time"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views/pages"
)

func agentsStates() []State {
	page := func(in pages.AgentsInput) templ.Component {
		return pages.AgentsPage(Frame("Agents and tokens", "/agents"), pages.NewAgents(in, Now))
	}
	fresh := AgentsInput()
	fresh.Fresh = &pages.FreshToken{Scope: models.ScopeAgent, Name: "release-bot", Secret: "csa_0123456789abcdef"}
	return []State{
		{Page: "agents", Name: Usual, Note: "Tokens that live and one that was revoked", Component: page(AgentsInput())},
		{Page: "agents", Name: "fresh", Note: "A secret, shown only now", Component: page(fresh)},
		{Page: "agents", Name: "empty", Note: "Nothing yet, and an error in the form", Component: page(pages.AgentsInput{Form: pages.TokenForm{Scope: models.ScopeAgent, Agent: "x", Errors: map[string]string{"agent": "is taken"}}})},
	}
}

// AgentsInput is one agent with tokens that live and that do not.
func AgentsInput() pages.AgentsInput {
	made := Now.Add(-72 * time.Hour)
	return pages.AgentsInput{
		Admin:  true,
		Agents: []models.Agent{{ID: AgentID, OwnerID: UserID, Name: "release-bot", CreatedAt: made}},
		Tokens: []models.Token{
			{ID: "01890a5d-ac96-774b-bcce-b302099a8401", Hint: "csa_7Kd2", Scope: models.ScopeAgent, AgentID: new(AgentID), CreatedAt: made, LastUsedAt: new(Now.Add(-40 * time.Second)), ExpiresAt: new(Now.Add(90 * 24 * time.Hour))},
			{ID: "01890a5d-ac96-774b-bcce-b302099a8402", Hint: "csr_P0x1", Scope: models.ScopeReviewer, Name: "laptop", CreatedAt: made},
			{ID: "01890a5d-ac96-774b-bcce-b302099a8403", Hint: "csa_old9", Scope: models.ScopeAgent, AgentID: new(AgentID), CreatedAt: made, RevokedAt: new(Now.Add(-time.Hour))},
		},
	}
}
