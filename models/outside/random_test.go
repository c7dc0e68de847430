package outside_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/outside"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/storetest"
)

// farWorld is a store, an upstream as a map, and what chance does to both.
type farWorld struct {
	*store.Store

	db           *sql.DB
	clock        *storetest.Clock
	owner, agent models.Actor
	up           *models.Upstream
	poll, tell   *models.Lease
	convs        []models.ConversationID

	there   map[string]string          // verdicts that the upstream has, by call
	told    map[string]map[string]bool // verdicts that reached it from here
	flights []flight                   // attempts whose end is not kept yet
}

type flight struct {
	id  models.ResponseID
	end models.DeliveryEnd
}

// farCalls are what the upstream may ask for: three calls of a batch in which a
// rejection cascades, one of another run, one that no run knows, and a question.
var farCalls = []string{"a1", "a2", "a3", "b1", "none", "question"}

func farItem(call string) models.OutsideItem {
	left := 20 * time.Minute
	item := models.OutsideItem{Kind: models.OutsideCallKind, CallID: call, RunID: call[:1], Name: "bash", Arguments: []byte(`{"of":"` + call + `"}`), Timeout: &left}
	if call == "question" {
		item.Kind, item.Message, item.RunID = models.OutsideContact, "Why?", "a"
	}
	return item
}

// TestI1RandomFatesOfOutsideApprovals: whatever people, agents, polls, attempts
// to tell and deaths of processes do in whatever order, a request leaves pending
// once, a person's outcome is what the upstream has, it is never told two
// verdicts, and the ledger tells each change once.
func TestI1RandomFatesOfOutsideApprovals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.Must(t, w.Close())
	rapid.Check(t, func(rt *rapid.T) {
		f := &farWorld{owner: w.Owner, agent: w.Agent, up: w.Up, there: map[string]string{}, told: map[string]map[string]bool{}}
		f.open(t, rt, filepath.Dir(w.Path()))
		defer f.close(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"take": f.take, "vote": f.vote, "vote again": f.vote, "begin": f.begin, "begin another": f.begin, "end": f.end, "die": f.die, "elsewhere": f.elsewhere, "reconcile": f.reconcile,
			"cancel": f.cancel, "stop": f.stop, "end of the run": f.runEnds, "result": f.result, "expire": f.expire, "time": f.time,
			"": f.holds,
		})
	})
}

func (f *farWorld) open(t *testing.T, rt *rapid.T, template string) {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "countersign") //nolint:usetesting // a hundred of them: each goes when it is done
	if err != nil {
		dir, err = os.MkdirTemp(t.TempDir(), "far") //nolint:usetesting // as above
	}
	f.done(rt, err)
	url := dbtest.Copy(t, template, dir)
	f.clock = storetest.NewClock()
	if err == nil {
		f.Store, err = store.Open(context.Background(), store.Options{Dir: dir, URL: url, Log: slog.New(slog.DiscardHandler), Now: f.clock.Now, AsksPerMinute: -1})
	}
	f.done(rt, err)
	f.db = dbtest.Beside(t, f.Path())
	f.poll, err = f.Nodes.TakeLease(context.Background(), "poll", "h", 1000*time.Hour)
	f.done(rt, err)
	f.tell, err = f.Nodes.TakeLease(context.Background(), "deliver", "h", 1000*time.Hour)
	f.done(rt, err)
	f.run(rt, models.RunInput{RunID: "a", OnReject: models.OnRejectCascade}, "a1", "a2", "a3")
	f.run(rt, models.RunInput{RunID: "b"}, "b1", "b2")
	for _, call := range farCalls[:2] {
		f.done(rt, outside.New(f.Store).Take(context.Background(), f.poll, f.up.ID, farItem(call)))
	}
}

func (f *farWorld) run(rt *rapid.T, in models.RunInput, calls ...string) {
	conv, _, err := runs.New(f.Store).OpenRun(context.Background(), f.agent, in)
	f.done(rt, err)
	var events []models.RunEvent
	for _, call := range calls {
		events = append(events, storetest.Reported(call, "bash", `{"of":"`+call+`"}`))
	}
	f.done(rt, storetest.Err(runs.New(f.Store).ReportEvents(context.Background(), f.agent, conv.ID, events)))
	f.convs = append(f.convs, conv.ID)
}

func (f *farWorld) close(rt *rapid.T) {
	_, err := f.Ledger.Verify(context.Background(), nil)
	for _, e := range []error{err, f.db.Close(), f.Close(), os.RemoveAll(filepath.Dir(f.Path()))} {
		if e != nil {
			rt.Error(e)
		}
	}
}

// done fails the test unless an error is one of the refusals that are allowed.
func (f *farWorld) done(rt *rapid.T, err error, allowed ...models.Code) {
	if err != nil && !slices.Contains(allowed, models.ErrorCode(err)) {
		rt.Fatalf("%v (%s)", err, models.ErrorCode(err))
	}
}

