package gallery

import (
	"fmt"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/audit"
)

func auditStates() []State {
	page := func(name, note string, in audit.TrailInput) State {
		return State{
			Page: "audit", Name: name, Note: note, Component: audit.Page(Frame("Audit", "/audit"), audit.NewTrail(in, Now)),
		}
	}
	own := audit.TrailInput{Reader: models.Actor{Kind: models.ActorUser, ID: string(UserID)}, Zone: time.UTC}
	filtered, wrong, none, long, person := Trail(), own, own, Trail(), Trail()
	filtered.Place, filtered.StoppedEarly, filtered.Next = views.TrailPlace{
		Part: "decisions", Outcome: "approved", From: "2026-11-09", To: "2026-11-15", Before: 1300,
	}, true, 1190
	wrong.Place, wrong.Errors = views.TrailPlace{
		From: "soon", Part: "x<y",
	}, map[string]string{"from": "Write a day such as 2026-11-20.", "what": "must be one of the choices"}
	none.Place = views.TrailPlace{Outcome: "expired"}
	long.Entries, long.Next = nil, 8_999_900
	for _, e := range manyEntries() {
		long.Entries = append(long.Entries, models.TrailEntry{Entry: e})
	}
	person.Person, person.Place.Person = &models.User{ID: UserID, Name: hostile, Email: "ada@example.org"}, UserID
	paper := person
	paper.Place.Part, paper.Place.From, paper.Place.To = "decisions", "2026-11-09", "2026-11-15"
	paper.Head = models.Head{Seq: 1204, Hash: []byte{0xab, 0x12}}
	more := paper
	more.Next = 1190
	return []State{
		page(Usual, "Acts of people, agents, one of them named like a person, the system and the command line", Trail()),
		page("filtered", "Decisions of one week; few match", filtered),
		page("wrong", "Filters that cannot be read", wrong),
		page("none", "Nothing matches", none),
		page("glass", "Decisions that broke glass: one to acknowledge whose remark was too long, and one of the reader's own", brokenTrail()),
		page("stop", "A stop that cancelled requests, and the end of one that began on a later page", stopTrail()),
		page("long", "Many, some with hostile and long values", long),
		page("empty", "Nothing has happened yet", own),
		page("person", "An admin reads what another person did", person),
		{
			Page: "audit", Name: "print", Note: "What a person decided in a week, for paper",
			Component: audit.PrintPage(Frame("Audit", "/audit"), audit.NewTrailPrint(paper, Now)),
		},
		{
			Page: "audit", Name: "print-more", Note: "More than one page holds",
			Component: audit.PrintPage(Frame("Audit", "/audit"), audit.NewTrailPrint(more, Now)),
		},
	}
}

// Trail is a page of a reviewer's audit trail: one entry's request is shown, one may
// no longer be seen.
func Trail() audit.TrailInput {
	in := audit.TrailInput{
		Person: &models.User{ID: UserID, Name: "Bo Lind", Email: "bo@example.org"},
		Reader: models.Actor{Kind: models.ActorUser, ID: string(UserID), Admin: true}, Zone: time.UTC,
	}
	for _, e := range Entries() {
		in.Entries = append(in.Entries, models.TrailEntry{Entry: e})
	}
	paid := Payment()
	in.Entries[0].Request, in.Entries[0].ConversationID, in.Entries[0].Reason = &models.Brief{Approval: paid}, ConversationID, "Agreed with ACME\u202e.\nSee the contract."
	in.Entries[1].Hidden = true
	return in
}

// brokenTrail is a trail above which decisions wait to be acknowledged.
func brokenTrail() audit.TrailInput {
	in := Trail()
	theirs, own := brokenGlass(), brokenGlass()
	own.ID, own.UserID, own.UserName, own.Verdict = "01890a5d-ac96-774b-bcce-b302099a8604", UserID, "Ada Berg", models.VerdictReject
	own.WithdrawnAt = new(Now)
	in.Broken = audit.BrokenInput{
		List: []models.GlassBreak{{Vote: theirs, Request: Payment()}, {Vote: own, Request: Payment()}}, More: true, Reader: in.Reader,
		Vote: theirs.ID, Remark: "It was right.", Error: "is 4001 bytes long; at most 4000 are allowed",
	}
	return in
}

