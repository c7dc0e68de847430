package gallery

import (
	"countersign/models"
	"countersign/views/pages"
)

func auditStates() []State {
	return []State{
		{Page: "audit", Name: Usual, Note: "A decision, an ask by a hostile name, an operator's act", Component: pages.AuditPage(Frame("Audit", "/audit"), pages.NewAudit(Entries()))},
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