func (f *farWorld) take(rt *rapid.T) {
	f.done(rt, outside.New(f.Store).Take(context.Background(), f.poll, f.up.ID, farItem(rapid.SampledFrom(farCalls).Draw(rt, "call"))))
}

// some is one of the upstream's requests.
func (f *farWorld) some(rt *rapid.T) (id models.ResponseID, call string) {
	rows := f.rows(rt)
	r := rows[rapid.SampledFrom(slices.Sorted(maps.Keys(rows))).Draw(rt, "request")]
	return r.id, r.call
}

func (f *farWorld) vote(rt *rapid.T) {
	id, call := f.some(rt)
	in := storetest.No("no")
	if rapid.Bool().Draw(rt, "approves") {
		in = storetest.Yes()
	}
	if call == "question" {
		answer := rapid.SampledFrom([]string{"yes", "no"}).Draw(rt, "answer")
		in = models.DecisionInput{Answer: &answer}
	}
	f.done(rt, storetest.Err(f.Decide(context.Background(), f.owner, id, in)), models.CodeAlreadyDecided, models.CodeExpired, models.CodeBeingDecided)
}

// begin begins an attempt, and the upstream does with it as chance will.
func (f *farWorld) begin(rt *rapid.T) {
	due, _, err := outside.New(f.Store).DueDeliveries(context.Background(), 10)
	f.done(rt, err)
	ids := slices.DeleteFunc(due[f.up.ID], func(id models.ResponseID) bool {
		return slices.ContainsFunc(f.flights, func(fl flight) bool { return fl.id == id })
	})
	if len(ids) == 0 {
		return
	}
	id := rapid.SampledFrom(ids).Draw(rt, "verdict")
	d, _, err := outside.New(f.Store).BeginDelivery(context.Background(), f.tell, id)
	f.done(rt, err)
	if d == nil {
		return
	}
	verdict := fmt.Sprint(d.Approved, d.Answer)
	end := models.DeliveryEnd{Result: models.DeliveryLater, Text: "It failed.", Pause: time.Second}
	if rapid.IntRange(0, 3).Draw(rt, "arrives") > 0 {
		if f.told[d.CallID] == nil {
			f.told[d.CallID] = map[string]bool{}
		}
		f.told[d.CallID][verdict] = true
		was, settled := f.there[d.CallID]
		switch {
		case !settled:
			f.there[d.CallID], end.Result = verdict, models.DeliveryTaken
		case d.Lost && was == verdict:
			end.Result = models.DeliveryConfirmed
		default:
			end.Result = models.DeliveryElsewhere
		}
	}
	if rapid.IntRange(0, 3).Draw(rt, "is lost") == 0 {
		end.Result, end.Lost = models.DeliveryLater, true
	}
	f.flights = append(f.flights, flight{id, end})
}

func (f *farWorld) end(rt *rapid.T) {
	if len(f.flights) == 0 {
		return
	}
	i := rapid.IntRange(0, len(f.flights)-1).Draw(rt, "attempt")
	fl := f.flights[i]
	f.flights = slices.Delete(f.flights, i, i+1)
	f.done(rt, outside.New(f.Store).EndDelivery(context.Background(), f.tell, fl.id, fl.end))
}

// die lets the process that tells verdicts die, and another take over.
func (f *farWorld) die(rt *rapid.T) {
	f.flights = nil
	f.done(rt, f.Nodes.DropLease(context.Background(), f.tell))
	l, err := f.Nodes.TakeLease(context.Background(), "deliver", f.tell.Holder+"h", 1000*time.Hour)
	f.done(rt, err)
	f.tell = l
}

func (f *farWorld) elsewhere(rt *rapid.T) {
	call := rapid.SampledFrom(farCalls).Draw(rt, "call")
	if _, ok := f.there[call]; !ok {
		f.there[call] = "elsewhere"
	}
}

func (f *farWorld) reconcile(rt *rapid.T) {
	kind := rapid.SampledFrom([]models.OutsideKind{models.OutsideCallKind, models.OutsideContact}).Draw(rt, "kind")
	var listed []string
	for _, call := range farCalls {
		if _, settled := f.there[call]; !settled {
			listed = append(listed, call)
		}
	}
	f.done(rt, outside.New(f.Store).Reconcile(context.Background(), f.poll, f.up.ID, kind, listed))
}

func (f *farWorld) cancel(rt *rapid.T) {
	id, _ := f.some(rt)
	f.done(rt, storetest.Err(f.Cancel(context.Background(), f.agent, id)), models.CodeNotFound, models.CodeAlreadyDecided, models.CodeExpired, models.CodeBeingDecided)
}

func (f *farWorld) stop(rt *rapid.T) {
	if rapid.IntRange(0, 3).Draw(rt, "really") == 0 { // else little would be left to do
		f.done(rt, storetest.Err(runs.New(f.Store).Steer(context.Background(), f.owner, rapid.SampledFrom(f.convs).Draw(rt, "run"), models.SteerStop)), models.CodeBeingDecided)
	}
}

