package store_test

import (
	"context"
	"database/sql"
	"errors"
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
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/storetest"
)

// world is a store in which several actors do as chance will have it.
type world struct {
	*store.Store

	db     *sql.DB
	clock  *storetest.Clock
	people []models.Actor
	agents []models.Actor
	convs  []models.ConversationID
	ids    []models.ResponseID // that agents choose
	run    *models.Run
	auto   int64

	now     standing
	refused map[string]bool  // conversations in which more budget was rejected last
	added   map[string]int64 // what the system has added since a person decided
}

var worldPolicies = []struct {
	doc  string
	auto int64
}{
	{`{}`, 0},
	{`{"auto_budget_increase":20,"proposal_timeout_minutes":10}`, 20},
	{`{"auto_budget_increase":3,"rules":[{"name":"route","tools":["respond_with_approval","pay"],"effect":"require","energy":3,"reviewers":["routed@example.com"]}]}`, 3},
	{`{"auto_budget_increase":9,"proposal_timeout_minutes":5,"rules":[{"name":"route","tools":["set_budget"],"effect":"require","reviewers":["routed@example.com"]},
		{"name":"deny","tools":["drop"],"effect":"deny"}]}`, 0},
	{`{"auto_budget_increase":9,"rules":[{"name":"deny","tools":["set_budget"],"effect":"deny"}]}`, 0},
	{`{"undo_seconds":{"medium":90},"max_pause_minutes":4,"max_timeout_minutes":20,"proposal_timeout_minutes":5,
		"rules":[{"name":"route","tools":["respond_with_approval","pay"],"effect":"require","energy":3,"reviewers":["routed@example.com"]}]}`, 0},
}

// TestI14RandomCommandsByManyActors: whatever they do, only allowed moves happen,
// energy is neither negative nor overspent, every change has its one entry in the
// ledger, and what is refused changes nothing.
func TestI14RandomCommandsByManyActors(t *testing.T) {
	t.Parallel()
	template := storetest.Dir(t)
	made := storetest.New(t, storetest.WithDir(template), storetest.WithClock(storetest.NewClock()))
	w := world{people: []models.Actor{
		storetest.Reviewer(t, made, "ada@example.com"), storetest.Reviewer(t, made, "bo@example.com"),
		storetest.Admin(t, made), storetest.Reviewer(t, made, "routed@example.com"),
	}}
	for _, person := range w.people[:2] {
		agent, _ := storetest.AgentToken(t, made, person, "bot")
		w.agents = append(w.agents, agent)
	}
	storetest.Must(t, made.Close())
	rapid.Check(t, func(rt *rapid.T) {
		one := w
		one.open(t, rt, template)
		defer one.close(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"ask": one.ask, "respond": one.respond, "change budget": one.changeBudget, "say": one.sayAny, "decide in": one.decideInAny, "decide": one.decideAny,
			"cancel": one.cancel, "give up": one.giveUp, "steer": one.steerAny, "expire": one.expire, "reply": one.respond, "write": one.sayAny, "wish": one.changeBudget, "claim": one.claim, "reserve": one.reserve, "turn": one.turn,
			"take back": one.takeBack, "release": one.release, "ask back": one.askBack, "answer": one.answer, "extend": one.extend,
			"": func(rt *rapid.T) { one.holds(rt, one.now) },
		})
	})
}

