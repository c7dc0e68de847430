package llm

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"
)

// OpenAIOptions say which endpoint answers, and how patiently it is asked. Only
// BaseURL and Model are required.
type OpenAIOptions struct {
	BaseURL string // up to and without /chat/completions
	APIKey  string // sent as a bearer token; empty: none is sent
	Model   string

	MaxTokens   int64         // of one answer; 0: 4096
	Tries       int           // of one completion, the first included; 0: 5
	IdleTimeout time.Duration // how long the endpoint may be silent; 0: 3 minutes

	HTTP *http.Client // nil: one of its own
	Log  *slog.Logger // nil: nothing is logged

	// Wait is called between two tries and returns early, with an error, when ctx
	// ends; nil: a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// The pauses between tries grow from firstPause, each twice the one before, with
// up to half of it left out at random. An endpoint may ask for longer ones, but
// not for longer than longestPause: then the completion fails at once.
const (
	firstPause   = 2 * time.Second
	longestPause = 2 * time.Minute
)

type openAI struct {
	OpenAIOptions
	http http.Client
	// newerLimit: the endpoint has refused max_tokens and wants max_completion_tokens.
	newerLimit atomic.Bool
}

// NewOpenAI asks an OpenAI-compatible endpoint for chat completions, streaming.
//
// Too many requests (429), faults of the server (5xx), connections that fail and
// answers that break off or fall silent are tried again; anything else that the
// endpoint refuses is not. Complete then fails with an *models.Error
// (unavailable) whose text is one line for people: it holds neither the key nor
// anything that the endpoint wrote. A cancelled context ends it at once with the
// context's error.
//
// A turn may be empty: a model that has nothing to add says nothing. Calls always
// have an id that no other call of the context has. Their arguments are what the
// model sent, and may be no JSON.
//
// Usage is what the endpoint counted for the answer that was kept, but never more
// than WorstCase says; where it counted nothing, an estimate on the high side.
func NewOpenAI(o OpenAIOptions) Model {
	if o.MaxTokens == 0 {
		o.MaxTokens = 4096
	}
	if o.Tries == 0 {
		o.Tries = 5
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = 3 * time.Minute
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	m := &openAI{OpenAIOptions: o, http: *o.HTTP}
	m.http.CheckRedirect = stayHere
	return m
}

func (m *openAI) Name() string { return m.Model }

func (m *openAI) Complete(ctx context.Context, r Request, onText func(text string, reset bool)) (*Turn, error) {
	heard := false
	tell := func(text string) {
		if text != "" && onText != nil {
			heard = true
			onText(text, false)
		}
	}
	for try := 1; ; try++ {
		turn, err := m.ask(ctx, r, tell)
		if err == nil {
			return turn, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f := failureOf(err)
		m.Log.WarnContext(ctx, "model did not answer", slog.String("model", m.Model), slog.Int("try", try),
			slog.Int("status", f.status), slog.String("problem", f.text), slog.String("detail", hide(f.detail, m.APIKey)))
		if f.parameter == "max_tokens" && m.newerLimit.CompareAndSwap(false, true) {
			try--
			continue
		}
		if !f.transient || try >= m.Tries || f.after > longestPause {
			return nil, f.forPeople(try)
		}
		if heard {
			heard = false
			onText("", true)
		}
		if err := m.Wait(ctx, max(f.after, pause(try))); err != nil {
			return nil, err
		}
	}
}

// pause is how long to wait after a number of tries, at the shortest.
func pause(tries int) time.Duration {
	d := min(firstPause<<(tries-1), longestPause)
	return d - rand.N(d/2) //nolint:gosec // spreads load, guards nothing
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// errSilent cancels a try whose endpoint says nothing any more.
var errSilent = errors.New("the endpoint stopped answering")
