package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/agent"
	"countersign/workers/llm"
)

// model says what a test tells it to, turn by turn, and records what it was shown.
type model struct {
	mu       sync.Mutex
	turns    []reply
	requests []llm.Request
}

// reply makes one turn. It runs with the context and the listener of the call.
type reply func(ctx context.Context, r llm.Request, told func(string, bool)) (*llm.Turn, error)

// tokens is what every turn takes here: two units of energy at rate 1, of three
// in the worst case.
const (
	promptTokens     = 1000
	completionTokens = 1000
	worstTokens      = 3000
)

func (m *model) Name() string                { return "test-model" }
func (m *model) WorstCase(llm.Request) int64 { return worstTokens }

func (m *model) Complete(ctx context.Context, r llm.Request, told func(string, bool)) (*llm.Turn, error) {
	m.mu.Lock()
	m.requests = append(m.requests, r)
	next := says("Done.")
	if len(m.turns) > 0 {
		next, m.turns = m.turns[0], m.turns[1:]
	}
	m.mu.Unlock()
	turn, err := next(ctx, r, told)
	if turn != nil && turn.Usage == (llm.Usage{}) {
		turn.Usage = llm.Usage{PromptTokens: promptTokens, CompletionTokens: completionTokens}
	}
	return turn, err
}

func (m *model) last(t *testing.T) llm.Request {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		t.Fatal("the model was not asked")
	}
	return m.requests[len(m.requests)-1]
}

func (m *model) asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

func says(text string) reply {
	return func(context.Context, llm.Request, func(string, bool)) (*llm.Turn, error) {
		return &llm.Turn{Content: text}, nil
	}
}

// call is a tool call in the conversation that the request is about: ID in its
// arguments stands for the conversation's.
type call struct{ name, arguments string }

func calls(list ...call) reply {
	return func(_ context.Context, r llm.Request, _ func(string, bool)) (*llm.Turn, error) {
		turn := &llm.Turn{}
		for i, c := range list {
			turn.Calls = append(turn.Calls, llm.Call{
				ID: fmt.Sprintf("call_%d_%d", len(r.Turns), i), Name: c.name, Arguments: strings.ReplaceAll(c.arguments, "ID", requestID(r)),
			})
		}
		return turn, nil
	}
}

func proposes(content string) call {
	return call{models.ToolRespondWithApproval, fmt.Sprintf(`{"requestId":"ID","content":%q}`, content)}
}

func setsBudget(n int) call {
	return call{models.ToolSetBudget, fmt.Sprintf(`{"requestId":"ID","budget":%d}`, n)}
}

// requestID is the id that the ephemeral message tells the model.
func requestID(r llm.Request) string {
	_, rest, _ := strings.Cut(r.Ephemeral, "requestId: ")
	id, _, _ := strings.Cut(rest, "\n")
	return id
}

// bench is a store with a person in it, and an agent with its model.
type bench struct {
	t      *testing.T
	store  *store.Store
	clock  *storetest.Clock
	person models.Actor
	model  *model
	agent  *agent.Agent
}

func newBench(t *testing.T, turns ...reply) *bench {
	t.Helper()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	b := &bench{t: t, store: s, clock: clock, person: storetest.Reviewer(t, s, "ann@example.com"), model: &model{turns: turns}}
	b.agent = b.another(s, "one")
	return b
}

func (b *bench) another(s *store.Store, holder string) *agent.Agent {
	return agent.New(agent.Options{Store: s, Model: b.model, Holder: holder, Log: slog.New(slog.DiscardHandler), LeaseTTL: time.Minute})
}