func (w *world) open(t *testing.T, rt *rapid.T, template string) {
	t.Helper()
	// Memory, where there is such: nothing here is about the disk.
	dir, err := os.MkdirTemp("/dev/shm", "countersign") //nolint:usetesting // a hundred of them: each goes when it is done
	if err != nil {
		dir, err = os.MkdirTemp(t.TempDir(), "world") //nolint:usetesting // as above
	}
	if err != nil {
		rt.Fatal(err)
	}
	url := dbtest.Copy(t, template, dir)
	w.clock = storetest.NewClock()
	if err == nil {
		w.Store, err = store.Open(context.Background(), store.Options{Dir: dir, URL: url, Log: slog.New(slog.DiscardHandler), Now: w.clock.Now, AsksPerMinute: -1})
	}
	if err != nil {
		rt.Fatal(err)
	}
	w.db = dbtest.Beside(t, w.Path())
	policy := rapid.SampledFrom(worldPolicies).Draw(rt, "policy")
	if _, err := w.ApplyPolicy(context.Background(), w.people[2], []byte(policy.doc), "test", 0); err != nil {
		rt.Fatal(err)
	}
	w.auto, w.refused, w.added = policy.auto, map[string]bool{}, map[string]int64{}
	for range 3 {
		w.convs, w.ids = append(w.convs, models.NewID[models.ConversationID]()), append(w.ids, models.NewID[models.ResponseID]())
	}
	w.now = look(rt, w.db)
	// Something to begin with, so that most of what follows is about it.
	for i, agent := range []models.Actor{w.agents[0], w.agents[1]} {
		w.done(rt, storetest.Err(w.Respond(context.Background(), agent, models.ResponseInput{ConversationID: w.convs[i], Kind: models.KindReply, Content: "a"})))
	}
	small := rapid.Int64Range(2, 12).Draw(rt, "budget")
	w.done(rt, storetest.Err(w.ChangeBudget(context.Background(), w.people[0], w.convs[0], models.BudgetChange{Set: &small}, "")))
	w.done(rt, storetest.Err(runs.New(w.Store).Say(context.Background(), w.people[0], models.MessageInput{Content: "a", EnergyBudget: &small})))
}

func (w *world) close(rt *rapid.T) {
	_, err := w.Ledger.Verify(context.Background(), nil)
	if err != nil {
		rt.Errorf("the chain: %v", err)
	}
	if err := w.db.Close(); err != nil {
		rt.Error(err)
	}
	if err := w.Close(); err != nil {
		rt.Error(err)
	}
	if err := os.RemoveAll(filepath.Dir(w.Path())); err != nil {
		rt.Error(err)
	}
}

// done holds what came of a command against what stood before it.
func (w *world) done(rt *rapid.T, err error) {
	before := w.now
	w.now = look(rt, w.db)
	code := models.ErrorCode(err)
	if code == models.CodeInternal {
		rt.Fatalf("it broke: %v", err)
	}
	if code != "" && code != models.CodeBudgetExhausted {
		unchanged(rt, before, w.now)
		return
	}
	w.follow(rt, before, w.now)
	if code == "" {
		return
	}
	e, _ := errors.AsType[*models.Error](err)
	if e.Approval == nil || w.now.rows[string(e.Approval.ID)].kind != "budget" || w.now.rows[string(e.Approval.ID)].status != string(e.Approval.Status()) {
		rt.Fatalf("the refusal names %+v", e.Approval)
	}
	for id, r := range w.now.rows {
		if _, stood := before.rows[id]; !stood && r.kind != "budget" {
			rt.Fatalf("a refused command left a %s", r.kind)
		}
	}
	for id, c := range w.now.convs {
		if c.used != before.convs[id].used {
			rt.Fatal("a refused command was paid for")
		}
	}
	if len(w.now.messages) != len(before.messages) {
		rt.Fatal("a refused command left a message")
	}
}

// rarely is true once in n.
func rarely(rt *rapid.T, n int) bool { return rapid.IntRange(1, n).Draw(rt, "rarely") == n }

// person is mostly one who may do something in the conversation.
func (w *world) person(rt *rapid.T, conv models.ConversationID) models.Actor {
	if rarely(rt, 5) {
		return storetest.Pick(rt, "person", w.people)
	}
	owner := w.people[0]
	if w.now.convs[string(conv)].owner == w.people[1].ID {
		owner = w.people[1]
	}
	return storetest.Pick(rt, "person", []models.Actor{owner, owner, w.people[2], w.people[3]})
}

