package upstream

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// What systems call the arguments of a call.
var argumentNames = []string{
	"kwargs", "function_args", "functionArgs", "arguments", "args", "input", "inputs", "tool_input", "toolInput", "tool_args", "parameters", "params",
}

// knownMembers are the members of an item, and of its spec, that say nothing more of what
// is asked than is shown beside it.
var knownMembers = []string{
	"id", "approval_id", "approvalId", "call_id", "callId", "run_id", "runId", "type", "status", "spec", "fn", "function_name", "functionName",
	"tool_name", "toolName", "name", "tool_use_id", "toolUseId", "requested_at", "created_at", "timeout_at", "timeoutAt", "expires_at", "timeout_seconds",
	"channel", "reject_options", "state", "subject", "msg", "message", "question", "response_options", "options",
}

// arguments are those of a call; nil where it is not sure which they are: under no
// name that is known, under two that differ, or empty beside something unknown.
// What would run must never be more than a person is shown.
func (o itemParts) arguments() jsontext.Value {
	var found jsontext.Value
	for _, name := range argumentNames {
		for _, in := range []object{o.spec, o.all} {
			switch v := in.value(name); {
			case v == nil:
			case found == nil:
				found = v
			case !bytes.Equal(canonical(found), canonical(v)):
				return nil
			}
		}
	}
	if found == nil || emptyObject(found) && (o.all.unknown() || o.spec.unknown()) {
		return nil
	}
	return found
}

func emptyObject(v jsontext.Value) bool {
	o, ok := readObject(v)
	return ok && len(o) == 0
}

// unknown reports whether an object has a member that is not understood and may
// hold arguments: anything that is not empty.
func (o object) unknown() bool {
	for name, v := range o {
		if slices.Contains(knownMembers, name) || slices.Contains(argumentNames, name) {
			continue
		}
		if holds(v) {
			return true
		}
	}
	return false
}

// holds reports whether a value is more than nothing.
func holds(v jsontext.Value) bool {
	return !slices.Contains([]string{"null", `""`, "{}", "[]"}, string(canonical(v)))
}

// beside is what an item sends beside a call's arguments and is not understood; nil:
// nothing. Two members of one name that differ give the whole item.
func (o itemParts) beside(raw jsontext.Value) jsontext.Value {
	rest := rest{}
	for _, in := range []object{o.all, o.spec} {
		for name, v := range in {
			known := slices.Contains(knownMembers, name) && !slices.Contains(questionMembers, name) || slices.Contains(argumentNames, name)
			if !known && holds(v) {
				rest.keep(name, v)
			}
		}
	}
	return rest.json(raw)
}

// rest gathers members of several objects.
type rest struct {
	members object
	clash   bool // two of one name differ
}

func (r *rest) keep(name string, v jsontext.Value) {
	if r.members == nil {
		r.members = object{}
	}
	r.clash = r.clash || r.members[name] != nil && !bytes.Equal(canonical(r.members[name]), canonical(v))
	r.members[name] = v
}

// json is all that was gathered, or whole where that can't be told in one object.
func (r *rest) json(whole jsontext.Value) jsontext.Value {
	if len(r.members) == 0 {
		return nil
	}
	raw, err := json.Marshal(r.members, lenient, json.Deterministic(true))
	if err != nil || r.clash {
		return whole
	}
	return raw
}

// ask finds the question of a contact: in its spec or beside the ids, or else in
// its arguments. What else is there is kept as Rest.
func (c *Contact) ask(o itemParts) {
	places := []object{o.spec, o.all}
	for _, name := range argumentNames {
		for _, in := range []object{o.spec, o.all} {
			if args, ok := in.object(name); ok {
				places = append(places, args)
			}
		}
	}
	for _, in := range places {
		if text, ok := in.text("msg", "message", "question"); ok && text != "" {
			c.Message = text
			break
		}
	}
	if c.Message == "" {
		c.Rest = c.Raw
		return
	}
	for _, in := range places {
		if c.Subject, _ = in.text("subject"); c.Subject != "" {
			break
		}
	}
	for _, in := range places {
		if c.Options = options(in.value("response_options", "options")); len(c.Options) > 0 {
			break
		}
	}
	c.Rest = c.rest(o)
}

// rest is what a contact sends beside what is shown of it: what its arguments hold,
// another text under a second name, and members that are not understood.
func (c *Contact) rest(o itemParts) jsontext.Value {
	rest := rest{}
	keepOf := func(in object, args bool) {
		for name, v := range in {
			known := slices.Contains(knownMembers, name) || slices.Contains(argumentNames, name)
			if in.has(name) && !c.shows(in, name) && (args || !known || slices.Contains(questionMembers, name)) {
				rest.keep(name, v)
			}
		}
	}
	keepOf(o.all, false)
	keepOf(o.spec, false)
	for _, name := range argumentNames {
		for _, in := range []object{o.spec, o.all} {
			if args, ok := in.object(name); ok {
				keepOf(args, true)
			} else if in.has(name) {
				rest.keep(name, in[name])
			}
		}
	}
	return rest.json(c.Raw)
}

// questionMembers are those that a question may be made of.
var questionMembers = []string{"msg", "message", "question", "subject", "response_options", "options"}

// shows reports whether a member is what the contact already shows.
func (c *Contact) shows(in object, name string) bool {
	switch name {
	case "msg", "message", "question":
		text, ok := in.text(name)
		return ok && text == c.Message
	case "subject":
		text, ok := in.text(name)
		return ok && text == c.Subject
	case "response_options", "options":
		return slices.Equal(options(in[name]), c.Options)
	}
	return false
}

// canonical is one form of what is JSON twice in different writing; what has none
// stays as it is.
func canonical(raw jsontext.Value) []byte {
	if c, err := models.CanonicalJSON("arguments", raw); err == nil {
		return c
	}
	return raw
}
