package store_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestRowsOfAnyAskAreProven: whatever an ask has of the columns that came later, the store and
// the check of rows agree on what proves its row, whether it waits, was let through, denied, expired
// at once or only reported before; and they agree again once its contents were removed.
func TestRowsOfAnyAskAreProven(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t, storetest.NoLimits)
	w.UsePolicy(t, `{"max_asks_per_reviewer_hour":1,"rules":[{"name":"through","tools":["ls"],"effect":"allow"},{"name":"never","tools":["format"],"effect":"deny"},
		{"name":"later","tools":["later"],"effect":"require","risk":"low","when_busy":"expire"},{"name":"together","tools":["together"],"effect":"require","risk":"low","when_busy":"batch"}]}`)
	conv, _, err := w.OpenRun(t.Context(), w.Agent, models.RunInput{RunID: "run"})
	storetest.Must(t, err)
	calls := 0
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 4).Draw(rt, "asks") {
			calls++
			in := anyLateColumns(rt)
			in.ToolUseID, in.RunID = fmt.Sprintf("call-%d", calls), "run"
			in.ToolName = rapid.SampledFrom([]string{"Bash", "ls", "format", "later", "together"}).Draw(rt, "tool")
			if rapid.Bool().Draw(rt, "reported before") {
				w.Report(t, conv.ID, models.RunEvent{Type: models.RunEventToolCall, ToolUseID: in.ToolUseID, ToolName: in.ToolName, Input: []byte(`{}`)})
			}
			a, err := w.Ask(t.Context(), w.Agent, in)
			if err != nil {
				rt.Fatal(err)
			}
			if in.Protocol != "" && a.Status() == models.StatusPending && rapid.Bool().Draw(rt, "escalates") {
				if _, err := w.Escalate(t.Context(), w.Agent, a.ID, "Please look."); err != nil {
					rt.Fatal(err)
				}
			}
			w.Clock.Step(time.Duration(rapid.IntRange(0, 2000).Draw(rt, "milliseconds")) * time.Millisecond)
		}
		rowsAgree(t, rt, w.Store)
		if rapid.IntRange(0, 9).Draw(rt, "purges") > 0 {
			return
		}
		w.Clock.Step(24 * time.Hour)
		if _, err := w.ExpireDue(t.Context(), 1000); err != nil {
			rt.Fatal(err)
		}
		storetest.Purge(t, w.Store, models.PurgeQuery{Before: w.Clock.Now()})
		rowsAgree(t, rt, w.Store)
	})
	w.Clock.Step(24 * time.Hour)
	storetest.Must(t, storetest.Err(w.ExpireDue(t.Context(), 1000)))
	storetest.Purge(t, w.Store, models.PurgeQuery{Before: w.Clock.Now()})
	storetest.CheckRows(t, w.Store)
	for _, left := range []string{
		`SELECT count(*) FROM responses WHERE preview NOT IN ('', removed)`, `SELECT count(*) FROM responses WHERE client_data NOT IN ('', json_object('removed', removed))`,
		`SELECT count(*) FROM notes WHERE content LIKE 'Please%'`,
	} {
		if n := storetest.Scalar[int](t, w.Store, left); n > 0 {
			t.Errorf("%d rows: %s", n, left)
		}
	}
}

// anyLateColumns is an ask with some of the columns that came after the first version.
func anyLateColumns(rt *rapid.T) (in models.AskInput) {
	some := rapid.SampledFrom([]string{"", "x", "Würde löschen:\n<b>\u202e", "null"})
	in.Explicit = true
	in.Preview = some.Draw(rt, "preview")
	in.ClaimedAt = rapid.SampledFrom([]string{"", "2026-03-02T12:00:00Z", "2026-03-02T23:59:59.123456789+14:00", "1969-12-31T23:59:59.5Z", "9999-12-31T23:59:59Z"}).Draw(rt, "claimed")
	if rapid.Bool().Draw(rt, "protocol") {
		in.Protocol = models.ProtocolFunctionCalls
	}
	if rapid.Bool().Draw(rt, "client") {
		in.Client = models.ClientData{Subject: some.Draw(rt, "subject")}
		if rapid.Bool().Draw(rt, "state") {
			in.Client.State = []byte(`{"n":1.0,"s":"\u0041"}`)
		}
		if text := some.Draw(rt, "option"); text != "" && text != "Würde löschen:\n<b>\u202e" {
			in.Client.RejectOptions = []models.Option{{Name: text, PromptFill: some.Draw(rt, "fill")}}
		}
	}
	return in
}

func rowsAgree(t *testing.T, rt *rapid.T, s *store.Store) {
	t.Helper()
	found, err := upkeep.New(s).VerifyRows(t.Context(), nil)
	if err != nil {
		rt.Fatal(err)
	}
	for _, f := range found.Faults {
		rt.Errorf("rows: %s %s (entry %d): %s", f.Table, f.ID, f.Entry, f.Text)
	}
}
