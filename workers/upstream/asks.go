package upstream

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// What systems call the arguments of a call.
var argumentNames = []string{
	"kwargs", "function_args", "functionArgs", "arguments", "args", "input", "inputs", "tool_input", "toolInput",
	"tool_args", "parameters", "params",
}

// nameMembers are what systems call the name of a tool.
var nameMembers = []string{"fn", "function_name", "functionName", "tool_name", "toolName", "name"}

// arguments are those of a call; nil where it is not sure which they are: under no
// name that is known, under two that differ, empty beside something that is not
// understood, or of a tool that has two names. What would run must never be more than
// a person is shown.
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
	if found == nil || o.twoNames || !holdsWithin(found) && o.hasUnknown() {
		return nil
	}
	return found
}

// hasUnknown reports whether an item has a member that is not understood.
func (o itemParts) hasUnknown() (found bool) {
	o.each(func(name string, v jsontext.Value, inSpec bool) {
		s, _ := o.meaning(name, v, inSpec)
		found = found || s == notUnderstood
	})
	return found
}

// each visits all members of an item and of its spec.
func (o itemParts) each(visit func(name string, v jsontext.Value, inSpec bool)) {
	for name, v := range o.all {
		visit(name, v, false)
	}
	if !o.isObject {
		return
	}
	for name, v := range o.spec {
		visit(name, v, true)
	}
}

// holds reports whether a value is more than nothing.
func holds(v jsontext.Value) bool {
	return !slices.Contains([]string{"null", `""`, "{}", "[]"}, string(canonical(v)))
}

// holdsWithin is holds, also for JSON that is sent as a text.
func holdsWithin(v jsontext.Value) bool {
	text, ok := object{"": v}.text("")
	return holds(v) && (!ok || holds(jsontext.Value(strings.TrimSpace(text))))
}

// beside is what an item sends beside a call's arguments and is not shown elsewhere;
// nil: nothing. Two members of one name that differ give the whole item.
func (o itemParts) beside(raw jsontext.Value) jsontext.Value {
	rest := rest{}
	o.each(func(name string, v jsontext.Value, inSpec bool) {
		if s, remainder := o.meaning(name, v, inSpec); s != shownAlready {
			rest.keep(name, remainder)
		}
	})
	return rest.json(raw)
}

// telling are the members of an item that may be the call that would run, where that is not certain: all but those that
// are shown elsewhere.
func (o itemParts) telling(raw jsontext.Value) jsontext.Value {
	rest := rest{}
	o.each(func(name string, v jsontext.Value, inSpec bool) {
		if s, remainder := o.meaning(name, v, inSpec); s == notUnderstood {
			rest.keep(name, remainder)
		} else if slices.Contains(argumentNames, name) && holds(v) {
			rest.keep(name, v)
		}
	})
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
	raw := r.members.json()
	if len(r.members) > 0 && (raw == nil || r.clash) {
		return whole
	}
	return raw
}

// canonical is one form of the same JSON in different writing; bytes without such a form stay unchanged.
func canonical(raw jsontext.Value) []byte {
	if c, err := models.CanonicalJSON("arguments", raw); err == nil {
		return c
	}
	return raw
}
