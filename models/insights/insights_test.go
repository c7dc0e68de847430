package insights_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/figures"
	"countersign/models/insights"
	"countersign/models/storetest"
	"countersign/workers/expire"
)

const berlinPolicy = `{"time_zone":"Europe/Berlin","undo_seconds":{"medium":60},"max_pause_minutes":600,"rules":[
 {"name":"Reading","tools":["read"],"effect":"allow","energy":2},
 {"name":"Dropping","tools":["drop"],"effect":"deny","reason":"Tables are dropped by hand."},
 {"name":"Payments","tools":["pay"],"effect":"require","energy":5,"timeout_minutes":600,"risk":"medium"},
 {"name":"Mail","tools":["mail"],"effect":"require","timeout_minutes":90,"risk":"low"}]}`

// world is an installation in which things happen over weeks.
type world struct {
	*storetest.Bench
	t       *testing.T
	r       *rand.Rand
	zone    *time.Location
	people  []models.Actor
	agents  []models.Actor
	pending []*models.Approval
	last    []models.ResponseID // that were asked
	run     *storetest.Trace
	reports []models.AskInput // calls that were reported, and may be asked about later
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{Bench: storetest.NewBench(t), t: t, r: rand.New(rand.NewPCG(seed, 44))}
	w.UsePolicy(t, berlinPolicy)
	p, err := w.CurrentPolicy(t.Context())
	storetest.Must(t, err)
	w.zone = p.Program.Zone()
	w.run = storetest.NewTrace(t, w.Bench, models.RunInput{RunID: "reported"})
	w.people, w.agents = []models.Actor{w.Admin, w.Owner}, []models.Actor{w.Agent, w.Other}
	return w
}

func pick[T any](w *world, from ...T) T { return from[w.r.IntN(len(from))] }

// happen is one thing: something is asked, said, decided, taken back, removed, or time passes.
func (w *world) happen() {
	ctx := w.t.Context()
	w.Clock.Step(time.Duration(w.r.Int64N(int64(24 * time.Minute))))
	switch w.r.IntN(10) { // it runs late, and another server may sum before this one has written what expired
	case 0, 1:
		w.work()
	case 2:
		storetest.Must(w.t, storetest.Err(w.Insights.SumNext(ctx, w.zone)))
	}
	if w.r.IntN(8) == 0 {
		in := models.AskInput{RunID: "reported", ToolUseID: fmt.Sprintf("c%d", len(w.last)*100+len(w.reports)), ToolName: pick(w, "read", "pay", "mail"), Input: []byte(`{"amount":3}`), AcceptsEdits: true}
		w.run.Reports(w.t, storetest.One(storetest.Queued(in.ToolUseID, in.ToolName, string(in.Input), in.ToolUseID)))
		w.reports = append(w.reports, in)
	}
	if w.r.IntN(8) == 0 && len(w.reports) > 0 { // minutes or days after it was reported
		i := w.r.IntN(len(w.reports))
		a, err := w.Ask(ctx, w.Agent, w.reports[i])
		storetest.Must(w.t, err)
		w.reports = append(w.reports[:i], w.reports[i+1:]...)
		w.last = append(w.last, a.ID)
		if a.Status() == models.StatusPending {
			w.pending = append(w.pending, a)
		}
	}
	if w.r.IntN(3) > 0 {
		in := models.AskInput{ToolName: pick(w, "read", "drop", "pay", "pay", "mail", "mail", "other"), Explicit: w.r.IntN(2) == 0, AcceptsEdits: true, RunID: pick(w, "one", "two", "three")}
		in.Input = fmt.Appendf(nil, `{"amount":%d,"note":"n%d"}`, w.r.IntN(9), w.r.IntN(1e9))
		a, err := w.Ask(ctx, pick(w, w.agents...), in)
		storetest.Must(w.t, err)
		w.last = append(w.last, a.ID)
		if a.Status() == models.StatusPending {
			w.pending = append(w.pending, a)
		}
	}
	if w.r.IntN(3) == 0 && len(w.last) > 0 { // also long after it ended
		storetest.Must(w.t, w.Saw(ctx, w.Admin, w.last[max(0, len(w.last)-1-w.r.IntN(60))]))
	}
	if len(w.pending) == 0 {
		return
	}
	i := w.r.IntN(len(w.pending))
	id, who := w.pending[i].ID, pick(w, w.people...)
	switch w.r.IntN(10) {
	case 0:
		_, _ = w.AskBack(ctx, who, id, pick(w, "Why?", "Which one?"))
	case 1:
		_, _, _ = w.AnswerNote(ctx, w.agents[0], id, "Because.")
	case 2:
		_, _ = w.Undo(ctx, who, id)
	case 3:
		_, _ = w.Cancel(ctx, w.agents[1], id)
	case 4:
		_, _ = w.Decide(ctx, who, id, storetest.No(pick(w, "Too much.", "Not on Fridays.\nSee the calendar.", "")))
	case 5:
		in := storetest.Yes()
		in.Input = []byte(pick(w, `{"amount":1,"note":"mine"}`, `{"amount":2}`, `{}`))
		in.Digest = w.pending[i].Digest
		_, _ = w.Decide(ctx, who, id, in)
	case 6, 7, 8:
		in := storetest.Yes()
		in.Digest = w.pending[i].Digest
		_, _ = w.Decide(ctx, who, id, in)
	default: // it waits for its deadline
	}
	if w.Approval(id).Status() != models.StatusPending || w.r.IntN(3) == 0 {
		w.pending = append(w.pending[:i], w.pending[i+1:]...)
	}
}

