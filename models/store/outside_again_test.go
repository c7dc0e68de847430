package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// A call and a contact may have the same id: each is asked, and what is told goes to
// the one that was decided.
func TestACallAndAContactOfOneIDAreTwoRequests(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.take(t, call("1", "r", "bash", `{"n":1}`)) // waits for its second poll
	w.take(t, contact("1", "r", "Which region?"))
	w.take(t, call("1", "r", "bash", `{"n":1}`))
	asked := storetest.Column(t, w.Store, `SELECT kind || ' ' || approval_status FROM responses ORDER BY number`)
	if strings.Join(asked, ", ") != "question pending, tool_call pending" {
		t.Fatalf("asked: %q", asked)
	}
	question, _ := w.row(t, `kind = 'question'`)
	w.vote(t, question.id, models.DecisionInput{Answer: new("eu")})
	if d := w.begin(t, question.id); d.Kind != models.OutsideContact || d.Answer != "eu" || d.CallID != "1" {
		t.Errorf("told %+v", d)
	}
	storetest.Must(t, w.EndDelivery(t.Context(), w.tell, question.id, models.DeliveryEnd{Result: models.DeliveryTaken}))
	storetest.Must(t, w.Reconcile(t.Context(), w.poll, w.up.ID, models.OutsideContact, nil))
	other, _ := w.row(t, `kind = 'tool_call'`)
	w.wantRow(t, other.id, "pending ")
	w.vote(t, other.id, yes())
	if d := w.begin(t, other.id); d.Kind != models.OutsideCallKind || !d.Approved {
		t.Errorf("told %+v", d)
	}
	w.verifyRows(t)
}

// An id that asks for something else by now is another request: nobody approves what
// was shown before.
func TestAnIDThatAsksForSomethingElseIsAnotherRequest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ was, is models.OutsideItem }{
		"a call":    {call("c", "", "bash", `{"command":"ls"}`), call("c", "", "bash", `{"command":"rm -rf /"}`)},
		"its tool":  {call("c", "", "read", `{"path":"/"}`), call("c", "", "delete", `{"path":"/"}`)},
		"a contact": {contact("c", "", "May I read it?"), contact("c", "", "May I delete it?")},
	} {
		for _, held := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, held %t", name, held), func(t *testing.T) {
				t.Parallel()
				w := newOutsideWorld(t)
				first := w.taken(t, tt.was)
				same := tt.was
				same.Arguments = []byte(strings.ReplaceAll(string(same.Arguments), `":"`, `" : "`)) // written otherwise
				w.take(t, same)
				if held {
					in := yes()
					if tt.was.Kind == models.OutsideContact {
						in = models.DecisionInput{Answer: new("yes")}
					}
					w.vote(t, first, in)
				}
				w.take(t, tt.is)
				w.wantRow(t, first, "resolved elsewhere")
				second := w.of(t, "c")
				if second.id == first || second.status != "pending" || second.held {
					t.Fatalf("%+v", second)
				}
				if a := w.stands(t, second.id); !strings.Contains(a.ToolInputJSON+a.ToolName+a.Description, "rm -rf") && !strings.Contains(a.ToolName+a.Description, "delete") {
					t.Errorf("asked is %+v", a.Response)
				}
				if due, _, err := w.DueDeliveries(t.Context(), 9); err != nil || len(due) != 0 {
					t.Errorf("%v is told, %v", due, err)
				}
				w.take(t, tt.is)
				if n := len(storetest.Column(t, w.Store, `SELECT id FROM responses`)); n != 2 {
					t.Errorf("%d requests", n)
				}
				w.verifyRows(t)
			})
		}
	}
}

