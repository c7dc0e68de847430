package agents

import (
	"time"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/pages/connect"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// AgentInput is what the page of one agent is made of.
type AgentInput struct {
	Common

	Agent           models.OwnedAgent // with its newest tokens, those that ended too
	Groups          models.CallGroups
	Pending, Newest []models.Brief
	Fresh           *connect.FreshToken
	TokenForm       TokenForm
}

// Agent is the view model of the page of one agent.
type Agent struct {
	*Common

	Row       AgentRow
	Note      string     // of what stops it; empty: nothing does
	StopLines []StopLine // that of all agents
	Since     views.Moment
	Theirs    bool // it is somebody else's: the page says whose

	Calls           []CallLine
	CallsNote       string
	Pending, Newest []RequestLine
	MorePending     bool

	HistoryURL, ConversationsURL, AuditURL string

	Tokens   []TokenRow
	NewToken bool // the reader may make one
	Fresh    *connect.FreshToken
	Form     TokenForm
}

// CallLine is what the policy did with calls of one tool.
type CallLine struct {
	Tool, Kind string // Kind: in place of a tool
	Parts      []CallPart
}

// CallPart is one rule's share of them, in words.
type CallPart struct {
	Text string // "12 waited for a person"
	Rule string // a name that an admin wrote; empty: there is none
	Why  string // in place of a rule
	End  string // a comma, where another follows
	URL  string
}

// RequestLine is one request in a list.
type RequestLine struct {
	URL, Tool, Kind, Summary string
	State                    ui.Word
	At                       views.Moment
}

// NewAgent makes the page as of now.
func NewAgent(in AgentInput, now time.Time) Agent {
	c, a := &in.Common, &in.Agent
	c.Place = views.AgentsPlace{Agent: a.ID}
	v := Agent{
		Common: c, Row: c.row(a, live(a.Tokens, now), now), Since: views.Ago(a.CreatedAt, now), Theirs: a.OwnerID != c.Reader,
		Calls: callLines(a.ID, in.Groups), CallsNote: callsNote(in.Groups),
		HistoryURL: views.HistoryPlace{Agent: a.ID}.URL(), AuditURL: views.TrailPlace{Agent: a.ID}.URL(),
		ConversationsURL: views.ConversationListURL(views.ConversationFilter{Agent: string(a.ID)}, ""),
		Pending:          requestLines(in.Pending, now), Newest: requestLines(in.Newest, now),
		MorePending: c.Figures.Of[a.ID].Pending > len(in.Pending),
		NewToken:    a.OwnerID == c.Reader && !a.System && a.DisabledAt == nil, Fresh: in.Fresh, Form: in.TokenForm,
	}
	if own := c.stopOf(a.ID); own != nil {
		v.Note = own.Note
	}
	v.StopLines = c.stopLines(func(models.AgentID) bool { return true }, now)
	for i := range a.Tokens {
		v.Tokens = append(v.Tokens, tokenRow(&a.Tokens[i], c.Place, now))
	}
	return v
}

func requestLines(list []models.Brief, now time.Time) []RequestLine {
	var out []RequestLine
	for i := range list {
		r := &list[i].Response
		line := RequestLine{
			URL: views.ApprovalURL(r.ID), Tool: r.ToolName, Summary: words.Summary(r),
			State: ui.StatusWord(r.Status(), r.Cause), At: views.Ago(r.CreatedAt, now),
		}
		if r.Kind != models.KindToolCall {
			line.Kind = r.Kind.Word()
		}
		out = append(out, line)
	}
	return out
}

// callLines puts the groups of calls into sentences, a line for each tool.
func callLines(agent models.AgentID, groups models.CallGroups) []CallLine {
	var out []CallLine
	for i, g := range groups.Groups {
		if i == 0 || groups.Groups[i-1].Kind != g.Kind || groups.Groups[i-1].Tool != g.Tool {
			line := CallLine{Tool: g.Tool}
			if g.Tool == "" || g.Kind != models.KindToolCall {
				line = CallLine{Kind: words.KindTitle(g.Kind)}
			}
			out = append(out, line)
		}
		line := &out[len(out)-1]
		if n := len(line.Parts); n > 0 {
			line.Parts[n-1].End = ","
		}
		line.Parts = append(line.Parts, callPart(agent, g))
	}
	return out
}

func callPart(agent models.AgentID, g models.CallGroup) CallPart {
	place := views.HistoryPlace{Agent: agent, Tool: g.Tool}
	part := CallPart{Rule: g.Rule}
	switch g.Rule {
	case policy.RuleUnmatched, "":
		part.Rule, part.Why = "", "no rule"
	case policy.RuleExplicit:
		part.Rule, part.Why = "", "the agent asked"
	case policy.RuleRequiredTools:
		part.Rule, part.Why = "", "on the list of tools that need approval"
	}
	text := ""
	switch g.Effect {
	case models.CallWaited:
		text = "waited for a person"
	case models.CallRan:
		text, place.Cause, place.Status = "ran freely", models.CausePolicy, models.StatusApproved
	case models.CallPreApproved:
		text, place.Cause = "ran by a pre-approval", models.CauseGrant
	case models.CallUngated:
		text, place.Cause = "ran while approval was off", models.CauseGateOff
	case models.CallFallback:
		text, place.Cause = "ran or failed without an answer of the server", models.CauseFallback
	case models.CallDenied:
		text, place.Cause, place.Status = "denied", models.CausePolicy, models.StatusRejected
	case models.CallStopped:
		text, place.Cause = "rejected while the agent was stopped", models.CauseStopped
	case models.CallStranded:
		text, place.Cause = "ended: nobody could approve", models.CauseNoReviewer
	}
	if g.Effect == models.CallUngated || g.Effect == models.CallFallback || g.Effect == models.CallStopped {
		part.Rule, part.Why = "", "" // no rule decided that
	}
	part.Text, part.URL = views.Count(g.Count)+" "+text, place.URL()
	return part
}

// callsNote says of how many calls the sentences are.
func callsNote(groups models.CallGroups) string {
	switch {
	case groups.More:
		return "Its last " + views.Count(groups.Calls) + " calls, by tool."
	case groups.Calls == 1:
		return "Its only call so far."
	}
	return "All of its " + views.Count(groups.Calls) + " calls, by tool."
}

// noTokens says why an agent has none.
func (v Agent) noTokens() string {
	if v.Row.Tokens == "" {
		return "The built-in agent needs no token."
	}
	return "No live token: this agent can't ask."
}
