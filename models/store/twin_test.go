package store_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

func (b *bench) twinOf(t *testing.T, who models.Actor, a *models.Approval) *models.Twin {
	t.Helper()
	found, err := b.Requests.Twins(t.Context(), who, a)
	storetest.Must(t, err)
	if twin, ok := found[a.ID]; ok {
		return &twin
	}
	return nil
}

// TestATwinIsNoticed by what was released, of the same agent, and by a person.
func TestATwinIsNoticed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pay := func(input string) *models.Approval {
		return b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(input)})
	}
	if got := b.twinOf(t, b.Owner, pay(`{"sum":1}`)); got != nil {
		t.Errorf("the first has the twin %+v", got)
	}
	early := pay(`{"sum": 2}`)
	first := b.Settle(t, `{"sum":2}`, storetest.Yes())
	for name, a := range map[string]*models.Approval{"asked before": early, "asked after, spelled otherwise": pay(`{ "sum":2 }`)} {
		if got := b.twinOf(t, b.Owner, a); got == nil || got.ID != first.ID || got.By != b.Owner.Name || !got.At.Equal(*first.ApprovalTimestamp) || !a.TwinWarns(*got) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// An edit releases another input: that one counts.
	edited := storetest.Yes()
	edited.Input = []byte(`{"sum":3}`)
	ran := b.Settle(t, `{"sum":30}`, edited)
	if got := b.twinOf(t, b.Owner, pay(`{"sum":30}`)); got != nil {
		t.Errorf("what was asked and never ran has the twin %+v", got)
	}
	if got := b.twinOf(t, b.Owner, pay(`{"sum":3}`)); got == nil || got.ID != ran.ID {
		t.Errorf("what ran has the twin %+v", got)
	}
	b.Settle(t, `{"sum":4}`, storetest.No("never"))
	if got := b.twinOf(t, b.Owner, pay(`{"sum":4}`)); got != nil {
		t.Errorf("what was rejected is the twin %+v", got)
	}
	b.UsePolicy(t, `{"rules":[{"name":"let","tools":["pay"],"effect":"allow"}]}`)
	pay(`{"sum":5}`)
	b.UsePolicy(t, `{}`)
	if got := b.twinOf(t, b.Owner, pay(`{"sum":5}`)); got != nil {
		t.Errorf("what no person approved is the twin %+v", got)
	}
	other, _ := storetest.AgentToken(t, b.Store, b.Owner, "another")
	a, err := b.Ask(t.Context(), other, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":2}`), Explicit: true})
	if storetest.Must(t, err); b.twinOf(t, b.Owner, a) != nil {
		t.Error("another agent's call is a twin")
	}
	wantCode(t, second(b.Requests.Twins(t.Context(), b.Agent, early)), models.CodeForbidden)
}

// TestATwinOfHighRiskIsFoundHoweverLongAgo, and one of low risk within minutes; its
// own page finds that too.
func TestATwinOfHighRiskIsFoundHoweverLongAgo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"rules":[{"name":"money","tools":["pay"],"effect":"require","risk":"high"},{"name":"rest","tools":["list"],"effect":"require","risk":"low"}]}`)
	list := func() *models.Approval { return b.AskFor(t, models.AskInput{ToolName: "list"}) }
	paid := b.Settle(t, `{"sum":2}`, storetest.Yes())
	listed := list()
	if _, err := b.Decide(t.Context(), b.Owner, listed.ID, storetest.Yes()); err != nil {
		t.Fatal(err)
	}
	b.Clock.Step(9 * time.Minute)
	soon := list()
	if got := b.twinOf(t, b.Owner, soon); got == nil || !soon.TwinWarns(*got) {
		t.Errorf("after 9 minutes: %+v", got)
	}
	b.Clock.Step(2 * time.Minute)
	late := list()
	if got := b.twinOf(t, b.Owner, late); got != nil && late.TwinWarns(*got) {
		t.Errorf("after 11 minutes: %+v", got)
	}
	if got := b.around(t, b.Owner, late.ID).Twin; got == nil || got.ID != listed.ID || late.TwinWarns(*got) {
		t.Errorf("its page has the twin %+v", got)
	}
	if got := b.twinOf(t, b.Owner, soon); got == nil || !soon.TwinWarns(*got) {
		t.Error("the warning went while the request waited")
	}
	storetest.Seed(t, b.Store, b.Agent, storetest.Rows{Settled: 1000}) // long is what comes between
	b.Clock.Step(300 * 24 * time.Hour)
	again := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":2}`)})
	if got := b.twinOf(t, b.Owner, again); got == nil || got.ID != paid.ID || !again.TwinWarns(*got) {
		t.Errorf("of high risk, long ago: %+v", got)
	}
}

// TestATwinTellsNothingToWhoMayNotSeeBoth.
func TestATwinTellsNothingToWhoMayNotSeeBoth(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Settle(t, `{"sum":1}`, storetest.Yes()) // not routed to the other
	b.UsePolicy(t, `{"rules":[{"name":"money","tools":["pay"],"effect":"require","risk":"critical","reviewers":["`+b.Stranger.Name+`"]}]}`)
	a := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":1}`)})
	if got := b.twinOf(t, b.Stranger, a); got != nil || b.around(t, b.Stranger, a.ID).Twin != nil {
		t.Errorf("who was asked for help learns of %+v", got)
	}
	if b.twinOf(t, b.Owner, a) == nil || b.twinOf(t, b.Admin, a) == nil {
		t.Error("the owner or an admin is not told")
	}
	b.UsePolicy(t, `{"rules":[{"name":"rest","tools":["pay"],"effect":"require","risk":"high"}]}`)
	unseen := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":1}`)})
	if got := b.twinOf(t, b.Stranger, unseen); got != nil {
		t.Errorf("of a request that is not theirs to see: %+v", got)
	}
}