func (w *world) Approval(id models.ResponseID) *models.Approval {
	a, err := w.Requests.Approval(w.t.Context(), w.Admin, id)
	storetest.Must(w.t, err)
	return a
}

// work is all that is due, as the expirer does it.
func (w *world) work() {
	storetest.Must(w.t, storetest.Err(expire.Once(w.t.Context(), w.Store)))
	for done := true; done; {
		var err error
		done, err = w.Insights.SumNext(w.t.Context(), w.zone)
		storetest.Must(w.t, err)
	}
}

func (w *world) midnight(days int) time.Time {
	y, m, d := w.Clock.Now().In(w.zone).Date()
	return time.Date(y, m, d+days, 0, 0, 0, 0, w.zone).UTC()
}

// check compares reports with a naive count of the rows.
func (w *world) check(spans ...[2]int) {
	w.t.Helper()
	all := readRows(w.t, w.Store)
	reading, none := "Reading", ""
	for _, span := range spans {
		from, until := w.midnight(span[0]), w.midnight(span[1])
		end := until
		if now := w.Store.Now().Add(time.Microsecond); now.Before(end) {
			end = now
		}
		for name, of := range map[string]struct {
			q        insights.Query
			is       func(*models.Response) bool
			byPerson bool
		}{
			"all":         {insights.Query{}, func(*models.Response) bool { return true }, false},
			"an agent":    {insights.Query{Agent: w.agents[1].AgentID()}, func(r *models.Response) bool { return r.AgentID == w.agents[1].AgentID() }, false},
			"two agents":  {insights.Query{Agents: []models.AgentID{w.agents[0].AgentID(), w.agents[1].AgentID()}}, func(*models.Response) bool { return true }, false},
			"a tool":      {insights.Query{Tool: "mail"}, func(r *models.Response) bool { return r.ToolName == "mail" }, false},
			"a rule":      {insights.Query{Rule: &reading}, func(r *models.Response) bool { return r.PolicyRule == reading }, false},
			"no rule":     {insights.Query{Rule: &none}, func(r *models.Response) bool { return r.PolicyRule == "" }, false},
			"a person":    {insights.Query{Person: w.Owner.UserID()}, func(r *models.Response) bool { return decided(r) && *r.DecidedBy == w.Owner.UserID() }, true},
			"two persons": {insights.Query{People: []models.UserID{w.Admin.UserID(), w.Owner.UserID()}}, decided, true},
		} {
			of.q.From, of.q.To, of.q.Zone = from, until.Add(-time.Minute), w.zone
			got, err := w.Insights.Report(w.t.Context(), w.Admin, of.q)
			storetest.Must(w.t, err)
			if got.Missing > 0 {
				w.t.Fatalf("%s: %d days are missing", name, got.Missing)
			}
			want := all.naive(from, end, w.zone, of.is, of.byPerson)
			if g, n := text(w.t, &got.Total), text(w.t, want); g != n {
				w.t.Errorf("%s, from %s until %s:\n%s", name, from, until, differing(n, g))
			}
			sum := &figures.Sum{}
			for _, p := range got.Points {
				sum.Add(&p.Sum)
				part := all.naive(p.From, p.Until, w.zone, of.is, of.byPerson)
				if g, n := text(w.t, &p.Sum), text(w.t, part); g != n {
					w.t.Errorf("%s, point from %s until %s:\n%s", name, p.From, p.Until, differing(n, g))
				}
			}
		}
	}
}

// differing are the lines that only one of two texts has.
func differing(want, got string) (out string) {
	for _, pair := range [...][3]string{{"want", want, got}, {"got ", got, want}} {
		for line := range strings.SplitSeq(pair[1], "\n") {
			if !slices.Contains(strings.Split(pair[2], "\n"), line) {
				out += pair[0] + " " + line + "\n"
			}
		}
	}
	return out
}

// stored are all sums, as they are stored.
func (w *world) stored() string {
	var out string
	for _, line := range storetest.Column(w.t, w.Store, `SELECT span || ' ' || begins_at || ' ' || about || ' ' || figures || waiting || last_number FROM insights WHERE span <> '' ORDER BY span, begins_at, about`) {
		out += line + "\n"
	}
	return out
}

// events is how many things happen in the world. With 16,000, which are 12,660 requests, it passed on 2026-11-29 in 92 s.
const events = 2500

// Each figure is what a naive count of the rows says: over a month in which summer time begins, whether days are summed
// or read, and after contents were removed.
func TestEachFigureIsANaiveCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for range events {
		w.happen()
	}
	w.check([2]int{0, 1})
	w.work()
	w.check([2]int{0, 1}, [2]int{-6, 1}, [2]int{-20, -8}, [2]int{-70, 1}, [2]int{-100, -3})
	storetest.Purge(t, w.Store, models.PurgeQuery{Before: w.midnight(-10)})
	w.work()
	w.check([2]int{-29, 1}, [2]int{-70, 1})
	before := w.stored()
	storetest.Must(t, w.Insights.Forget(context.Background()))
	w.work()
	if after := w.stored(); after != before {
		t.Errorf("summed again: %s", storetest.Difference(before, after))
	}
}
