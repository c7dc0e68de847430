package store_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

const overHundred = `{"rules":[{"name":"payments over 100","tools":["/^payment\\./"],"when":"input.amount > 100","effect":"require","risk":"high","timeout_minutes":60,"reviewers":["bo@example.com"]}]}`

// A call is held by what its input says, and what the policy made of it is frozen in the
// request (I12). What can't be judged is not let through (I11).
func TestAConditionHoldsARealCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bo := storetest.Reviewer(t, b.Store, "bo@example.com")
	b.UsePolicy(t, overHundred)
	for _, tt := range []struct {
		input, why string
		held       bool
	}{
		{`{"amount":99}`, "No rule concerns this tool", false},
		{`{"amount":101}`, "requires approval", true},
		{`{"amount":"101"}`, "can't be judged, so the rule applies: a value is of another type", true},
		{`{}`, "a member that it reads is missing", true},
	} {
		a := b.tried(t, models.AskInput{ToolName: "payment.send", Input: []byte(tt.input)})
		read, err := b.Requests.Approval(t.Context(), b.Owner, a.ID)
		storetest.Must(t, err)
		if held := read.Status() == models.StatusPending; held != tt.held || !strings.Contains(read.PolicyReason, tt.why) {
			t.Errorf("%s: %s, %q", tt.input, read.Status(), read.PolicyReason)
		}
		if !tt.held {
			continue
		}
		if read.Risk != models.RiskHigh || read.PolicyRule != "payments over 100" || read.ApprovalTimeoutAt.Sub(read.CreatedAt) != time.Hour {
			t.Errorf("%s: %+v", tt.input, read.Response)
		}
		if _, err := b.Requests.Approval(t.Context(), bo, a.ID); err != nil {
			t.Errorf("%s: the reviewer does not see it: %v", tt.input, err)
		}
	}
	storetest.CheckRows(t, b.Store)
}

// A request that was judged before its transaction is judged again inside, if the policy
// changed between the two.
func TestARequestIsJudgedByThePolicyThatItIsStoredUnder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, overHundred)
	in := models.AskInput{ToolName: "payment.send", Input: []byte(`{"amount":99}`)}
	if a := b.tried(t, in); a.Status() != models.StatusNone {
		t.Fatalf("99 is %s", a.Status())
	}
	b.UsePolicy(t, strings.Replace(overHundred, "> 100", "> 50", 1))
	a := b.tried(t, in)
	if a.Status() != models.StatusPending || a.PolicyVersion != 3 {
		t.Errorf("99 of more than 50 is %s by version %d", a.Status(), a.PolicyVersion)
	}
}

