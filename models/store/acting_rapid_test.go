package store_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/storetest"
)

// office is what the rules of acting for others are judged from, beside the store.
type office struct {
	*bench
	ctx context.Context //nolint:containedctx // of the test

	people   map[string]models.Actor // but for the admin, who changes people
	ids      []string
	admin    map[string]bool
	disabled map[string]bool
	inGroup  map[string]bool
	accepted map[[2]string]models.SubstituteID // of a substitute, for whom
	absences map[string]absent
	requests []*waitingRequest
	handed   []handed
}

type absent struct {
	id          models.AbsenceID
	from, until time.Time
	substitute  string
}

type handed struct {
	id       models.HandOverID
	request  *waitingRequest
	from, to string
}

// waitingRequest is one with what its rule froze.
type waitingRequest struct {
	id       models.ResponseID
	named    []string
	group    bool
	only     bool
	never    bool
	nobody   bool // no substitutes
	steps    int
	later    string // who is asked by the one step
	escalate time.Time
	deadline time.Time
}

var officeRules = []struct {
	rule string
	want waitingRequest
}{
	{`,"reviewers":["ann@example.com","group:finance"]`, waitingRequest{named: []string{"ann"}, group: true}},
	{`,"reviewers":["bo@example.com","group:finance"],"reviewers_only":true`, waitingRequest{named: []string{"bo"}, group: true, only: true}},
	{`,"reviewers":["ann@example.com","bo@example.com"],"reviewers_only":true,"substitutes":false`, waitingRequest{named: []string{"ann", "bo"}, only: true, nobody: true}},
	{`,"reviewers":["ann@example.com"],"self_approval":"never"`, waitingRequest{named: []string{"ann"}, never: true}},
	{`,"reviewers":["bo@example.com"],"reviewers_only":true,"escalate":[{"after_minutes":30,"to":["cy@example.com"]}]`, waitingRequest{named: []string{"bo"}, only: true, later: "cy"}},
}

// asks: the rule asks somebody.
func (o *office) named(w *waitingRequest, who string) bool {
	return slices.Contains(w.named, who) || w.group && o.inGroup[who] || w.steps > 0 && w.later == who
}

// own: somebody may approve in their own right.
func (o *office) own(w *waitingRequest, who string) bool {
	switch {
	case o.disabled[who], who == "owner" && w.never:
		return false
	case w.only:
		return o.named(w, who)
	}
	return who == "owner" || o.admin[who] || o.named(w, who)
}

// came are those from whom somebody has a request.
func (o *office) from(w *waitingRequest, who string) (out []string) {
	for _, h := range o.handed {
		if h.request == w && h.to == who {
			out = append(out, h.from)
		}
	}
	for away, a := range o.absences {
		now := o.Now()
		if a.substitute == who && !now.Before(a.from) && now.Before(a.until) && !o.disabled[away] && (away == "owner" || o.named(w, away)) {
			out = append(out, away)
		}
	}
	return out
}

func (o *office) acts(w *waitingRequest, who, from string) bool {
	_, accepted := o.accepted[[2]string{who, from}]
	return accepted && !o.disabled[who] && who != "owner" && !w.nobody && o.own(w, from)
}

// has: it is in somebody's inbox.
func (o *office) has(w *waitingRequest, who string) bool {
	return who == "owner" || o.named(w, who) ||
		slices.ContainsFunc(o.from(w, who), func(from string) bool { return o.own(w, who) || o.acts(w, who, from) })
}

// counts: an approval of somebody who sees it counts.
func (o *office) counts(w *waitingRequest, who string) bool {
	return o.own(w, who) || slices.ContainsFunc(o.from(w, who), func(from string) bool { return o.acts(w, who, from) })
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{
		bench: newBench(t), people: map[string]models.Actor{}, ids: []string{"owner", "ann", "bo", "cy", "di"}, admin: map[string]bool{}, disabled: map[string]bool{},
		inGroup: map[string]bool{}, accepted: map[[2]string]models.SubstituteID{}, absences: map[string]absent{},
	}
	o.people["owner"] = o.Owner
	for _, name := range o.ids[1:] {
		o.people[name] = storetest.Reviewer(t, o.Store, name+"@example.com")
	}
	o.group(t, "finance")
	return o
}

