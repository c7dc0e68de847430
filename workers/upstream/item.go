package upstream

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// FunctionCall is a tool call that waits for approval at the upstream.
type FunctionCall struct {
	CallID     string // as sent; unique at the upstream
	ApprovalID string // the item's own id, as sent; empty if none
	RunID      string // as sent; empty if none
	ToolName   string // as sent; empty if none was found
	ToolUseID  string // empty if none
	// Arguments is JSON as sent: the whole item where its arguments were not found. It
	// may hold what models.Canonical refuses.
	Arguments jsontext.Value
	// of arguments that are the whole item: what in it may be what would run; nil: nothing, or they were found
	Extra       jsontext.Value
	Beside      jsontext.Value // what else it sends that may matter, as JSON; nil: nothing
	RequestedAt time.Time      // by the upstream's clock; zero if not said
	// Timeout is how much time was left when it was fetched, by the upstream's own
	// clock; nil if it has no deadline or the upstream told no time, not positive if
	// the deadline has passed.
	Timeout   *time.Duration
	TimeoutAt time.Time      // its deadline by the upstream's clock; zero if it has none
	Raw       jsontext.Value // the whole item as sent, with members that are not understood
}

// Contact is a question to a person that waits at the upstream.
type Contact struct {
	CallID      string // as sent; unique at the upstream
	ApprovalID  string // the item's own id, as sent; empty if none
	RunID       string // as sent; empty if none
	Message     string // empty if it was not found: Rest is then the whole item
	Subject     string
	Options     []models.Option // the answers it offers
	Rest        jsontext.Value  // what it sends beside these, as JSON; nil: nothing
	RequestedAt time.Time       // by the upstream's clock; zero if not said
	Timeout     *time.Duration  // as of FunctionCall
	TimeoutAt   time.Time       // as of FunctionCall
	Raw         jsontext.Value  // the whole item as sent, with members that are not understood
}

// item is one entry of a list, with what the list needs to know of it.
type item[T any] struct {
	id    string
	asks  string // what a person would decide on: equal for the same request
	over  bool
	value T
}

// itemParts are what both kinds have.
type itemParts struct {
	all, spec object
	isObject  bool   // the spec is an object of its own
	kind      string // the type that it should say it is
	id, run   string
	approval  string
	use       string
	name      string // of the tool: the first of several
	twoNames  bool   // others differ
}

// Items are read alike in both dialects: the question is in spec or, without a spec, beside the ids.
func readItem(raw jsontext.Value, kind string) (o itemParts, ok bool) {
	o.kind = kind
	if o.all, ok = readObject(raw); !ok {
		return o, false
	}
	if o.id, ok = o.all.id("call_id", "callId", "id"); !ok || o.id == "" {
		return o, false
	}
	o.approval, _ = o.all.id("id", "approval_id", "approvalId")
	o.run, _ = o.all.id("run_id", "runId")
	if o.spec, o.isObject = o.all.object("spec"); !o.isObject {
		o.spec = o.all
	}
	if o.use, ok = o.all.id("tool_use_id", "toolUseId"); !ok {
		o.use, _ = o.spec.id("tool_use_id", "toolUseId")
	}
	for _, in := range []object{o.spec, o.all} {
		for _, member := range nameMembers {
			name, _ := in.text(member)
			o.twoNames = o.twoNames || o.name != "" && name != "" && name != o.name
			if o.name == "" {
				o.name = name
			}
		}
	}
	return o, true
}

// readCall reads a function call that was listed at a time of the upstream's
// clock; false if it is not an object with an id.
func readCall(raw jsontext.Value, at time.Time) (item[FunctionCall], bool) {
	o, ok := readItem(raw, "function_call")
	if !ok {
		return item[FunctionCall]{}, false
	}
	call := FunctionCall{
		CallID: o.id, ApprovalID: o.approval, RunID: o.run, ToolName: o.name, ToolUseID: o.use, Raw: raw,
		Arguments: o.arguments(),
	}
	if call.Arguments == nil {
		call.Arguments, call.Extra = raw, o.telling(raw)
	} else {
		call.Beside = o.beside(raw)
	}
	status := statusOf(o.all)
	call.RequestedAt, call.TimeoutAt, call.Timeout = times(o.all, o.spec, status, at)
	asks := fmt.Sprintf("%q %q %q %s %s", o.run, call.ToolName, call.ToolUseID, canonical(call.Arguments),
		canonical(call.Beside))
	return item[FunctionCall]{id: o.id, asks: asks, over: o.over(status.boolean("approved")), value: call}, true
}

// readContact reads a human contact, as readCall.
func readContact(raw jsontext.Value, at time.Time) (item[Contact], bool) {
	o, ok := readItem(raw, "human_contact")
	if !ok {
		return item[Contact]{}, false
	}
	contact := Contact{CallID: o.id, ApprovalID: o.approval, RunID: o.run, Raw: raw}
	contact.ask(o)
	status := statusOf(o.all)
	contact.RequestedAt, contact.TimeoutAt, contact.Timeout = times(o.all, o.spec, status, at)
	answer, _ := status.text("response")
	asks := fmt.Sprintf("%q %q %q %#v %s", o.run, contact.Subject, contact.Message, contact.Options,
		canonical(contact.Rest))
	return item[Contact]{id: o.id, asks: asks, over: o.over(answer != "", answer != ""), value: contact}, true
}

// statusOf is the item's status object; where the status is a word or missing, its members are beside it.
func statusOf(all object) object {
	if status, ok := all.object("status"); ok {
		return status
	}
	return all
}

// over are the words of a status that says that nothing waits any more, waiting
// those of one that does. An unknown word says neither.
var (
	over = []string{
		"approved", "rejected", "denied", "declined", "completed", "answered", "responded", "resolved", "expired",
		"cancelled", "canceled",
	}
	openWords = []string{"pending", "waiting", "requested", "open"}
)

// word is the status where that is a word.
func (o itemParts) word() string {
	word, _ := o.all.text("status")
	return strings.ToLower(word)
}

// over reports whether an item is settled, which has a decision or not. Beside a word,
// a no may also mean not yet; and a word that says that it waits outweighs both.
func (o itemParts) over(yes, decision bool) bool {
	word := o.word()
	return slices.Contains(over, word) || decision && !slices.Contains(openWords, word) && (yes || word == "")
}

// options reads the offered answers: names, or objects with a name and perhaps a title. Any other value is left out;
// Raw has it.
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

// times reads when something was asked, its deadline, and the rest of its time. A moment is compared with the
// upstream's own clock only: ours may be another.
func times(all, spec, status object, at time.Time) (start, until time.Time, rest *time.Duration) {
	for _, in := range []object{status, all, spec} {
		if start = in.time("requested_at", "created_at"); !start.IsZero() {
			break
		}
	}
	for _, in := range []object{all, spec, status} {
		if seconds := in.count("timeout_seconds"); seconds != nil {
			d := time.Duration(*seconds) * time.Second
			if !start.IsZero() && !at.IsZero() && at.After(start) {
				d -= at.Sub(start)
			}
			return start, until, &d
		}
		if until = in.time("timeout_at", "timeoutAt", "expires_at"); until.IsZero() {
			continue
		}
		if !at.IsZero() {
			rest = new(until.Sub(at))
		}
		return start, until, rest
	}
	return start, until, nil
}
