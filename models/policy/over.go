package policy

import (
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// endsOf are the members that say when another one ends: a document that sets one of these again sets its end too, or
// it has none.
var endsOf = map[string]string{"approval_off_until": "approval_enabled", "fallback_until": "fallback_auto_approve"}

// Over puts a document over the one that is active: members that it leaves out, also within an object, stay unchanged.
// Lists are taken whole. A value that is no JSON object is returned unchanged, for Parse to refuse.
func Over(document, active []byte) ([]byte, error) {
	said, was := jsonMembers(document), jsonMembers(active)
	if said == nil || was == nil {
		return document, nil
	}
	out := maps.Clone(said)
	for name, value := range was {
		now, found := said[name]
		switch {
		case !found && said[endsOf[name]] != nil:
		case !found:
			out[name] = value
		case now.Kind() == '{' && value.Kind() == '{':
			inner, err := Over(now, value)
			if err != nil {
				return nil, err
			}
			out[name] = inner
		}
	}
	return json.Marshal(out, json.Deterministic(true))
}

// jsonMembers are the members of a JSON object; nil: it is none, or has one twice.
func jsonMembers(raw []byte) map[string]jsontext.Value {
	var out map[string]jsontext.Value
	if jsontext.Value(raw).Kind() != '{' || json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}