// actor is somebody with the rights of now.
func (o *office) actor(who string) models.Actor {
	a := o.people[who]
	a.Admin = o.admin[who]
	return a
}

func (o *office) step(t *rapid.T) {
	ctx := o.ctx
	pick := func(label string) string { return rapid.SampledFrom(o.ids).Draw(t, label) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	switch rapid.SampledFrom([]string{"ask", "time", "group", "accept", "away", "hand over", "role", "disable", "vote", "ask", "accept", "away", "hand over", "late vote"}).Draw(t, "what") {
	case "ask":
		i := rapid.IntRange(0, len(officeRules)-1).Draw(t, "rule")
		_, err := o.ApplyPolicy(ctx, o.bench.Admin, []byte(`{"rules":[{"name":"r","tools":["pay"],"effect":"require","timeout_minutes":1400`+officeRules[i].rule+`}]}`), "x", 0)
		if err != nil {
			return // nobody could approve under it now
		}
		a, err := o.Ask(ctx, o.Agent, models.AskInput{ToolName: "pay"})
		must(err)
		w := officeRules[i].want
		w.id, w.escalate, w.deadline = a.ID, o.Now().Add(30*time.Minute), a.ApprovalTimeoutAt
		w.named = slices.DeleteFunc(slices.Clone(w.named), func(who string) bool { return o.disabled[who] })
		if o.disabled[w.later] {
			w.later = ""
		}
		o.requests = append(o.requests, &w)
	case "time":
		o.Clock.Step(time.Duration(rapid.IntRange(1, 60).Draw(t, "minutes")) * time.Minute)
	case "group":
		who := pick("who")
		if o.inGroup[who] {
			must(o.People.LeaveGroup(ctx, o.bench.Admin, "finance", o.people[who].UserID()))
			delete(o.inGroup, who)
		} else if !o.disabled[who] {
			must(o.People.JoinGroup(ctx, o.bench.Admin, "finance", o.people[who].Name))
			o.inGroup[who] = true
		}
	case "accept":
		sub, who := pick("substitute"), pick("for whom")
		if id, ok := o.accepted[[2]string{sub, who}]; ok {
			must(o.RemoveSubstitute(ctx, o.bench.Admin, id))
			delete(o.accepted, [2]string{sub, who})
		} else if sub != who && !o.disabled[sub] {
			s, err := o.AskSubstitute(ctx, o.bench.Admin, o.people[who].UserID(), o.people[sub].UserID())
			must(err)
			must(o.AcceptSubstitute(ctx, o.bench.Admin, s.ID))
			o.accepted[[2]string{sub, who}] = s.ID
		}
	case "away":
		o.stepAway(t, pick("who"), pick("substitute"))
	case "hand over":
		o.stepHandOver(t, pick("from"), pick("to"))
	case "role":
		who := pick("who")
		role := models.RoleAdmin
		if o.admin[who] {
			role = models.RoleReviewer
		}
		if !o.disabled[who] {
			must(o.People.SetRole(ctx, o.bench.Admin, o.people[who].UserID(), role))
			o.admin[who] = role == models.RoleAdmin
		}
	case "disable":
		who := pick("who")
		if o.disabled[who] {
			must(o.People.EnableUser(ctx, o.bench.Admin, o.people[who].UserID()))
		} else if who != "owner" {
			_, err := o.People.DisableUser(ctx, o.bench.Admin, o.people[who].UserID())
			must(err)
		}
		o.disabled[who] = !o.disabled[who] && who != "owner"
	case "late vote": // before a worker notes what time has done
		o.Clock.Step(time.Duration(rapid.IntRange(1, 180).Draw(t, "minutes")) * time.Minute)
		o.stepVote(t, pick("who"))
	case "vote":
		o.stepVote(t, pick("who"))
	}
}

func (o *office) stepAway(t *rapid.T, who, substitute string) {
	if a, ok := o.absences[who]; ok {
		if err := o.EndAbsence(o.ctx, o.bench.Admin, a.id); err != nil {
			t.Fatal(err)
		}
		delete(o.absences, who)
		return
	}
	if who == substitute || o.disabled[substitute] {
		return
	}
	from := o.Now().Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "in hours")) * time.Hour)
	until := from.Add(time.Duration(rapid.IntRange(1, 3).Draw(t, "hours")) * time.Hour)
	a, err := o.PlanAbsence(o.ctx, o.bench.Admin, models.AbsenceInput{UserID: o.people[who].UserID(), From: from, Until: until, Substitute: o.people[substitute].UserID()})
	if err != nil {
		t.Fatal(err)
	}
	o.absences[who] = absent{a.ID, a.FromAt, a.UntilAt, substitute}
}