// agent is mostly the conversation's own.
func (w *world) agent(rt *rapid.T, conv models.ConversationID) models.Actor {
	if w.now.convs[string(conv)].owner == w.people[1].ID != rarely(rt, 8) {
		return w.agents[1]
	}
	return w.agents[0]
}

// anyConv is a conversation of the agents', of the built-in agent or of nobody;
// mostly the first of each.
func (w *world) anyConv(rt *rapid.T) models.ConversationID {
	if !rarely(rt, 4) {
		return w.convs[0]
	}
	known := slices.Clone(w.convs)
	for _, id := range slices.Sorted(maps.Keys(w.now.convs)) {
		if !slices.Contains(known, models.ConversationID(id)) {
			known = append(known, models.ConversationID(id))
		}
	}
	return storetest.Pick(rt, "conversation", known)
}

func (w *world) anyResponse(rt *rapid.T) models.ResponseID {
	var all []models.ResponseID
	for id, r := range w.now.rows {
		all = append(all, models.ResponseID(id))
		for range 3 {
			if r.status == "pending" { // more likely
				all = append(all, models.ResponseID(id))
			}
		}
	}
	slices.SortFunc(all, func(a, b models.ResponseID) int { return int(w.sequence(a) - w.sequence(b)) })
	return storetest.Pick(rt, "response", all)
}

// sequence sorts responses as they came, so that a failure can be made smaller.
func (w *world) sequence(id models.ResponseID) (n int64) {
	_ = w.db.QueryRowContext(context.Background(), `SELECT number FROM responses WHERE id = ?`, id).Scan(&n)
	return n
}

func energy(rt *rapid.T) *int64 {
	return storetest.Pick(rt, "energy", []*int64{nil, new(int64(0)), new(int64(1)), new(int64(2)), new(int64(5)), new(int64(-1))})
}

func change(rt *rapid.T) models.BudgetChange {
	n := rapid.Int64Range(-6, 16).Draw(rt, "amount")
	switch rapid.IntRange(0, 8).Draw(rt, "change") {
	case 0:
		return models.BudgetChange{}
	case 1:
		return models.BudgetChange{Set: &n, Delta: &n}
	case 2, 3, 4:
		return models.BudgetChange{Delta: &n}
	}
	return models.BudgetChange{Set: &n}
}

func (w *world) ask(rt *rapid.T) {
	in := models.AskInput{
		ToolName: storetest.Pick(rt, "tool", []string{"Bash", "pay", "drop"}), ToolUseID: storetest.Pick(rt, "tool use", []string{"", "", "t1", "t2"}),
		Energy: energy(rt), Explicit: rapid.Bool().Draw(rt, "explicit"), Join: rapid.Bool().Draw(rt, "join"), AcceptsEdits: rapid.Bool().Draw(rt, "takes edits"), TimeoutSeconds: storetest.Pick(rt, "timeout", []*int64{nil, new(int64(240))}),
	}
	conv := w.anyConv(rt)
	if !rarely(rt, 4) {
		in.ConversationID = string(conv)
	}
	if rapid.IntRange(0, 4).Draw(rt, "question") == 0 {
		in.Kind, in.ToolName = models.KindQuestion, ""
	}
	w.done(rt, storetest.Err(w.Ask(context.Background(), w.agent(rt, conv), in)))
}

func (w *world) giveUp(rt *rapid.T) {
	id := w.anyResponse(rt)
	w.done(rt, storetest.Err(w.GiveUp(context.Background(), w.agent(rt, models.ConversationID(w.now.rows[string(id)].conv)), id, "prompt")))
}

func (w *world) respond(rt *rapid.T) {
	in := models.ResponseInput{
		ConversationID: w.anyConv(rt), Kind: storetest.Pick(rt, "kind", []models.Kind{models.KindReply, models.KindProposal, models.KindProposal}),
		Content: storetest.Pick(rt, "content", []string{"a", "b"}), Energy: energy(rt),
	}
	if rapid.Bool().Draw(rt, "keyed") {
		in.ResponseID = string(storetest.Pick(rt, "key", w.ids))
	}
	w.done(rt, storetest.Err(w.Respond(context.Background(), w.agent(rt, in.ConversationID), in)))
}

