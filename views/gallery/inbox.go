package gallery

import (
	"fmt"
	"strings"
	"time"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inbox"
	"countersign/views/pages/requests"
)

const serverURL = "http://127.0.0.1:8080"

// Rows are requests of every kind of tool, one of them hostile.
func Rows() []models.Brief {
	return Briefs(Payment(), Shell(), Edit(), Hidden(), Question())
}

// InboxPage is the inbox with what in says; the request that the place opens, or
// else the first, stands beside the list.
func InboxPage(in inbox.Input) templ.Component {
	p := Frame("Inbox", "/")
	p.Inbox = max(in.Count, in.Waiting)
	if in.Rights == nil {
		in.Rights = Able(in.Rows)
	}
	if in.Reader.ID == "" {
		in.Reader.ID = UserID
	}
	if in.Card == nil && !in.Missing && len(in.Rows) > 0 {
		beside(&in)
	}
	return inbox.Page(p, inbox.New(in, Now))
}

// beside puts a request of the list beside it.
func beside(in *inbox.Input) {
	shown := in.Rows[0].Approval
	for _, b := range in.Rows {
		if b.ID == in.Place.Open {
			shown = b.Approval
		}
	}
	in.Place.Open = shown.ID
	card := requests.Input{
		Approval: shown, Substitution: models.ActingPage{Right: Own}, Turns: Turns(shown), Desk: in.Place.Query(),
		Origin: in.Origins[shown.ID],
	}
	whole(&card)
	in.Card = new(requests.New(card, Now))
}

// Many are n requests that differ in what they run.
func Many(n int) []models.Brief {
	rows := make([]models.Brief, 0, n)
	for i := range n {
		rows = append(rows, Briefs(Call("Bash", fmt.Sprintf(`{"command":"make target-%d"}`, i), func(a *models.Approval) {
			a.ID = models.ResponseID(fmt.Sprintf("01890a5d-ac96-774b-bcce-b302099a9%03d", i))
			a.ApprovalTimeoutAt = Now.Add(time.Duration(i+1) * time.Minute)
		}))...)
	}
	return rows
}

// HeldRows are approvals that may still be taken back: the reader's, and another
// person's.
func HeldRows() []models.Brief {
	rows := Many(3)
	until := Now.Add(25 * time.Second)
	for i, by := range []models.UserID{UserID, "01890a5d-ac96-774b-bcce-b302099a8202"} {
		rows[i].HeldUntil = &until
		rows[i].Vote = &models.Vote{
			Verdict: models.VerdictApprove, UserID: by, UserName: "Bo Lind", At: Now, UndoUntil: &until,
		}
	}
	return rows
}

// askedBack waits for an answer of its agent.
func askedBack(a models.Approval) models.Approval {
	a.OpenNote, a.PausedLeft = new(models.NoteID("01890a5d-ac96-774b-bcce-b302099a8401")), new(int64(90))
	a.Note = &models.Note{
		ID: *a.OpenNote, AuthorKind: models.ActorUser, AuthorName: "Bo\u202E Lind", Asks: true, Content: "Which branch?",
		At: Now,
	}
	return a
}

// twinRows are a payment, and a call that was asked for twice.
func twinRows() []models.Brief {
	rows := append(Briefs(Payment()), Many(2)...)
	rows[2].Digest, rows[2].ToolInputJSON = rows[1].Digest, rows[1].ToolInputJSON
	return rows
}

// publishing are calls that differ at their end.
func publishing(n, minutes int) models.Approval {
	names := []string{"api-client", "command-line", "web-components", "server"}
	return Call("shell.run", `{"command":"npm publish --access public --workspace packages/acme-`+names[n]+`"}`, func(a *models.Approval) {
		a.ID = models.ResponseID(fmt.Sprintf("01890a5d-ac96-774b-bcce-b302099a7%03d", n))
		a.ApprovalTimeoutAt = Now.Add(time.Duration(minutes) * time.Minute)
	})
}

// publishRows are two of them, too few to be folded, and one that has a character that is
// not seen where a narrow row would cut it.
func publishRows() []models.Brief {
	odd := publishing(2, 3)
	odd.ToolInputJSON = strings.Replace(odd.ToolInputJSON, "--workspace", "--work\u200bspace", 1)
	return Briefs(publishing(0, 1), publishing(1, 2), odd)
}

