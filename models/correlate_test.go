package models_test

import (
	"fmt"
	"testing"

	"countersign/models"
)

const (
	bash  = "Bash"
	write = "Write"
	read  = "Read"
)

func outside(t *testing.T, tool, input string) models.OutsideCall {
	t.Helper()
	c, err := models.Canonical(models.KindToolCall, tool, []byte(input))
	if err != nil {
		t.Fatal(err)
	}
	return models.OutsideCall{ToolName: tool, Digest: models.Digest(c)}
}

// queue makes calls 1, 2, 3 … of the tools, none of which has run.
func queue(t *testing.T, tools ...string) []models.OpenCall {
	t.Helper()
	calls := make([]models.OpenCall, len(tools))
	for i, tool := range tools {
		n := i + 1
		calls[i] = models.OpenCall{
			ID: models.ResponseID(fmt.Sprintf("call-%d", n)), ToolUseID: fmt.Sprintf("toolu_%d", n),
			ToolName: tool, Digest: outside(t, tool, fmt.Sprintf(`{"n":%d}`, n)).Digest, Sequence: int64(n),
		}
	}
	return calls
}

// Ten queued calls: 2, 3, 6 and 9 are Bash, 7 writes a file, the others read.
// Each approval goes to its own call though the outside knows neither ids nor
// the arguments as they were queued; 6 is rejected and takes 7 to 10 with it.
func TestTheWorkedCase(t *testing.T) {
	t.Parallel()
	calls := queue(t, read, bash, bash, read, read, bash, write, read, bash, read)
	at := func(n int) *models.OpenCall { return &calls[n-1] }
	done := func(ns ...int) func() {
		return func() {
			for _, n := range ns {
				at(n).Completed = true
			}
		}
	}
	settle := func(status models.Status, cause models.Cause, ns ...int) func() {
		return func() {
			for _, n := range ns {
				at(n).Status, at(n).Cause = status, cause
			}
		}
	}
	approve := func(n int) func() {
		return func() { settle(models.StatusApproved, models.CauseReviewer, n)(); done(n)() }
	}
	for _, step := range []struct {
		what   string
		tool   string
		want   int // 0: none fits
		by     models.MatchedBy
		before func()
	}{
		{what: "the first approval is for 2, not for the latest Bash call", tool: bash, want: 2, by: models.MatchedByOrder, before: done(1)},
		{what: "another while 2 waits is for 3: a stuck one blocks nobody", tool: bash, want: 3, by: models.MatchedByOrder},
		{what: "2 and 3 approved and done: the next is for 6", tool: bash, want: 6, by: models.MatchedByOrder, before: func() { approve(2)(); approve(3)(); done(4, 5)() }},
		{what: "a write has its own call while 6 waits", tool: write, want: 7, by: models.MatchedByOnly},
		{what: "of Bash, 9 alone is left", tool: bash, want: 9, by: models.MatchedByOnly},
		{what: "a tool that is not queued", tool: "Glob"},
		{what: "reads that have not run could be asked for", tool: read, want: 8, by: models.MatchedByOrder},
		{what: "6 is rejected and 7 to 10 with it: no Bash call is left", tool: bash, before: func() {
			settle(models.StatusRejected, models.CauseReviewer, 6)()
			settle(models.StatusRejected, models.CauseCascade, 7, 8, 9, 10)()
		}},
		{what: "nor a write", tool: write},
		{what: "nor a read", tool: read},
	} {
		if step.before != nil {
			step.before()
		}
		got, ok := models.Correlate(outside(t, step.tool, `{"arguments":"unlike those queued"}`), calls)
		if step.want == 0 {
			if ok {
				t.Errorf("%s: matched %+v", step.what, got)
			}
			continue
		}
		if want := (models.Match{ID: at(step.want).ID, By: step.by}); !ok || got != want {
			t.Errorf("%s: got %+v %t, want %+v", step.what, got, ok, want)
		}
		if step.tool != read {
			at(step.want).Status = models.StatusPending // the match is stored
		}
	}
}