func (w *world) changeBudget(rt *rapid.T) {
	conv := w.anyConv(rt)
	who := w.agent(rt, conv)
	if rapid.Bool().Draw(rt, "by a person") {
		who = w.person(rt, conv)
	}
	w.done(rt, storetest.Err(w.ChangeBudget(context.Background(), who, conv, change(rt), "")))
}

func (w *world) decision(rt *rapid.T) models.ConversationDecision {
	d := models.ConversationDecision{Approved: storetest.Pick(rt, "approved", []*bool{nil, new(true), new(true), new(false)})}
	if rapid.Bool().Draw(rt, "by id") {
		d.ResponseID = w.anyResponse(rt)
	}
	if rapid.IntRange(0, 2).Draw(rt, "with a budget") == 0 {
		d.Budget = change(rt)
	}
	return d
}

func (w *world) sayAny(rt *rapid.T) {
	in := models.MessageInput{Content: storetest.Pick(rt, "content", []string{"", "Go on.", "Go on."})}
	if rapid.IntRange(0, 5).Draw(rt, "begin") > 0 {
		in.ConversationID = w.anyConv(rt)
		if rapid.Bool().Draw(rt, "decides") {
			d := w.decision(rt)
			in.Decision = &d
		}
	} else {
		in.EnergyBudget = storetest.Pick(rt, "budget", []*int64{nil, new(int64(0)), new(int64(30))})
	}
	w.done(rt, storetest.Err(runs.New(w.Store).Say(context.Background(), w.person(rt, in.ConversationID), in)))
}

func (w *world) decideInAny(rt *rapid.T) {
	conv := w.anyConv(rt)
	w.done(rt, storetest.Err3(runs.New(w.Store).DecideIn(context.Background(), w.person(rt, conv), conv, w.decision(rt))))
}

func (w *world) decideAny(rt *rapid.T) {
	in := models.DecisionInput{Approved: new(rapid.Bool().Draw(rt, "approved"))}
	id := w.anyResponse(rt)
	switch rapid.IntRange(0, 5).Draw(rt, "with") {
	case 0:
		in.Budget = change(rt)
	case 1:
		in.Input = fmt.Appendf(nil, `{"budget":%d}`, rapid.IntRange(-1, 60).Draw(rt, "sum"))
	case 2:
		in.Answer, in.Approved = new("so"), nil
	}
	w.done(rt, storetest.Err(w.Decide(context.Background(), w.person(rt, models.ConversationID(w.now.rows[string(id)].conv)), id, in)))
}

func (w *world) cancel(rt *rapid.T) {
	id := w.anyResponse(rt)
	who := w.agent(rt, models.ConversationID(w.now.rows[string(id)].conv))
	if rarely(rt, 4) {
		who = w.decider(rt, id)
	}
	w.done(rt, storetest.Err(w.Cancel(context.Background(), who, id)))
}

// decider is mostly one who may decide a request.
func (w *world) decider(rt *rapid.T, id models.ResponseID) models.Actor {
	return w.person(rt, models.ConversationID(w.now.rows[string(id)].conv))
}

func (w *world) takeBack(rt *rapid.T) {
	id := w.anyResponse(rt)
	w.done(rt, storetest.Err(w.Undo(context.Background(), w.decider(rt, id), id)))
}

func (w *world) release(rt *rapid.T) {
	w.clock.Step(time.Duration(rapid.IntRange(0, 100).Draw(rt, "seconds")) * time.Second)
	w.done(rt, storetest.Err(w.ReleaseDue(context.Background(), rapid.IntRange(1, 5).Draw(rt, "limit"))))
}

func (w *world) askBack(rt *rapid.T) {
	id := w.anyResponse(rt)
	w.done(rt, storetest.Err(w.AskBack(context.Background(), w.decider(rt, id), id, storetest.Pick(rt, "text", []string{"Why?", "Who?"}))))
}

