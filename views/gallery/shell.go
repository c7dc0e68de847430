package gallery

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inbox"
	"countersign/views/pages/nav"
)

// shellStates are what stands around every page.
func shellStates() []State {
	around := func(name, note string, mend func(*views.Page)) State {
		p := Frame("Inbox", "/")
		mend(&p)
		return State{
			Page: "shell", Name: name, Note: note, Component: inbox.Page(p, inbox.New(inbox.Input{BaseURL: serverURL, Newcomer: true}, Now)),
		}
	}
	return []State{
		around(Usual, "To an admin", func(*views.Page) {}),
		around("reviewer", "To a reviewer, for whom nothing waits",
			func(p *views.Page) { p.Viewer.Admin, p.Inbox = false, 0 }),
		around("long", "A hostile name, an address and a count too long to be shown", func(p *views.Page) {
			p.Viewer.Name, p.Viewer.Email, p.Inbox = strings.Repeat("unbroken", 12)+hostile, strings.Repeat("long",
				40)+"@example.org", models.StatsCap
			p.Title, p.Flash = hostile, &views.Flash{Tone: views.ToneBad, Text: strings.Repeat("unbroken", 60)}
		}),
		around("stopped", "Agents are stopped", func(p *views.Page) {
			p.Stopped = []views.Stopped{
				{By: "Ann", Note: "Incident 12: payments went to the wrong account."},
				{Agent: "release-bot " + hostile, By: hostile, Note: strings.Repeat("unbroken", 60)},
				{Agent: "three", By: "Bo", Note: "x"},
				{Agent: "four", By: "Bo", Note: "x"},
				{Agent: "five", By: "Bo", Note: "x"},
			}
		}),
		{
			Page: "more", Name: Usual, Note: "What a phone's bar has no room for, to an admin",
			Component: nav.MorePage(Frame("More", "/more")),
		},
		around("red", "The gate is off, fallback is on", func(p *views.Page) { p.GateOff, p.FallbackOn = true, true }),
		around("red-until", "The gate is off for an hour, fallback is on until tomorrow", func(p *views.Page) {
			p.GateOff, p.FallbackOn, p.GateOffUntil, p.FallbackUntil = true, true, Now.Add(time.Hour), Now.Add(24*time.Hour)
		}),
	}
}

func keysStates() []State {
	frame := Frame("Inbox", "/")
	frame.KeysOpen = true
	return []State{{
		Page: "keys", Name: Usual, Note: "Each key with what it does; the switches can be reached without keys",
		Component: inbox.Page(frame, inbox.New(inbox.Input{Newcomer: true}, Now)),
	}}
}
