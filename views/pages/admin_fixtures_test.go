package pages_test

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages"
)

// adminScreens are the pages of people, sessions, the whole ledger and the
// system in their states.
func adminScreens() []screen {
	people := func(in pages.PeopleInput) screen {
		return screen{page: pages.PeoplePage(page("People", "/people"), pages.NewPeople(in, now))}
	}
	named := func(name string, s screen) screen { s.name = name; return s }
	fresh, wrong, paged := peopleInput(), peopleInput(), peopleInput()
	fresh.Fresh = &pages.FreshInvite{Email: "new@example.org", Link: "https://countersign.example/join?key=0123456789abcdef"}
	wrong.Form = pages.InviteForm{Email: "bo@example.org", Role: models.RoleAdmin, Errors: map[string]string{"email": "is in use"}}
	wrong.Problem = "The last enabled admin cannot be disabled: add another admin first."
	paged.After, paged.Next, paged.Invites = "a@example.org", "z@example.org", nil
	alone := views.Page{Title: "Join", Path: "/join", Now: now, Narrow: true}
	invite := peopleInput().Invites[0]
	ledger := func(in pages.LedgerInput) screen {
		return screen{page: pages.LedgerPage(page("Audit of everything", "/audit/all"), pages.NewLedger(in, now))}
	}
	running, broken, none := ledgerInput(), ledgerInput(), ledgerInput()
	running.Chain = pages.ChainState{Running: true, Read: 409600, Of: 1000000}
	broken.Chain = pages.ChainState{Ended: now.Add(-time.Minute), Fault: "The chain does not hold: ledger entry 7: was changed: its content does not give its hash.", Broken: true}
	broken.Looked, broken.Before = true, 1300
	none.Entries, none.Filter, none.Next = nil, views.LedgerFilter{Who: "nobody", From: "soon", Action: "x<y"}, 0
	none.Errors = map[string]string{"who": "must be the e-mail of somebody here", "from": "must be a time"}
	nothing := none
	nothing.Errors = nil
	e, before := sealed()
	changed := e
	changed.ActorName = "Eve"
	entry := func(e models.Entry, before []byte, newest int64) screen {
		return screen{page: pages.LedgerEntryPage(page("Entry 2", "/audit/entries/2"), pages.NewLedgerEntry(e, before, newest))}
	}
	system := func(in pages.SystemInput) screen {
		return screen{page: pages.SystemPage(page("System", "/system"), pages.NewSystem(in, now))}
	}
	bad := systemInput()
	bad.Fault, bad.GateOff, bad.FallbackOn = "Not ready: the database cannot be written.", true, true
	bad.State.Stranded, bad.State.StrandedMore = []models.PendingRef{*bad.State.Oldest, {ID: "01890a5d-ac96-774b-bcce-b302099a8058", Kind: models.KindQuestion, AgentName: "<b>\u202E", OwnerName: "Gone", AskedAt: now, Deadline: models.NoDeadline}}, true
	withUpstreams := systemInput()
	withUpstreams.Upstreams = upstreamStates()
	upstreams := func(in pages.UpstreamsInput) screen {
		return screen{page: pages.UpstreamsPage(page("Upstreams", "/system"), pages.NewUpstreams(in, now))}
	}
	refused := pages.UpstreamsInput{Problem: "Nothing was changed: key: must hold visible ASCII characters only.", Form: pages.UpstreamForm{
		Name: "<b>calls", BaseURL: "http://169.254.169.254", Dialect: "cloud", Owner: "nobody@example.org",
		Errors: map[string]string{"base_url": "must not be a link-local address", "owner": "must be the e-mail of somebody here", "key": "must hold visible ASCII characters only"},
	}}
	return []screen{
		named("upstreams", upstreams(pages.UpstreamsInput{Upstreams: upstreamStates(), Form: pages.UpstreamForm{Owner: "ada@example.org"}})),
		named("upstreams-refused", upstreams(refused)),
		named("system-upstreams", system(withUpstreams)),
		named("people", people(peopleInput())), named("people-fresh", people(fresh)), named("people-wrong", people(wrong)), named("people-paged", people(paged)),
		{"join", pages.JoinPage(alone, pages.NewJoin("k3y", invite, "", nil))},
		{"join-errors", pages.JoinPage(alone, pages.NewJoin("k3y", invite, "Ad", models.Invalid("password", "must be 12 to 128 characters long")))},
		{"sessions", pages.SessionsPage(page("My sessions", "/account/sessions"), pages.NewSessions(sessionsInput(), now))},
		{"sessions-one", pages.SessionsPage(page("My sessions", "/account/sessions"), pages.NewSessions(pages.SessionsInput{Devices: sessionsInput().Devices[:1], Current: "s1"}, now))},
		{"sessions-none", pages.SessionsPage(page("My sessions", "/account/sessions"), pages.NewSessions(pages.SessionsInput{Before: "s0"}, now))},
		named("ledger", ledger(ledgerInput())), named("ledger-running", ledger(running)), named("ledger-broken", ledger(broken)), named("ledger-none", ledger(none)), named("ledger-nothing", ledger(nothing)),
		{"ledger-chain", pages.ChainPanel(pages.NewChain(pages.ChainState{Ended: now.Add(-3 * time.Second), Fault: "The ledger could not be read."}, now), "7:ab")},
		named("ledger-entry", entry(e, before, 3)), named("ledger-entry-broken", entry(changed, []byte{1}, 2)),
		named("system", system(systemInput())), named("system-bad", system(bad)), named("system-empty", system(pages.SystemInput{Started: now})),
	}
}

