package upstream

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// FunctionCall is a tool call that waits for approval at the upstream.
type FunctionCall struct {
	CallID    string // as sent; unique at the upstream
	RunID     string // as sent; empty if none
	ToolName  string // as sent
	ToolUseID string // empty if none
	// Arguments is JSON as sent, {} if there are none. It may hold what
	// models.Canonical refuses.
	Arguments   jsontext.Value
	RequestedAt time.Time // by the upstream's clock; zero if not said
	// Timeout is how much time was left when it was fetched, by the upstream's own
	// clock; nil if it has no deadline, not positive if that has passed.
	Timeout *time.Duration
	Raw     jsontext.Value // the whole item as sent, with what is not understood
}

// Contact is a question to a person that waits at the upstream.
type Contact struct {
	CallID      string // as sent; unique at the upstream
	RunID       string // as sent; empty if none
	Message     string
	Subject     string
	Options     []models.Option // the answers it offers
	RequestedAt time.Time       // by the upstream's clock; zero if not said
	Timeout     *time.Duration  // as of FunctionCall
	Raw         jsontext.Value  // the whole item as sent, with what is not understood
}

// item is one entry of a list, with what the list needs to know of it.
type item[T any] struct {
	id      string
	asks    string // what a person would decide on: equal for the same request
	settled bool
	value   T
}

// Items are read alike in both dialects: what is asked stands in spec or, where
// there is none, beside the ids.
func readItem(raw jsontext.Value) (all, spec object, id, run string, ok bool) {
	if all, ok = readObject(raw); !ok {
		return nil, nil, "", "", false
	}
	if id, ok = all.id("call_id", "callId", "id"); !ok || id == "" {
		return nil, nil, "", "", false
	}
	if run, ok = all.id("run_id", "runId"); !ok && all.value("run_id", "runId") != nil {
		return nil, nil, "", "", false
	}
	if spec, ok = all.object("spec"); !ok {
		if all.has("spec") {
			return nil, nil, "", "", false
		}
		spec = all
	}
	return all, spec, id, run, true
}

// readCall reads a function call that was listed at a time of the upstream's
// clock; false if it has no id or is not understood.
func readCall(raw jsontext.Value, at time.Time) (item[FunctionCall], bool) {
	all, spec, id, run, ok := readItem(raw)
	if !ok {
		return item[FunctionCall]{}, false
	}
	call := FunctionCall{CallID: id, RunID: run, Raw: raw, Arguments: spec.value("kwargs", "arguments", "input", "tool_input")}
	if call.ToolName, ok = spec.text("fn", "function_name", "tool_name", "toolName", "name"); !ok {
		return item[FunctionCall]{}, false
	}
	if call.ToolUseID, ok = all.id("tool_use_id", "toolUseId"); !ok {
		call.ToolUseID, _ = spec.id("tool_use_id", "toolUseId")
	}
	if call.Arguments == nil {
		call.Arguments = jsontext.Value("{}")
	}
	status := statusOf(all)
	call.RequestedAt, call.Timeout = times(all, spec, status, at)
	_, decided := status.boolean("approved")
	asks := fmt.Sprintf("%q %q %q %s", run, call.ToolName, call.ToolUseID, canonical(call.Arguments))
	return item[FunctionCall]{id: id, asks: asks, settled: decided || saysOver(all), value: call}, true
}

// readContact reads a human contact, as readCall.
func readContact(raw jsontext.Value, at time.Time) (item[Contact], bool) {
	all, spec, id, run, ok := readItem(raw)
	if !ok {
		return item[Contact]{}, false
	}
	contact := Contact{CallID: id, RunID: run, Raw: raw}
	if contact.Message, ok = spec.text("msg", "message", "question"); !ok {
		return item[Contact]{}, false
	}
	contact.Subject, _ = spec.text("subject")
	contact.Options = options(spec.value("response_options", "options"))
	status := statusOf(all)
	contact.RequestedAt, contact.Timeout = times(all, spec, status, at)
	answer, _ := status.text("response")
	asks := fmt.Sprintf("%q %q %q %q", run, contact.Subject, contact.Message, contact.Options)
	return item[Contact]{id: id, asks: asks, settled: answer != "" || saysOver(all), value: contact}, true
}

// canonical is one form of what is JSON twice in different writing; what has none
// stays as it is.
func canonical(raw jsontext.Value) []byte {
	if c, err := models.CanonicalJSON("arguments", raw); err == nil {
		return c
	}
	return raw
}

// statusOf is the item's status object; where the status is a word or missing,
// what it would hold stands beside it.
func statusOf(all object) object {
	if status, ok := all.object("status"); ok {
		return status
	}
	return all
}

// over are the words of a status that says that nothing waits any more. An
// unknown word does not say so.
var over = []string{"approved", "rejected", "denied", "declined", "completed", "answered", "responded", "resolved", "expired", "cancelled", "canceled"}

func saysOver(all object) bool {
	word, _ := all.text("status")
	return slices.Contains(over, word)
}

// options reads the offered answers: names, or objects with a name and perhaps a
// title. What is neither is left out; Raw has it.
func options(list jsontext.Value) []models.Option {
	values, _ := readArray(list)
	var out []models.Option
	for _, v := range values {
		one := object{"name": v}
		if o, ok := readObject(v); ok {
			one = o
		}
		name, _ := one.text("name")
		if name == "" {
			continue
		}
		title, _ := one.text("title")
		out = append(out, models.Option{Name: name, Title: title})
	}
	return out
}

// times reads when something was asked and what is left of its time. A moment is
// compared with the upstream's own clock only: ours may be another.
func times(all, spec, status object, at time.Time) (asked time.Time, left *time.Duration) {
	for _, in := range []object{status, all, spec} {
		if asked = in.time("requested_at", "created_at"); !asked.IsZero() {
			break
		}
	}
	for _, in := range []object{all, spec, status} {
		if seconds := in.count("timeout_seconds"); seconds != nil {
			d := time.Duration(*seconds) * time.Second
			if !asked.IsZero() && !at.IsZero() && at.After(asked) {
				d -= at.Sub(asked)
			}
			return asked, &d
		}
		if until := in.time("timeout_at", "expires_at"); !until.IsZero() && !at.IsZero() {
			d := until.Sub(at)
			return asked, &d
		}
	}
	return asked, nil
}
