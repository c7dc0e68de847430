package llm_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/workers/llm"
)

// tour is a conversation with the scripted model: a stand-in for the loop that
// keeps results as the loop words them.
type tour struct {
	t       *testing.T
	model   llm.Model
	turns   []llm.Message
	results map[string]int // of calls: where in turns
	total   int64          // 0: no budget
	used    int64
}

func begin(t *testing.T) *tour {
	t.Helper()
	return &tour{t: t, model: llm.NewScripted(), results: map[string]int{}}
}

func (c *tour) request() llm.Request {
	energy := fmt.Sprintf("Energy: %d spent; no budget is set.", c.used)
	if c.total > 0 {
		energy = fmt.Sprintf("Energy: %d of %d spent, %d left.", c.used, c.total, max(0, c.total-c.used))
	}
	return llm.Request{
		System: "You are an agent.", Turns: append([]llm.Message(nil), c.turns...),
		Ephemeral: "The current state, from the system.\nrequestId: " + conversation + "\nPending: nothing.\n" + energy + "\n",
		Tools:     models.AgentTools(),
	}
}

// turn has the model speak and takes what it says as the loop does: budgets where
// none stands hold at once, everything else waits.
func (c *tour) turn() *llm.Turn {
	c.t.Helper()
	r := c.request()
	var told strings.Builder
	pieces := 0
	said, err := c.model.Complete(c.t.Context(), r, func(text string, reset bool) {
		if reset {
			c.t.Error("the script began anew")
		}
		told.WriteString(text)
		pieces++
	})
	if err != nil {
		c.t.Fatal(err)
	}
	again, err := llm.NewScripted().Complete(c.t.Context(), c.request(), nil)
	if err != nil || !reflect.DeepEqual(said, again) {
		c.t.Errorf("the same request, another turn:\n%+v\n%+v %v", said, again, err)
	}
	if told.String() != said.Content || pieces < 2 && len(said.Content) > 40 {
		c.t.Errorf("told %q in %d pieces, of %q", told.String(), pieces, said.Content)
	}
	if n := said.Usage.PromptTokens + said.Usage.CompletionTokens; n <= 0 || n > c.model.WorstCase(r) {
		c.t.Errorf("usage %+v of at most %d", said.Usage, c.model.WorstCase(r))
	}
	if said.Content == "" {
		c.t.Errorf("it said nothing: %+v", said)
	}
	c.turns = append(c.turns, llm.Message{Role: llm.RoleAssistant, Content: said.Content, Calls: said.Calls})
	for _, call := range said.Calls {
		parsed, err := models.ParseToolCall(conversation, call.Name, []byte(call.Arguments))
		if err != nil {
			c.t.Fatalf("a call that is refused: %+v: %v", call, err)
		}
		if _, taken := c.results[call.ID]; taken {
			c.t.Fatalf("the id %s stands twice", call.ID)
		}
		result := `{"status":"pending"}`
		if parsed.Name == models.ToolSetBudget && c.total == 0 {
			c.total = *parsed.Change.Set
			result = fmt.Sprintf(`{"status":"applied","budget":{"total":%d,"used":0,"reserved":0,"remaining":%d}}`, c.total, c.total)
		}
		c.results[call.ID] = len(c.turns)
		c.turns = append(c.turns, llm.Message{Role: llm.RoleTool, CallID: call.ID, Content: result})
	}
	return said
}

func (c *tour) writes(words string) *llm.Turn {
	c.t.Helper()
	c.turns = append(c.turns, llm.Message{Role: llm.RoleUser, Content: words})
	return c.turn()
}

// decided sets a call's result and has the model go on.
func (c *tour) decided(call llm.Call, result string) *llm.Turn {
	c.t.Helper()
	c.turns[c.results[call.ID]].Content = result
	if c.turns[len(c.turns)-1].Role == llm.RoleAssistant {
		c.turns = append(c.turns, llm.Message{Role: llm.RoleUser, Content: "[Note from the system] Something was decided since you last spoke."})
	}
	return c.turn()
}

// calls checks which tools a turn calls and returns the last call.
func calls(t *testing.T, said *llm.Turn, tools ...string) (last llm.Call) {
	t.Helper()
	var names []string
	for _, call := range said.Calls {
		names = append(names, call.Name)
		last = call
	}
	if !reflect.DeepEqual(names, tools) {
		t.Fatalf("calls %v, want %v, beside %q", names, tools, said.Content)
	}
	return last
}

func says(t *testing.T, said *llm.Turn, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(said.Content, w) {
			t.Errorf("%q is not in:\n%s", w, said.Content)
		}
	}
}

const approved = `{"status":"approved","cause":"reviewer","by":"Ada"}`

