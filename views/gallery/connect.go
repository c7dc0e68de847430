package gallery

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/connect"
)

// connectServer is the address that the snippets have.
const connectServer = "https://sign.example"

func connectStates() []State {
	state := func(name, note string, change func(*connect.Input)) State {
		base := AgentsInput()
		in := connect.Input{Way: "shell", Server: connectServer, Agents: []models.Agent{base.Agents[0].Agent}, Tokens: base.Tokens}
		change(&in)
		frame := Frame("Connect an agent", views.ConnectURL("", ""))
		return State{Page: "connect", Name: name, Note: note, Component: connect.Page(frame, connect.New(in, Now))}
	}
	states := []State{
		state(Usual, "Ways, a form, and lines with a placeholder", func(*connect.Input) {}),
		state("fresh", "The lines with a token, shown only now", func(in *connect.Input) {
			in.Way, in.Agent, in.Secret = "claude-code", &in.Agents[0], "cs_agent_0123456789abcdef"
			in.Tokens[0].LastUsedAt = nil
		}),
		state("used", "The token was used; no request yet", func(in *connect.Input) {
			in.Way, in.Agent = "mcp-http", &in.Agents[0]
		}),
		state("received", "The first request has come, with a hostile name", func(in *connect.Input) {
			in.Way, in.Agent = "mcp-stdio", &in.Agents[0]
			in.Agents[0].Name = hostile
			in.Last = new(Shell())
			in.Last.ToolName, in.Last.CreatedAt = hostile, Now.Add(-3*time.Second)
		}),
		state("taken", "The agent has a token; the name is long", func(in *connect.Input) {
			in.Way = "go"
			in.Form = connect.Form{
				Agent: strings.Repeat("unbroken", 16), Errors: map[string]string{"agent": "already has a token"}, Replace: true,
			}
		}),
		state("revoked", "The agent has no token that works", func(in *connect.Input) {
			in.Way, in.Agent, in.Tokens = "curl", &in.Agents[0], nil
		}),
	}
	for _, way := range []string{"claude-code-prompt", "humanlayer", "openai-agents", "vercel-ai", "langgraph"} {
		states = append(states,
			state(way, "What is said of this way", func(in *connect.Input) { in.Way, in.Agents = way, []models.Agent{} }))
	}
	return states
}