// stopTrail is a trail in which agents were stopped.
func stopTrail() audit.TrailInput {
	in := Trail()
	in.Place.Text, in.Entries = "stop", nil
	add := func(seq int64, actor, action, data string, request *models.Brief) {
		e := models.TrailEntry{Entry: models.Entry{
			Seq: seq, At: "2026-11-20T10:28:41.000000Z", ActorKind: models.ActorUser, ActorName: actor, Action: action, Data: data,
		}, Request: request}
		if request != nil {
			e.ResponseID = request.ID
		}
		in.Entries = append(in.Entries, e)
	}
	const cancelled = `{"status":"cancelled","cause":"stopped"}`
	paid, shell := &models.Brief{Approval: Payment()}, &models.Brief{Approval: Shell()}
	add(1240, "Bo Lind", "agents.stopped", fmt.Sprintf(`{"agent":%q}`, paid.AgentID), nil)
	add(1239, "Bo Lind", "session.opened", `{}`, nil)
	for i := range int64(3) {
		add(1238-i, "Bo Lind", "approval.cancelled", cancelled, paid)
	}
	add(1235, "Bo Lind", "agents.stopped", fmt.Sprintf(`{"agent":%q}`, paid.AgentID), nil)
	add(1234, "Ada Berg", "approval.cancelled", cancelled, shell)
	add(1233, "Ada Berg", "agents.stopped", `{"agent":""}`, nil)
	add(1232, hostile, "approval.cancelled", cancelled, shell)
	add(1231, hostile, "approval.cancelled", cancelled, paid)
	return in
}

// Entries are some of the ledger, newest first.
func Entries() []models.Entry {
	return []models.Entry{
		{
			Seq: 1204, At: "2026-11-20T10:29:48.000000Z", ActorKind: models.ActorUser, ActorName: "Bo Lind",
			Action: "approval.approved", ResponseID: "01890a5d-ac96-774b-bcce-b302099a8057",
			Data: `{"status":"approved","cause":"reviewer","digest":"ab12","edited":true}`, Hash: []byte{0xab, 0x12},
		},
		{
			Seq: 1203, At: "2026-11-20T10:28:41.000000Z", ActorKind: models.ActorAgent, ActorName: "release\u202E-bot",
			Action: "approval.requested", ResponseID: "01890a5d-ac96-774b-bcce-b302099a8057", Data: `{"digest":"ab12"}`,
		},
		{
			Seq: 1190, At: "2026-11-20T09:00:00.000000Z", ActorKind: models.ActorOperator, ActorName: "root",
			Action: "token.added", Data: `{"name":"ci","scope":"agent"}`,
		},
		{
			Seq: 1189, At: "2026-11-20T08:59:10.000000Z", ActorKind: models.ActorSystem, ActorName: "expirer",
			Action: "approval.expired", ResponseID: "01890a5d-ac96-774b-bcce-b302099a8058",
			Data: `{"status":"expired","cause":"timeout","digest":"cd34"}`,
		},
		{
			Seq: 1188, At: "2026-11-20T08:58:00.000000Z", ActorKind: models.ActorAgent, ActorName: "Bo Lind",
			Action: "approval.let_through", ResponseID: "01890a5d-ac96-774b-bcce-b302099a8059",
			Data: `{"status":"let_through","cause":"policy","digest":"ef56"}`,
		},
		{
			Seq: 1187, At: "2026-11-20T08:57:00.000000Z", ActorKind: models.ActorUser, ActorName: "Bo Lind",
			Action: "later.version", Data: `{"old":"a","new":"b"}`,
		},
	}
}

// manyEntries are a full page of the ledger, with values that nobody expects.
func manyEntries() []models.Entry {
	out := make([]models.Entry, 0, 100)
	for i := range 100 {
		e := models.Entry{
			Seq: int64(9_000_000 - i), At: "2026-11-20T10:28:41.000000Z", ActorKind: models.ActorAgent, ActorName: "release-bot",
			Action: "approval.requested", ResponseID: "01890a5d-ac96-774b-bcce-b302099a8057", Data: `{"digest":"ab12"}`,
		}
		switch i {
		case 3:
			e.ActorName, e.Data = strings.Repeat("unbroken", 16), `{"reason":"`+strings.Repeat("unbroken", 60)+`"}`
		case 4:
			e.ActorName, e.Data = hostile, `{"\u202e":"<script>alert(1)</script>\u200b"}`
		}
		out = append(out, e)
	}
	return out
}
