package requests_test

import (
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

func TestOriginsSayThroughWhomAndWhoseSubAgentAsks(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	top := w.Open(t, models.RunInput{RunID: "top", Title: "Ship it"}, storetest.Reported("task", "Task", `{"subagent_type":"reviewer","prompt":"look"}`))
	inner := storetest.Reported("inner", "Bash", `{"command":"make"}`)
	inner.ParentToolUseID = "task"
	w.Report(t, top, inner)
	w.Open(t, models.RunInput{RunID: "below", ParentRunID: "top"}, storetest.Reported("deep", "Bash", `{"command":"ls"}`))
	id := w.Taken(t, storetest.Call("c1", "top", "Bash", `{"command":"make"}`))
	deep := w.Taken(t, storetest.Call("c2", "below", "Bash", `{"command":"pwd"}`))

	read := func(actor models.Actor, ids ...models.ResponseID) map[models.ResponseID]models.Origin {
		t.Helper()
		got, err := w.Requests.Origins(t.Context(), actor, ids...)
		storetest.Must(t, err)
		return got
	}
	got := read(w.Owner, id, deep, models.NewID[models.ResponseID]())
	if len(got) != 2 {
		t.Fatalf("%d origins, want those of the 2 that there are", len(got))
	}
	if o := got[id]; o.UpstreamName != "orders" || o.StartedBy != "Task" || o.StartedInput == "" || o.ParentID != "" || o.MatchedBy != models.MatchedByOnly || o.Delivery != nil {
		t.Errorf("of a sub-agent in the run: %+v", o)
	}
	if o := got[deep]; o.ParentID != top || o.ParentRun != "top" || o.ParentTitle != "Ship it" || o.Contradiction == "" {
		t.Errorf("of a run below: %+v", o)
	}
	w.Vote(t, id, models.DecisionInput{Approved: new(false), Reason: "no", Digest: w.digest(t, id)})
	w.Begin(t, id)
	w.End(t, id, models.DeliveryLater)
	told := read(w.Admin, id)[id].Delivery
	if told == nil || told.Verdict != models.VerdictReject || told.Attempts != 1 || told.Problem == "" || told.VoterName == "" || told.GiveUpAt.IsZero() {
		t.Errorf("a verdict on its way: %+v", told)
	}
	if others := read(storetest.Reviewer(t, w.Store, "other@example.com"), id, deep); len(others) != 0 {
		t.Errorf("a stranger reads %+v", others)
	}
	if _, err := w.Requests.Origins(t.Context(), w.Agent, id); models.ErrorCode(err) != models.CodeForbidden {
		t.Errorf("an agent: %v", err)
	}
}

func (w *outsideWorld) digest(t *testing.T, id models.ResponseID) string {
	t.Helper()
	a, err := w.Requests.Approval(t.Context(), w.Admin, id)
	storetest.Must(t, err)
	return a.Digest
}
