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
	spent := usualFigures()
	spent.Budget = &models.AgentBudget{Energy: 500, Hours: 24, Allowed: 250, Spent: 612, Reserved: 20}
	limited.Figures.Of[AgentID] = spent
	one := func(in agents.AgentInput) templ.Component {
		return agents.AgentPage(Frame("Agent", "/agents"), agents.NewAgent(in, Now))
	}
	everyone := func(in agents.EveryoneInput) templ.Component {
		in.Place.Everyone = true
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
			Component: everyone(agents.EveryoneInput{
				Common: agents.Common{Place: views.AgentsPlace{Text: `"><script>alert(1)</script>` + strings.Repeat("x", 201)}},
				Errors: map[string]string{"q": "must have at most 200 bytes"},
			}),
		},
		{
			Page: "agents", Name: "everyone-stopped", Note: "All are stopped, one of another page too, and a note is missing",
			Component: everyone(everyonesStops()),
		},
		{Page: "agents", Name: Usual, Note: "An agent in use, and one that never asked", Component: page(AgentsInput())},
		{Page: "agents", Name: "limited", Note: "What the agents spent, of what the policy allows", Component: page(limited)},
		{Page: "agents", Name: "fresh", Note: "A secret, shown only now", Component: page(fresh)},
		{
			Page: "agents", Name: "many", Note: "Many, with hostile and long names, to a reviewer",
			Component: page(manyAgents()),
		},
		{Page: "agents", Name: "stopped", Note: "Two stops, and a note that is missing", Component: page(stoppedAgents())},
		{Page: "agents", Name: "stopping", Note: "A stop whose note is missing, in its row", Component: page(stoppingAgents())},
		{
			Page: "agents", Name: "empty", Note: "Nothing yet, and an error in the form",
			Component: page(agents.Input{TokenForm: agents.TokenForm{
				Scope: models.ScopeAgent, Agent: "x", Errors: map[string]string{"agent": "is taken"},
			}}),
		},
		{Page: "agent", Name: Usual, Note: "An agent in use", Component: one(AgentInput())},
		{Page: "agent", Name: "never", Note: "It never asked, and has no token", Component: one(newAgent())},
		{Page: "agent", Name: "stopped", Note: "Somebody else's, hostile, stopped, to an admin", Component: one(stoppedAgent())},
	}
}

// secondAgent is the agent of a page that never asked.
const secondAgent = models.AgentID("01890a5d-ac96-774b-bcce-b302099a8190")

// AgentsInput is an agent in use and one that never asked, with tokens that live and that do not.
func AgentsInput() agents.Input {
	made := Now.Add(-72 * time.Hour)
	tokens := []models.Token{
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
	}
	return agents.Input{
		Common: agents.Common{
			Admin: true, Reader: UserID, Figures: models.AgentsFigures{
				AllCancels: 7, Of: map[models.AgentID]models.AgentFigures{AgentID: usualFigures()},
			},
		},
		Agents: []models.OwnedAgent{
			{
				Agent:     models.Agent{ID: AgentID, OwnerID: UserID, Name: "release-bot", CreatedAt: made},
				OwnerName: "Ada Berg", OwnerEmail: "ada@example.org", Tokens: tokens[:1],
			},
			{
				Agent:     models.Agent{ID: secondAgent, OwnerID: UserID, Name: "planner", CreatedAt: made},
				OwnerName: "Ada Berg", OwnerEmail: "ada@example.org",
			},
		},
		Tokens: tokens,
	}
}

// usualFigures are of an agent in use: Now is a Friday.
func usualFigures() models.AgentFigures {
	return models.AgentFigures{
		LastAskAt: new(Now.Add(-2 * time.Minute)), Days: [models.AgentDays]int{3, 0, 0, 9, 12, 11, 7}, Pending: 4, Cancels: 3,
	}
}

// stoppedAgents are all and one, of which the reader may lift one.
func stoppedAgents() agents.Input {
	in := AgentsInput()
	in.Admin = false
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
	in.StopForm = agents.StopForm{Lift: in.Stops[1].ID, Errors: map[string]string{"note": mustSayWhy}}
	return in
}

const mustSayWhy = "must say why: the agents' owners see it"

// stoppingAgents are those of the usual page, with a stop that says not why.
func stoppingAgents() agents.Input {
	in := AgentsInput()
	in.StopForm = agents.StopForm{Agent: string(AgentID), Note: "  ", Errors: map[string]string{"note": mustSayWhy}}
	return in
}

// AgentInput is the page of the agent in use.
func AgentInput() agents.AgentInput {
	list := AgentsInput()
	in := agents.AgentInput{Common: list.Common, Agent: list.Agents[0]}
	in.Agent.Tokens = []models.Token{list.Tokens[0], list.Tokens[2]}
	for _, g := range []models.CallGroup{
		{Tool: "shell.run", Rule: "Shell", Effect: models.CallWaited, Count: 12},
		{Tool: "shell.run", Rule: "unmatched", Effect: models.CallRan, Count: 3},
		{Tool: "send_email", Rule: "explicit ask", Effect: models.CallWaited, Count: 4},
		{Tool: "send_email", Rule: "Outside addresses", Effect: models.CallDenied, Count: 1},
	} {
		g.Kind = models.KindToolCall
		in.Groups.Groups, in.Groups.Calls = append(in.Groups.Groups, g), in.Groups.Calls+g.Count
	}
	in.Groups.Groups, in.Groups.Calls = append(in.Groups.Groups, models.CallGroup{
		Kind: models.KindQuestion, Rule: "explicit ask", Effect: models.CallWaited, Count: 1,
	}), in.Groups.Calls+1
	in.Pending, in.Newest = Briefs(Shell()), append(Briefs(Shell()), Settled()...)
	return in
}