func (f *farWorld) runEnds(rt *rapid.T) {
	if rapid.IntRange(0, 3).Draw(rt, "really") == 0 {
		f.done(rt, storetest.Err(runs.New(f.Store).ReportEvents(context.Background(), f.agent, rapid.SampledFrom(f.convs).Draw(rt, "run"),
			[]models.RunEvent{{ID: string(models.NewID[models.ResponseID]()), Type: models.RunEventStatus, Status: models.ConversationCompleted}})))
	}
}

func (f *farWorld) result(rt *rapid.T) {
	call := rapid.SampledFrom(farCalls[:4]).Draw(rt, "call")
	f.done(rt, storetest.Err(runs.New(f.Store).ReportEvents(context.Background(), f.agent, f.convs[map[string]int{"b1": 1}[call]], []models.RunEvent{storetest.Result(call)})))
}

func (f *farWorld) expire(rt *rapid.T) {
	f.done(rt, storetest.Err(f.ExpireDue(context.Background(), 10)))
}

func (f *farWorld) time(rt *rapid.T) {
	f.clock.Step(rapid.SampledFrom([]time.Duration{time.Second, time.Second, time.Minute, 6 * time.Minute}).Draw(rt, "passes"))
}

type farRow struct {
	id                  models.ResponseID
	call, status, cause string
	held                bool
	votes, open, finals int
	verdict             string
}

// rows are the upstream's requests, by call.
func (f *farWorld) rows(rt *rapid.T) map[string]farRow {
	out := map[string]farRow{}
	storetest.Each(rt, f.db, `SELECT r.id, r.call_id, r.approval_status, r.cause, r.held_until IS NOT NULL,
 (SELECT count(*) FROM votes v WHERE v.response_id = r.id AND v.withdrawn_at IS NULL),
 (SELECT count(*) FROM deliveries d WHERE d.response_id = r.id AND d.done_at IS NULL),
 (SELECT count(*) FROM ledger l WHERE l.response_id = r.id AND l.action IN ('approval.approved', 'approval.rejected', 'approval.expired', 'approval.cancelled', 'approval.resolved')),
 coalesce((SELECT CASE v.verdict WHEN 'approve' THEN 'true' ELSE 'false' END || coalesce(v.answer, '') FROM votes v WHERE v.id = r.vote_id), '')
 FROM responses r WHERE r.upstream_id IS NOT NULL`, func(scan func(...any)) {
		var r farRow
		scan(&r.id, &r.call, &r.status, &r.cause, &r.held, &r.votes, &r.open, &r.finals, &r.verdict)
		out[r.call] = r
	})
	return out
}

func (f *farWorld) holds(rt *rapid.T) {
	for call, r := range f.rows(rt) {
		pending := r.status == "pending"
		switch {
		case pending == (r.finals == 1) || r.finals > 1:
			rt.Fatalf("%s is %s, and the ledger tells %d outcomes", call, r.status, r.finals)
		case r.held && (!pending || r.votes != 1 || r.open != 1):
			rt.Fatalf("%s is held: %+v", call, r)
		case pending && !r.held && (r.votes != 0 || r.open != 0):
			rt.Fatalf("%s waits, and has a verdict: %+v", call, r)
		case r.cause == "reviewer" && (r.votes != 1 || r.verdict != f.there[call]):
			rt.Fatalf("%s is %s by %q, and the upstream has %q", call, r.status, r.verdict, f.there[call])
		case !pending && r.cause != "reviewer" && r.votes != 0:
			rt.Fatalf("%s was settled otherwise, and a verdict stands: %+v", call, r)
		case slices.Contains([]string{"cancelled", "stopped", "run_ended"}, r.cause) && len(f.told[call]) > 0, r.cause == "cascade" && f.told[call]["true"]:
			rt.Fatalf("%s is %s, and was told %v", call, r.cause, f.told[call])
		case r.cause == "elsewhere" && f.there[call] != "elsewhere":
			rt.Fatalf("%s was taken for settled elsewhere by mistake", call)
		case len(f.told[call]) > 1:
			rt.Fatalf("%s was told %v", call, f.told[call])
		}
	}
	storetest.Each(rt, f.db, `SELECT c.id, count(r.id) FROM conversations c LEFT JOIN responses r ON r.conversation_id = c.id AND r.approval_status = 'pending'
 GROUP BY c.id`, func(scan func(...any)) {
		var id models.ConversationID
		var n int
		scan(&id, &n)
		v, err := f.Requests.Conversation(context.Background(), models.Actor{Kind: models.ActorUser, ID: "an admin", Admin: true}, id)
		if err != nil || (v.Status == models.ConversationWaitingInput) != (n > 0) && (v.Status == models.ConversationRunning || n == 0) {
			rt.Fatalf("a run is %s, and %d wait for a verdict, %v", v.Status, n, err)
		}
	})
}
