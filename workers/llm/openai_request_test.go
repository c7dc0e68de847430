package llm_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign/workers/llm"
	"countersign/workers/llm/llmtest"
)

func TestOverTheWire(t *testing.T) {
	t.Parallel()
	a := ask(t, llmtest.Script(llmtest.Reply{Text: "Hello."}))
	r := request()
	r.Turns = append(r.Turns,
		llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{
			{ID: "a", Name: "respond", Arguments: `{"content":"x"}`},
			{ID: "b", Name: "no such tool!", Arguments: `content: "x"`},
			{ID: "c", Name: "", Arguments: ""},
		}},
		llm.Message{Role: llm.RoleTool, CallID: "a", Content: `{"status":"delivered"}`},
		llm.Message{Role: llm.RoleTool, CallID: "b", Content: `{"error":"no such tool"}`},
		llm.Message{Role: llm.RoleTool, CallID: "c", Content: `{"error":"no such tool"}`},
		llm.Message{Role: llm.RoleAssistant}, // it said nothing
		llm.Message{Role: llm.RoleUser, Content: "Go on."},
	)
	if _, err := a.Complete(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	got := a.server.Requests()[0]
	if h := got.Header.Get("Authorization"); h != "Bearer "+key {
		t.Errorf("Authorization = %q", h)
	}
	if got.Model != "some-model" || !got.Stream || !got.StreamOptions.IncludeUsage || got.MaxTokens != 4096 || got.MaxCompletionTokens != 0 {
		t.Errorf("request %s", got.Raw)
	}
	var roles []string
	for _, m := range got.Messages {
		roles = append(roles, m.Role)
	}
	if order := strings.Join(roles, " "); order != "system user assistant tool tool tool user system" {
		t.Errorf("messages: %s", order)
	}
	if got.Messages[0].Content != r.System || got.Last("system") != r.Ephemeral || got.Last("user") != "Go on." || got.RequestID() != conversation {
		t.Errorf("messages %+v", got.Messages)
	}
	if got.Result("b") != `{"error":"no such tool"}` || got.Result("z") != "" {
		t.Errorf("results %+v", got.Messages)
	}
	for i, want := range []struct{ name, arguments string }{
		{"respond", `{"content":"x"}`},
		{"no_such_tool_", `{"unreadable":"content: \"x\""}`},
		{"unnamed", `{"unreadable":""}`},
	} {
		call := got.Messages[2].ToolCalls[i]
		if call.Type != "function" || call.Function.Name != want.name || call.Function.Arguments != want.arguments {
			t.Errorf("call %d: %+v", i, call)
		}
	}
	if len(got.Tools) != len(r.Tools) {
		t.Fatalf("%d tools, want %d", len(got.Tools), len(r.Tools))
	}
	for i, tool := range got.Tools {
		if f := tool.Function; tool.Type != "function" || f.Name != r.Tools[i].Name || f.Description != r.Tools[i].Description || f.Parameters["type"] != "object" {
			t.Errorf("tool %+v", tool)
		}
	}
}

func TestWithoutKey(t *testing.T) {
	t.Parallel()
	a := ask(t, llmtest.Script(llmtest.Reply{Text: "Hello."}), func(o *llm.OpenAIOptions) { o.APIKey = "" })
	if _, err := a.complete(t); err != nil {
		t.Fatal(err)
	}
	if h, sent := a.server.Requests()[0].Header["Authorization"]; sent {
		t.Errorf("Authorization = %q", h)
	}
}

// Newer models refuse max_tokens; the model learns it once.
func TestNewerLimit(t *testing.T) {
	t.Parallel()
	a := ask(t, func(r llmtest.Request) llmtest.Reply {
		if r.MaxTokens != 0 {
			return llmtest.Reply{Status: http.StatusBadRequest, Body: `{"error":{"message":"Unsupported parameter","param":"max_tokens","code":"unsupported_parameter"}}`}
		}
		return llmtest.Reply{Text: "Hello."}
	}, func(o *llm.OpenAIOptions) { o.MaxTokens, o.Tries = 77, 1 })
	for range 2 {
		if _, err := a.complete(t); err != nil {
			t.Fatal(err)
		}
	}
	requests := a.server.Requests()
	if len(requests) != 3 || requests[1].MaxCompletionTokens != 77 || requests[2].MaxCompletionTokens != 77 {
		t.Errorf("%d requests, the last %s", len(requests), requests[len(requests)-1].Raw)
	}
	if len(a.waits) > 0 {
		t.Errorf("waited %v", a.waits)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Words and more. ", 100)
	for name, test := range map[string]struct {
		reply llmtest.Reply
		check func(u llm.Usage, most int64) bool
	}{
		"counted": {
			llmtest.Reply{Text: "Hello.", Prompt: 200, Answer: 30},
			func(u llm.Usage, _ int64) bool { return u == llm.Usage{PromptTokens: 200, CompletionTokens: 30} },
		},
		"not counted": {
			llmtest.Reply{Text: long, NoUsage: true},
			func(u llm.Usage, most int64) bool {
				return u.CompletionTokens > int64(len(long)/4) && u.PromptTokens > 500 && u.PromptTokens+4096 < most
			},
		},
		"not counted, for calls": {
			llmtest.Reply{Calls: []llmtest.Call{{Name: "respond", Arguments: long}}, NoUsage: true},
			func(u llm.Usage, _ int64) bool { return u.CompletionTokens > int64(len(long)/4) },
		},
		"more than can be": {
			llmtest.Reply{Text: "Hello.", Prompt: 1e9, Answer: 1e9},
			func(u llm.Usage, most int64) bool {
				return u.CompletionTokens == 4096 && u.PromptTokens+u.CompletionTokens == most
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ask(t, llmtest.Script(test.reply))
			turn, err := a.complete(t)
			if err != nil {
				t.Fatal(err)
			}
			most := a.WorstCase(request())
			if !test.check(turn.Usage, most) || turn.Usage.PromptTokens+turn.Usage.CompletionTokens > most {
				t.Errorf("usage %+v of at most %d", turn.Usage, most)
			}
		})
	}
}

// The bound is never below one token for each byte that goes over the wire as
// text, and grows with all that the request holds.
func TestWorstCase(t *testing.T) {
	t.Parallel()
	model := llm.NewOpenAI(llm.OpenAIOptions{BaseURL: "http://localhost", Model: "m", MaxTokens: 10})
	base := model.WorstCase(request())
	for name, change := range map[string]func(*llm.Request, string){
		"system":    func(r *llm.Request, s string) { r.System += s },
		"ephemeral": func(r *llm.Request, s string) { r.Ephemeral += s },
		"message":   func(r *llm.Request, s string) { r.Turns[0].Content += s },
		"result":    func(r *llm.Request, s string) { r.Turns = append(r.Turns, llm.Message{Role: llm.RoleTool, Content: s}) },
		"call":      func(r *llm.Request, s string) { r.Turns[0].Calls = []llm.Call{{Arguments: s}} },
		"tool":      func(r *llm.Request, s string) { r.Tools[0].Description += s },
	} {
		for _, added := range []string{strings.Repeat("a", 1000), strings.Repeat("ﷺ", 400)} {
			r := request()
			change(&r, added)
			if got := model.WorstCase(r); got < base+int64(len(added)) {
				t.Errorf("%s: %d more bytes raise the bound from %d to %d", name, len(added), base, got)
			}
		}
	}
	if empty := model.WorstCase(llm.Request{}); empty < 10 {
		t.Errorf("an empty request takes at most %d", empty)
	}
}
