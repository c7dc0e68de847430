package views

import (
	"net/url"

	"countersign/models"
)

// AgentsURL lists the reader's agents and tokens.
func AgentsURL() string { return "/agents" }

// AgentURL is the page of one agent.
func AgentURL(id models.AgentID) string { return "/agents/" + url.PathEscape(string(id)) }

// TokensURL takes the POST that makes a token.
func TokensURL() string { return "/agents/tokens" }

// RevokeTokenURL takes the POST that revokes a token.
func RevokeTokenURL(id models.TokenID) string {
	return "/agents/tokens/" + url.PathEscape(string(id)) + "/revoke"
}

// StopsURL is where agents are stopped, on the page of agents.
func StopsURL() string { return "/agents#stops" }

// StopAgentURL is where one agent is stopped, on its page.
func StopAgentURL(id models.AgentID) string { return AgentURL(id) + "#stop-note-" + string(id) }

// StopURL takes the form that stops agents.
func StopURL() string { return "/agents/stops" }

// LiftURL takes the form that lifts a stop.
func LiftURL(id models.StopID) string { return "/agents/stops/" + string(id) + "/lift" }

// AgentsPlace is a page of agents. The zero value is the reader's own.
type AgentsPlace struct {
	Agent    models.AgentID // of this one alone
	Everyone bool           // everybody's, for admins
	People   bool           // of everybody's the tokens of people, in place of agents
	Text     string         // in a name
	After    string         // the key of the page before
}

// PlaceEveryone as a member of an address is everybody's agents.
const PlaceEveryone = "all"

// URL is the address of the place.
func (p AgentsPlace) URL() string {
	switch {
	case p.Agent != "":
		return AgentURL(p.Agent)
	case p.Everyone:
		return with("/agents/all", p.members()...)
	}
	return with(AgentsURL(), "after", p.After)
}

// Row leads to an agent in the list of the place, and on its own page to the top.
func (p AgentsPlace) Row(id models.AgentID) string {
	if p.Agent != "" || id == "" {
		return p.URL()
	}
	return p.URL() + "#agent-" + string(id)
}

// Act is the address of a form at the place: what takes it leads back there.
func (p AgentsPlace) Act(path string) string {
	at := string(p.Agent)
	if p.Everyone {
		at = PlaceEveryone
	}
	return with(path, append([]string{"at", at}, p.members()...)...)
}

func (p AgentsPlace) members() []string {
	what := ""
	if p.People {
		what = "people"
	}
	return []string{"what", what, "q", p.Text, "after", p.After}
}
