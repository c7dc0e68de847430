package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/storetest"
)

func TestExportGivesTheWholeLedgerInOrder(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	owner := storetest.Reviewer(t, s, "owner@example.com")
	stranger := storetest.Reviewer(t, s, "stranger@example.com")
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	other, _ := storetest.AgentToken(t, s, stranger, "bot")
	half := clock.Step(time.Hour)
	const asks = 1200 // more than a page
	for i := range asks {
		by := agent
		if i%10 == 0 {
			by = other
		}
		clock.Step(time.Second) // asks are limited
		if _, err := s.Ask(t.Context(), by, models.AskInput{ToolName: "read", ToolUseID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	head, err := s.Ledger.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	collect := func(q ledger.ExportQuery) (out []models.Entry) {
		t.Helper()
		for e, err := range s.Ledger.Export(t.Context(), admin, q) {
			if err != nil {
				t.Fatal(err)
			}
			if len(out) > 0 && e.Seq <= out[len(out)-1].Seq {
				t.Fatalf("entry %d comes after %d", e.Seq, out[len(out)-1].Seq)
			}
			out = append(out, e)
		}
		return out
	}
	if got := collect(ledger.ExportQuery{}); int64(len(got)) != head.Seq {
		t.Errorf("%d entries, want %d", len(got), head.Seq)
	}
	for _, e := range collect(ledger.ExportQuery{Since: half}) {
		if ledger.TimeOf(e).Before(half) {
			t.Errorf("entry %d of %s, want none before %s", e.Seq, e.At, half)
		}
	}
	mine := collect(ledger.ExportQuery{User: owner.OwnerID, Since: half})
	if len(mine) < asks*9/10 {
		t.Errorf("%d entries of a person with %d requests", len(mine), asks*9/10)
	}
	for _, e := range mine {
		if e.OwnerID != owner.OwnerID && e.ActorID != string(owner.OwnerID) {
			t.Errorf("entry %d is of %s and %s, neither of them asked for", e.Seq, e.OwnerID, e.ActorID)
		}
	}
}

func TestExportIsForAdmins(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	owner := storetest.Reviewer(t, s, "owner@example.com")
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	for _, actor := range []models.Actor{owner, agent, {}} {
		for e, err := range s.Ledger.Export(t.Context(), actor, ledger.ExportQuery{}) {
			if models.ErrorCode(err) != models.CodeForbidden {
				t.Errorf("%s got entry %d, %v; want forbidden", actor.Kind, e.Seq, err)
			}
		}
	}
}
