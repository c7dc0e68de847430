package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

const rmBuild = `{"command":"rm -rf build"}`

// TestI9TwoWaysInForOneCallAreOneRequest: what a coding agent's hook and its permission
// prompt ask of one call is one row, whichever says its tool use id.
func TestI9TwoWaysInForOneCallAreOneRequest(t *testing.T) {
	t.Parallel()
	hook := models.AskInput{Session: "s1", ToolUseID: "t1", Input: []byte(rmBuild)}
	for name, two := range map[string]struct {
		first, second models.AskInput
		same          bool
	}{
		"by tool use id":                    {hook, models.AskInput{ToolUseID: "t1", Input: []byte(rmBuild)}, true},
		"by the only one that waits":        {hook, models.AskInput{Input: []byte(rmBuild)}, true},
		"written otherwise":                 {hook, models.AskInput{Input: []byte(` {"command" : "rm -rf build"}`)}, true},
		"another call":                      {hook, models.AskInput{ToolUseID: "t2", Input: []byte(rmBuild)}, false},
		"another input":                     {hook, models.AskInput{Input: []byte(`{"command":"rm -rf /"}`)}, false},
		"a key of its own":                  {hook, models.AskInput{ApprovalID: string(models.NewID[models.ResponseID]()), Input: []byte(rmBuild)}, false},
		"two keys":                          {models.AskInput{ApprovalID: string(models.NewID[models.ResponseID]())}, models.AskInput{ApprovalID: string(models.NewID[models.ResponseID]())}, false},
		"no key on either side":             {models.AskInput{}, models.AskInput{}, false},
		"which may be the same":             {models.AskInput{}, models.AskInput{Join: true}, true},
		"as one with a key":                 {models.AskInput{ApprovalID: string(models.NewID[models.ResponseID]())}, models.AskInput{Join: true}, true},
		"in its session":                    {hook, models.AskInput{Session: "s1", Input: []byte(rmBuild), Join: true}, true},
		"of no session":                     {models.AskInput{ToolUseID: "t1"}, models.AskInput{Session: "s1", Join: true}, true},
		"in another session":                {hook, models.AskInput{Session: "s2", Input: []byte(rmBuild), Join: true}, false},
		"in its session, not said":          {hook, models.AskInput{Session: "s1", Input: []byte(rmBuild)}, false},
		"that a person is told more of":     {hook, models.AskInput{Input: []byte(rmBuild), Explanation: models.Explanation{Description: "on the laptop"}}, false},
		"that a person knows more of":       {models.AskInput{ToolUseID: "t1", Explanation: models.Explanation{Description: "clean"}}, models.AskInput{}, true},
		"said alike":                        {models.AskInput{ToolUseID: "t1", Explanation: models.Explanation{Description: "clean"}}, models.AskInput{Explanation: models.Explanation{Description: "clean"}}, true},
		"in another context":                {hook, models.AskInput{Input: []byte(rmBuild), Explanation: models.Explanation{Context: "step 2"}}, false},
		"of another job":                    {models.AskInput{ToolUseID: "t1", JobID: "j1"}, models.AskInput{JobID: "j2"}, false},
		"of the same job":                   {models.AskInput{ToolUseID: "t1", JobID: "j1"}, models.AskInput{JobID: "j1"}, true},
		"under a template":                  {models.AskInput{ToolUseID: "t1"}, models.AskInput{Template: "careful"}, false},
		"of what asks under a template":     {models.AskInput{ToolUseID: "t1", Template: "careful"}, models.AskInput{}, false},
		"another question":                  {models.AskInput{Kind: models.KindQuestion, ToolUseID: "t1", Explanation: models.Explanation{Description: "Go?"}}, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "Stop?"}}, false},
		"the same question":                 {models.AskInput{Kind: models.KindQuestion, ToolUseID: "t1", Explanation: models.Explanation{Description: "Go?"}}, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "Go?"}}, true},
		"a question is no call of its name": {models.AskInput{Kind: models.KindQuestion, ToolUseID: "t1"}, models.AskInput{ToolName: "question"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.UsePolicy(t, `{"templates":[{"name":"careful","risk":"high"}]}`)
			first := b.AskFor(t, two.first)
			before := storetest.LedgerAt(t, b.Store)
			second := b.AskFor(t, two.second)
			if (second.ID == first.ID) != two.same {
				t.Fatalf("the same request: %v, want %v", second.ID == first.ID, two.same)
			}
			if recorded := storetest.ActionsSince(t, b.Store, before); two.same && len(recorded) > 0 {
				t.Errorf("a repeat is recorded: %v", recorded)
			}
			if _, err := b.Decide(t.Context(), b.Owner, first.ID, storetest.Yes()); two.first.Template == "" && two.first.Kind != models.KindQuestion && err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestI9ACallOfWhichTwoWaitIsItsOwn: it can't be told which one it is.
func TestI9ACallOfWhichTwoWaitIsItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, other := b.AskFor(t, models.AskInput{ToolUseID: "t1"}), b.AskFor(t, models.AskInput{ToolUseID: "t2"})
	third := b.AskFor(t, models.AskInput{Join: true})
	if third.ID == first.ID || third.ID == other.ID {
		t.Fatal("it joined one of two")
	}
	for _, a := range []*models.Approval{other, third} {
		storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.No("no"))))
	}
	if got := b.AskFor(t, models.AskInput{}); got.ID != first.ID {
		t.Error("what is settled is counted among what waits")
	}
}

