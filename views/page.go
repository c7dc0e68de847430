package views

import (
	"strings"
	"time"

	"github.com/a-h/templ"

	"countersign/models"
)

// Page is what the shell needs around a screen. The zero Viewer is nobody signed
// in: no navigation, no stream.
type Page struct {
	Title  string // of the screen, without the product's name
	Path   string // of the request: marks the current place in the navigation
	Now    time.Time
	Viewer *Viewer
	Inbox  int // requests that wait for the viewer; counting stops at models.StatsCap
	Flash  *Flash
	Watch  []models.ResponseID // requests on the page that its stream tells about
	// Conversation is the one on the page, which its stream tells about too.
	Conversation models.ConversationID
	// Agent is the one on the page, whose requests its stream tells about too.
	Agent models.AgentID
	// Stopped are the agents that a person stopped.
	Stopped []Stopped
	// GateOff says that approval_enabled is false: no tool call is held.
	GateOff bool
	// GateOffUntil is when it is on again; zero: that has no end.
	GateOffUntil time.Time
	// FallbackOn says that fallback_auto_approve is true.
	FallbackOn bool
	// FallbackUntil is when it ends; zero: it has no end.
	FallbackUntil time.Time
	// KeysOpen shows the list of keys from the start.
	KeysOpen bool
	// Palette shows the palette from the start, with these results.
	Palette templ.Component
	// Narrow is for forms that stand alone: sign-in, setup, errors.
	Narrow bool
}

// Viewer is who is signed in.
type Viewer struct {
	ID    models.UserID
	Name  string
	Email string
	Admin bool
}

// Role is what the viewer is called.
func (v Viewer) Role() string {
	if v.Admin {
		return "admin"
	}
	return "reviewer"
}

// person names whom the page is for: scripts let nobody else go on with it.
func (p Page) person() templ.Attributes {
	if p.Viewer == nil {
		return nil
	}
	return templ.Attributes{"data-user": string(p.Viewer.ID)}
}

// Tone is what a message or badge means; it is always said in words too.
type Tone string

// The tones.
const (
	ToneNeutral Tone = "neutral"
	ToneAccent  Tone = "accent"
	ToneGood    Tone = "good"
	ToneWarn    Tone = "warn"
	ToneBad     Tone = "bad"
)

// Flash is one line about what just happened.
type Flash struct {
	Tone Tone
	Text string
}

// FullTitle begins with the count of what waits and ends with the product.
func (p Page) FullTitle() string {
	title := "Countersign"
	if p.Title != "" {
		title = models.StoredOrder(p.Title) + " · " + title
	}
	if p.Viewer != nil && p.Inbox > 0 {
		title = "(" + Count(p.Inbox) + ") " + title
	}
	return title
}

type place struct {
	label, icon, url string
	rest             string // of the label, left out where there is no room
	current          bool
}

// places is the one navigation.
func (p Page) places() []place {
	if p.Viewer == nil {
		return nil
	}
	out := []place{
		{label: "Inbox", icon: "inbox", url: InboxURL()},
		{label: "Conversations", icon: "messages-square", url: ConversationsURL()},
		{label: "History", icon: "clock", url: HistoryURL()},
		{label: "Pre-approvals", icon: "check", url: GrantsURL()},
		{label: "Agents", rest: "& tokens", icon: "key-round", url: AgentsURL()},
		{label: "Connect", icon: "send", url: ConnectURL("", "")},
		{label: "Audit", icon: "scroll-text", url: AuditURL()},
		{label: "Policy", icon: "sliders-horizontal", url: PolicyURL()},
	}
	if p.Viewer.Admin {
		out = append(out, place{label: "People", icon: "users", url: PeopleURL()}, place{label: "System", icon: "activity", url: SystemURL()})
	}
	for i := range out {
		out[i].current = p.Path == out[i].url || out[i].url != InboxURL() && strings.HasPrefix(p.Path, out[i].url+"/")
	}
	return out
}

// Stopped is one agent, or all where it has no name, that a person stopped.
type Stopped struct{ Agent, By, Note string }

// shownStops is how many of them a page names; the page of agents has all.
const shownStops = 3

func (s Stopped) who() string {
	if s.Agent == "" {
		return "All agents are stopped"
	}
	return "The agent “" + models.RevealString(s.Agent, false) + "” is stopped"
}
