package models_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// What a person reads of a request changes its digest, in the version that covers
// it, and an older row is judged by what its version covered.
func TestWhatADigestCoversI6(t *testing.T) {
	question := models.Response{Kind: models.KindQuestion, ToolName: "question", ToolInputJSON: `{}`, Explanation: models.Explanation{Description: "Delete it?"}, Options: `[{"name":"yes"},{"name":"no"}]`}
	proposal := models.Response{Kind: models.KindProposal, ToolName: models.ToolRespondWithApproval, Content: "Delete it.", EnergyBudget: new(int64(50))}
	call := models.Response{Kind: models.KindToolCall, ToolName: "Bash", ToolInputJSON: `{"command":"ls"}`}
	tests := []struct {
		name   string
		r      models.Response
		change func(*models.Response)
		covers [2]bool // by version 1, by version 2
	}{
		{"a question's text", question, func(r *models.Response) { r.Description = "Keep it?" }, [2]bool{false, true}},
		{"the title of an option", question, func(r *models.Response) { r.Options = `[{"name":"yes","title":"No"},{"name":"no"}]` }, [2]bool{false, true}},
		{"the order of options", question, func(r *models.Response) { r.Options = `[{"name":"no"},{"name":"yes"}]` }, [2]bool{false, true}},
		{"no options", question, func(r *models.Response) { r.Options = "" }, [2]bool{false, true}},
		{"a question's input", question, func(r *models.Response) { r.ToolInputJSON = `{"a":1}` }, [2]bool{true, true}},
		{"the budget of a proposal", proposal, func(r *models.Response) { r.EnergyBudget = new(int64(5000)) }, [2]bool{false, true}},
		{"no budget", proposal, func(r *models.Response) { r.EnergyBudget = nil }, [2]bool{false, true}},
		{"the content of a proposal", proposal, func(r *models.Response) { r.Content += "!" }, [2]bool{true, true}},
		{"a call's input", call, func(r *models.Response) { r.ToolInputJSON = `{"command":"rm"}` }, [2]bool{true, true}},
		{"a call's description", call, func(r *models.Response) { r.Description = "harmless" }, [2]bool{false, false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, covers := range tt.covers {
				was, err := tt.r.DigestUnder(i + 1)
				if err != nil {
					t.Fatal(err)
				}
				changed := tt.r
				tt.change(&changed)
				is, err := changed.DigestUnder(i + 1)
				if err != nil {
					t.Fatal(err)
				}
				if (was != is) != covers {
					t.Errorf("version %d: another digest = %v, want %v", i+1, was != is, covers)
				}
			}
		})
	}
}

func TestCanonicalFormsAreJSON(t *testing.T) {
	for _, r := range []models.Response{
		{Kind: models.KindQuestion, ToolName: "question", ToolInputJSON: `{}`, Explanation: models.Explanation{Description: "a \"quoted\"\ntext"}},
		{Kind: models.KindQuestion, ToolName: "question", ToolInputJSON: `{"b":1,"a":2}`, Options: `[{"title":"Yes","name":"y"}]`},
		{Kind: models.KindQuestion, ToolName: "question", ToolInputJSON: strings.Repeat("[", models.MaxDepth) + strings.Repeat("]", models.MaxDepth)},
		{Kind: models.KindProposal, Content: "Do it", EnergyBudget: new(int64(7))},
		{Kind: models.KindProposal, Content: "Do it"},
	} {
		r.DigestVersion = models.DigestVersion
		canonical, err := r.CanonicalForm()
		if err != nil {
			t.Fatal(err)
		}
		sorted := jsontext.Value(canonical).Clone()
		if err := sorted.Canonicalize(); err != nil {
			t.Fatalf("%s: %v", canonical, err)
		}
		if string(sorted) != string(canonical) {
			t.Errorf("members out of order: %s, want %s", canonical, sorted)
		}
	}
}

func TestOptionsThatReadAlikeAreRefused(t *testing.T) {
	tests := []struct {
		name    string
		options []models.Option
		field   string // empty: taken
	}{
		{"names apart", []models.Option{{Name: "eu"}, {Name: "us", Title: "US"}}, ""},
		{"a title that says its own name", []models.Option{{Name: "yes", Title: "Yes"}, {Name: "no", Title: "No"}}, ""},
		{"case", []models.Option{{Name: "yes"}, {Name: "YES"}}, "options[1].name"},
		{"spaces around", []models.Option{{Name: "a", Title: "Yes"}, {Name: "b", Title: " Yes "}}, "options[1].title"},
		{"full width", []models.Option{{Name: "a", Title: "No"}, {Name: "b", Title: "Ｎｏ"}}, "options[1].title"},
		{"no-break space", []models.Option{{Name: "a", Title: "Go on"}, {Name: "b", Title: "Go\u00a0on"}}, "options[1].title"},
		{"sharp s", []models.Option{{Name: "a", Title: "Straße"}, {Name: "b", Title: "STRASSE"}}, "options[1].title"},
		{"a title that is another's name", []models.Option{{Name: "yes", Title: "No"}, {Name: "no"}}, "options[1].name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := models.CheckOptions("options", tt.options)
			if tt.field == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			if models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), tt.field) {
				t.Fatalf("error = %v, want invalid at %s", err, tt.field)
			}
		})
	}
}
