package llm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"countersign/models"
	"countersign/workers/llm"
	"countersign/workers/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	key          = "sk-not-to-be-told"
	conversation = "0198c0de-0000-7000-8000-000000000001"
)

// asking is a model at a fake endpoint, with what happened around it.
type asking struct {
	llm.Model

	server *llmtest.Server
	log    bytes.Buffer
	waits  []time.Duration
	told   []string // resets are "<reset>"
}

func ask(t *testing.T, answer func(llmtest.Request) llmtest.Reply, options ...func(*llm.OpenAIOptions)) *asking {
	t.Helper()
	a := &asking{server: llmtest.New(t, answer)}
	o := llm.OpenAIOptions{
		BaseURL: a.server.URL, APIKey: key, Model: "some-model", HTTP: a.server.HTTP(),
		Log: slog.New(slog.NewTextHandler(&a.log, nil)),
		Wait: func(ctx context.Context, d time.Duration) error {
			a.waits = append(a.waits, d)
			return ctx.Err()
		},
	}
	for _, option := range options {
		option(&o)
	}
	a.Model = llm.NewOpenAI(o)
	return a
}

func (a *asking) complete(t *testing.T) (*llm.Turn, error) {
	t.Helper()
	return a.Complete(t.Context(), request(), func(text string, reset bool) {
		if reset {
			a.told = append(a.told, "<reset>")
		} else {
			a.told = append(a.told, text)
		}
	})
}

func request() llm.Request {
	return llm.Request{
		System:    "You are an agent.",
		Turns:     []llm.Message{{Role: llm.RoleUser, Content: "Do something."}},
		Ephemeral: "What stands now:\nrequestId: " + conversation + "\n",
		Tools:     models.AgentTools(),
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	budget := `{"requestId":"` + conversation + `","budget":20}`
	respond := `{"requestId":"` + conversation + `","content":"Grüße 👋 \"so\""}`
	two := []llmtest.Call{
		{ID: "a", Name: "set_budget", Arguments: budget},
		{ID: "b", Name: "respond", Arguments: respond},
	}
	twoCalls := []llm.Call{{ID: "a", Name: "set_budget", Arguments: budget}, {ID: "b", Name: "respond", Arguments: respond}}
	for name, test := range map[string]struct {
		reply llmtest.Reply
		text  string
		calls []llm.Call
	}{
		"text":              {llmtest.Reply{Text: "Hello."}, "Hello.", nil},
		"text in pieces":    {llmtest.Reply{Text: "Grüße 👋", TextAt: []int{3, 8, 9, 10, 11}}, "Grüße 👋", nil},
		"halves of a pair":  {llmtest.Reply{Text: "a👋b", TextAt: []int{2}, Escape: true}, "a👋b", nil},
		"nothing":           {llmtest.Reply{}, "", nil},
		"parallel calls":    {llmtest.Reply{Calls: two}, "", twoCalls},
		"text and calls":    {llmtest.Reply{Text: "So.", Calls: two, ArgumentsAt: []int{1, 20}}, "So.", twoCalls},
		"no index":          {llmtest.Reply{Calls: two, ArgumentsAt: []int{5}, NoIndex: true}, "", twoCalls},
		"index always 0":    {llmtest.Reply{Calls: two, ArgumentsAt: []int{5}, SameIndex: true}, "", twoCalls},
		"repeated names":    {llmtest.Reply{Calls: two, ArgumentsAt: []int{5, 9}, Repeat: true}, "", twoCalls},
		"whole":             {llmtest.Reply{Text: "So.", Calls: two, Whole: true}, "So.", twoCalls},
		"finish says stop":  {llmtest.Reply{Calls: two, Finish: "stop"}, "", twoCalls},
		"no finish":         {llmtest.Reply{Calls: two, NoFinish: true}, "", twoCalls},
		"no end":            {llmtest.Reply{Calls: two, NoDone: true}, "", twoCalls},
		"cut after the end": {llmtest.Reply{Text: "Hello.", Break: 3, NoUsage: true}, "Hello.", nil},
		"an object": {
			llmtest.Reply{Calls: []llmtest.Call{{ID: "a", Name: "set_budget", Arguments: budget, Object: true}}}, "", twoCalls[:1],
		},
		"no JSON": {
			llmtest.Reply{Calls: []llmtest.Call{{ID: "a", Name: "set_budget", Arguments: `budget: 20`}}},
			"",
			[]llm.Call{{ID: "a", Name: "set_budget", Arguments: `budget: 20`}},
		},
		"JSON that was cut": {
			llmtest.Reply{Calls: []llmtest.Call{{ID: "a", Name: "set_budget", Arguments: `{"budget"`}}, Finish: "length"},
			"",
			[]llm.Call{{ID: "a", Name: "set_budget", Arguments: `{"budget"`}},
		},
		"no JSON twice, index always 0": {
			llmtest.Reply{Calls: []llmtest.Call{{ID: "a", Name: "respond", Arguments: `one`}, {ID: "b", Name: "respond", Arguments: `two`}}, ArgumentsAt: []int{1}, SameIndex: true},
			"",
			[]llm.Call{{ID: "a", Name: "respond", Arguments: `one`}, {ID: "b", Name: "respond", Arguments: `two`}},
		},
		"no arguments": {
			llmtest.Reply{Calls: []llmtest.Call{{ID: "a", Name: "set_budget"}}}, "", []llm.Call{{ID: "a", Name: "set_budget"}},
		},
		"the same id twice in pieces": {
			llmtest.Reply{Calls: two[:1], ArgumentsAt: []int{3}, Repeat: true, NoIndex: true}, "", twoCalls[:1],
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ask(t, llmtest.Script(test.reply, llmtest.Reply{Status: http.StatusTeapot}))
			turn, err := a.complete(t)
			if err != nil {
				t.Fatal(err)
			}
			if turn.Content != test.text || !reflect.DeepEqual(turn.Calls, test.calls) {
				t.Errorf("turn\n got %+v\nwant %q %+v", turn, test.text, test.calls)
			}
			if told := strings.Join(a.told, ""); told != test.text {
				t.Errorf("told %q, want %q", a.told, test.text)
			}
			if want := (llm.Usage{PromptTokens: 100, CompletionTokens: 20}); turn.Usage != want && !test.reply.NoUsage {
				t.Errorf("usage = %+v, want %+v", turn.Usage, want)
			}
		})
	}
}

