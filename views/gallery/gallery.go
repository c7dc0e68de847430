// Package gallery holds every page and component in every state, drawn from one
// set of fixtures: for people at /dev/gallery, and for the tests that compare the
// markup, look for barriers and measure widths. It knows no database and no clock.
package gallery

import (
	"context"
	"io"
	"slices"

	"github.com/a-h/templ"

	"countersign/views"
)

// Usual is the name of the state in which a page is seen most.
const Usual = "usual"

// State is one page in one state.
type State struct {
	Page string // whose state it is, such as "inbox"
	Name string // such as "empty"; Usual for the first; unique within the page
	Note string // what to look at, one line
	// Component is the whole document, or a part of one.
	Component templ.Component
	// Part says that it is no whole document: Document puts it into a page.
	Part bool
}

// Key names the state among all: the page, and the name unless it is Usual.
func (s State) Key() string {
	if s.Name == Usual {
		return s.Page
	}
	return s.Page + "-" + s.Name
}

// Document is the state as a whole document.
func (s State) Document() templ.Component {
	if !s.Part {
		return s.Component
	}
	return part(Frame(s.Page+", "+s.Name, "/dev/gallery"), s.Component)
}

// States are all states, those of one page beside each other. Each call makes
// them anew, so that nobody changes what another sees.
func States() []State {
	return slices.Concat(
		inboxStates(), approvalStates(), madeStates(), proposalStates(),
		conversationsStates(), conversationStates(), runStates(), callStates(), budgetStates(),
		agentsStates(), connectStates(), historyStates(), auditStates(), ledgerStates(), insightsStates(), policyStates(), policyProposalStates(),
		peopleStates(), awayStates(), peopleAwayStates(), groupsStates(), sessionsStates(), systemStates(), upstreamsStates(),
		notificationsStates(), systemNotificationsStates(), webhooksStates(), webhookStates(),
		grantsStates(), accountStates(), docsStates(), failureStates(), shellStates(), keysStates(), paletteStates(),
		componentStates(),
	)
}

// watched is a state as an auditor sees it.
func watched(s State) State {
	shown := s.Component
	s.Component = templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return shown.Render(views.Watching(ctx), w)
	})
	return s
}