// policy changes some settings of the policy.
func (b *bench) policy(settings string) {
	b.t.Helper()
	standing, err := b.store.CurrentPolicy(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.store.ApplyPolicy(b.t.Context(), storetest.Operator(), []byte(`{`+settings+`}`), "", standing.Version); err != nil {
		b.t.Fatalf("apply policy: %v", err)
	}
}

// begin has the person begin a conversation.
func (b *bench) begin(content string, budget *int64) models.ConversationID {
	b.t.Helper()
	out, err := runs.New(b.store).Say(b.t.Context(), b.person, models.MessageInput{Content: content, EnergyBudget: budget})
	if err != nil {
		b.t.Fatalf("begin: %v", err)
	}
	return out.Conversation.ID
}

func (b *bench) say(id models.ConversationID, content string, d *models.ConversationDecision) *models.MessageResult {
	b.t.Helper()
	b.clock.Step(time.Second)
	out, err := runs.New(b.store).Say(b.t.Context(), b.person, models.MessageInput{ConversationID: id, Content: content, Decision: d})
	if err != nil {
		b.t.Fatalf("say %q: %v", content, err)
	}
	return out
}

func (b *bench) decide(id models.ConversationID, d models.ConversationDecision) *models.Approval {
	b.t.Helper()
	b.clock.Step(time.Second)
	a, _, err := runs.New(b.store).DecideIn(b.t.Context(), b.person, id, d)
	if err != nil {
		b.t.Fatalf("decide: %v", err)
	}
	return a
}

// run has the agent work until nothing is ready, and says how many turns it took.
func (b *bench) run() int {
	b.t.Helper()
	for n := 0; ; n++ {
		b.clock.Step(time.Second)
		worked, err := b.agent.Once(b.t.Context())
		if err != nil {
			b.t.Fatalf("run: %v", err)
		}
		if !worked {
			return n
		}
		if n > 100 {
			b.t.Fatal("the agent does not come to rest")
		}
	}
}

func (b *bench) conversation(id models.ConversationID) *models.ConversationView {
	b.t.Helper()
	v, err := b.store.Requests.Conversation(b.t.Context(), b.person, id)
	if err != nil {
		b.t.Fatalf("read conversation: %v", err)
	}
	return v
}

// status checks where a conversation stands, and that its energy adds up (I14):
// what responses and turns carry is what was spent.
func (b *bench) status(id models.ConversationID, want models.ConversationStatus) {
	b.t.Helper()
	v := b.conversation(id)
	if v.Status != want {
		b.t.Errorf("the conversation is %s, want %s", v.Status, want)
	}
	points, err := b.store.EnergyOf(b.t.Context(), b.person, id, 100)
	if err != nil {
		b.t.Fatalf("read energy: %v", err)
	}
	carried := int64(0)
	if len(points) > 0 {
		carried = points[len(points)-1].Used
	}
	if carried != v.EnergyUsed {
		b.t.Errorf("%d units are spent, responses and turns carry %d", v.EnergyUsed, carried)
	}
}

func (b *bench) history(id models.ConversationID) []models.HistoryEntry {
	b.t.Helper()
	h, err := b.store.Requests.History(b.t.Context(), b.person, id, requests.HistoryQuery{Limit: models.MaxPage})
	if err != nil {
		b.t.Fatalf("read history: %v", err)
	}
	return h.Entries
}

func (b *bench) responses(id models.ConversationID, kind models.Kind) []*models.Approval {
	b.t.Helper()
	var out []*models.Approval
	for _, e := range b.history(id) {
		if e.Response != nil && e.Response.Kind == kind {
			out = append(out, e.Response)
		}
	}
	return out
}

// notices are the loop's own lines in a conversation.
func (b *bench) notices(id models.ConversationID) []string {
	b.t.Helper()
	var out []string
	for _, e := range b.history(id) {
		if e.Message != nil && e.Message.AuthorKind == models.ActorSystem {
			out = append(out, e.Message.Content)
		}
	}
	return out
}

// results are the tool messages of a request, in order.
func results(r llm.Request) []string {
	var out []string
	for _, m := range r.Turns {
		if m.Role == llm.RoleTool {
			out = append(out, m.Content)
		}
	}
	return out
}

func mustContain(t *testing.T, what, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", what, want, text)
		}
	}
}