// The same call cut anywhere is the same turn: between any two bytes, also within
// a character, and between any two UTF-16 units.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	arguments := `{"content":"ü👋 \"\\u00fc\ud83d\udc4b\" \u0000 ﷺ"}`
	content := "Text: ü👋﷽."
	var mu sync.Mutex
	var at []int
	reply := llmtest.Reply{}
	a := ask(t, func(llmtest.Request) llmtest.Reply {
		mu.Lock()
		defer mu.Unlock()
		reply.Text, reply.TextAt, reply.ArgumentsAt = content, at, at
		reply.Calls = []llmtest.Call{{ID: "a", Name: "respond", Arguments: arguments}, {ID: "b", Name: "respond", Arguments: arguments}}
		return reply
	})
	want := []llm.Call{{ID: "a", Name: "respond", Arguments: arguments}, {ID: "b", Name: "respond", Arguments: arguments}}
	try := func(kind string) {
		a.told = nil
		turn, err := a.complete(t)
		if err != nil {
			t.Fatal(err)
		}
		if turn.Content != content || strings.Join(a.told, "") != content || !reflect.DeepEqual(turn.Calls, want) {
			t.Fatalf("%s cut at %v: told %q, turn %+v", kind, at, a.told, turn)
		}
	}
	for _, escape := range []bool{false, true} {
		for _, repeat := range []bool{false, true} {
			mu.Lock()
			reply = llmtest.Reply{Escape: escape, Repeat: repeat}
			mu.Unlock()
			for i := range arguments {
				at = []int{i}
				try("once")
				at = []int{i, i + 1, i + 3}
				try("thrice")
			}
			for i := range len(arguments) {
				at = append(at[:i:i], i+1)
			}
			try("everywhere")
		}
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	calls := []llmtest.Call{{Name: "respond", Arguments: `{"a":1}`}, {Name: "respond", Arguments: `{"a":1}`}}
	same := []llmtest.Call{{ID: "x", Name: "respond", Arguments: `{"a":1}`}, {ID: "x", Name: "respond", Arguments: `{"a":2}`}}
	long := []llmtest.Call{{ID: strings.Repeat("x", 200), Name: "respond", Arguments: `{"a":1}`}}
	for name, test := range map[string]struct {
		reply llmtest.Reply
		n     int
	}{
		"none":              {llmtest.Reply{Calls: calls, NoIDs: true}, 2},
		"none in pieces":    {llmtest.Reply{Calls: calls, NoIDs: true, ArgumentsAt: []int{3}}, 2},
		"no index either":   {llmtest.Reply{Calls: calls, NoIDs: true, NoIndex: true, ArgumentsAt: []int{3}}, 2},
		"index always 0":    {llmtest.Reply{Calls: calls, NoIDs: true, SameIndex: true}, 2},
		"objects":           {llmtest.Reply{Calls: []llmtest.Call{{Name: "a", Arguments: "{}", Object: true}, {Name: "a", Arguments: "{}", Object: true}}, NoIDs: true, SameIndex: true}, 2},
		"twice the same":    {llmtest.Reply{Calls: same}, 2},
		"a long one":        {llmtest.Reply{Calls: long}, 1},
		"one of the past":   {llmtest.Reply{Calls: []llmtest.Call{{ID: "old", Name: "respond", Arguments: "{}"}}}, 1},
		"whole, without id": {llmtest.Reply{Calls: calls, NoIDs: true, Whole: true}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ask(t, llmtest.Script(test.reply))
			r := request()
			r.Turns = append(r.Turns,
				llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: "old", Name: "respond", Arguments: "{}"}}},
				llm.Message{Role: llm.RoleTool, CallID: "old", Content: "{}"})
			first, err := a.Complete(t.Context(), r, nil)
			if err != nil {
				t.Fatal(err)
			}
			again, err := a.Complete(t.Context(), r, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Turns = append(r.Turns, llm.Message{Role: llm.RoleUser, Content: "And now?"})
			later, err := a.Complete(t.Context(), r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(first, again) {
				t.Errorf("the same request gave other ids:\n%+v\n%+v", first, again)
			}
			seen := map[string]bool{"": true, "old": true}
			for _, call := range first.Calls {
				if seen[call.ID] || len(call.ID) > 128 {
					t.Errorf("id %q is not a new one", call.ID)
				}
				seen[call.ID] = true
			}
			if len(first.Calls) != test.n {
				t.Errorf("%d calls, want %d: %+v", len(first.Calls), test.n, first.Calls)
			}
			made := first.Calls[len(first.Calls)-1].ID
			if made == later.Calls[len(later.Calls)-1].ID {
				t.Errorf("another request gave the id %q again", made)
			}
		})
	}
}