// groupRows are a payment, four calls in a row, and four of which the second is of high risk.
func groupRows() []models.Brief {
	rows := Briefs(Payment(), publishing(0, 20), publishing(1, 21), publishing(2, 22), publishing(3, 23))
	for i, row := range Many(4) {
		row.ApprovalTimeoutAt = Now.Add(time.Duration(30+i) * time.Minute)
		if i == 1 {
			row.Risk = models.RiskHigh
		}
		rows = append(rows, row)
	}
	return rows
}

// groupGone has left the middle of a group.
func groupGone() models.Approval {
	a := publishing(3, 0)
	a.ID, a.ApprovalTimeoutAt = "01890a5d-ac96-774b-bcce-b302099a7900", Now.Add(21*time.Minute+time.Second)
	return Settle(a, models.StatusApproved, models.CauseReviewer,
		&models.Vote{Verdict: models.VerdictApprove, UserID: UserID, UserName: "Ann"})
}

// longRow has values as long as they may be.
func longRow() models.Approval {
	long := strings.Repeat("unbroken", 25)
	return Call(long, `{"command":"`+strings.Repeat("x", 1500)+`"}`, func(a *models.Approval) {
		a.Risk, a.AgentName, a.ConversationTitle = models.RiskCritical, long, strings.Repeat("A long title. ", 8)
	})
}

// decidedToday waited for 4, 12 and 40 seconds.
func decidedToday() []models.Brief {
	rows := Many(3)
	for i, seconds := range []int{12, 40, 4} {
		a := Settle(rows[i].Approval, models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove})
		a.ApprovalTimestamp = new(a.ApprovalRequestedAt.Add(time.Duration(seconds) * time.Second))
		rows[i].Approval = a
	}
	return rows
}