// Of an item whose arguments are not known anything may change: it is another request
// once a minute at most, and at once where its arguments are known from now on.
func TestAWholeItemIsAnotherRequestOnceAMinute(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := func(raw string) models.OutsideItem {
		i := call("c", "", "bash", raw)
		i.Raw = []byte(raw)
		return i
	}
	first := w.taken(t, item(`{"call_id":"c","payload":"ls","age":1}`))
	w.take(t, item(`{"call_id":"c","payload":"ls","age":2}`))
	if r := w.of(t, "c"); r.id != first {
		t.Fatalf("another request at once: %+v", r)
	}
	w.clock.Step(time.Minute)
	w.take(t, item(`{"call_id":"c","payload":"rm","age":3}`))
	second := w.of(t, "c")
	if second.id == first || second.status != "pending" {
		t.Fatalf("what is shown is not what is asked: %+v", second)
	}
	known := item(`{"call_id":"c","function_args":{"command":"rm"}}`)
	known.Arguments = []byte(`{"command":"rm"}`)
	w.take(t, known)
	if r := w.of(t, "c"); r.id == second.id {
		t.Errorf("arguments that are known now are not shown: %+v", r)
	}
	w.verifyRows(t)
}

// A decision that is on its way is not taken back, whatever the id asks for now.
func TestADecisionInFlightGoesBeforeAnotherRequestOfItsID(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.taken(t, call("c", "", "bash", `{"command":"ls"}`))
	w.vote(t, id, yes())
	w.begin(t, id)
	changed := call("c", "", "bash", `{"command":"rm"}`)
	w.take(t, changed)
	w.wantRow(t, id, "pending ")
	storetest.Must(t, w.EndDelivery(t.Context(), w.tell, id, models.DeliveryEnd{Result: models.DeliveryTaken}))
	w.wantRow(t, id, "approved reviewer")
	w.take(t, changed)
	if r := w.of(t, "c"); r.id == id || r.status != "pending" {
		t.Errorf("%+v", r)
	}
	w.verifyRows(t)
}

// What was missing from one list, and is listed again, is asked again; not at once,
// for lists may lag behind, and never what was decided here.
func TestWhatIsListedAgainIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item, decided := call("c", "", "bash", `{"n":1}`), call("d", "", "bash", `{"n":2}`)
	first, approved := w.taken(t, item), w.taken(t, decided)
	w.vote(t, approved, yes())
	w.deliver(t, approved, models.DeliveryTaken)
	storetest.Must(t, w.Reconcile(t.Context(), w.poll, w.up.ID, models.OutsideCallKind, nil))
	w.wantRow(t, first, "resolved elsewhere")
	w.take(t, item)
	if r := w.of(t, "c"); r.id != first {
		t.Errorf("asked again at once: %+v", r)
	}
	w.clock.Step(time.Minute)
	w.take(t, item)
	w.take(t, decided)
	if r := w.of(t, "c"); r.id == first || r.status != "pending" {
		t.Errorf("not asked again: %+v", r)
	}
	if r := w.of(t, "d"); r.id != approved {
		t.Errorf("what was decided is asked again: %+v", r)
	}
	// One that the other system says it has decided is not asked for ever.
	told := w.of(t, "c").id
	w.vote(t, told, yes())
	w.deliver(t, told, models.DeliveryElsewhere)
	w.clock.Step(time.Hour)
	w.take(t, item)
	if r := w.of(t, "c"); r.id != told {
		t.Errorf("asked again although it is decided there: %+v", r)
	}
	w.verifyRows(t)
}

// A deadline that the other system moves is moved here.
func TestADeadlineOfAnotherSystemMoves(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := call("c", "", "bash", `{"n":1}`)
	item.Timeout = new(5 * time.Minute)
	id := w.taken(t, item)
	was := w.stands(t, id).ApprovalTimeoutAt
	item.Timeout = new(5*time.Minute + 10*time.Second) // as exact as its clock
	w.take(t, item)
	if got := w.stands(t, id).ApprovalTimeoutAt; !got.Equal(was) {
		t.Errorf("the deadline moved to %s", got)
	}
	item.Timeout = new(time.Hour)
	w.take(t, item)
	if got := w.stands(t, id).ApprovalTimeoutAt; !got.Equal(w.clock.Now().Add(time.Hour)) {
		t.Errorf("the deadline is %s", got)
	}
	w.verifyRows(t)
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
				w := newOutsideWorld(t)
				item := call("c", "", "bash", `{"n":1}`)
				if matched != "no" {
					item.RunID = "r"
					w.open(t, models.RunInput{RunID: "r"}, reported("u", "bash", matched))
				}
				change(&item)
				id := w.taken(t, item)
				in := yes()
				in.Digest = w.stands(t, id).Digest
				if _, err := w.Decide(t.Context(), w.owner, id, in); err == nil {
					t.Error("it can be approved")
				}
				w.vote(t, id, no("no"))
				w.verifyRows(t)
			})
		}
	}
}