func TestTriesAgain(t *testing.T) {
	t.Parallel()
	good := llmtest.Reply{Text: "Hello."}
	half := llmtest.Reply{Text: "Hello.", TextAt: []int{2}, Break: 2}
	failing := func(status int) llmtest.Reply {
		return llmtest.Reply{Status: status, Body: `{"error":{"message":"secret words"}}`}
	}
	for name, test := range map[string]struct {
		replies []llmtest.Reply
		told    []string
		waits   [][2]time.Duration // from, to
	}{
		"too many requests": {
			[]llmtest.Reply{failing(429), good},
			[]string{"Hello."},
			[][2]time.Duration{{time.Second, 2 * time.Second}},
		},
		"too many requests, for so long": {
			[]llmtest.Reply{{Status: 429, RetryAfter: "7"}, {Status: 503, RetryAfter: "1.5"}, good},
			[]string{"Hello."},
			[][2]time.Duration{{7 * time.Second, 7 * time.Second}, {2 * time.Second, 4 * time.Second}},
		},
		"busy until a time": {
			[]llmtest.Reply{{Status: 429, RetryAfter: time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)}, good},
			[]string{"Hello."},
			[][2]time.Duration{{10 * time.Second, 90 * time.Second}}, // less, by how long the test waits for its turn
		},
		"busy until a time that is past": {
			[]llmtest.Reply{{Status: 429, RetryAfter: "Mon, 02 Jan 2006 15:04:05 GMT"}, {Status: 429, RetryAfter: "soon"}, {Status: 429, RetryAfter: "-5"}, good},
			[]string{"Hello."},
			[][2]time.Duration{{1e9, 2e9}, {2e9, 4e9}, {4e9, 8e9}},
		},
		"faults": {
			[]llmtest.Reply{failing(500), failing(502), {Status: 503, Body: "<html>"}, {Status: 529}, good},
			[]string{"Hello."},
			[][2]time.Duration{{1e9, 2e9}, {2e9, 4e9}, {4e9, 8e9}, {8e9, 16e9}},
		},
		"cut in the middle": {
			[]llmtest.Reply{half, {Text: "Never", Break: 1}, good},
			[]string{"He", "<reset>", "Hello."},
			[][2]time.Duration{{1e9, 2e9}, {2e9, 4e9}},
		},
		"ends in the middle": {
			[]llmtest.Reply{{Text: "He", NoFinish: true, NoDone: true, NoUsage: true}, good},
			[]string{"He", "<reset>", "Hello."},
			[][2]time.Duration{{1e9, 2e9}},
		},
		"cut in a call": {
			[]llmtest.Reply{{Calls: []llmtest.Call{{Name: "respond", Arguments: `{"content":"x"}`}}, ArgumentsAt: []int{4}, Break: 2}, good},
			[]string{"Hello."},
			[][2]time.Duration{{1e9, 2e9}},
		},
		"no JSON in the middle": {
			[]llmtest.Reply{{Text: "Hello.", TextAt: []int{2}, Garble: 2}, good},
			[]string{"He", "<reset>", "Hello."},
			[][2]time.Duration{{1e9, 2e9}},
		},
		"an error in the middle": {
			[]llmtest.Reply{{Text: "Hello.", TextAt: []int{2}, Fail: 2}, good},
			[]string{"He", "<reset>", "Hello."},
			[][2]time.Duration{{1e9, 2e9}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ask(t, llmtest.Script(append(test.replies, llmtest.Reply{Status: http.StatusTeapot})...))
			turn, err := a.complete(t)
			if err != nil {
				t.Fatal(err)
			}
			if turn.Content != "Hello." || !reflect.DeepEqual(a.told, test.told) {
				t.Errorf("told %q and %q, want %q", a.told, turn.Content, test.told)
			}
			if len(a.waits) != len(test.waits) {
				t.Fatalf("waited %v, want %d times", a.waits, len(test.waits))
			}
			for i, w := range a.waits {
				if w < test.waits[i][0] || w > test.waits[i][1] {
					t.Errorf("wait %d was %v, want from %v to %v", i, w, test.waits[i][0], test.waits[i][1])
				}
			}
			secretsKept(t, a, nil)
		})
	}
}

