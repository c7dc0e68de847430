package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// anyValue are the members that may be any JSON: what agents send to tools, and what these
// answer. All others have a schema.
var anyValue = []string{"input", "suggestedInput", "suggested_input", "tool_input", "reportedInput", "reported_input", "edited_input", "updatedInput", "output", "tool_response", "result"}

// No member is said to be base64, and none to be any JSON but those that are.
func TestRawMembersHaveTheirSchema(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := document(t, w)
	if strings.Contains(w.call("", "GET", "/openapi.json", "").body, "contentEncoding") {
		t.Error("the document says that a member is encoded: JSON has none such here")
	}
	policies := 0
	for name, schema := range doc.Components.Schemas {
		for member, property := range schema.Value.Properties {
			if p := property.Value; p.Type != nil && len(*p.Type) == 6 && !slices.Contains(anyValue, member) {
				t.Errorf("%s.%s may be any JSON: give it its schema, or name it in anyValue", name, member)
			} else if p.Type == nil && property.Ref == "" && len(p.AnyOf)+len(p.OneOf)+len(p.AllOf) == 0 && name+"."+member != "Problem.approval" { // each surface has its own
				t.Errorf("%s.%s has no type", name, member)
			}
			if property.Ref == "#/components/schemas/Document" {
				policies++
			}
		}
	}
	if policies < 4 {
		t.Errorf("%d members hold a policy", policies)
	}
	for document, valid := range map[string]bool{
		`{}`: true, `{"rules":[{"name":"a","tools":["b"],"effect":"deny"}]}`: true, `{"rules":"none"}`: false, `{"rules":[{"name":"a","tools":["b"],"effect":"odd"}]}`: false, `"cnVsZXM="`: false,
	} {
		var value any
		if err := json.Unmarshal([]byte(document), &value); err != nil {
			t.Fatal(err)
		}
		err := doc.ValidateSchemaJSON(doc.Components.Schemas["Document"].Value, value, openapi3.EnableJSONSchema2020())
		if (err == nil) != valid {
			t.Errorf("%s: %v", document, err)
		}
	}
}
