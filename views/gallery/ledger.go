package gallery

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/audit"
)

func ledgerStates() []State {
	page := func(name, note string, in audit.LedgerInput) State {
		return State{
			Page: "ledger", Name: name, Note: note,
			Component: audit.LedgerPage(Frame("Audit of everything", "/audit/all"), audit.NewLedger(in, Now)),
		}
	}
	entry := func(name, note string, e models.Entry, before []byte, newest int64) State {
		return State{
			Page: "ledger", Name: name, Note: note,
			Component: audit.LedgerEntryPage(Frame("Entry 2", "/audit/entries/2"), audit.NewLedgerEntry(e, before, newest)),
		}
	}
	running, broken, none := LedgerInput(), LedgerInput(), LedgerInput()
	running.Chain = audit.ChainState{Runs: true, Read: 409600, Of: 1000000}
	broken.Chain = audit.ChainState{
		Ended: Now.Add(-time.Minute),
		Fault: "The chain is broken: ledger entry 7: was changed: its content does not give its hash.", Broken: true,
	}
	broken.StoppedEarly, broken.Before = true, 1300
	none.Entries, none.Filter, none.Next = nil, views.LedgerFilter{Who: "nobody", From: "soon", Action: "x<y"}, 0
	none.Errors = map[string]string{"who": "must be the e-mail of a person on this server", "from": "must be a time"}
	nothing := none
	nothing.Errors = nil
	chain := audit.NewChain(audit.ChainState{Ended: Now.Add(-3 * time.Second), Fault: "The ledger could not be read."},
		Now)
	e, before := Sealed()
	changed := e
	changed.ActorName = "Eve"
	return []State{
		page(Usual, "Filtered; the chain held two minutes ago", LedgerInput()),
		page("running", "The chain is being checked", running),
		page("broken", "The chain does not hold", broken),
		page("none", "Filters that cannot be understood", none),
		page("nothing", "Nothing fits the filters", nothing),
		{
			Page: "ledger", Name: "chain", Note: "The check of the chain by itself", Part: true,
			Component: audit.ChainPanel(chain, "7:ab"),
		},
		entry("entry", "One entry, sealed", e, before, 3),
		entry("entry-broken", "One entry that was changed", changed, []byte{1}, 2),
	}
}

// LedgerInput is a filtered page of the ledger, checked a while ago.
func LedgerInput() audit.LedgerInput {
	rows := Trail().Entries
	rows[0].ActorID, rows[0].OwnerID = string(UserID), UserID
	return audit.LedgerInput{
		Entries: rows, Next: 1190, Actions: []string{"approval.approved", "approval.requested", "token.added"},
		Filter: views.LedgerFilter{Action: "approval.approved", From: "2026-11-20"},
		Head:   models.Head{Seq: 1204, Hash: []byte{0xab, 0x12}}, Zone: time.UTC,
		Chain: audit.ChainState{
			Ended: Now.Add(-2 * time.Minute), Took: 2300 * time.Millisecond, Head: models.Head{Seq: 1200},
		},
	}
}

// Sealed is the second entry of a chain, and the hash of the first.
func Sealed() (second models.Entry, first []byte) {
	one := models.Entry{
		At: "2026-11-20T10:00:00.000000Z", ActorKind: models.ActorSystem, Action: "policy.changed", Data: "{}",
	}
	head := models.Seal(models.Head{}, &one)
	second = models.Entry{
		At: "2026-11-20T10:29:48.000000Z", ActorKind: models.ActorUser, ActorID: string(UserID), ActorName: "Bo\u202E Lind",
		Action: "approval.approved", OwnerID: UserID,
		ConversationID: ConversationID, ResponseID: "01890a5d-ac96-774b-bcce-b302099a8057",
		Data: `{"status":"approved","cause":"reviewer","note":"<script>alert(1)</script>"}`,
	}
	models.Seal(head, &second)
	return second, one.Hash
}
