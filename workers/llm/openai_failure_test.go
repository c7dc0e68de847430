package llm_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"countersign/workers/llm"
	"countersign/workers/llm/llmtest"
)

func TestUnreachable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		address string
		tries   int
		text    string
	}{
		"nobody there": {"http://password:x@127.0.0.1:1/v1?k=password", 5, "The model's endpoint cannot be reached; gave up after 5 tries."},
		"no address":   {"127.0.0.1:1/" + key, 1, "The address of the model's endpoint must begin with http:// or https://."},
		"nothing":      {"", 1, "The address of the model's endpoint must begin with http:// or https://."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ask(t, llmtest.Script(llmtest.Reply{}), func(o *llm.OpenAIOptions) { o.BaseURL = test.address })
			_, err := a.complete(t)
			if err == nil || err.Error() != test.text {
				t.Errorf("error %v, want %q", err, test.text)
			}
			if got := len(a.waits) + 1; got != test.tries {
				t.Errorf("%d tries, want %d", got, test.tries)
			}
			secretsKept(t, a, err)
		})
	}
}

// transport is a connection that fails with words of its own.
type transport string

func (t transport) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New(string(t))
}

func TestTalkativeConnection(t *testing.T) {
	t.Parallel()
	a := ask(t, llmtest.Script(llmtest.Reply{}), func(o *llm.OpenAIOptions) {
		o.HTTP = &http.Client{Transport: transport("no way with Bearer " + key)}
	})
	_, err := a.complete(t)
	if err == nil || !strings.Contains(a.log.String(), "no way with Bearer …") {
		t.Errorf("error %v, log %s", err, a.log.String())
	}
	secretsKept(t, a, err)
}
