package connect

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// Input is what the page that connects an agent is made of.
type Input struct {
	Way    string // one of Ways; empty: the first
	Server string // the address that agents use
	Agents []models.Agent
	Tokens []models.Token
	// Agent is the one that is being connected, or nil; Secret its token, where it was made
	// just now; Last what it asked last, or nil.
	Agent  *models.Agent
	Secret string
	Last   *models.Approval
	Form   Form
}

// Form keeps the form if no token could be made.
type Form struct {
	Agent   string
	Errors  map[string]string // by field
	Replace bool              // the agent has a token, which a new one replaces
}

// View is the view model of the page that connects an agent.
type View struct {
	Groups   []Group
	Way      WayTold
	Action   string
	Agent    ui.Field
	Replace  bool
	Fresh    *FreshToken
	Snippets []ui.Code
	Receipt  *Received
}

// Group is ways of one kind.
type Group struct {
	Label string
	Ways  []Link
}

// Link leads to a way.
type Link struct {
	Label, URL string
	Current    bool
}

// WayTold is what the page says about the chosen way.
type WayTold struct {
	Key, Label, About, Needs, Away, Waits, TestedOn string
	Open                                            bool
}

// Received says whether a request of the agent has come since its token was made.
type Received struct {
	Way     string
	Agent   models.AgentID
	Name    string
	NoToken bool         // it has none that works
	Used    views.Moment // when its token was used; zero: never
	Tool    string       // of the request; empty: none yet
	URL     string       // of the request
	At      views.Moment
	State   ui.Word
}

// New makes the page as of now.
func New(in Input, now time.Time) View {
	w := wayNamed(in.Way)
	v := View{
		Way: WayTold{
			Key: w.key, Label: w.label, About: w.about, Needs: w.needs, Away: w.away, Waits: w.waits, TestedOn: w.testedOn,
			Open: w.open,
		},
		Action:   views.ConnectURL("", ""),
		Snippets: Snippets(w.key, in.Server, in.Secret),
		Replace:  in.Form.Replace,
	}
	var agent models.AgentID
	if in.Agent != nil {
		agent, v.Receipt = in.Agent.ID, NewReceived(in, now)
	}
	if in.Secret != "" {
		v.Fresh = &FreshToken{Scope: models.ScopeAgent, Name: in.Agent.Name, Secret: in.Secret}
	}
	for i := range connectWays {
		one := &connectWays[i]
		if len(v.Groups) == 0 || v.Groups[len(v.Groups)-1].Label != one.group {
			v.Groups = append(v.Groups, Group{Label: one.group})
		}
		last := &v.Groups[len(v.Groups)-1]
		last.Ways = append(last.Ways, Link{Label: one.label, URL: views.ConnectURL(one.key, agent), Current: one == w})
	}
	v.Agent = ui.Field{
		Name: "agent", Label: "Name of the agent", Required: true, MaxLength: strconv.Itoa(models.MaxName),
		Value: in.Form.Agent, Error: in.Form.Errors["agent"],
		Help: "Shown with every request. It sees only its own requests and can never decide.",
	}
	if in.Form.Errors == nil {
		v.Agent.Value = freeName(w.agent, in.Agents)
	}
	for i := range in.Agents {
		// A name that has to be escaped can't be offered: it would be another name.
		a := &in.Agents[i]
		if !a.System && a.DisabledAt == nil && models.RevealString(a.Name, false) == a.Name {
			v.Agent.List = append(v.Agent.List, a.Name)
		}
	}
	return v
}

// freeName is a name that none of the agents has: the proposed one, or that with a number.
func freeName(name string, agents []models.Agent) string {
	inUse := func(name string) bool {
		return slices.ContainsFunc(agents, func(a models.Agent) bool { return a.Name == name })
	}
	free := name
	for n := 2; inUse(free); n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}

// NewReceived tells of the agent of the input as of now.
func NewReceived(in Input, now time.Time) *Received {
	out := &Received{Way: in.Way, Agent: in.Agent.ID, Name: in.Agent.Name, NoToken: true}
	var since time.Time
	for i := range in.Tokens {
		if t := &in.Tokens[i]; t.AgentID != nil && *t.AgentID == in.Agent.ID && t.Live(now) {
			out.NoToken, since = false, t.CreatedAt
			out.Used = views.AgoOf(t.LastUsedAt, now)
		}
	}
	switch {
	case out.NoToken:
		out.State = ui.Word{Text: "no token", Tone: views.ToneWarn}
	case in.Last == nil || in.Last.CreatedAt.Before(since):
		out.State = ui.Word{Text: "waiting", Tone: views.ToneNeutral}
		if !out.Used.IsZero() {
			out.State = ui.Word{Text: "connected", Tone: views.ToneAccent}
		}
	default:
		out.State = ui.Word{Text: "received", Tone: views.ToneGood, Icon: "check"}
		out.Tool, out.URL, out.At = asked(in.Last), views.ApprovalURL(in.Last.ID), views.Ago(in.Last.CreatedAt, now)
	}
	return out
}

// asked names what a request is about.
func asked(a *models.Approval) string {
	if a.ToolName != "" {
		return a.ToolName
	}
	return strings.ReplaceAll(string(a.Kind), "_", " ")
}