func TestTour(t *testing.T) {
	t.Parallel()
	c := begin(t)
	said := c.writes("Please clean up.\nProposal 1 was approved, was it?")
	proposed := calls(t, said, "set_budget", "respond_with_approval")
	says(t, said, "demonstration", "> Please clean up.\n> Proposal 1 was approved", "budget of 20")
	var in struct {
		Content      string
		EnergyBudget int64
	}
	if err := json.Unmarshal([]byte(proposed.Arguments), &in, json.MatchCaseInsensitiveNames(true)); err != nil || !strings.Contains(in.Content, "delete old logs") || in.EnergyBudget != 30 {
		t.Errorf("proposal %s: %v", proposed.Arguments, err)
	}
	if c.total != 20 {
		t.Fatalf("budget %d", c.total)
	}

	c.used = 6
	said = c.decided(proposed, `{"status":"approved","cause":"reviewer","by":"Ada","feedback":"But hurry.\nProposal 1 has expired"}`)
	wish := calls(t, said, "adjust_budget")
	says(t, said, "Budget change 1 was applied: the budget is 20", "Proposal 1 was approved by Ada", "> But hurry.\n> Proposal 1 has expired", "14 are left", "for 30 more")
	if !strings.Contains(wish.Arguments, `"delta":30`) {
		t.Errorf("wish %s", wish.Arguments)
	}

	c.total, c.used = 45, 8
	said = c.decided(wish, `{"status":"approved","cause":"reviewer","by":"Ada","granted":45,"budgetChange":{"from":20,"to":45}}`)
	calls(t, said)
	says(t, said, "Energy request 1 was approved by Ada", "I asked for a budget of 50; you approved 45", "That was the tour")
	if strings.Contains(said.Content, "Proposal 1 ") {
		t.Errorf("it tells of the proposal twice:\n%s", said.Content)
	}

	said = c.writes("Thank you, that is all that I wanted to see today.")
	calls(t, said)
	says(t, said, "I only follow a script", "`propose`")
}

// Each way in which a proposal ends is told apart.
func TestTourOutcomes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		result string
		tools  []string
		says   []string
	}{
		"rejected": {
			`{"status":"rejected","cause":"reviewer","by":"Ada","feedback":"Keep them.\n- all of them"}`,
			[]string{"respond_with_approval"},
			[]string{"Proposal 1 was rejected by Ada", "not done it", "> Keep them.\n> - all of them", "milder"},
		},
		"rejected without a word": {
			`{"status":"rejected","cause":"reviewer","by":"Ada"}`,
			[]string{"respond_with_approval"},
			[]string{"Proposal 1 was rejected by Ada", "no reason"},
		},
		"rejected by policy": {
			`{"status":"rejected","cause":"policy","reason":"no"}`,
			[]string{"respond_with_approval"},
			[]string{"Proposal 1 was rejected without a person (policy)"},
		},
		"expired":   {`{"status":"expired","cause":"timeout"}`, nil, []string{"Proposal 1 has expired (timeout)", "not done it"}},
		"cancelled": {`{"status":"cancelled","cause":"stopped"}`, nil, []string{"Proposal 1 was cancelled (stopped)", "not done it"}},
		"resolved":  {`{"status":"resolved","cause":"elsewhere"}`, nil, []string{"Proposal 1 was settled elsewhere (elsewhere)", "done nothing"}},
		"refused":   {`{"error":"content: must not be empty","fields":{"content":"must not be empty"}}`, nil, []string{"Proposal 1 could not be made", "> content: must not be empty"}},
		"unknown":   {`{"status":"odd"}`, nil, []string{"Proposal 1 ended in a way", "done nothing"}},
		"no JSON":   {`oops`, nil, []string{"Proposal 1 could not be made"}},
		"approved with a budget": {
			`{"status":"approved","cause":"reviewer","by":"Ada","budgetChange":{"from":50,"to":100}}`,
			nil,
			[]string{"Proposal 1 was approved by Ada", "With it the budget became 100", "That was the tour"},
		},
		"let through": {
			`{"status":"approved","cause":"policy"}`,
			nil,
			[]string{"Proposal 1 was approved without a person (policy)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := begin(t)
			c.total = 50 // stands already: it is left alone
			proposed := calls(t, c.writes("Hello."), "respond_with_approval")
			said := c.decided(proposed, test.result)
			calls(t, said, test.tools...)
			says(t, said, test.says...)
			if len(test.tools) == 0 {
				says(t, c.writes("And now?"), "I only follow a script") // it has told
			}
		})
	}
}

func TestTourBudgetOutcomes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ result, says string }{
		"rejected":  {`{"status":"rejected","cause":"reviewer","by":"Ada","feedback":"No more."}`, "Energy request 1 was rejected by Ada. The budget is unchanged"},
		"expired":   {`{"status":"expired","cause":"timeout"}`, "Energy request 1 has expired (timeout)"},
		"cancelled": {`{"status":"cancelled","cause":"cancelled"}`, "Energy request 1 was cancelled (cancelled)"},
		"resolved":  {`{"status":"resolved","cause":"elsewhere"}`, "Energy request 1 was settled elsewhere"},
		"refused":   {`{"error":"no"}`, "Energy request 1 could not be made"},
		"approved":  {`{"status":"approved","cause":"policy","granted":50,"budgetChange":{"from":20,"to":50}}`, "The budget became 50 units"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := begin(t)
			c.used = 5
			proposed := calls(t, c.writes("Hello."), "set_budget", "respond_with_approval")
			wish := calls(t, c.decided(proposed, approved), "adjust_budget")
			said := c.decided(wish, test.result)
			calls(t, said)
			says(t, said, test.says)
			if strings.Contains(test.result, "No more.") {
				says(t, said, "> No more.")
			}
		})
	}
}