// An edit is judged by what it says: one that needs other approvers waits for them.
func TestAnEditIsJudgedByItsConditions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	storetest.Reviewer(t, b.Store, "bo@example.com")
	b.UsePolicy(t, `{"rules":[
 {"name":"never","tools":["pay"],"when":"input.amount > 1000","effect":"deny"},
 {"name":"large","tools":["pay"],"when":"input.amount > 100","effect":"require","reviewers":["bo@example.com"],"reviewers_only":true},
 {"name":"small","tools":["pay"],"effect":"require"}]}`)
	a := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"amount":5}`)})
	edit := func(input string) (*models.Approval, error) {
		in := storetest.Yes()
		in.Digest, in.Input = a.Digest, []byte(input)
		return b.Decide(t.Context(), b.Owner, a.ID, in)
	}
	_, err := edit(`{"amount":5000}`)
	if refused := storetest.Refused(t, err, models.CodeInvalid); !strings.Contains(refused.Fields["input"], "denied by the policy") {
		t.Errorf("%+v", refused)
	}
	got, err := edit(`{"amount":500}`)
	storetest.Must(t, err)
	if got.Status() != models.StatusPending || got.Vote == nil || got.Vote.WaitsFor == "" {
		t.Errorf("an edit to 500 is %s", got.Status())
	}
	got, err = edit(`{"amount":50}`)
	storetest.Must(t, err)
	if got.Status() != models.StatusApproved {
		t.Errorf("an edit to 50 is %s", got.Status())
	}
}

// The page says what the policy would make of a request now, by what it says.
func TestTheActivePolicyIsAskedWithTheInput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, overHundred)
	a := b.tried(t, models.AskInput{ToolName: "payment.send", Input: []byte(`{"amount":101}`)})
	if got := b.around(t, b.Owner, a.ID); got.PolicyChange || got.Now.Rule != "payments over 100" || got.Now.Differs {
		t.Errorf("%+v", got.Now)
	}
	b.UsePolicy(t, strings.Replace(overHundred, "> 100", "> 200", 1))
	if got := b.around(t, b.Owner, a.ID); !got.PolicyChange || got.Now.Rule == "payments over 100" || !got.Now.Differs {
		t.Errorf("%+v", got.Now)
	}
}

// Whatever needs a judgement of conditions gets it outside of the write transaction: it may
// take long, and nobody else writes meanwhile.
func TestConditionsAreJudgedAheadOfTheTransaction(t *testing.T) {
	t.Parallel()
	log := new(bytes.Buffer)
	b := newBench(t, func(o *store.Options) {
		o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	b.UsePolicy(t, `{"auto_budget_increase":10,"rules":[{"name":"large","tools":["/./"],"when":"!has(input.amount) || input.amount > 100","effect":"require"}]}`)
	conv, _, err := b.OpenRun(t.Context(), b.Agent, models.RunInput{RunID: "run", EnergyBudget: new(int64(5))})
	storetest.Must(t, err)
	var a *models.Approval
	for _, act := range []struct {
		name string
		do   func() error
	}{
		{"ask", func() (err error) {
			a, err = b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "pay", Input: []byte(`{"amount":101}`), AcceptsEdits: true})
			return err
		}},
		{"ask under a policy that no transaction has used", func() error {
			b.UsePolicy(t, `{"rules":[{"name":"larger","tools":["/./"],"when":"!has(input.amount) || input.amount > 200","effect":"require"}]}`)
			return storetest.Err(b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "pay", Input: []byte(`{"amount":201}`), AcceptsEdits: true}))
		}},
		{"pre-approval", func() error {
			return storetest.Err(b.MakeGrant(t.Context(), b.Owner, a.ID, models.GrantInput{Hours: 1, Uses: 1, Digest: a.Digest}))
		}},
		{"edit", func() error {
			in := storetest.Yes()
			in.Digest, in.Input = a.Digest, []byte(`{"amount":500}`)
			return storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, in))
		}},
		{"proposal", func() error {
			return storetest.Err(b.Respond(t.Context(), b.Agent, models.ResponseInput{ConversationID: conv.ID, Kind: models.KindProposal, Content: "I would."}))
		}},
		{"budget request", func() error {
			return storetest.Err(b.ChangeBudget(t.Context(), b.Agent, conv.ID, models.BudgetChange{Set: new(int64(500))}, "More."))
		}},
	} {
		log.Reset()
		storetest.Must(t, act.do())
		said := log.String()
		if judged, ahead := strings.Count(said, `msg="policy judged"`), strings.Count(said, "ahead=true"); judged == 0 || ahead != judged {
			t.Errorf("%s: %d of %d judgements were made ahead:\n%s", act.name, ahead, judged, said)
		}
	}
}

// A judgement that was made ahead is used only within the second that the row says.
func TestConditionsReadTheTimeOfTheRow(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, step := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC), time.Duration(0)
	b := newBench(t, func(o *store.Options) {
		o.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(step)
			return now
		}
	})
	b.UsePolicy(t, `{"rules":[{"name":"even","tools":["x"],"when":"now.getSeconds() % 2 == 0","effect":"require"},{"name":"odd","tools":["x"],"effect":"require"}]}`)
	steps := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		step = d
	}
	steps(time.Second) // each look at the clock is a second later
	for i := range 20 {
		a, err := b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "x", Input: fmt.Appendf(nil, `{"i":%d}`, i)})
		storetest.Must(t, err)
		if (a.PolicyRule == "even") != (a.CreatedAt.Second()%2 == 0) {
			t.Errorf("asked at %s, and judged by the rule %q", a.CreatedAt, a.PolicyRule)
		}
	}
	steps(0)
}

// tried asks as a hook does: the policy alone says whether a person decides.
func (b *bench) tried(t *testing.T, in models.AskInput) *models.Approval {
	t.Helper()
	in.AcceptsEdits = true
	a, err := b.Ask(t.Context(), b.Agent, in)
	storetest.Must(t, err)
	return a
}
