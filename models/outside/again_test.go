package outside_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/storetest"
)

// A call and a contact may have the same id: each is asked, and what is told goes to
// the one that was decided.
func TestACallAndAContactOfOneIDAreTwoRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Take(t, storetest.Call("1", "r", "bash", `{"n":1}`)) // waits for its second poll
	w.Take(t, storetest.Contact("1", "r", "Which region?"))
	w.Take(t, storetest.Call("1", "r", "bash", `{"n":1}`))
	asked := storetest.Column(t, w.Store, `SELECT kind || ' ' || approval_status FROM responses ORDER BY number`)
	if strings.Join(asked, ", ") != "question pending, tool_call pending" {
		t.Fatalf("asked: %q", asked)
	}
	question, _ := w.Row(t, `kind = 'question'`)
	w.Vote(t, question.ID, models.DecisionInput{Answer: new("eu")})
	if d := w.Begin(t, question.ID); d.Kind != models.OutsideContact || d.Answer != "eu" || d.CallID != "1" {
		t.Errorf("told %+v", d)
	}
	storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, question.ID, models.DeliveryEnd{Result: models.DeliveryTaken}))
	storetest.Must(t, outside.New(w.Store).Reconcile(t.Context(), w.Poll, w.Up.ID, models.OutsideContact, nil))
	other, _ := w.Row(t, `kind = 'tool_call'`)
	w.WantRow(t, other.ID, "pending ")
	w.Vote(t, other.ID, storetest.Yes())
	if d := w.Begin(t, other.ID); d.Kind != models.OutsideCallKind || !d.Approved {
		t.Errorf("told %+v", d)
	}
	w.VerifyRows(t)
}

// An id that asks for something else by now is another request: nobody approves what
// was shown before.
func TestAnIDThatAsksForSomethingElseIsAnotherRequest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ was, is models.OutsideItem }{
		"a call":    {storetest.Call("c", "", "bash", `{"command":"ls"}`), storetest.Call("c", "", "bash", `{"command":"rm -rf /"}`)},
		"its tool":  {storetest.Call("c", "", "read", `{"path":"/"}`), storetest.Call("c", "", "delete", `{"path":"/"}`)},
		"a contact": {storetest.Contact("c", "", "May I read it?"), storetest.Contact("c", "", "May I delete it?")},
	} {
		for _, held := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, held %t", name, held), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				first := w.Taken(t, tt.was)
				same := tt.was
				same.Arguments = []byte(strings.ReplaceAll(string(same.Arguments), `":"`, `" : "`)) // written otherwise
				w.Take(t, same)
				if held {
					in := storetest.Yes()
					if tt.was.Kind == models.OutsideContact {
						in = models.DecisionInput{Answer: new("yes")}
					}
					w.Vote(t, first, in)
				}
				w.Take(t, tt.is)
				w.WantRow(t, first, "resolved elsewhere")
				second := w.Of(t, "c")
				if second.ID == first || second.Status != "pending" || second.Held {
					t.Fatalf("%+v", second)
				}
				if a := w.Read(t, second.ID); !strings.Contains(a.ToolInputJSON+a.ToolName+a.Description, "rm -rf") && !strings.Contains(a.ToolName+a.Description, "delete") {
					t.Errorf("asked is %+v", a.Response)
				}
				if due, _, err := outside.New(w.Store).DueDeliveries(t.Context(), 9); err != nil || len(due) != 0 {
					t.Errorf("%v is told, %v", due, err)
				}
				w.Take(t, tt.is)
				if n := len(storetest.Column(t, w.Store, `SELECT id FROM responses`)); n != 2 {
					t.Errorf("%d requests", n)
				}
				w.VerifyRows(t)
			})
		}
	}
}

// Of an item whose arguments are not known anything may change: it is another request
// once a minute at most, and at once where its arguments are known from now on.
func TestAWholeItemIsAnotherRequestOnceAMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := func(raw string) models.OutsideItem {
		i := storetest.Call("c", "", "bash", raw)
		i.Raw = []byte(raw)
		return i
	}
	first := w.Taken(t, item(`{"call_id":"c","payload":"ls","age":1}`))
	w.Take(t, item(`{"call_id":"c","payload":"ls","age":2}`))
	if r := w.Of(t, "c"); r.ID != first {
		t.Fatalf("another request at once: %+v", r)
	}
	w.Clock.Step(time.Minute)
	w.Take(t, item(`{"call_id":"c","payload":"rm","age":3}`))
	second := w.Of(t, "c")
	if second.ID == first || second.Status != "pending" {
		t.Fatalf("what is shown is not what is asked: %+v", second)
	}
	known := item(`{"call_id":"c","function_args":{"command":"rm"}}`)
	known.Arguments = []byte(`{"command":"rm"}`)
	w.Take(t, known)
	if r := w.Of(t, "c"); r.ID == second.ID {
		t.Errorf("arguments that are known now are not shown: %+v", r)
	}
	w.VerifyRows(t)
}