// TestI9OnlyWhatWaitsIsJoinedWithoutAKey, while by its tool use id a call has its outcome
// for good.
func TestI9OnlyWhatWaitsIsJoinedWithoutAKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := models.AskInput{Session: "s1", ToolUseID: "t1"}
	first := b.AskFor(t, in)
	b.Clock.Step(5*time.Minute - time.Second)
	if got := b.AskFor(t, models.AskInput{}); got.ID != first.ID {
		t.Fatal("it waits still")
	}
	b.Clock.Step(time.Second) // the deadline, which nobody has written down yet (I3)
	if got := b.AskFor(t, models.AskInput{}); got.ID == first.ID {
		t.Error("it joined what has expired")
	}
	if got := b.AskFor(t, models.AskInput{ToolUseID: "t1"}); got.ID != first.ID || got.Status() != models.StatusExpired {
		t.Errorf("by its tool use id it is %s, %s", got.ID, got.Status())
	}
}

// TestI9AWayInNeverLeadsToAnotherAgent of the same owner, or of another.
func TestI9AWayInNeverLeadsToAnotherAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sibling, _ := storetest.AgentToken(t, b.Store, b.Owner, "sibling")
	first := b.AskFor(t, models.AskInput{ToolUseID: "t1"})
	for _, agent := range []models.Actor{sibling, b.Other} {
		for _, in := range []models.AskInput{{Join: true}, {ToolUseID: "t1"}} {
			in.ToolName, in.Explicit = "Bash", true
			if got, err := b.Ask(t.Context(), agent, in); err != nil || got.ID == first.ID || got.AgentID == first.AgentID {
				t.Errorf("%+v, %v", got, err)
			}
		}
	}
}

// TestI14JoiningCostsNothing, is counted by no limit, and keeps what was said first.
func TestI14JoiningCostsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *store.Options) { o.AsksPerMinute, o.PendingPerAgent = 1, 1 })
	three := new(int64(3))
	first := b.AskFor(t, models.AskInput{Session: "s1", ToolUseID: "t1", Energy: three, Explanation: models.Explanation{Description: "clean up"}})
	for range 3 {
		if got := b.AskFor(t, models.AskInput{Energy: three, TimeoutSeconds: new(int64(7))}); got.ID != first.ID || got.Description != "clean up" || !got.ApprovalTimeoutAt.Equal(first.ApprovalTimeoutAt) {
			t.Fatalf("joined: %+v", got)
		}
	}
	if used := storetest.Scalar[int64](t, b.Store, `SELECT sum(energy_used) FROM conversations`); used != 3 {
		t.Errorf("%d units are spent, want 3", used)
	}
}