func (o *office) stepHandOver(t *rapid.T, from, to string) {
	if len(o.requests) == 0 || o.disabled[from] {
		return
	}
	w := rapid.SampledFrom(o.requests).Draw(t, "request")
	for i, h := range o.handed {
		if h.request == w && h.from == from && h.to == to {
			if err := o.TakeBackHandOver(o.ctx, o.actor(from), h.id); err != nil {
				t.Fatal(err)
			}
			o.handed = slices.Delete(o.handed, i, i+1)
			return
		}
	}
	may := o.own(w, from) && from != to && (o.own(w, to) || o.acts(w, to, from))
	h, err := o.HandOver(o.ctx, o.actor(from), w.id, o.people[to].UserID(), "")
	if (err == nil) != may {
		t.Fatalf("%s hands over to %s: %v, may %v", from, to, err, may)
	}
	if err == nil {
		o.handed = append(o.handed, handed{h.ID, w, from, to})
	}
}

func (o *office) stepVote(t *rapid.T, who string) {
	if len(o.requests) == 0 || o.disabled[who] {
		return
	}
	w := rapid.SampledFrom(o.requests).Draw(t, "request")
	if !o.Now().Before(w.deadline) {
		return
	}
	a, err := o.Decide(o.ctx, o.actor(who), w.id, storetest.Yes())
	if may := o.counts(w, who); (err == nil) != may {
		t.Fatalf("%s votes: %v, may %v", who, err, may)
	}
	if err == nil && (a.Vote.BehalfOf == "") != o.own(w, who) {
		t.Fatalf("%s votes on behalf of %q, own right %v", who, a.Vote.BehalfOf, o.own(w, who))
	}
}

// settle has the workers do what is due, and forgets what does not wait any more.
func (o *office) settle(t *rapid.T) {
	for _, err := range []error{storetest.Err(o.ExpireDue(o.ctx, 100)), storetest.Err(o.EscalateDue(o.ctx, 100)), storetest.Err(o.TakeAbsences(o.ctx))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	now := o.Now()
	maps.DeleteFunc(o.absences, func(_ string, a absent) bool { return !now.Before(a.until) })
	o.requests = slices.DeleteFunc(o.requests, func(w *waitingRequest) bool {
		a, err := o.Requests.Approval(o.ctx, o.Owner, w.id)
		if err != nil {
			t.Fatal(err)
		}
		if w.later != "" && !now.Before(w.escalate) {
			w.steps = 1
		}
		return a.Status() != models.StatusPending
	})
	o.handed = slices.DeleteFunc(o.handed, func(h handed) bool { return !slices.Contains(o.requests, h.request) })
}

// check compares inboxes, sight and rights with the rules.
func (o *office) check(t *rapid.T) {
	shown := map[string][]*models.RequestPage{}
	defer func() { o.checkLists(t, shown) }()
	for _, w := range o.requests {
		for _, who := range o.ids {
			if o.disabled[who] {
				continue // nobody looks into their inbox; it is right again when they are enabled
			}
			var n int
			if err := o.DB().Reads().QueryRowContext(o.ctx, `SELECT count(*) FROM deciders WHERE user_id = ? AND response_id = ?`, o.people[who].UserID(), w.id).Scan(&n); err != nil {
				t.Fatal(err)
			}
			if has := o.has(w, who); (n == 1) != has {
				t.Fatalf("%s has %+v in the inbox %d times, should %v (from %v)", who, *w, n, has, o.from(w, who))
			}
			page, err := o.RequestPage(o.ctx, o.actor(who), w.id, false)
			if sees := o.has(w, who) || o.admin[who]; (err == nil) != sees {
				t.Fatalf("%s sees %+v: %v, should %v", who, *w, err, sees)
			}
			if err == nil && page.Substitution.MayApprove != o.counts(w, who) {
				t.Fatalf("%s may approve %+v: %v, should %v", who, *w, page.Substitution.MayApprove, o.counts(w, who))
			}
			if err == nil {
				shown[who] = append(shown[who], page)
			}
		}
	}
}

// checkLists compares what a list says of the reader's rights, and of stand-ins, with each page.
func (o *office) checkLists(t *rapid.T, shown map[string][]*models.RequestPage) {
	acting := map[models.ResponseID][]string{}
	rows := map[models.ResponseID]*models.Approval{}
	for who, list := range shown {
		read := make([]*models.Approval, 0, len(list))
		for _, p := range list {
			read, rows[p.Approval.ID] = append(read, &p.Approval), &p.Approval
		}
		rights, err := o.Rights(o.ctx, o.actor(who), read...)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			right, of := rights[p.Approval.ID], p.Substitution.Right
			if fmt.Sprint(right.Own, right.MayApprove, right.OnBehalf) != fmt.Sprint(of.Own, of.MayApprove, of.OnBehalf) {
				t.Fatalf("the list lets %s %+v, the page %+v", who, right, of)
			}
			if right.OnBehalf != nil {
				acting[p.Approval.ID] = append(acting[p.Approval.ID], models.StandInReviewer(o.people[who].Name, right.OnBehalf.Name))
			}
		}
	}
	for id, a := range rows {
		waits, err := o.WaitsFor(o.ctx, o.Agent, a)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(waits[0].Reviewers, func(name string) bool { return !strings.Contains(name, " (on behalf of ") })
		slices.Sort(acting[id])
		slices.Sort(got)
		if !slices.Equal(got, acting[id]) {
			t.Fatalf("it waits for stand-ins %q, should %q", got, acting[id])
		}
	}
}

