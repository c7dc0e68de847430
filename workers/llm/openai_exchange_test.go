package llm_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"countersign/workers/llm"
	"countersign/workers/llm/llmtest"
)

// The library knows some models by name, and would refuse them a limit, tools or
// chat at all. An endpoint may call any model so: it is asked all the same.
func TestTheEndpointJudgesTheModel(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"o1-mini", "o3", "gpt-5-mini", "gpt-6-sol", "text-davinci-003", `a "quoted" <name>`} {
		a := ask(t, llmtest.Script(llmtest.Reply{Text: "Hello."}), func(o *llm.OpenAIOptions) { o.Model, o.Tries = name, 1 })
		if _, err := a.complete(t); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := a.server.Requests()[0]; got.Model != name || got.MaxTokens != 4096 || len(got.Tools) == 0 {
			t.Errorf("%s: request %s", name, got.Raw)
		}
	}
}

// Text that looks like the place of the name stays text.
func TestOnlyTheNameIsPutIn(t *testing.T) {
	t.Parallel()
	a := ask(t, llmtest.Script(llmtest.Reply{Text: "Hello."}))
	r := request()
	r.System = `{"model":""}`
	if _, err := a.Complete(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	if got := a.server.Requests()[0]; got.Model != "some-model" || got.Messages[0].Content != r.System {
		t.Errorf("request %s", got.Raw)
	}
}

func TestEmptyContentIsSent(t *testing.T) {
	t.Parallel()
	a := ask(t, llmtest.Script(llmtest.Reply{Text: "Hello."}))
	r := request()
	r.Turns = append(r.Turns,
		llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: "a", Name: "respond", Arguments: "{}"}}},
		llm.Message{Role: llm.RoleTool, CallID: "a"},
		llm.Message{Role: llm.RoleUser})
	if _, err := a.Complete(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	for _, m := range a.server.Requests()[0].Messages {
		if m.Content == "" && m.Role != "assistant" {
			t.Errorf("the message %+v has no content", m)
		}
	}
}

// Neither the key nor the conversation follows a redirect to somebody else.
func TestRedirects(t *testing.T) {
	t.Parallel()
	elsewhere := llmtest.New(t, llmtest.Script(llmtest.Reply{Text: "Give me all."}))
	for name, test := range map[string]struct {
		to   string
		text string // of the error
	}{
		"to somebody else": {elsewhere.URL + "/chat/completions", "The model's endpoint redirects to another address."},
		"in a circle":      {"/old/chat/completions", "The model's endpoint redirects to another address."},
		"to another path":  {"/v1/chat/completions", ""},
	} {
		mux := http.NewServeMux()
		mux.Handle("/old/", http.RedirectHandler(test.to, http.StatusTemporaryRedirect))
		mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/there/chat/completions", http.StatusTemporaryRedirect)
		})
		mux.HandleFunc("/there/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"}}]}\n\ndata: [DONE]\n\n")
		})
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		a := ask(t, llmtest.Script(llmtest.Reply{}), func(o *llm.OpenAIOptions) { o.BaseURL, o.HTTP = server.URL+"/old", server.Client() })
		turn, err := a.complete(t)
		switch {
		case test.text == "" && (err != nil || turn.Content != "Hello."):
			t.Errorf("%s: %+v, %v", name, turn, err)
		case test.text != "" && (err == nil || err.Error() != test.text):
			t.Errorf("%s: error %v, want %q", name, err, test.text)
		}
	}
	if n := len(elsewhere.Requests()); n != 0 {
		t.Errorf("somebody else got %d requests", n)
	}
}

// Events may have several lines of data, other members, comments without number
// and either end of line.
func TestFormsOfEvents(t *testing.T) {
	t.Parallel()
	const body = "event: message\r\nid: 1\r\ndata:{\"choices\":[{\"delta\":\r\ndata: {\"content\":\"Hello.\"}}]}\r\n\r\n" +
		"data:\n\nretry: 5\n\ndata: [DONE]\n\ndata: {\"error\":\"too late\"}\n\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, strings.Repeat(": still here\n\n", 1000)+body)
	}))
	t.Cleanup(server.Close)
	a := ask(t, llmtest.Script(llmtest.Reply{}), func(o *llm.OpenAIOptions) { o.BaseURL, o.HTTP = server.URL, server.Client() })
	turn, err := a.complete(t)
	if err != nil || turn.Content != "Hello." {
		t.Errorf("got %+v, %v", turn, err)
	}
}