func peopleInput() pages.PeopleInput {
	made := now.Add(-90 * 24 * time.Hour)
	return pages.PeopleInput{
		Self: userID,
		People: []models.Person{
			{User: models.User{ID: userID, Email: "ada@example.org", Name: "Ada Berg", Role: models.RoleAdmin, CreatedAt: made}, Sessions: 2, LastSeen: new(now.Add(-20 * time.Second))},
			{User: models.User{ID: "01890a5d-ac96-774b-bcce-b302099a8202", Email: "bo@example.org", Name: "Bo\u202E Lind", Role: models.RoleReviewer, CreatedAt: made}},
			{User: models.User{ID: "01890a5d-ac96-774b-bcce-b302099a8203", Email: strings.Repeat("long", 40) + "@example.org", Name: "Cy", Role: models.RoleReviewer, CreatedAt: made, DisabledAt: new(now.Add(-time.Hour))}, Sessions: models.StatsCap},
		},
		Invites: []models.Invite{{ID: "01890a5d-ac96-774b-bcce-b302099a8901", Email: "new@example.org", Role: models.RoleReviewer, InviterName: "Ada Berg", CreatedAt: now.Add(-time.Hour), ExpiresAt: now.Add(7*24*time.Hour - time.Hour)}},
	}
}

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0"

func sessionsInput() pages.SessionsInput {
	device := func(id models.SessionID, agent, address string, ago time.Duration) models.Device {
		return models.Device{ID: id, UserAgent: agent, Address: address, CreatedAt: now.Add(-ago - time.Hour), LastSeenAt: now.Add(-ago), ExpiresAt: now.Add(13 * 24 * time.Hour)}
	}
	return pages.SessionsInput{
		Current: "s1", Next: "s3",
		Devices: []models.Device{device("s1", firefox, "192.0.2.7", time.Second), device("s2", "evil\u202E<b>", "2001:db8::1", time.Hour), device("s3", "", "198.51.100.4", 2*time.Hour)},
	}
}

func ledgerInput() pages.LedgerInput {
	rows := entries()
	rows[0].ActorID, rows[0].OwnerID, rows[0].ConversationID = string(userID), userID, conversationID
	return pages.LedgerInput{
		Entries: rows, Next: 1190, Actions: []string{"approval.asked", "approval.decided", "token.created"},
		Filter: views.LedgerFilter{Action: "approval.decided", From: "2026-11-20"}, Head: models.Head{Seq: 1204, Hash: []byte{0xab, 0x12}},
		Chain: pages.ChainState{Ended: now.Add(-2 * time.Minute), Took: 2300 * time.Millisecond, Head: models.Head{Seq: 1200}},
	}
}

