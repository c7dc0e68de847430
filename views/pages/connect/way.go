package connect

import (
	"embed"
	"strings"

	"countersign/views/highlight"
	"countersign/views/ui"
)

// snippets are what people paste, one file for each: tests run them as they are shown.
//
//go:embed snippets
var snippets embed.FS

// connectWay is one way to connect an agent.
type connectWay struct {
	key, label, group string
	about             string // whom it suits
	agent             string // the name that is proposed for the agent
	needs             string // the requirements; empty: none
	files             []connectFile
	away              string // what becomes of a call when the server is away
	open              bool   // a call may run without an approval
	waits             string // what limits how long it waits
	testedOn          string
}

// connectFile is one snippet: what to do with it, and its name below connect.
type connectFile struct{ label, name string }

// What several ways have in common.
const (
	needsProgram  = "The countersign program on the agent's machine."
	testedHere    = "Our tests run these lines as shown."
	asksForever   = "As long as the request is pending, 50 seconds at a time."
	paste         = "Paste into a terminal"
	inEnvironment = "Paste into the terminal in which the agent starts"
	onlyAsksByMCP = "MCP gives the agent tools to ask with. It can't stop an agent that acts without asking: where the agent has hooks or a permission prompt, use those."
	adapterAway   = "Fails closed: without an approval the function throws and the tool does not run. It retries for 30 seconds, so a server restart goes unnoticed."
	adapterAbout  = "Wraps a tool's function so that it runs only with the approved input."
)

// The groups in which ways are listed.
const (
	groupCodingAgent = "Coding agent"
	groupProgram     = "Your own program"
	groupMCP         = "MCP client"
	groupSDK         = "SDK or framework"
)

// connectWays are all ways, in the order of the page.
var connectWays = []connectWay{
	{
		key: "shell", label: "Shell", group: groupProgram, agent: "my-script", needs: needsProgram,
		about: "For scripts: the next command runs only if the request is approved.",
		files: []connectFile{{paste, "shell.sh"}},
		away:  "Fails closed: it waits through restarts of the server, and ends with exit code 3 if no server answers within 30 seconds. Only the setting fallback_auto_approve, which an admin would have to switch on, lets it continue.",
		waits: asksForever, testedOn: testedHere,
	},
	{
		key: "curl", label: "curl", group: groupProgram, agent: "my-script",
		about: "To see how the API works. It prints the answer; run a call only if approved is true, and with decision.input. In a script, countersign ask is safer: its exit code gives the answer.",
		files: []connectFile{{paste, "curl.sh"}},
		away:  "curl prints an error and the status 000: nobody approved. What your script does then is up to it.",
		open:  true,
		waits: asksForever, testedOn: testedHere,
	},
	{
		key: "go", label: "Go", group: groupProgram, agent: "my-go-program", needs: "Go 1.24 or later. No library.",
		about: "A function that returns the input to run with, or an error.",
		files: []connectFile{{paste, "env.sh"}, {"Save as main.go", "main.go.txt"}, {"Then run it", "go.sh"}},
		away:  "Fails closed: with an error the call must not run. If the server restarts while it waits, the call fails and the request stays in the inbox.",
		waits: asksForever, testedOn: testedHere,
	},
	{
		key: "claude-code", label: "Claude Code, by hooks", group: groupCodingAgent, agent: "claude-code",
		needs:    needsProgram + " Claude Code 2.1.295 or later.",
		about:    "Asks before each tool call, at a terminal and headless. The policy says which calls need a person; for all others Claude Code's own rules decide. This is the safest way to connect Claude Code.",
		files:    []connectFile{{"Paste into a terminal. It shows what it will change, and asks", "claude-code.sh"}},
		away:     "Fails closed, also where the hook crashes, is missing or runs too long. Claude Code before 2.1.295 lets the call run in those three cases. A hook of the type http lets calls run when the server is gone, so this one is a command. An agent that can write its user's files can remove any hook.",
		waits:    "Up to a day, also through restarts of the server.",
		testedOn: "Our tests run these lines, with --yes added so that nothing is asked. Claude Code 2.1.328 and 2.1.197 are run with the hooks by make test-clients.",
	},
	{
		key: "claude-code-prompt", label: "Claude Code, by permission prompt", group: groupCodingAgent, agent: "claude-code",
		needs:    "claude -p (headless): at a terminal Claude Code asks there.",
		about:    "Asks where Claude Code's own rules require permission. Hooks ask before each call.",
		files:    []connectFile{{paste, "claude-code-prompt.sh"}},
		away:     "Fails closed: a call that needs a permission does not run. It survives a restart of up to 8 seconds. What Claude Code's own rules allow is never asked.",
		waits:    "As long as the request is pending. Claude Code needs no settings for it.",
		testedOn: "Claude Code 2.1.328 and 2.1.197 are run this way by make test-clients, not by every test run.",
	},
	{
		key: "mcp-http", label: "MCP over HTTP", group: groupMCP, agent: "my-mcp-client",
		about: "For clients that take a URL. " + onlyAsksByMCP,
		files: []connectFile{{"Add to the client's configuration", "mcp-http.json"}},
		away:  "The tool call fails. An agent that asked knows that it has no approval; whether it continues is up to the agent.", open: true,
		waits:    "Clients made with the TypeScript SDK give up after 60 seconds, unless their timeout is raised; request_approval answers after 45 seconds with pending, and check_approval waits on. Claude Code needs no settings.",
		testedOn: "Our tests read this file and connect with the Go SDK. MCP Inspector is run by make test-clients. Other clients are not run here.",
	},
	{
		key: "mcp-stdio", label: "MCP as a program", group: groupMCP, agent: "my-mcp-client", needs: needsProgram,
		about: "For clients that start programs. It survives a server restart. " + onlyAsksByMCP,
		files: []connectFile{{"Add to the client's configuration", "mcp-stdio.json"}},
		away:  "The call waits, and continues when the server is back. Whether the agent acts without asking is up to the agent.", open: true,
		waits:    "Clients made with the TypeScript SDK give up after 60 seconds, unless their timeout is raised; request_approval answers after 45 seconds with pending, and check_approval waits on. Claude Code needs no settings.",
		testedOn: "Our tests read this file and connect with the Go SDK. Other clients are not run here.",
	},
	{
		key: "humanlayer", label: "@humanlayer/sdk", group: groupSDK, agent: "my-sdk-agent", needs: "Node 20 or later.",
		about:    "The published SDK, unchanged: its address and key are all it needs.",
		files:    []connectFile{{"Save as agent.mjs", "humanlayer.mjs"}, {paste, "humanlayer.sh"}},
		away:     "Fails closed: a poll that fails ends the SDK's call, and the wrapped function does not run. The SDK does not retry; the request stays in the inbox. It runs what it sent, so an edit reaches it as a rejection.",
		waits:    "As long as the request is pending; it checks every 3 seconds.",
		testedOn: "Run as shown with 0.7.9 by make test-clients, not by every test run.",
	},
	{
		key: "openai-agents", label: "OpenAI Agents SDK", group: groupSDK, agent: "my-openai-agent",
		needs: "Node 20 or later, @openai/agents and zod.",
		about: adapterAbout,
		files: []connectFile{
			{inEnvironment, "env.sh"},
			{"Save as countersign.mjs", "countersign.mjs"},
			{"Use it in your agent", "openai-agents.mjs"},
		},
		away: adapterAway, waits: asksForever,
		testedOn: "Run as shown with @openai/agents 0.20.0 by make test-clients, not by every test run. The Python SDK is not run here.",
	},
	{
		key: "vercel-ai", label: "Vercel AI SDK", group: groupSDK, agent: "my-ai-agent",
		needs: "Node 20 or later, ai and zod.",
		about: adapterAbout,
		files: []connectFile{
			{inEnvironment, "env.sh"}, {"Save as countersign.mjs", "countersign.mjs"}, {"Use it in your agent", "vercel-ai.mjs"},
		},
		away: adapterAway, waits: asksForever,
		testedOn: "Run as shown with ai 7.0.173 by make test-clients, not by every test run.",
	},
	{
		key: "langgraph", label: "LangGraph", group: groupSDK, agent: "my-langgraph-agent",
		needs: "Node 20 or later, @langchain/core and zod.",
		about: adapterAbout,
		files: []connectFile{
			{inEnvironment, "env.sh"}, {"Save as countersign.mjs", "countersign.mjs"}, {"Use it in your graph", "langgraph.mjs"},
		},
		away: adapterAway, waits: asksForever,
		testedOn: "Run as shown with @langchain/langgraph 1.7.3 by make test-clients, not by every test run. LangGraph in Python is not run here.",
	},
}

