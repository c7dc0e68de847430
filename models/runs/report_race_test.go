package runs_test

import (
	"fmt"
	"sync"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// TestManyReportersAndAsksMakeOneRowEach has 64 callers report and ask about the
// same calls of one run at once, with and without its name, while people decide.
func TestManyReportersAndAsksMakeOneRowEach(t *testing.T) {
	t.Parallel()
	const callers, calls = 64, 20
	r := newTrace(t, models.OnRejectContinue, storetest.NoLimits)
	work := make([]func(i int) error, 0, 4)
	use := func(i int) string { return fmt.Sprintf("c%d", i) }
	input := func(i int) []byte { return fmt.Appendf(nil, `{"n":%d}`, i) }
	report := func(e models.RunEvent) error {
		out, err := r.ReportEvents(t.Context(), r.Agent, r.Conv, []models.RunEvent{e})
		if err == nil && out[0].Status != models.RunEventStored && out[0].Status != models.RunEventRepeated {
			err = fmt.Errorf("%s of %s: %s %s", e.Type, e.ToolUseID, out[0].Status, out[0].Error)
		}
		return err
	}
	ask := func(in models.AskInput) func(i int) error {
		return func(i int) error {
			mine := in // each caller's own
			mine.ToolUseID, mine.ToolName, mine.Input, mine.Explicit = use(i), "Bash", input(i), true
			_, err := r.Ask(t.Context(), r.Agent, mine)
			return err
		}
	}
	work = append(
		work, func(i int) error { return report(storetest.Queued(use(i), "Bash", string(input(i)), "b")) },
		func(i int) error { return report(storetest.Gave(use(i), "ok")) },
		ask(models.AskInput{RunID: "run"}), ask(models.AskInput{}),
	)
	var group sync.WaitGroup
	for n := range callers {
		group.Go(func() {
			for i := range calls {
				if err := work[n%len(work)]((i + n) % calls); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	db := storetest.Tamper(t, r.Store)
	defer db.Close()
	for i := range calls {
		var reported, standing, completed int
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FILTER (WHERE r.conversation_id = ?1), count(*) FILTER (WHERE c.standing), count(*) FILTER (WHERE r.is_completed)
 FROM responses r JOIN conversations c ON c.id = r.conversation_id WHERE r.tool_use_id = ?2`, r.Conv, use(i)).Scan(&reported, &standing, &completed); err != nil {
			t.Fatal(err)
		}
		// An ask that named no run may come while one that named it stands
		// unreported: then it was another request, and both stay.
		if reported != 1 || standing > 1 || completed != 1 {
			t.Errorf("%s: %d rows in the run, %d standing, %d with a result", use(i), reported, standing, completed)
		}
	}
	r.WantEnergyAddsUp(t)
	if _, err := r.Ledger.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// TestManyReportersOfTheSameStream sends one stream 64 times at once, as retries
// do: it is stored once.
func TestManyReportersOfTheSameStream(t *testing.T) {
	t.Parallel()
	const callers = 64
	r := newTrace(t, models.OnRejectContinue, storetest.NoLimits)
	var stream []models.RunEvent
	for i := range 50 {
		id := fmt.Sprint(i)
		stream = append(stream, storetest.Said("r"+id, "text "+id, "b"+id), storetest.Queued("c"+id, "Bash", `{"n":`+id+`}`, "b"+id), storetest.Gave("c"+id, "ok"), models.RunEvent{ID: "m" + id, Type: models.RunEventMessage, Content: id})
	}
	stored := make([]int, callers)
	var group sync.WaitGroup
	for n := range callers {
		group.Go(func() {
			out, err := r.ReportEvents(t.Context(), r.Agent, r.Conv, stream)
			if err != nil {
				t.Errorf("report: %v", err)
			}
			for _, e := range out {
				if e.Status == models.RunEventStored {
					stored[n]++
				} else if e.Status != models.RunEventRepeated {
					t.Errorf("%+v", e)
				}
			}
		})
	}
	group.Wait()
	total := 0
	for _, n := range stored {
		total += n
	}
	if total != len(stream) {
		t.Errorf("%d events were stored, want %d", total, len(stream))
	}
	if got := r.Actions(t, 0); len(got) == 0 || got[len(got)-1] != "run.reported" {
		t.Errorf("the ledger tells %q", got)
	}
	if n := len(r.Entries(t)); n != 150 {
		t.Errorf("the history has %d entries, want 150", n)
	}
}

// TestI8AReportIsStoredAsAWhole: what was answered for is there after a restart,
// and sending all of it again changes nothing.
func TestI8AReportIsStoredAsAWhole(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	r := newTrace(t, "", storetest.WithDir(dir))
	stream := []models.RunEvent{storetest.Queued("c1", "Bash", `{}`, "b"), storetest.Gave("c2", "early"), storetest.Said("r", "a", "b"), {ID: "m", Type: models.RunEventMessage, Content: "a"}}
	r.Reports(t, stream)
	r.Asks(t, "c1", "Bash", `{}`)
	before := storetest.Dump(t, r.Store)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.Use(storetest.New(t, storetest.WithDir(dir), storetest.WithClock(r.Clock)))
	r.Reports(t, stream, "repeated", "repeated", "repeated", "repeated")
	r.Asks(t, "c1", "Bash", `{}`)
	if after := storetest.Dump(t, r.Store); after != before {
		t.Errorf("after a restart:\n%s", storetest.Difference(before, after))
	}
	r.Reports(t, storetest.One(storetest.Queued("c2", "Bash", `{}`, "b")))
	r.WantStates(t, storetest.CallIDs(1, 2), "pending", "queued done")
}
