package gallery

import (
	"strings"

	"countersign/models"
	"countersign/views/pages"
)

func auditStates() []State {
	return []State{
		{Page: "audit", Name: Usual, Note: "A decision, an ask by a hostile name, an operator's act", Component: pages.AuditPage(Frame("Audit", "/audit"), pages.NewAudit(Entries()))},
		{Page: "audit", Name: "long", Note: "Many, some with hostile and long values", Component: pages.AuditPage(Frame("Audit", "/audit"), pages.NewAudit(manyEntries()))},
		{Page: "audit", Name: "empty", Note: "Nothing has happened yet", Component: pages.AuditPage(Frame("Audit", "/audit"), pages.NewAudit(nil))},
	}
}

// Entries are some of the ledger, newest first.
func Entries() []models.Entry {
	return []models.Entry{
		{Seq: 1204, At: "2026-11-20T10:29:48.000000Z", ActorKind: models.ActorUser, ActorName: "Bo Lind", Action: "approval.decided", ResponseID: "01890a5d-ac96-774b-bcce-b302099a8057", Data: `{"status":"approved","cause":"reviewer","digest":"ab12","edited":true}`, Hash: []byte{0xab, 0x12}},
		{Seq: 1203, At: "2026-11-20T10:28:41.000000Z", ActorKind: models.ActorAgent, ActorName: "release\u202E-bot", Action: "approval.asked", ResponseID: "01890a5d-ac96-774b-bcce-b302099a8057", Data: `{"digest":"ab12"}`},
		{Seq: 1190, At: "2026-11-20T09:00:00.000000Z", ActorKind: models.ActorOperator, ActorName: "root", Action: "token.created"},
	}
}

// manyEntries are a full page of the ledger, with values that nobody expects.
func manyEntries() []models.Entry {
	out := make([]models.Entry, 0, 100)
	for i := range 100 {
		e := models.Entry{Seq: int64(9_000_000 - i), At: "2026-11-20T10:28:41.000000Z", ActorKind: models.ActorAgent, ActorName: "release-bot", Action: "approval.asked", ResponseID: "01890a5d-ac96-774b-bcce-b302099a8057", Data: `{"digest":"ab12"}`}
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
