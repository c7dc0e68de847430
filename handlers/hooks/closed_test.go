package hooks_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/models"
)

// onceItWaits runs what happens when the hook looks at the time with a request pending: it is
// about to wait.
func (w *world) onceItWaits(what func(asked models.ResponseID)) {
	var done sync.Once
	w.now = func() time.Time {
		if pending := w.pending(); len(pending) > 0 {
			done.Do(func() { what(pending[0].ID) })
		}
		return time.Now()
	}
}

// soon is an answer that must not be waited for.
func (w *world) soon(query, event string) answer {
	w.tb.Helper()
	ctx, cancel := context.WithTimeout(w.tb.Context(), time.Minute)
	defer cancel()
	return <-w.begin(ctx, w.agent, query, event)
}

// A body that is refused for what comes before the name of its moment is a no as well: with
// another status the call would run.
func TestARefusedBodyIsANoWhereverItIsWrongI11(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, before := range map[string]string{
		"a member twice":        `"cwd":"/a","cwd":"/b",`,
		"twice further in":      `"effort":{"level":"high","level":"low"},`,
		"no UTF-8":              "\"cwd\":\"/\xff\",",
		"half a character":      `"cwd":"/\ud800",`,
		"another moment before": `"hook_event_name":"Stop",`,
		"a moment of no type":   `"hook_event_name":7,`,
	} {
		e := strings.Replace(event("PreToolUse", call("Read", `{}`, "1")), "{", "{"+before, 1)
		got := w.soon("", e)
		if got.want(t, 200, `"permissionDecision":"deny"`); !strings.Contains(got.body, "each member once") {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	deep := `"transcript_path":"` + strings.Repeat(`\u0001`, 4<<10) + `",`
	w.send("nonsense", "", strings.Replace(event("PreToolUse", call("Read", `{}`, "1")), "{", "{"+deep, 1)).want(t, 200, `"deny"`)
}

// A token that is revoked between two waits, when no wait hears of it, hears no outcome.
func TestARevokedTokenHearsNoOutcome(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]answer{"": {status: 200, body: `"permissionDecision":"deny"`}, "?wait=50s": {status: 401, body: "bearer token"}} {
		w := newWorld(t)
		w.onceItWaits(func(asked models.ResponseID) {
			if err := w.store.People.RevokeToken(w.tb.Context(), w.owner, w.agentAs.TokenID); err != nil {
				w.tb.Error(err)
			}
			w.decide(asked, models.DecisionInput{Approved: new(true)})
		})
		w.soon(query, event("PreToolUse", call("Bash", `{"command":"rm"}`, "1"))).want(t, want.status, want.body)
	}
}

// Whatever took the time, the answer comes before the agent gives the hook up.
func TestAllTimeOfAHookCountsI11(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var late time.Duration
	w.now = func() time.Time {
		if len(w.pending()) > 0 {
			late = time.Hour // to ask took that long
		}
		return time.Now().Add(late)
	}
	w.soon("?timeout=3600", event("PreToolUse", call("Bash", `{"command":"rm"}`, "1"))).want(t, 200, "Nobody decided before this hook")
}

// A fault of ours is a no for who takes nothing but an answer.
func TestAPanicIsANoI11(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.onceItWaits(func(models.ResponseID) { panic("a fault") })
	if got := w.soon("", event("PreToolUse", call("Bash", `{"command":"rm"}`, "1"))); got.status != 200 || !strings.Contains(got.body, `"permissionDecision":"deny"`) || strings.Contains(got.body, "a fault") {
		t.Errorf("%d %s", got.status, got.body)
	}
}
