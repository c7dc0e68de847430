package gallery

import (
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views/pages"
	"countersign/views/ui"
)

func agentsStates() []State {
	page := func(in pages.AgentsInput) templ.Component {
		return pages.AgentsPage(Frame("Agents and tokens", "/agents"), pages.NewAgents(in, Now))
	}
	fresh := AgentsInput()
	fresh.Fresh = &pages.FreshToken{Scope: models.ScopeAgent, Name: "release-bot", Secret: "csa_0123456789abcdef"}
	limited := AgentsInput()
	limited.Budgets = map[models.AgentID]models.AgentBudget{AgentID: {Energy: 500, Hours: 24, Allowed: 250, Spent: 612, Reserved: 20}}
	return []State{
		{Page: "agents", Name: Usual, Note: "Tokens that live and one that was revoked", Component: page(AgentsInput())},
		{Page: "agents", Name: "limited", Note: "What the agents spent, of what the policy allows", Component: page(limited)},
		{Page: "agents", Name: "fresh", Note: "A secret, shown only now", Component: page(fresh)},
		{Page: "agents", Name: "many", Note: "Many, with hostile and long names, to a reviewer", Component: page(manyAgents())},
		{Page: "agents", Name: "stopped", Note: "Two stops, and a note that is missing", Component: page(stoppedAgents())},
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

// stoppedAgents are all and one, of which the reader may lift one.
func stoppedAgents() pages.AgentsInput {
	in := AgentsInput()
	in.Admin, in.Reader = false, UserID
	in.Stoppers = []ui.Choice{{Value: string(AgentID), Label: "release-bot"}}
	in.Stops = []models.Stop{
		{ID: "01890a5d-ac96-774b-bcce-b302099a8601", Note: "Incident 12 " + hostile, At: Now.Add(-time.Hour), ByID: "01890a5d-ac96-774b-bcce-b302099a8999", ByName: "Bo " + strings.Repeat("unbroken", 12)},
		{ID: "01890a5d-ac96-774b-bcce-b302099a8602", AgentID: AgentID, AgentName: "release-bot", Note: "It deletes things.", At: Now.Add(-time.Minute), ByID: UserID, ByName: "Ada Berg"},
	}
	in.StopForm = pages.StopForm{Lift: in.Stops[1].ID, Errors: map[string]string{"note": "must say why, for those who find their agents stopped"}}
	return in
}

// manyAgents are as many as somebody might have, named as badly as can be.
func manyAgents() pages.AgentsInput {
	var in pages.AgentsInput
	for i := range 40 {
		n := strconv.Itoa(100 + i)
		id := models.AgentID("01890a5d-ac96-774b-bcce-b302099a8" + n)
		a := models.Agent{ID: id, OwnerID: UserID, Name: "agent-" + n, CreatedAt: Now.Add(-time.Hour)}
		switch i {
		case 1:
			a.Name = "<b>\u202Etob"
		case 2:
			a.Name = strings.Repeat("unbroken", 16)
		}
		in.Agents = append(in.Agents, a)
		in.Tokens = append(in.Tokens, models.Token{ID: models.TokenID("01890a5d-ac96-774b-bcce-b302099a9" + n), Hint: "csa_" + n, Scope: models.ScopeAgent, AgentID: &id, CreatedAt: a.CreatedAt, ExpiresAt: new(Now.Add(time.Duration(i-2) * time.Hour))})
	}
	in.Tokens = append(in.Tokens, models.Token{ID: "01890a5d-ac96-774b-bcce-b302099a8499", Hint: "csr_x", Scope: models.ScopeReviewer, Name: hostile + strings.Repeat("unbroken", 12), CreatedAt: Now})
	return in
}