func TestGivesUp(t *testing.T) {
	t.Parallel()
	body := `{"error":{"message":"secret words: ` + key + `","code":"%s","param":null}}`
	for name, test := range map[string]struct {
		reply llmtest.Reply
		tries int
		text  string
	}{
		"always busy":      {llmtest.Reply{Status: 429, Body: body}, 5, "The model's endpoint has too many requests (429); gave up after 5 tries."},
		"quota":            {llmtest.Reply{Status: 429, Body: fmt.Sprintf(body, "insufficient_quota")}, 5, "The model's endpoint says that its quota is used up (429); gave up after 5 tries."},
		"come back later":  {llmtest.Reply{Status: 429, RetryAfter: "3600"}, 1, "The model's endpoint has too many requests (429) and asks to come back in 1h0m0s."},
		"always faulty":    {llmtest.Reply{Status: 500, Body: body}, 5, "The model's endpoint failed (500); gave up after 5 tries."},
		"always cut":       {llmtest.Reply{Text: "Hello.", Break: 2}, 5, "The model's answer was cut off; gave up after 5 tries."},
		"always garbled":   {llmtest.Reply{Text: "Hello.", Garble: 2}, 5, "The model's answer cannot be read; gave up after 5 tries."},
		"wrong key":        {llmtest.Reply{Status: 401, Body: body}, 1, "The model's endpoint refuses the key (401)."},
		"forbidden":        {llmtest.Reply{Status: 403}, 1, "The model's endpoint refuses the key (403)."},
		"unknown model":    {llmtest.Reply{Status: 404, Body: body}, 1, "The model's endpoint does not know the model, or has a different address (404)."},
		"bad request":      {llmtest.Reply{Status: 400, Body: body}, 1, "The model's endpoint refuses the request (400)."},
		"unprocessable":    {llmtest.Reply{Status: 422}, 1, "The model's endpoint refuses the request (422)."},
		"too long":         {llmtest.Reply{Status: 400, Body: fmt.Sprintf(body, "context_length_exceeded")}, 1, "The conversation has become too long for the model (400)."},
		"a web page":       {llmtest.Reply{Page: true}, 1, "The model's endpoint answers with a web page; its address may be wrong."},
		"no content":       {llmtest.Reply{Status: 204}, 1, "The model's endpoint answers in an unknown format (204)."},
		"only thoughts":    {llmtest.Reply{Finish: "length"}, 1, "The model spent all of the 4096 tokens that an answer may have without saying anything."},
		"a long answer":    {llmtest.Reply{Text: strings.Repeat("x", 256<<10+1)}, 1, "The model's answer is longer than 256 KiB."},
		"a long call":      {llmtest.Reply{Calls: []llmtest.Call{{Name: "respond", Arguments: strings.Repeat("x", 256<<10+1)}}}, 1, "The model's answer is longer than 256 KiB."},
		"too many calls":   {llmtest.Reply{Calls: make([]llmtest.Call, 65)}, 1, "The model's answer has more than 64 tool calls."},
		"a stream too big": {llmtest.Reply{Text: "A text of some length, in pieces.", TextAt: numbers(32), Padding: 1 << 20}, 1, "The model's answer is longer than 32 MiB with everything around it."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ask(t, llmtest.Script(test.reply))
			turn, err := a.complete(t)
			problem, ok := errors.AsType[*models.Error](err)
			if !ok || turn != nil {
				t.Fatalf("got %+v, %v; want an error for people", turn, err)
			}
			if problem.Code != models.CodeUnavailable || problem.Text != test.text {
				t.Errorf("error %s %q, want %q", problem.Code, problem.Text, test.text)
			}
			if got := len(a.server.Requests()); got != test.tries {
				t.Errorf("%d tries, want %d", got, test.tries)
			}
			secretsKept(t, a, err)
		})
	}
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// secretsKept checks that neither the key nor what the endpoint wrote was told.
func secretsKept(t *testing.T, a *asking, err error) {
	t.Helper()
	for _, secret := range []string{key, "secret words", "password"} {
		if strings.Contains(a.log.String(), secret) || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
			t.Errorf("%q was told:\n%v\n%s", secret, err, a.log.String())
		}
	}
	if a.log.Len() == 0 {
		t.Error("nothing was logged")
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	a := ask(t, llmtest.Script(
		llmtest.Reply{Text: "Hello.", TextAt: []int{2}, Hang: 2},
		llmtest.Reply{Reached: make(chan struct{})},
		llmtest.Reply{Text: "Hello."},
	), func(o *llm.OpenAIOptions) { o.IdleTimeout, o.Tries = 300*time.Millisecond, 20 })
	turn, err := a.complete(t)
	if err != nil {
		t.Fatal(err)
	}
	if turn.Content != "Hello." || len(a.server.Requests()) < 3 || !strings.Contains(strings.Join(a.told, ""), "He<reset>") {
		t.Errorf("turn %+v after %d requests, told %q", turn, len(a.server.Requests()), a.told)
	}
}