// TestABadCallIsRefusedWhateverWaits: joining is no way around the checks.
func TestABadCallIsRefusedWhateverWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.AskFor(t, models.AskInput{ToolUseID: "t1"})
	e := refusal(t, storetest.Err(b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "Bash", TimeoutSeconds: new(int64(1 << 40))})), models.CodeInvalid)
	if e.Fields["timeoutSeconds"] == "" {
		t.Errorf("it names %v", e.Fields)
	}
}

// TestI9WhatRanAlreadyJoinsNothing: it is recorded as what it is.
func TestI9WhatRanAlreadyJoinsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"fallback_auto_approve":true}`)
	first := b.AskFor(t, models.AskInput{ToolUseID: "t1"})
	if got := b.AskFor(t, models.AskInput{FallbackAt: b.Clock.Step(time.Second).Format(time.RFC3339), Join: true}); got.ID == first.ID || got.Cause != models.CauseFallback {
		t.Errorf("%s, cause %q", got.ID, got.Cause)
	}
}

// TestI1WaysInThatComeAtOnceMeet: however they race, there is one row for all, and one
// decision tells all of them.
func TestI1WaysInThatComeAtOnceMeet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var group sync.WaitGroup
	got := make([]*models.Approval, 60)
	for i := range got {
		in := models.AskInput{ToolName: "Bash", ToolUseID: fmt.Sprint("t", i/4), Input: fmt.Appendf(nil, `{"n":%d}`, i/4), Explicit: true}
		group.Go(func() {
			a, err := b.Ask(t.Context(), b.Agent, in)
			if err == nil && a.Status() == models.StatusPending {
				a, err = b.Await(t.Context(), b.Agent, a.ID, time.Minute)
			}
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = a
		})
	}
	for decided := 0; decided < 15; {
		page, err := b.Requests.PendingList(t.Context(), b.Owner, "", 50)
		storetest.Must(t, err)
		for i := range page.Items {
			if _, err := b.Decide(t.Context(), b.Owner, page.Items[i].ID, storetest.Yes()); err == nil {
				decided++
			}
		}
	}
	group.Wait()
	if t.Failed() {
		return
	}
	for i, a := range got {
		if a.ID != got[i/4*4].ID || a.Status() != models.StatusApproved || !strings.Contains(a.ToolInputJSON, fmt.Sprint(i/4)) {
			t.Errorf("%d: %s is %s", i, a.ID, a.Status())
		}
	}
	if rows := storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM responses`); rows != 15 {
		t.Errorf("%d rows, want 15", rows)
	}
}

// TestI11AskingForAPersonIsNotAnsweredByWhatNoRuleConcerns: a hook lets a call pass that no
// rule concerns; the agent's own rules then want a person, by a prompt of the same tool use id.
func TestI11AskingForAPersonIsNotAnsweredByWhatNoRuleConcerns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"unmatched":"allow","rules":[{"name":"reading","tools":["Read"],"effect":"allow"}]}`)
	for _, c := range []struct {
		tool    string
		allowed bool
	}{{"Bash", false}, {"Read", true}} {
		hook, err := b.Ask(t.Context(), b.Agent, models.AskInput{Session: "s1", ToolUseID: c.tool, ToolName: c.tool, Input: []byte(rmBuild)})
		if err != nil || hook.Status() != models.StatusNone {
			t.Fatalf("%s: the hook hears %v, %v", c.tool, hook, err)
		}
		prompt := models.AskInput{ToolUseID: c.tool, ToolName: c.tool, Input: []byte(rmBuild)}
		asked := b.AskFor(t, prompt)
		if asked.ID == hook.ID || (asked.Status() == models.StatusPending) == c.allowed {
			t.Errorf("%s: the prompt hears %s, of the hook's row: %v", c.tool, asked.Status(), asked.ID == hook.ID)
		}
		if again := b.AskFor(t, prompt); again.ID != asked.ID {
			t.Errorf("%s: a repeat of the prompt is another request", c.tool)
		}
		silent := prompt
		silent.AcceptsEdits = true // as the last did
		again, err := b.Ask(t.Context(), b.Agent, silent)
		if err != nil || again.ID != asked.ID {
			t.Errorf("%s: the way that asks for nobody meets another row than the last, %v", c.tool, err)
		}
	}
}
