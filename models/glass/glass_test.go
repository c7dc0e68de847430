package glass_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/glass"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

const payments = `{"undo_seconds":{"medium":30},"rules":[{"name":"Payments","tools":["pay"],"effect":"require","approvals":[{"from":["ann@example.com","bo@example.com"],"count":2}],"break_glass":["eve@example.com"]}]}`

// TestAnotherPersonAcknowledges what broke glass: one who was skipped, or an admin, and once; also where it was undone.
func TestAnotherPersonAcknowledges(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	ann, bo, eve := storetest.Reviewer(t, b.Store, "ann@example.com"), storetest.Reviewer(t, b.Store, "bo@example.com"), storetest.Reviewer(t, b.Store, "eve@example.com")
	cy := storetest.Reviewer(t, b.Store, "cy@example.com")
	b.UsePolicy(t, payments)
	room := glass.New(b.Store)
	alone := storetest.Yes()
	alone.BreakGlass, alone.Reason = true, "Nobody of finance answers, and the deadline is at noon."
	breaks := func() *models.Approval {
		a, err := b.Decide(t.Context(), eve, b.AskFor(t, models.AskInput{ToolName: "pay"}).ID, alone)
		storetest.Must(t, err)
		return a
	}
	first, second := breaks(), breaks()
	storetest.Must(t, storetest.Err(b.Undo(t.Context(), eve, second.ID)))
	listed := func(who models.Actor) (ids []models.VoteID) {
		list, more, err := room.Unacknowledged(t.Context(), who)
		storetest.Must(t, err)
		if more {
			t.Error("there are more")
		}
		for _, one := range list {
			ids = append(ids, one.Vote.ID)
		}
		return ids
	}
	waits := func(who models.Actor) int {
		n, err := room.Waits(t.Context(), who)
		storetest.Must(t, err)
		return n
	}
	for name, one := range map[string]struct {
		who          models.Actor
		lists, waits int
	}{"skipped": {ann, 2, 2}, "an admin": {b.Admin, 2, 2}, "who broke it": {eve, 2, 0}, "another": {cy, 0, 0}} {
		if got, n := listed(one.who), waits(one.who); len(got) != one.lists || n != one.waits {
			t.Errorf("%s: %d are listed, and %d wait for them", name, len(got), n)
		}
	}
	if _, _, err := room.Unacknowledged(t.Context(), b.Agent); models.ErrorCode(err) != models.CodeForbidden {
		t.Errorf("an agent: %v", err)
	}
	counted := func(want int) {
		t.Helper()
		n, err := upkeep.New(b.Store).Numbers(t.Context())
		if storetest.Must(t, err); n.BrokenGlass != want {
			t.Errorf("metrics count %d, want %d", n.BrokenGlass, want)
		}
	}
	counted(2)
	refused := func(who models.Actor, id models.VoteID, remark string, code models.Code) {
		t.Helper()
		before := storetest.Dump(t, b.Store)
		if err := room.Acknowledge(t.Context(), who, id, remark); models.ErrorCode(err) != code {
			t.Errorf("%s: %v, want %s", who.Name, err, code)
		}
		if after := storetest.Dump(t, b.Store); after != before {
			t.Error(storetest.Difference(before, after))
		}
	}
	id := first.Vote.ID
	refused(eve, id, "", models.CodeForbidden)
	refused(cy, id, "", models.CodeNotFound)
	refused(b.Agent, id, "", models.CodeNotFound)
	refused(ann, models.NewID[models.VoteID](), "", models.CodeNotFound)
	refused(ann, id, strings.Repeat("x", models.MaxReason+1), models.CodeInvalid)
	const remark = "It was right: the invoice was due."
	storetest.Must(t, room.Acknowledge(t.Context(), ann, id, remark))
	storetest.Must(t, room.Acknowledge(t.Context(), ann, id, "again"))
	refused(bo, id, "", models.CodeConflict)
	storetest.Must(t, room.Acknowledge(t.Context(), b.Admin, second.Vote.ID, ""))
	counted(0)
	if left := listed(b.Admin); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	got := storetest.Column(t, b.Store, `SELECT acknowledged_name || ': ' || remark FROM votes WHERE id = ?`, id)
	if len(got) != 1 || got[0] != "ann@example.com: "+remark {
		t.Errorf("kept: %q", got)
	}
	entries := storetest.Column(t, b.Store, `SELECT data FROM ledger WHERE action = 'approval.acknowledged' ORDER BY seq`)
	if len(entries) != 2 || !strings.Contains(entries[0], models.DigestOfText(remark)) || strings.Contains(entries[0], "invoice") {
		t.Errorf("the ledger says %q", entries)
	}
	if _, err := storetest.Tamper(t, b.Store).ExecContext(t.Context(), `UPDATE votes SET acknowledged_by = 'x' WHERE skipped <> ''`); err == nil {
		t.Error("who acknowledged it can be changed")
	}
	if _, err := storetest.Tamper(t, b.Store).ExecContext(t.Context(), `UPDATE votes SET skipped = '[]' WHERE skipped <> ''`); err == nil {
		t.Error("who was skipped can be changed")
	}
}