// sealed is the second entry of a chain, and the hash of the first.
func sealed() (second models.Entry, first []byte) {
	one := models.Entry{At: "2026-11-20T10:00:00.000000Z", ActorKind: models.ActorSystem, Action: "policy.changed", Data: "{}"}
	head := models.Seal(models.Head{}, &one)
	second = models.Entry{
		At: "2026-11-20T10:29:48.000000Z", ActorKind: models.ActorUser, ActorID: string(userID), ActorName: "Bo\u202E Lind", Action: "approval.decided", OwnerID: userID,
		ConversationID: conversationID, ResponseID: "01890a5d-ac96-774b-bcce-b302099a8057", Data: `{"status":"approved","cause":"reviewer","note":"<script>alert(1)</script>"}`,
	}
	models.Seal(head, &second)
	return second, one.Hash
}

func systemInput() pages.SystemInput {
	return pages.SystemInput{
		Version: "1.4.0", Go: "go1.26", Started: now.Add(-26 * time.Hour), Streams: 9,
		State: models.SystemState{
			SQLite: "3.50.4", Schema: 4, DatabaseBytes: 48 << 20, FreeBytes: 3 << 20, LogBytes: 4 << 20,
			Entries: 120_000, Day: 4200, Week: 31_000, Responses: 51_204, People: 12, Agents: 31, Conversations: models.StatsCap, Pending: 7, Waiters: 5,
			Oldest: &models.PendingRef{ID: "01890a5d-ac96-774b-bcce-b302099a8057", ToolName: "Bash", Kind: models.KindToolCall, AgentName: "release-bot", OwnerName: "Ada Berg", AskedAt: now.Add(-4 * time.Minute), Deadline: now.Add(time.Minute)},
		},
	}
}

// upstreamStates are upstreams in every state that there is.
func upstreamStates() []models.UpstreamState {
	at := func(ago time.Duration) *time.Time { return new(now.Add(-ago)) }
	state := func(n string, mend func(*models.UpstreamState)) models.UpstreamState {
		u := models.UpstreamState{OwnerName: "Ada Berg", Upstream: models.Upstream{
			ID: models.UpstreamID("01890a5d-ac96-774b-bcce-b302099a870" + n), Name: "calls-" + n, BaseURL: "https://approvals.example.com/v" + n, Dialect: "plain",
			NextPollAt: now.Add(4 * time.Second), PolledAt: at(time.Second), SucceededAt: at(time.Second),
		}}
		mend(&u)
		return u
	}
	return []models.UpstreamState{
		state("1", func(u *models.UpstreamState) { u.Waiting = 3 }),
		state("2", func(u *models.UpstreamState) {
			u.Name, u.BaseURL, u.OwnerName = "<b>fail\u202Eing", "https://"+strings.Repeat("long", 80)+".example", "Bo\u202E Lind"
			u.Failures, u.Problem, u.SucceededAt, u.NextPollAt = 4, "The upstream did not answer within 30 seconds.", at(6*time.Minute), now.Add(70*time.Second)
			u.Waiting, u.Untold, u.UntoldSince, u.UntoldProblem = models.StatsCap, 2, at(5*time.Minute), "The upstream failed (503)."
		}),
		state("3", func(u *models.UpstreamState) {
			u.Problem = "The upstream lists more than 100 pages. So nothing was taken for settled there."
		}),
		state("4", func(u *models.UpstreamState) { u.PolledAt, u.SucceededAt, u.NextPollAt = nil, nil, now }),
		state("5", func(u *models.UpstreamState) { u.NextPollAt = now.Add(-2 * time.Minute) }),
		state("6", func(u *models.UpstreamState) {
			u.DisabledAt, u.Failures, u.Problem, u.Dialect, u.SucceededAt = at(time.Hour), 1, "The upstream refuses the key (401).", "cloud", nil
		}),
	}
}
