package gallery

import (
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/agents"
	"countersign/views/pages/connect"
	"countersign/views/ui"
)

func agentsStates() []State {
	page := func(in agents.Input) templ.Component {
		return agents.Page(Frame("Agents and tokens", "/agents"), agents.New(in, Now))
	}
	fresh := AgentsInput()
	fresh.Fresh = &connect.FreshToken{
		Scope: models.ScopeAgent, Name: "release-bot", Secret: "csa_0123456789abcdef", Server: "https://countersign.example",
	}
	limited := AgentsInput()
	limited.Budgets = map[models.AgentID]models.AgentBudget{AgentID: {
		Energy: 500, Hours: 24, Allowed: 250, Spent: 612, Reserved: 20,
	}}
	everyone := func(in agents.EveryoneInput) templ.Component {
		return agents.EveryonePage(Frame("Everyone's agents and tokens", "/agents"), agents.NewEveryone(in, Now))
	}
	return []State{
		{
			Page: "agents", Name: "everyone", Note: "Everybody's agents: one without a token, hostile and long names",
			Component: everyone(everyonesAgents()),
		},
		{
			Page: "agents", Name: "everyone-people", Note: "The tokens of people that a text finds, further back",
			Component: everyone(everyonesTokens()),
		},
		{
			Page: "agents", Name: "everyone-wrong", Note: "A text that is longer than any name, and hostile",
			Component: everyone(agents.EveryoneInput{Place: views.EveryonePlace{Text: `"><script>alert(1)</script>` + strings.Repeat("x", 201)}, Errors: map[string]string{"q": "must have at most 200 bytes"}}),
		},
		{Page: "agents", Name: Usual, Note: "Tokens that live and one that was revoked", Component: page(AgentsInput())},
		{Page: "agents", Name: "limited", Note: "What the agents spent, of what the policy allows", Component: page(limited)},
		{Page: "agents", Name: "fresh", Note: "A secret, shown only now", Component: page(fresh)},
		{
			Page: "agents", Name: "many", Note: "Many, with hostile and long names, to a reviewer",
			Component: page(manyAgents()),
		},
		{Page: "agents", Name: "stopped", Note: "Two stops, and a note that is missing", Component: page(stoppedAgents())},
		{
			Page: "agents", Name: "empty", Note: "Nothing yet, and an error in the form",
			Component: page(agents.Input{Form: agents.TokenForm{
				Scope: models.ScopeAgent, Agent: "x", Errors: map[string]string{"agent": "is taken"},
			}}),
		},
	}
}

// AgentsInput is one agent with tokens that live and that do not.
func AgentsInput() agents.Input {
	made := Now.Add(-72 * time.Hour)
	return agents.Input{
		Admin:  true,
		Agents: []models.Agent{{ID: AgentID, OwnerID: UserID, Name: "release-bot", CreatedAt: made}},
		Tokens: []models.Token{
			{
				ID: "01890a5d-ac96-774b-bcce-b302099a8401", Hint: "csa_7Kd2", Scope: models.ScopeAgent, AgentID: new(AgentID),
				CreatedAt: made, LastUsedAt: new(Now.Add(-40 * time.Second)), ExpiresAt: new(Now.Add(90 * 24 * time.Hour)),
			},
			{
				ID: "01890a5d-ac96-774b-bcce-b302099a8402", Hint: "csr_P0x1", Scope: models.ScopeReviewer, Name: "laptop",
				CreatedAt: made,
			},
			{
				ID: "01890a5d-ac96-774b-bcce-b302099a8403", Hint: "csa_old9", Scope: models.ScopeAgent, AgentID: new(AgentID),
				CreatedAt: made, RevokedAt: new(Now.Add(-time.Hour)),
			},
		},
	}
}

// stoppedAgents are all and one, of which the reader may lift one.
func stoppedAgents() agents.Input {
	in := AgentsInput()
	in.Admin, in.Reader = false, UserID
	in.Stoppers = []ui.Choice{{Value: string(AgentID), Label: "release-bot"}}
	in.Stops = []models.Stop{
		{
			ID: "01890a5d-ac96-774b-bcce-b302099a8601", Note: "Incident 12 " + hostile, At: Now.Add(-time.Hour),
			ByID: "01890a5d-ac96-774b-bcce-b302099a8999", ByName: "Bo " + strings.Repeat("unbroken", 12),
		},
		{
			ID: "01890a5d-ac96-774b-bcce-b302099a8602", AgentID: AgentID, AgentName: "release-bot", Note: "It deletes things.",
			At: Now.Add(-time.Minute), ByID: UserID, ByName: "Ada Berg",
		},
	}
	in.StopForm = agents.StopForm{
		Lift: in.Stops[1].ID, Errors: map[string]string{"note": "must say why, for those who find their agents stopped"},
	}
	return in
}

// manyAgents are as many as somebody might have, named as badly as can be.
func manyAgents() agents.Input {
	var in agents.Input
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
		in.Tokens = append(in.Tokens,
			models.Token{
				ID: models.TokenID("01890a5d-ac96-774b-bcce-b302099a9" + n), Hint: "csa_" + n, Scope: models.ScopeAgent,
				AgentID: &id, CreatedAt: a.CreatedAt, ExpiresAt: new(Now.Add(time.Duration(i-2) * time.Hour)),
			})
	}
	in.Tokens = append(in.Tokens,
		models.Token{
			ID: "01890a5d-ac96-774b-bcce-b302099a8499", Hint: "csr_x", Scope: models.ScopeReviewer,
			Name: hostile + strings.Repeat("unbroken", 12), CreatedAt: Now,
		})
	return in
}

// everyonesAgents are agents of several owners, as an admin sees them.
func everyonesAgents() agents.EveryoneInput {
	in := AgentsInput()
	agent := func(name, owner, email string, tokens ...models.Token) models.OwnedAgent {
		return models.OwnedAgent{
			Agent: models.Agent{ID: AgentID, Name: name, CreatedAt: Now.Add(-72 * time.Hour)}, OwnerName: owner,
			OwnerEmail: email, Tokens: tokens,
		}
	}
	expired := in.Tokens[0]
	expired.ExpiresAt = new(Now.Add(-time.Hour))
	return agents.EveryoneInput{Next: "k2", Agents: []models.OwnedAgent{
		agent("release-bot", "Ada Berg", "ada@example.org", in.Tokens[0]), agent("planner", "Bo Lind", "bo@example.org"),
		agent(hostile, hostile, "eve@example.org", expired),
		agent(strings.Repeat("unbroken", 16), strings.Repeat("unbroken", 12), strings.Repeat("unbroken", 12)+"@example.org",
			in.Tokens[0]),
	}}
}

// everyonesTokens are tokens by which people act.
func everyonesTokens() agents.EveryoneInput {
	token := models.OwnedToken{Token: AgentsInput().Tokens[1], OwnerName: "Bo Lind", OwnerEmail: "bo@example.org"}
	return agents.EveryoneInput{
		Place: views.EveryonePlace{People: true, Text: "bo@", After: "k1"}, Tokens: []models.OwnedToken{token},
	}
}