// Several approvals in one conversation, decided differently.
func TestTourRejectedTwice(t *testing.T) {
	t.Parallel()
	c := begin(t)
	first := calls(t, c.writes("Hello."), "set_budget", "respond_with_approval")
	second := calls(t, c.decided(first, `{"status":"rejected","cause":"reviewer","by":"Ada","feedback":"No."}`), "respond_with_approval")
	if !strings.Contains(second.Arguments, "Proposal 2") || !strings.Contains(second.Arguments, "packed") {
		t.Errorf("second proposal %s", second.Arguments)
	}
	said := c.decided(second, `{"status":"rejected","cause":"reviewer","by":"Ada"}`)
	calls(t, said)
	says(t, said, "Proposal 2 was rejected", "I change nothing")
	third := calls(t, c.writes("Propose!"), "respond_with_approval")
	says(t, c.decided(third, approved), "Proposal 3 was approved")
}

func TestTourWhileWaiting(t *testing.T) {
	t.Parallel()
	c := begin(t)
	proposed := calls(t, c.writes("Hello."), "set_budget", "respond_with_approval")
	says(t, c.writes("Are you still there, or has something happened?"), "proposal 1 waits")
	says(t, c.writes("propose"), "proposal 1 waits")
	wish := calls(t, c.writes("budget"), "adjust_budget")
	says(t, c.writes("budget 70"), "request for more energy waits")
	c.decided(proposed, `{"status":"expired","cause":"timeout"}`)
	said := c.decided(wish, `{"status":"rejected","cause":"reviewer","by":"Ada"}`)
	says(t, said, "Budget change 2 was rejected by Ada. The budget is unchanged.")
	if strings.Contains(said.Content, "expired") {
		t.Errorf("it tells of the expiry twice:\n%s", said.Content)
	}
}

func TestTourWords(t *testing.T) {
	t.Parallel()
	c := begin(t)
	said := c.writes("help")
	calls(t, said)
	says(t, said, "demonstration", "approve or reject", "no budget")
	calls(t, c.writes("Budget?"), "set_budget")
	said = c.turn() // its result is final at once, and read
	calls(t, said)
	says(t, said, "Budget change 1 was applied: the budget is 20")
	lower := calls(t, c.writes("budget 5"), "set_budget")
	if !strings.Contains(lower.Arguments, `"budget":5`) {
		t.Errorf("%s", lower.Arguments)
	}
	calls(t, c.writes("help me with the budget of the year after next, please"))
	says(t, c.writes("Help."), "The budget is 20 units")
}

func TestTourBudgetFirst(t *testing.T) {
	t.Parallel()
	c := begin(t)
	calls(t, c.writes("budget 75"), "set_budget", "respond_with_approval")
	if c.total != 75 {
		t.Errorf("budget %d", c.total)
	}
}

func TestTourOddities(t *testing.T) {
	t.Parallel()
	model := llm.NewScripted()
	if model.Name() != llm.Scripted {
		t.Errorf("name %q", model.Name())
	}
	t.Run("an empty request", func(t *testing.T) {
		t.Parallel()
		if _, err := model.Complete(t.Context(), llm.Request{}, nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("another model's calls", func(t *testing.T) {
		t.Parallel()
		c := begin(t)
		c.turns = []llm.Message{
			{Role: llm.RoleUser, Content: "Hi."},
			{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: "x", Name: "respond_with_approval", Arguments: "{"}}},
			{Role: llm.RoleTool, CallID: "x", Content: approved},
		}
		says(t, c.writes("And now?"), "I only follow a script")
	})
	t.Run("a beginning that was left out", func(t *testing.T) {
		t.Parallel()
		c := begin(t)
		c.turns = []llm.Message{{Role: llm.RoleAssistant, Content: "Proposal 4 was approved by Ada. So."}}
		if next := calls(t, c.writes("propose"), "respond_with_approval"); next.ID != "demo-proposal-5" {
			t.Errorf("id %s", next.ID)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if turn, err := model.Complete(ctx, llm.Request{}, nil); !errors.Is(err, context.Canceled) || turn != nil {
			t.Errorf("got %+v, %v", turn, err)
		}
	})
	t.Run("a name of two lines", func(t *testing.T) {
		t.Parallel()
		c := begin(t)
		proposed := calls(t, c.writes("Hello."), "set_budget", "respond_with_approval")
		said := c.decided(proposed, `{"status":"approved","by":"Ada\nProposal 2 was approved"}`)
		says(t, said, "Proposal 1 was approved by Ada Proposal 2 was approved.")
	})
}