func (w *world) answer(rt *rapid.T) {
	id := w.anyResponse(rt)
	who := w.agent(rt, models.ConversationID(w.now.rows[string(id)].conv))
	if rapid.Bool().Draw(rt, "by a person") {
		who = w.decider(rt, id)
	}
	w.done(rt, storetest.Err3(w.AnswerNote(context.Background(), who, id, storetest.Pick(rt, "text", []string{"So.", "Me."}))))
}

func (w *world) extend(rt *rapid.T) {
	id := w.anyResponse(rt)
	until := w.clock.Now().Add(time.Duration(rapid.IntRange(0, 24).Draw(rt, "minutes")) * time.Minute)
	w.done(rt, storetest.Err(w.Extend(context.Background(), w.decider(rt, id), id, until)))
}

func (w *world) steerAny(rt *rapid.T) {
	how := storetest.Pick(rt, "how", []models.Steering{models.SteerStop, models.SteerPause, models.SteerResume, models.SteerArchive, models.SteerUnarchive, "rename", "explode"})
	conv := w.anyConv(rt)
	who := w.person(rt, conv)
	if rarely(rt, 9) {
		who = w.agents[0]
	}
	if how == "rename" {
		w.done(rt, storetest.Err(runs.New(w.Store).Rename(context.Background(), who, conv, storetest.Pick(rt, "title", []string{"", "Logs"}))))
		return
	}
	w.done(rt, storetest.Err(runs.New(w.Store).Steer(context.Background(), who, conv, how)))
}

func (w *world) expire(rt *rapid.T) {
	w.clock.Step(time.Duration(rapid.IntRange(0, 6).Draw(rt, "minutes")) * time.Minute)
	if rapid.Bool().Draw(rt, "written down") {
		w.done(rt, storetest.Err(w.ExpireDue(context.Background(), rapid.IntRange(1, 5).Draw(rt, "limit"))))
	}
}

// claim, reserve and turn are what the built-in agent does, one at a time: what
// others do comes between.
func (w *world) claim(rt *rapid.T) {
	run, err := runs.New(w.Store).ClaimRun(context.Background(), "me", 5*time.Minute)
	w.done(rt, err)
	if run != nil {
		w.run = run
	}
}

func (w *world) reserve(rt *rapid.T) {
	if w.run == nil {
		rt.Skip("nothing is claimed")
	}
	_, err := runs.New(w.Store).ReserveEnergy(context.Background(), w.run, rapid.Int64Range(0, 12).Draw(rt, "worst"))
	w.done(rt, err)
}

func (w *world) turn(rt *rapid.T) {
	if w.run == nil {
		rt.Skip("nothing is claimed")
	}
	seen, err := runs.New(w.Store).RunContext(context.Background(), w.run)
	if err != nil {
		w.done(rt, err)
		return
	}
	in := models.TurnInput{Model: "m", Energy: rapid.Int64Range(0, 14).Draw(rt, "energy"), Content: storetest.Pick(rt, "content", []string{"", "Well."}), Context: seen}
	for range rapid.IntRange(0, 3).Draw(rt, "calls") {
		name := storetest.Pick(rt, "tool", []string{models.ToolRespond, models.ToolRespondWithApproval, models.ToolSetBudget, models.ToolAdjustBudget})
		member := map[string]string{models.ToolSetBudget: `"budget":%d`, models.ToolAdjustBudget: `"delta":%d`}[name]
		if member == "" {
			member = `"content":"%d"`
		}
		args := fmt.Sprintf(`{"requestId":"%s",`+member+`}`, w.run.ConversationID, rapid.IntRange(-10, 40).Draw(rt, "n"))
		in.Calls = append(in.Calls, models.TurnCall{ID: "c", Name: name, Arguments: args})
	}
	_, err = runs.New(w.Store).StoreTurn(context.Background(), w.run, in)
	w.done(rt, err)
	w.run = nil
}
