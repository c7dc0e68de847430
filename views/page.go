package views

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"countersign/models"
)

// Page is what the shell needs around a screen. With the zero Viewer no one is signed in: no navigation, no stream.
type Page struct {
	Title  string // of the screen, without the product's name
	Path   string // of the request: marks the current place in the navigation
	Now    time.Time
	Viewer *Viewer
	Inbox  int // requests that wait for the viewer; counting stops at models.StatsCap
	Flash  *Flash
	Watch  []models.ResponseID // requests on the page that its stream tells about
	// Since marks when the page was read: its stream first sends the changes after that.
	Since string
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
	// Narrow is for pages with one form alone: sign-in, setup, errors.
	Narrow bool
}

// Viewer is who is signed in.
type Viewer struct {
	ID    models.UserID
	Name  string
	Email string

	Admin, Auditor, PolicyEditor bool
}

// Oversees reports whether the viewer sees what belongs to everybody.
func (v Viewer) Oversees() bool { return v.Admin || v.Auditor }

// Role is what the viewer is called.
func (v Viewer) Role() string {
	switch {
	case v.Admin:
		return string(models.RoleAdmin)
	case v.Auditor:
		return string(models.RoleAuditor)
	case v.PolicyEditor:
		return models.RolePolicyEditor.Word()
	}
	return string(models.RoleReviewer)
}

type watching struct{}

// Watching has pages that are rendered with the context show no act: an auditor sees them.
func Watching(ctx context.Context) context.Context { return context.WithValue(ctx, watching{}, true) }

// Acts reports whether a page shows what its viewer might change.
func Acts(ctx context.Context) bool { return ctx.Value(watching{}) == nil }

// person names whom the page is for: scripts stop if another person signs in.
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

// FullTitle begins with the count of pending requests and ends with the product.
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

// The groups of the navigation. An entry without a group is in the bar itself.
const (
	groupAgents = "Agents"
	groupAdmin  = "Admin"
)

type place struct {
	label, icon, url string
	rest             string // of the label, where there is room
	group            string // whose menu it is in; empty: the bar
	thumb            bool   // it is in a phone's bar too
	acts             bool   // it is nothing for an auditor
	current          bool
}

// navigationItem is a place in the bar, or a menu of some.
type navigationItem struct {
	place

	menu   string
	places []place
}

// PlaceGroup are places under one title.
type PlaceGroup struct {
	Title  string
	Places []Place
}

// Place is a page that the navigation leads to.
type Place struct {
	Label, Icon, URL string
	Current          bool
}

// places is the one navigation.
func (p Page) places() []place {
	if p.Viewer == nil {
		return nil
	}
	out := []place{
		{label: "Inbox", icon: "inbox", url: InboxURL(), thumb: true},
		{label: "Conversations", icon: "messages-square", url: ConversationsURL(), thumb: true},
		{label: "History", icon: "clock", url: HistoryURL(), thumb: true},
		{label: "Audit", icon: "scroll-text", url: AuditURL()},
		{label: "Insights", icon: "activity", url: InsightsURL()},
		{label: "Agents", rest: "& tokens", icon: "key-round", url: AgentsURL(), group: groupAgents},
		{label: "Connect", icon: "send", url: ConnectURL("", ""), group: groupAgents, acts: true},
		{label: "Pre-approvals", icon: "check", url: GrantsURL(), group: groupAgents},
		{label: "Policy", icon: "sliders-horizontal", url: PolicyURL()},
	}
	if p.Viewer.Oversees() {
		out[len(out)-1].group = groupAdmin
		out = append(out,
			place{label: "People", icon: "users", url: PeopleURL(), group: groupAdmin},
			place{label: "System", icon: "activity", url: SystemURL(), group: groupAdmin})
	}
	if p.Viewer.Auditor {
		out = slices.DeleteFunc(out, func(one place) bool { return one.acts })
	}
	for i := range out {
		out[i].current = p.Path == out[i].url || out[i].url != InboxURL() && strings.HasPrefix(p.Path, out[i].url+"/")
	}
	return out
}

// navigation is the bar: its places, and a menu where the first of a group would be.
func (p Page) navigation() []navigationItem {
	var out []navigationItem
	for _, one := range p.places() {
		last := len(out) - 1
		switch {
		case one.group == "":
			out = append(out, navigationItem{place: one})
		case last >= 0 && out[last].menu == one.group:
			out[last].places = append(out[last].places, one)
			out[last].current = out[last].current || one.current
		default:
			out = append(out, navigationItem{menu: one.group, place: place{current: one.current}, places: []place{one}})
		}
	}
	return out
}

// BeyondThumb are the places that a phone's bar has no room for, in groups, and those
// of the account.
func (p Page) BeyondThumb() []PlaceGroup {
	var out []PlaceGroup
	for _, one := range p.places() {
		title := cmp.Or(one.group, "Countersign")
		if one.thumb {
			continue
		}
		at := slices.IndexFunc(out, func(g PlaceGroup) bool { return g.Title == title })
		if at < 0 {
			at, out = len(out), append(out, PlaceGroup{Title: title})
		}
		out[at].Places = append(out[at].Places,
			Place{strings.TrimSpace(one.label + " " + one.rest), one.icon, one.url, one.current})
	}
	you := []Place{{"Change password", "key-round", PasswordURL(), false}}
	if !p.Viewer.Auditor {
		you = append(you, Place{"Notifications", "bell", NotificationsURL(), false}, Place{"Away", "clock", AwayURL(), false})
	}
	return append(out, PlaceGroup{Title: "You", Places: append(you,
		Place{"My sessions", "monitor", SessionsURL(), false}, Place{"API reference", "info", DocsURL(), false},
	)})
}

// beyondThumb reports whether the page is one of those, or the list of them.
func (p Page) beyondThumb() bool {
	return p.Path == MoreURL() ||
		slices.ContainsFunc(p.places(), func(one place) bool { return one.current && !one.thumb })
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