// Ways are the keys of all ways.
func Ways() []string {
	out := make([]string, 0, len(connectWays))
	for i := range connectWays {
		out = append(out, connectWays[i].key)
	}
	return out
}

// wayNamed is the way of a key, the first for none; nil: there is no such way.
func wayNamed(key string) *connectWay {
	for i := range connectWays {
		if key == "" || connectWays[i].key == key {
			return &connectWays[i]
		}
	}
	return nil
}

// KnowsWay reports whether there is such a way to connect; an empty key means the first.
func KnowsWay(key string) bool { return wayNamed(key) != nil }

// noToken is the token in a snippet where there is none yet.
const noToken = "cs_agent_YOUR_TOKEN"

// Snippets are the texts to paste for a way, in order, with a server's address and
// a token (empty: a placeholder). Nothing else is filled in: what people and agents named
// must not get into a shell.
func Snippets(way, server, token string) []ui.Code {
	w := wayNamed(way)
	if w == nil {
		return nil
	}
	if token == "" {
		token = noToken
	}
	fill := strings.NewReplacer("@SERVER@", plainAddress(server), "@TOKEN@", token)
	out := make([]ui.Code, 0, len(w.files))
	for _, f := range w.files {
		raw, err := snippets.ReadFile("snippets/" + f.name)
		if err != nil {
			panic(err) // the embedded file is there: TestEveryFileOfConnectIsShown
		}
		name := strings.TrimSuffix(f.name, ".txt")
		out = append(out, ui.Code{
			ID: "snippet-" + strings.ReplaceAll(name, ".", "-"), Label: f.label,
			Text: strings.TrimSuffix(fill.Replace(string(raw)), "\n"), Language: highlight.LanguageOf(name),
		})
	}
	return out
}

// plainAddress is an address without a character that a shell, JSON, Go or JavaScript
// would read as more than text within double quotes: all others are percent-encoded.
func plainAddress(address string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(address) {
		c := address[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~:/[]%", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	return b.String()
}