// A decision that is on its way is not taken back, whatever the id asks for now.
func TestADecisionInFlightGoesBeforeAnotherRequestOfItsID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.Taken(t, storetest.Call("c", "", "bash", `{"command":"ls"}`))
	w.Vote(t, id, storetest.Yes())
	w.Begin(t, id)
	changed := storetest.Call("c", "", "bash", `{"command":"rm"}`)
	w.Take(t, changed)
	w.WantRow(t, id, "pending ")
	storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, id, models.DeliveryEnd{Result: models.DeliveryTaken}))
	w.WantRow(t, id, "approved reviewer")
	w.Take(t, changed)
	if r := w.Of(t, "c"); r.ID == id || r.Status != "pending" {
		t.Errorf("%+v", r)
	}
	w.VerifyRows(t)
}

// What was missing from one list, and is listed again, is asked again; not at once,
// for lists may lag behind, and never what was decided here.
func TestWhatIsListedAgainIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item, decided := storetest.Call("c", "", "bash", `{"n":1}`), storetest.Call("d", "", "bash", `{"n":2}`)
	first, approved := w.Taken(t, item), w.Taken(t, decided)
	w.Vote(t, approved, storetest.Yes())
	w.Deliver(t, approved, models.DeliveryTaken)
	storetest.Must(t, outside.New(w.Store).Reconcile(t.Context(), w.Poll, w.Up.ID, models.OutsideCallKind, nil))
	w.WantRow(t, first, "resolved elsewhere")
	w.Take(t, item)
	if r := w.Of(t, "c"); r.ID != first {
		t.Errorf("asked again at once: %+v", r)
	}
	w.Clock.Step(time.Minute)
	w.Take(t, item)
	w.Take(t, decided)
	if r := w.Of(t, "c"); r.ID == first || r.Status != "pending" {
		t.Errorf("not asked again: %+v", r)
	}
	if r := w.Of(t, "d"); r.ID != approved {
		t.Errorf("what was decided is asked again: %+v", r)
	}
	// One that the other system says it has decided is not asked for ever.
	told := w.Of(t, "c").ID
	w.Vote(t, told, storetest.Yes())
	w.Deliver(t, told, models.DeliveryElsewhere)
	w.Clock.Step(time.Hour)
	w.Take(t, item)
	if r := w.Of(t, "c"); r.ID != told {
		t.Errorf("asked again although it is decided there: %+v", r)
	}
	w.VerifyRows(t)
}

// A deadline that the other system moves is moved here.
func TestADeadlineOfAnotherSystemMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := storetest.Call("c", "", "bash", `{"n":1}`)
	item.Timeout = new(5 * time.Minute)
	id := w.Taken(t, item)
	was := w.Read(t, id).ApprovalTimeoutAt
	item.Timeout = new(5*time.Minute + 10*time.Second) // as exact as its clock
	w.Take(t, item)
	if got := w.Read(t, id).ApprovalTimeoutAt; !got.Equal(was) {
		t.Errorf("the deadline moved to %s", got)
	}
	item.Timeout = new(time.Hour)
	w.Take(t, item)
	if got := w.Read(t, id).ApprovalTimeoutAt; !got.Equal(w.Clock.Now().Add(time.Hour)) {
		t.Errorf("the deadline is %s", got)
	}
	w.VerifyRows(t)
}

// What is kept in other letters than it was sent, or in part, can't be approved.
func TestWhatIsNotKeptWholeCanOnlyBeRejected(t *testing.T) {
	t.Parallel()
	long := `{"a":"` + strings.Repeat("x", models.MaxInput) + `","as":"root"}`
	for name, change := range map[string]func(*models.OutsideItem){
		"letters that are none": func(i *models.OutsideItem) { i.Arguments = []byte("{\"n\":\"\xff\"}") },
		"long arguments":        func(i *models.OutsideItem) { i.Arguments = []byte(long) },
		"long beside":           func(i *models.OutsideItem) { i.Rest = []byte(long) },
	} {
		for _, matched := range []string{"no", `{"n":2}`, `{"n":1}`} { // the input of the call that it finds
			t.Run(fmt.Sprintf("%s, matched %s", name, matched), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				item := storetest.Call("c", "", "bash", `{"n":1}`)
				if matched != "no" {
					item.RunID = "r"
					w.Open(t, models.RunInput{RunID: "r"}, storetest.Reported("u", "bash", matched))
				}
				change(&item)
				id := w.Taken(t, item)
				in := storetest.Yes()
				in.Digest = w.Read(t, id).Digest
				if _, err := w.Decide(t.Context(), w.Owner, id, in); err == nil {
					t.Error("it can be approved")
				}
				w.Vote(t, id, storetest.No("no"))
				w.VerifyRows(t)
			})
		}
	}
}