func TestWhatTellsACallFromOthers(t *testing.T) {
	t.Parallel()
	calls := queue(t, bash, write, bash, bash)
	twin := calls[2]
	twin.ID, twin.ToolUseID, twin.Sequence = "call-5", "toolu_5", 5
	calls = append(calls, twin)
	named := func(o models.OutsideCall, id string) models.OutsideCall { o.ToolUseID = id; return o }
	for _, c := range []struct {
		what string
		o    models.OutsideCall
		want models.Match
	}{
		{"the same input goes before an older call", outside(t, bash, `{"n":4}`), models.Match{ID: "call-4", By: models.MatchedByInput, SameInput: true}},
		{"written otherwise it is the same input", outside(t, bash, ` { "n" : 4 } `), models.Match{ID: "call-4", By: models.MatchedByInput, SameInput: true}},
		{"the oldest of two with the same input", outside(t, bash, `{"n":3}`), models.Match{ID: "call-3", By: models.MatchedByInput, SameInput: true}},
		{"no input is the same: the order", outside(t, bash, `{}`), models.Match{ID: "call-1", By: models.MatchedByOrder}},
		{"arguments that are no JSON equal nothing", models.OutsideCall{ToolName: bash}, models.Match{ID: "call-1", By: models.MatchedByOrder}},
		{"the only one with the same input", outside(t, write, `{"n":2}`), models.Match{ID: "call-2", By: models.MatchedByOnly, SameInput: true}},
		{"the only one with another input", outside(t, write, `{}`), models.Match{ID: "call-2", By: models.MatchedByOnly}},
		{"the id goes before input and order", named(outside(t, bash, `{"n":1}`), "toolu_4"), models.Match{ID: "call-4", By: models.MatchedByToolUseID}},
		{"the id, with the same input", named(outside(t, bash, `{"n":4}`), "toolu_4"), models.Match{ID: "call-4", By: models.MatchedByToolUseID, SameInput: true}},
		{"an id that is not there matches no other call", named(outside(t, bash, `{"n":4}`), "toolu_9"), models.Match{}},
		{"an id of another tool's call", named(outside(t, write, `{}`), "toolu_4"), models.Match{}},
	} {
		if got, ok := models.Correlate(c.o, calls); got != c.want || ok != (c.want.ID != "") {
			t.Errorf("%s: got %+v %t, want %+v", c.what, got, ok, c.want)
		}
	}
}

func TestACallThatWasAnsweredIsNeverMatchedAgain(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*models.OpenCall){
		"completed":        func(c *models.OpenCall) { c.Completed = true },
		"pending":          func(c *models.OpenCall) { c.Status = models.StatusPending },
		"rejected":         func(c *models.OpenCall) { c.Status, c.Cause = models.StatusRejected, models.CauseCascade },
		"resolved":         func(c *models.OpenCall) { c.Status, c.Cause = models.StatusResolved, models.CauseElsewhere },
		"let through":      func(c *models.OpenCall) { c.Cause = models.CausePolicy },
		"let through, off": func(c *models.OpenCall) { c.Cause = models.CauseGateOff },
	} {
		calls := queue(t, bash)
		o := outside(t, bash, `{"n":1}`)
		if _, ok := models.Correlate(o, calls); !ok {
			t.Fatalf("%s: an open call is not matched", what)
		}
		change(&calls[0])
		for _, id := range []string{"", calls[0].ToolUseID} {
			o.ToolUseID = id
			if m, ok := models.Correlate(o, calls); ok {
				t.Errorf("%s: matched %+v", what, m)
			}
		}
	}
}

func TestInTheFamilyOnlyTheSameInputTellsAtFirst(t *testing.T) {
	t.Parallel()
	first, second := queue(t, read, write), queue(t, read, bash, bash)
	second[1].ID, second[2].ID = "child-2", "child-3"
	third := queue(t, bash)
	third[0].ID, third[0].Digest = "child-4", outside(t, bash, `{"n":"same"}`).Digest
	runs := [][]models.OpenCall{nil, first, second, third}
	same, other := outside(t, bash, `{"n":"same"}`), outside(t, bash, `{"n":"another"}`)
	for _, byName := range []bool{false, true} {
		got, ok := models.CorrelateFamily(same, runs, byName)
		if want := (models.Match{ID: "child-4", By: models.MatchedByInput, SameInput: true}); !ok || got != want {
			t.Errorf("by name %t: got %+v %t, want %+v: the same input goes before an earlier run", byName, got, ok, want)
		}
	}
	if m, ok := models.CorrelateFamily(other, runs, false); ok {
		t.Errorf("matched %+v by name alone", m)
	}
	got, ok := models.CorrelateFamily(other, runs, true)
	if want := (models.Match{ID: "child-2", By: models.MatchedByOrder}); !ok || got != want {
		t.Errorf("got %+v %t, want %+v: the oldest of the first run", got, ok, want)
	}
	if m, ok := models.CorrelateFamily(outside(t, "Glob", `{}`), runs, true); ok {
		t.Errorf("matched %+v", m)
	}
}