func inboxStates() []State {
	page := func(name, note string, in inbox.Input) State {
		if in.BaseURL == "" {
			in.BaseURL = serverURL
		}
		return State{Page: "inbox", Name: name, Note: note, Component: InboxPage(in)}
	}
	rows := Rows()
	settled := Settle(Many(3)[1].Approval, models.StatusApproved, models.CauseReviewer,
		&models.Vote{Verdict: models.VerdictApprove})
	late := Settle(Many(3)[2].Approval, models.StatusExpired, models.CauseTimeout, nil)
	again := Many(2)
	red := Frame("Inbox", "/")
	red.GateOff, red.FallbackOn, red.Flash = true, true, &views.Flash{Tone: views.ToneGood, Text: "Signed in."}
	narrow := views.InboxPlace{
		Agent: AgentID, Risk: models.RiskHigh, Text: "rm -rf", Tool: "Bash", Whose: "mine", Order: "age",
	}
	out := []State{
		page(Usual, "One of each kind, one of them hostile; the second is open",
			inbox.Input{Rows: rows, Count: 5, Place: views.InboxPlace{Open: rows[1].ID}}),
		page("open", "Asked for by its address: on a phone it is shown and not the list",
			inbox.Input{Rows: rows, Count: 5, Explicit: true, Place: views.InboxPlace{Open: rows[4].ID}}),
		page("many", "More than fits, of one conversation; the count is capped", inbox.Input{
			Rows: Many(50), Count: models.StatsCap, Cap: true, Waiting: models.StatsCap, Next: "k2",
			ConversationTitle: "Ship 1.4",
			Place:             views.InboxPlace{After: "k1", Conversation: ConversationID},
		}),
		page("filtered", "Every filter is set; the search ended early", inbox.Input{
			Rows: Many(2), Count: 2, Cap: true, Waiting: 240, Next: "k2", ScanCount: 10_000, Place: narrow,
			Agents: []models.Agent{{ID: AgentID, Name: "release-bot"}},
		}),
		page("none-match", "Nothing passes the filters",
			inbox.Input{Waiting: 240, Place: views.InboxPlace{Text: "nothing like it"}}),
		page("wrong", "A filter that cannot be used",
			inbox.Input{
				Waiting: 240, Place: views.InboxPlace{Text: "x"}, Errors: map[string]string{"text": "must be at most 200 bytes"},
			}),
		page("away", "The reader is away, and so is somebody whose substitute they are", inbox.Input{Rows: rows[2:3], Count: 1, Away: []models.Absence{
			absence("1", models.PersonRef{ID: UserID, Name: "Ada Berg", Email: "ada@example.org"}, awayFake, -time.Hour,
				48*time.Hour, false), absence("2", awayEve, models.PersonRef{ID: UserID}, -time.Hour, 24*time.Hour, true),
		}}),
		page("glass", "Decisions that broke glass wait for the reader", inbox.Input{Rows: rows[2:3], Count: 1, Broken: 2}),
		page("to-read", "One that the reader sees and is not asked about", inbox.Input{
			Place: views.InboxPlace{Whose: views.WhoseReads}, Rows: rows[2:3], Count: 1, Reads: true,
			Rights: map[models.ResponseID]models.Right{rows[2].ID: {}},
		}),
		page("nothing-to-read", "Nothing that the reader only sees waits", inbox.Input{Place: views.InboxPlace{Whose: views.WhoseReads}}),
		page("aside", "An agent asks for too much, and others wait together; what differs is named", asideInbox(rows, 3)),
		page("aside-alone", "Only the lines above the list", asideInbox(nil, 0)),
		page("together", "Requests of low risk that came while everybody was busy", inbox.Input{
			Place: views.InboxPlace{Whose: views.WhoseTogether}, Rows: Many(2), Count: 2, Waiting: 9,
			Aside: models.Aside{Together: 2},
		}),
		page("one", "Only one", inbox.Input{Rows: rows[2:3], Count: 1}),
		page("empty", "What will come here, and how", inbox.Input{Newcomer: true}),
		page("all-clear", "Empty after work", inbox.Input{Today: decidedToday(), Midnight: Now.Truncate(24 * time.Hour)}),
		page("token", "Empty, with a fresh token to try",
			inbox.Input{Newcomer: true, FreshToken: "csa_0123456789abcdef", FreshAgent: "first-agent"}),
		page("missing", "The address names a request that is not there",
			inbox.Input{Rows: rows[:2], Count: 2, Missing: true, Explicit: true}),
		page("held", "Approvals that may be taken back: one's own, and another person's",
			inbox.Input{Rows: HeldRows(), Count: 3}),
		page("gone", "Lines where requests stood, and what became of them",
			inbox.Input{
				Rows: Many(1), Count: 1, Gone: []models.Approval{settled, late}, Said: "Approved by Bo Lind: Bash of release-bot.",
			}),
		page("asked-again", "One was rejected before, one waits for an answer", inbox.Input{
			Rows: Briefs(again[0].Approval, askedBack(again[1].Approval)), Count: 2,
			ReaskOf: map[models.ResponseID]models.ResponseID{again[0].ID: settled.ID},
		}),
		page("escalated", "The agent of one asks for more attention", inbox.Input{Rows: Briefs(Mail()), Count: 1}),
		page("twins", "One may be a duplicate of what was approved, two are the same", inbox.Input{
			Rows: twinRows(), Count: 3,
			Twins: map[models.ResponseID]models.Twin{Payment().ID: {
				ID: settled.ID, By: "Bo\u202E Lind", At: Now.Add(-3 * time.Minute),
			}},
		}),
		page("groups", "Calls of one tool by one agent in a row are folded; what is special stays out",
			inbox.Input{Rows: groupRows(), Count: 9}),
		page("group-open", "A group is open, for the request beside the list is in it; a line of one that left", inbox.Input{
			Rows: groupRows()[1:], Count: 8, Place: views.InboxPlace{Open: groupRows()[2].ID},
			Gone: []models.Approval{groupGone()},
		}),
		page("narrow", "What differs at its end, and one with a character that is not seen",
			inbox.Input{Rows: publishRows(), Count: 3}),
		page("long", "Values as long as they may be", inbox.Input{Rows: Briefs(longRow()), Count: 1}),
		page("kinds", "A proposal, a budget request and a question",
			inbox.Input{Rows: Briefs(Plan(), Wish(1500), Question()), Count: 3}),
		page("for-others", "One is decided for somebody else, one only by others", forOthersInbox()),
		page("outside", "Asked by another system, one held until it hears", outsideInbox()),
		{
			Page: "inbox", Name: "fragment", Note: "The list as it refetches itself", Part: true,
			Component: inbox.Fragment(inbox.New(inbox.Input{Rows: rows[:1], Count: 1, Rights: Able(rows)}, Now)),
		},
		{
			Page: "inbox", Name: "red", Note: "The gate is off and fallback on; a flash",
			Component: inbox.Page(red, inbox.New(inbox.Input{Rows: rows[:1], Count: 1, Rights: Able(rows)}, Now)),
		},
	}
	return append(out, bulkStates()...)
}