// Who has a request in their inbox, sees it and may approve it is what the rules say, whatever
// happens to people, groups, roles, absences, acceptances and hand-overs (I5, I12).
func TestWhoDecidesIsWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o := newOffice(t)
		o.ctx = t.Context()
		for range rapid.IntRange(10, 40).Draw(rt, "steps") {
			o.step(rt)
			o.settle(rt)
			o.check(rt)
		}
	})
}

// What was planned before a server stopped comes when the next one runs: steps of an escalation
// and absences are rows, and so is what was handed over.
func TestActingForOthersOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	b := newBench(t, storetest.WithDir(dir))
	eve, zoe := storetest.Reviewer(t, b.Store, "eve@example.com"), storetest.Reviewer(t, b.Store, "zoe@example.com")
	b.substitute(t, b.Stranger, eve)
	b.UsePolicy(t, payments(byStranger+only+`,"timeout_minutes":600,"escalate":[{"after_minutes":30,"to":["zoe@example.com"]}]`))
	waits, handed := b.pay(t, 1), b.pay(t, 2)
	b.handsOver(t, b.Stranger, handed.ID, eve)
	from := b.Now().Add(20 * time.Minute)
	storetest.Must(t, storetest.Err(b.PlanAbsence(t.Context(), b.Stranger, models.AbsenceInput{UserID: b.Stranger.UserID(), From: from, Until: from.Add(time.Hour), Substitute: eve.UserID()})))
	storetest.Must(t, b.Close())
	b.Clock.Step(40 * time.Minute)
	b.Use(storetest.New(t, storetest.WithDir(dir), storetest.WithClock(b.Clock)))
	if !b.asks(t, eve, handed.ID) || b.asks(t, eve, waits.ID) || b.asks(t, zoe, waits.ID) {
		t.Error("before the worker runs, others have it than before the stop")
	}
	b.passes(t, 0)
	storetest.Must(t, storetest.Err(b.TakeAbsences(t.Context())))
	if !b.asks(t, eve, waits.ID) || !b.asks(t, zoe, waits.ID) {
		t.Error("what came while no server ran is lost")
	}
	got, err := b.Decide(t.Context(), eve, waits.ID, storetest.Yes())
	storetest.Must(t, err)
	if got.Vote.BehalfOf != b.Stranger.UserID() {
		t.Errorf("on behalf of %q", got.Vote.BehalfOf)
	}
	storetest.CheckRows(t, b.Store)
}