// A call with another input is the one that is meant only until the one with the
// same input comes, and nothing follows from it for its batch.
func TestANameAloneGivesWayToTheSameInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.Late(t, storetest.Call("c6", "r", "bash", `{"n":6}`))
	conv := w.Open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, storetest.Reported("u1", "bash", `{"n":1}`))
	w.Link(t)
	if o := w.Origin(t, id); o.Linked != nil {
		t.Fatalf("linked at once: %+v", o.Linked)
	}
	w.Clock.Step(models.NameAloneAfter)
	w.Link(t)
	if o := w.Origin(t, id); o.Linked == nil || o.Linked.SameInput {
		t.Fatalf("%+v", o.Linked)
	}
	w.Report(t, conv, storetest.Reported("u2", "bash", `{"n":2}`), storetest.Reported("u6", "bash", `{"n":6}`))
	if r := w.ByID(t, id); r.Use != "u6" || r.Conversation != conv {
		t.Errorf("it did not join its call: %+v", r)
	}
	if o := w.Origin(t, id); o.Linked != nil {
		t.Errorf("still linked: %+v", o.Linked)
	}
	w.Vote(t, id, storetest.No("not six"))
	w.Deliver(t, id, models.DeliveryTaken)
	w.WantRow(t, w.ByUse(t, "u1").ID, " ")
	w.WantRow(t, w.ByUse(t, "u2").ID, " ")
	w.VerifyRows(t)
}

// A rejection does not follow from a call that only has the name.
func TestNoBatchIsRejectedByANameAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.Late(t, storetest.Call("c6", "r", "bash", `{"n":6}`))
	w.Open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, storetest.Reported("u1", "bash", `{"n":1}`), storetest.Reported("u2", "bash", `{"n":2}`))
	w.Clock.Step(models.NameAloneAfter)
	w.Link(t)
	w.Vote(t, id, storetest.No("not six"))
	w.Deliver(t, id, models.DeliveryTaken)
	w.WantRow(t, w.ByUse(t, "u2").ID, " ")
	w.VerifyRows(t)
}

// A call whose approval of another system was given stays, when one before it in its
// batch is rejected.
func TestACascadeLeavesWhatWasApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	given := w.Late(t, storetest.Call("c2", "r", "bash", `{"n":2}`))
	w.Vote(t, given, storetest.Yes())
	w.Deliver(t, given, models.DeliveryTaken)
	w.Open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, storetest.Reported("u1", "bash", `{"n":1}`), storetest.Reported("u2", "bash", `{"n":2}`), storetest.Reported("u3", "bash", `{"n":3}`))
	first := w.Taken(t, storetest.Call("c1", "r", "bash", `{"n":1}`))
	w.Vote(t, first, storetest.No("no"))
	w.Deliver(t, first, models.DeliveryTaken)
	w.WantRow(t, w.ByUse(t, "u2").ID, " ")
	w.WantRow(t, w.ByUse(t, "u3").ID, "rejected cascade")
	w.VerifyRows(t)
}

// An approval that is listed after its call was rejected with its batch is rejected
// with it, and the other system hears so.
func TestAnApprovalThatComesAfterTheCascadeIsRejectedWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, storetest.Reported("u1", "bash", `{"n":1}`), storetest.Reported("u2", "bash", `{"n":2}`))
	first := w.Taken(t, storetest.Call("c1", "r", "bash", `{"n":1}`))
	w.Vote(t, first, storetest.No("no"))
	w.Deliver(t, first, models.DeliveryTaken)
	w.WantRow(t, w.ByUse(t, "u2").ID, "rejected cascade")
	w.Take(t, storetest.Call("c2", "r", "bash", `{"n":2}`))
	late := w.Of(t, "c2")
	w.WantRow(t, late.ID, "rejected cascade")
	if d := w.Begin(t, late.ID); d == nil || d.Approved || d.CallID != "c2" {
		t.Errorf("told %+v", d)
	}
	if o := w.Origin(t, late.ID); o.Linked == nil || o.Linked.ID != w.ByUse(t, "u2").ID {
		t.Errorf("linked to %+v", o.Linked)
	}
	w.VerifyRows(t)
}