func bulkStates() []State {
	var rows []models.Approval
	for _, row := range Many(3) {
		rows = append(rows, row.Approval)
	}
	rows = append(rows, longRow())
	until := Now.Add(25 * time.Second)
	held := rows[1]
	held.HeldUntil, held.Vote = &until, &models.Vote{
		Verdict: models.VerdictApprove, UserID: UserID, UserName: "Ada Berg", At: Now, UndoUntil: &until,
	}
	mine := Settle(rows[0], models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove})
	elsewhere := Settle(Hidden(), models.StatusRejected, models.CauseReviewer, &models.Vote{Verdict: models.VerdictReject})
	elsewhere.Vote.UserID = "01890a5d-ac96-774b-bcce-b302099a8203"
	page := func(name, note string, in inbox.BulkInput) State {
		v := inbox.NewBulk(in, Now)
		return State{Page: "bulk", Name: name, Note: note, Component: inbox.BulkPage(Frame(v.Title, "/"), v)}
	}
	in := inbox.BulkInput{
		Verdict: models.VerdictApprove, Reason: "Part of the release.", Reader: mine.Vote.UserID,
		Place: views.InboxPlace{Risk: models.RiskMedium},
	}
	asked, done, nothing := in, in, in
	for i := range rows {
		asked.Items = append(asked.Items, inbox.BulkItem{ID: rows[i].ID, Digest: rows[i].Digest, Approval: &rows[i]})
	}
	leftOut := in
	for i, a := range []models.Approval{Many(1)[0].Approval, Edit(), Hidden()} {
		a.Risk, a.HeldUntil = models.RiskLow, nil
		item := inbox.BulkItem{ID: a.ID, Digest: a.Digest, Approval: &a, Opened: i == 1, Ticks: i == 0}
		if i == 2 {
			item.Twin, item.ReaskOf = &models.Twin{ID: mine.ID, By: "Bo Lind", At: Now.Add(-3 * time.Minute)}, elsewhere.ID
		}
		item.LeftOut = inbox.LookFirst(&a, item.Twin, false)
		leftOut.Items = append(leftOut.Items, item)
	}
	leftOut.Ask = true
	asked.Ask, asked.Items[3].Refusal = true, inbox.NotInBulk(&rows[3], models.VerdictApprove)
	done.Items = []inbox.BulkItem{
		{ID: mine.ID, Approval: &mine, Done: true},
		{ID: held.ID, Approval: &held, Done: true},
		{
			ID: elsewhere.ID, Approval: &elsewhere, Late: true,
			Refusal: "It was settled before your verdict came, which changed nothing.",
		},
		{ID: rows[3].ID, Approval: &rows[3], Refusal: inbox.NotInBulk(&rows[3], models.VerdictApprove)},
		{ID: rows[2].ID, Refusal: "This request doesn't exist, or you don't have access."},
	}
	nothing.Problem = "Nothing was ticked. Go back and tick the requests that are meant."
	return []State{
		page(Usual, "Each with its own outcome, one decided elsewhere meanwhile", done),
		page("ask", "More than a few are shown once more", asked),
		page("left-out", "What must be opened first: one is open", leftOut),
		{
			Page: "bulk", Name: "fragment", Note: "The same in the place of a request", Part: true,
			Component: inbox.BulkDetail(inbox.NewBulk(leftOut, Now)),
		},
		page("nothing", "Nothing was ticked", nothing),
	}
}

// asideInbox has lines above the list: a flood of which something differs, one of which all do, and what waits together.
func asideInbox(rows []models.Brief, together int) inbox.Input {
	flood := func(id, name string, count, alike int, differ ...models.Brief) models.AgentFlood {
		return models.AgentFlood{
			Flood: models.Flood{AgentID: models.AgentID(id), BeganAt: Now.Add(-20 * time.Minute), SeenAt: Now}, AgentName: name,
			OwnerID: UserID, Count: count, Alike: alike, Differ: differ, Differs: count - alike,
		}
	}
	others := flood("019b2f00-0000-7000-8000-00000000a002", "crawl\u202E-bot", 61, 0, Many(2)...)
	others.OwnerID = "another"
	in := inbox.Input{
		Rows: rows, Count: 240 + len(rows), Admin: false,
		Aside: models.Aside{
			Together: together,
			Floods:   []models.AgentFlood{flood(string(AgentID), "release-bot", 214, 213, Briefs(Edit())...)},
		},
	}
	if rows != nil {
		in.Aside.Floods = append(in.Aside.Floods, others)
	}
	return in
}