// A call with another input is the one that is meant only until the one with the
// same input comes, and nothing follows from it for its batch.
func TestANameAloneGivesWayToTheSameInput(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.late(t, call("c6", "r", "bash", `{"n":6}`))
	conv := w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, reported("u1", "bash", `{"n":1}`))
	w.link(t)
	if o := w.origin(t, id); o.Linked != nil {
		t.Fatalf("linked at once: %+v", o.Linked)
	}
	w.clock.Step(models.NameAloneAfter)
	w.link(t)
	if o := w.origin(t, id); o.Linked == nil || o.Linked.SameInput {
		t.Fatalf("%+v", o.Linked)
	}
	w.report(t, conv, reported("u2", "bash", `{"n":2}`), reported("u6", "bash", `{"n":6}`))
	if r := w.byID(t, id); r.use != "u6" || r.conv != conv {
		t.Errorf("it did not join its call: %+v", r)
	}
	if o := w.origin(t, id); o.Linked != nil {
		t.Errorf("still linked: %+v", o.Linked)
	}
	w.vote(t, id, no("not six"))
	w.deliver(t, id, models.DeliveryTaken)
	w.wantRow(t, w.byUse(t, "u1").id, " ")
	w.wantRow(t, w.byUse(t, "u2").id, " ")
	w.verifyRows(t)
}

// A rejection does not follow from a call that only has the name.
func TestNoBatchIsRejectedByANameAlone(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.late(t, call("c6", "r", "bash", `{"n":6}`))
	w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, reported("u1", "bash", `{"n":1}`), reported("u2", "bash", `{"n":2}`))
	w.clock.Step(models.NameAloneAfter)
	w.link(t)
	w.vote(t, id, no("not six"))
	w.deliver(t, id, models.DeliveryTaken)
	w.wantRow(t, w.byUse(t, "u2").id, " ")
	w.verifyRows(t)
}

// A call whose approval of another system was given stays, when one before it in its
// batch is rejected.
func TestACascadeLeavesWhatWasApproved(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	given := w.late(t, call("c2", "r", "bash", `{"n":2}`))
	w.vote(t, given, yes())
	w.deliver(t, given, models.DeliveryTaken)
	w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, reported("u1", "bash", `{"n":1}`), reported("u2", "bash", `{"n":2}`), reported("u3", "bash", `{"n":3}`))
	first := w.taken(t, call("c1", "r", "bash", `{"n":1}`))
	w.vote(t, first, no("no"))
	w.deliver(t, first, models.DeliveryTaken)
	w.wantRow(t, w.byUse(t, "u2").id, " ")
	w.wantRow(t, w.byUse(t, "u3").id, "rejected cascade")
	w.verifyRows(t)
}

// An approval that is listed after its call was rejected with its batch is rejected
// with it, and the other system hears so.
func TestAnApprovalThatComesAfterTheCascadeIsRejectedWithIt(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, reported("u1", "bash", `{"n":1}`), reported("u2", "bash", `{"n":2}`))
	first := w.taken(t, call("c1", "r", "bash", `{"n":1}`))
	w.vote(t, first, no("no"))
	w.deliver(t, first, models.DeliveryTaken)
	w.wantRow(t, w.byUse(t, "u2").id, "rejected cascade")
	w.take(t, call("c2", "r", "bash", `{"n":2}`))
	late := w.of(t, "c2")
	w.wantRow(t, late.id, "rejected cascade")
	if d := w.begin(t, late.id); d == nil || d.Approved || d.CallID != "c2" {
		t.Errorf("told %+v", d)
	}
	if o := w.origin(t, late.id); o.Linked == nil || o.Linked.ID != w.byUse(t, "u2").id {
		t.Errorf("linked to %+v", o.Linked)
	}
	w.verifyRows(t)
}