func TestCancellation(t *testing.T) {
	t.Parallel()
	t.Run("in a stream", func(t *testing.T) {
		t.Parallel()
		reached := make(chan struct{})
		a := ask(t, llmtest.Script(llmtest.Reply{Text: "Hello.", TextAt: []int{2}, Hang: 2, Reached: reached}))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-reached
			cancel()
		}()
		if turn, err := a.Complete(ctx, request(), nil); !errors.Is(err, context.Canceled) || turn != nil {
			t.Errorf("got %+v, %v", turn, err)
		}
		if len(a.server.Requests()) != 1 {
			t.Error("asked again after the end")
		}
	})
	t.Run("between tries", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		server := llmtest.New(t, func(llmtest.Request) llmtest.Reply {
			time.AfterFunc(0, cancel)
			return llmtest.Reply{Status: 503, RetryAfter: "100"}
		})
		model := llm.NewOpenAI(llm.OpenAIOptions{BaseURL: server.URL, Model: "m", HTTP: server.HTTP()})
		if turn, err := model.Complete(ctx, request(), nil); !errors.Is(err, context.Canceled) || turn != nil {
			t.Errorf("got %+v, %v", turn, err)
		}
		if len(server.Requests()) > 1 {
			t.Error("asked again after the end")
		}
	})
}