// newAgent is the page of one that never asked.
func newAgent() agents.AgentInput {
	list := AgentsInput()
	return agents.AgentInput{Common: agents.Common{Reader: UserID}, Agent: list.Agents[1]}
}

// stoppedAgent is the page of somebody else's agent, named as badly as can be.
func stoppedAgent() agents.AgentInput {
	in := AgentInput()
	in.Stops = stoppedAgents().Stops
	in.Reader = "01890a5d-ac96-774b-bcce-b302099a8998"
	in.Agent.Name, in.Agent.OwnerName = hostile+strings.Repeat("unbroken", 12), strings.Repeat("unbroken", 12)
	in.Groups = models.CallGroups{Calls: 200, More: true, Groups: []models.CallGroup{
		{Kind: models.KindToolCall, Tool: hostile, Rule: hostile, Effect: models.CallWaited, Count: 150},
		{Kind: models.KindToolCall, Tool: strings.Repeat("unbroken", 12), Effect: models.CallUngated, Count: 40},
		{Kind: models.KindToolCall, Tool: strings.Repeat("unbroken", 12), Effect: models.CallStopped, Count: 10},
	}}
	return in
}

// everyonesStops are the stops of a list of everybody's.
func everyonesStops() agents.EveryoneInput {
	in := everyonesAgents()
	in.Stops = append(stoppedAgents().Stops, models.Stop{
		ID: "01890a5d-ac96-774b-bcce-b302099a8603", AgentID: "01890a5d-ac96-774b-bcce-b302099a8777", AgentName: "elsewhere",
		Note: "It loops.", At: Now.Add(-time.Minute), ByID: UserID, ByName: "Ada Berg",
	})
	in.StopForm = agents.StopForm{Lift: in.Stops[2].ID, Errors: map[string]string{"note": mustSayWhy}}
	return in
}

// manyAgents are as many as somebody might have, named as badly as can be.
func manyAgents() agents.Input {
	in := agents.Input{Common: agents.Common{Reader: UserID, Figures: models.AgentsFigures{Of: map[models.AgentID]models.AgentFigures{}}}, Next: "k2"}
	for i := range 40 {
		n := strconv.Itoa(100 + i)
		id := models.AgentID("01890a5d-ac96-774b-bcce-b302099a8" + n)
		a := models.OwnedAgent{Agent: models.Agent{ID: id, OwnerID: UserID, Name: "agent-" + n, CreatedAt: Now.Add(-time.Hour)}}
		switch i {
		case 1:
			a.Name = "<b>\u202Etob"
		case 2:
			a.Name = strings.Repeat("unbroken", 16)
		case 3:
			in.Figures.Of[id] = models.AgentFigures{
				LastAskAt: &Now, Days: [models.AgentDays]int{1000, 1000, 1000, 1000, 1000, 1000, 1000}, Pending: 1000, Cancels: 1000,
			}
		case 4:
			a.System, a.Name = true, models.BuiltIn
		case 5:
			a.DisabledAt = &Now
		}
		t := models.Token{
			ID: models.TokenID("01890a5d-ac96-774b-bcce-b302099a9" + n), Hint: "csa_" + n, Scope: models.ScopeAgent,
			AgentID: &id, CreatedAt: a.CreatedAt, ExpiresAt: new(Now.Add(time.Duration(i-2) * time.Hour)),
		}
		a.Tokens = []models.Token{t}
		in.Agents, in.Tokens = append(in.Agents, a), append(in.Tokens, t)
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
	agent := func(id models.AgentID, name, owner, email string, tokens ...models.Token) models.OwnedAgent {
		return models.OwnedAgent{
			Agent: models.Agent{ID: id, Name: name, CreatedAt: Now.Add(-72 * time.Hour)}, OwnerName: owner,
			OwnerEmail: email, Tokens: tokens,
		}
	}
	const other = "01890a5d-ac96-774b-bcce-b302099a819"
	return agents.EveryoneInput{Common: in.Common, Next: "k2", Agents: []models.OwnedAgent{
		agent(AgentID, "release-bot", "Ada Berg", "ada@example.org", in.Tokens[0]),
		agent(other+"1", "planner", "Bo Lind", "bo@example.org"),
		agent(other+"2", hostile, hostile, "eve@example.org"),
		agent(other+"3", strings.Repeat("unbroken", 16), strings.Repeat("unbroken", 12),
			strings.Repeat("unbroken", 12)+"@example.org", in.Tokens[0]),
	}}
}

// everyonesTokens are tokens by which people act.
func everyonesTokens() agents.EveryoneInput {
	token := models.OwnedToken{Token: AgentsInput().Tokens[1], OwnerName: "Bo Lind", OwnerEmail: "bo@example.org"}
	return agents.EveryoneInput{
		Common: agents.Common{Place: views.AgentsPlace{People: true, Text: "bo@", After: "k1"}}, Tokens: []models.OwnedToken{token},
	}
}
