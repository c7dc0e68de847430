package models_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"countersign/models"
)

const ownConversation = models.ConversationID("01890a5d-ac96-774b-bcce-b302099a8057")

// arguments are those of a call in the own conversation.
func arguments(members string) string {
	return `{"requestId":"` + string(ownConversation) + `"` + members + `}`
}

func TestParseToolCallReadsWhatTheSchemasSay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ tool, arguments string }{
		"respond":                {models.ToolRespond, arguments(`,"content":"Hello."`)},
		"propose":                {models.ToolRespondWithApproval, arguments(`,"content":"Delete the logs?"`)},
		"propose with a budget":  {models.ToolRespondWithApproval, arguments(`,"content":"Delete the logs?","energyBudget":100`)},
		"set":                    {models.ToolSetBudget, arguments(`,"budget":50`)},
		"set to nothing":         {models.ToolSetBudget, arguments(`,"budget":0`)},
		"a whole number as 50.0": {models.ToolSetBudget, arguments(`,"budget":50.0`)},
		"a whole number as 5e1":  {models.ToolSetBudget, arguments(`,"budget":5e1`)},
		"adjust":                 {models.ToolAdjustBudget, arguments(`,"delta":-5`)},
		"the id in capitals":     {models.ToolSetBudget, strings.Replace(arguments(`,"budget":50`), string(ownConversation), strings.ToUpper(string(ownConversation)), 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call, err := models.ParseToolCall(ownConversation, tt.tool, []byte(tt.arguments))
			if err != nil || call.Name != tt.tool || call.RequestID != ownConversation {
				t.Fatalf("%+v, %v", call, err)
			}
			for member, set := range map[string]bool{
				`"content"`: call.Content != "", `"energyBudget"`: call.EnergyBudget != nil, `"budget"`: call.Change.Set != nil, `"delta"`: call.Change.Delta != nil,
			} {
				if set != strings.Contains(tt.arguments, member) {
					t.Errorf("%s is set: %v", member, set)
				}
			}
			if b := call.Change.Set; b != nil && *b != 50 && *b != 0 {
				t.Errorf("budget = %d", *b)
			}
		})
	}
}

func TestParseToolCallNamesTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	const set, adjust, propose, respond = models.ToolSetBudget, models.ToolAdjustBudget, models.ToolRespondWithApproval, models.ToolRespond
	tests := []struct{ tool, arguments, field string }{
		{set, `{"budget":5}`, "requestId"},
		{set, `{"requestId":null,"budget":5}`, "requestId"},
		{set, `{"requestId":"","budget":5}`, "requestId"},
		{set, `{"requestId":"17","budget":5}`, "requestId"},
		{set, `{"requestId":17,"budget":5}`, "requestId"},
		{set, arguments(``), "budget"},
		{adjust, arguments(``), "delta"},
		{respond, arguments(``), "content"},
		{respond, arguments(`,"content":""`), "content"},
		{respond, arguments(`,"content":null`), "content"},
		{respond, arguments(`,"content":5`), "content"},
		{respond, arguments(`,"content":{"text":"x"}`), "content"},
		{respond, arguments(`,"content":"` + strings.Repeat("x", models.MaxContent+1) + `"`), "content"},
		{propose, arguments(`,"energyBudget":5`), "content"},
		{set, arguments(`,"budget":1000000000001`), "budget"},
		{propose, arguments(`,"content":"x","energyBudget":-1`), "energyBudget"},
		{propose, arguments(`,"content":"x","energyBudget":1e13`), "energyBudget"},
		{propose, arguments(`,"content":"x","energyBudget":"5"`), "energyBudget"},
		// Members of other tools.
		{respond, arguments(`,"content":"x","energyBudget":5`), "energyBudget"},
		{respond, arguments(`,"content":"x","budget":5`), "budget"},
		{set, arguments(`,"budget":5,"delta":5`), "delta"},
		{set, arguments(`,"budget":5,"content":"x"`), "content"},
		{adjust, arguments(`,"delta":5,"budget":5`), "budget"},
		{propose, arguments(`,"content":"x","budget":5`), "budget"},
		// What is no argument at all.
		{set, arguments(`,"budget":5,"why":"because"`), "arguments"},
		{set, arguments(`,"budget":5,"Budget":5`), "arguments"},
		{set, arguments(`,"budget":5,"budget":6`), "arguments"},
		{set, ``, "arguments"},
		{set, `null`, "requestId"},
		{set, `[]`, "arguments"},
		{set, `"{}"`, "arguments"},
		{set, arguments(`,"budget":5`) + `}`, "arguments"},
		{set, arguments(`,"budget":5`)[:40], "requestId"},
		{"delete_everything", arguments(`,"budget":5`), "name"},
		{"", arguments(``), "name"},
	}
	for _, number := range []string{`NaN`, `Infinity`, `-Infinity`, `1e400`, `1.5`, `"5"`, `"NaN"`, `null`, `true`, `[5]`, `{}`, `99999999999999999999`, `5.000000000000000000001`, `1e-400`, `+5`} {
		tests = append(
			tests,
			struct{ tool, arguments, field string }{set, arguments(`,"budget":` + number), "budget"},
			struct{ tool, arguments, field string }{adjust, arguments(`,"delta":` + number), "delta"},
			struct{ tool, arguments, field string }{propose, arguments(`,"content":"x","energyBudget":` + number), "energyBudget"},
		)
	}
	tests = append(tests, struct{ tool, arguments, field string }{set, arguments(`,"budget":-1`), "budget"})
	for _, tt := range tests {
		t.Run(tt.tool+" "+tt.arguments[:min(len(tt.arguments), 90)], func(t *testing.T) {
			t.Parallel()
			call, err := models.ParseToolCall(ownConversation, tt.tool, []byte(tt.arguments))
			if call != nil {
				t.Errorf("it is read as %+v", call)
			}
			wantField(t, err, models.CodeInvalid, tt.field)
			if strings.Contains(err.Error(), "because") || strings.Contains(err.Error(), "delete_everything") {
				t.Errorf("what was sent is echoed: %v", err)
			}
		})
	}
}

func TestParseToolCallKnowsNoOtherConversation(t *testing.T) {
	t.Parallel()
	_, err := models.ParseToolCall(models.NewID[models.ConversationID](), models.ToolSetBudget, []byte(arguments(`,"budget":5`)))
	wantField(t, err, models.CodeNotFound, "requestId")
}

// TestAgentToolsAreWhatParseToolCallTakes: a call made of nothing but the members
// that a schema requires is read, one without any of them is not.
func TestAgentToolsAreWhatParseToolCallTakes(t *testing.T) {
	t.Parallel()
	value := map[string]string{"requestId": `"` + string(ownConversation) + `"`, "content": `"x"`, "budget": `5`, "delta": `5`, "energyBudget": `5`}
	for _, tool := range models.AgentTools() {
		var schema struct {
			Properties map[string]any `json:"properties"`
			Required   []string       `json:"required"`
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		object := func(names []string, without string) []byte {
			var members []string
			for _, name := range names {
				if name != without {
					members = append(members, `"`+name+`":`+value[name])
				}
			}
			return []byte(`{` + strings.Join(members, ",") + `}`)
		}
		if _, err := models.ParseToolCall(ownConversation, tool.Name, object(schema.Required, "")); err != nil {
			t.Errorf("%s with what it requires: %v", tool.Name, err)
		}
		for _, name := range schema.Required {
			if _, err := models.ParseToolCall(ownConversation, tool.Name, object(schema.Required, name)); models.ErrorCode(err) != models.CodeInvalid {
				t.Errorf("%s without %s: %v", tool.Name, name, err)
			}
		}
		var all []string
		for name := range schema.Properties {
			all = append(all, name)
		}
		if _, err := models.ParseToolCall(ownConversation, tool.Name, object(all, "")); err != nil {
			t.Errorf("%s with all that it takes: %v", tool.Name, err)
		}
	}
}
