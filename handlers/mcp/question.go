package mcp

import (
	stdjson "encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/models"
)

// maxQuestions is how many one call may ask.
const maxQuestions = 8

// question is one of a coding agent's own tool.
type question struct {
	Question string `json:"question"`
	Options  []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	} `json:"options"`
	MultiSelect bool `json:"multiSelect"`
}

// questions makes a request of each question of a call: a person answers each on its own.
func questions(input jsontext.Value) ([]models.AskInput, error) {
	var in struct {
		Questions []jsontext.Value `json:"questions"`
	}
	if err := decode(input, &in); err != nil {
		return nil, err
	}
	if len(in.Questions) == 0 || len(in.Questions) > maxQuestions {
		return nil, models.Invalid("input.questions", "must be from 1 to %d", maxQuestions)
	}
	asks, seen := make([]models.AskInput, 0, len(in.Questions)), map[string]bool{}
	for i, raw := range in.Questions {
		field := fmt.Sprintf("input.questions[%d]", i)
		var q question
		if err := decode(raw, &q); err != nil {
			return nil, models.Invalid(field, "must be a question")
		}
		if strings.TrimSpace(q.Question) == "" || seen[q.Question] {
			return nil, models.Invalid(field+".question", "must be a text that differs from the others")
		}
		seen[q.Question] = true
		// The input is the question as it was sent, so that all it says is seen.
		whole, err := json.Marshal(struct {
			Questions []jsontext.Value `json:"questions"`
		}{[]jsontext.Value{raw}})
		if err != nil {
			return nil, models.Invalid(field, "must be a question")
		}
		ask := models.AskInput{
			Kind: models.KindQuestion, ToolName: toolQuestions, Input: whole,
			Explanation: models.Explanation{Description: q.Question},
		}
		ask.Options, ask.Context = q.offered()
		asks = append(asks, ask)
	}
	return asks, nil
}

// offered are the options as buttons, and a text about them. Labels that can't be buttons are part of the text, and
// answered in words.
func (q question) offered() (options []models.Option, context string) {
	var b strings.Builder
	if q.MultiSelect {
		b.WriteString("Several options may be chosen: write them, separated by commas.\n\n")
	}
	buttons := true
	for _, o := range q.Options {
		buttons = buttons && models.CheckKey("label", o.Label) == nil
		options = append(options, models.Option{Name: o.Label})
		fmt.Fprintf(&b, "- %s", o.Label)
		if o.Description != "" {
			fmt.Fprintf(&b, ": %s", o.Description)
		}
		b.WriteString("\n")
	}
	if !buttons || len(options) > models.MaxOptions || models.CheckOptions("options", options) != nil {
		options = nil
	}
	if context = b.String(); len(context) > models.MaxContext {
		context = "" // it is in the input
	}
	return options, context
}

// nthKey names the request of each question of a call: the first by the call's own id.
func nthKey(key string, i int) string {
	if key == "" || i == 0 {
		return key
	}
	return fmt.Sprintf("%s/%d", key, i+1)
}

// nthID is nthKey where the pipe names the call.
func nthID(id string, i int) string {
	if id == "" || i == 0 {
		return id
	}
	return models.DerivedID(id, i)
}

// answered hands the answers to the questions of a call back, as its tool takes them.
func answered(rows []*models.Approval) (*sdk.CallToolResult, error) {
	var out struct {
		Questions []stdjson.RawMessage `json:"questions"`
		Answers   map[string]string    `json:"answers"`
	}
	out.Answers = make(map[string]string, len(rows))
	for _, a := range rows {
		raw, _, ok := releasedInput(a)
		var one struct {
			Questions []stdjson.RawMessage `json:"questions"`
		}
		if !ok || stdjson.Unmarshal(raw, &one) != nil || len(one.Questions) != 1 {
			return verdict{
				Behavior: "deny",
				Message:  "The question is no longer kept, so its answer is not handed over. Ask again under a new id.",
			}.result()
		}
		out.Questions = append(out.Questions, one.Questions[0])
		if a.Vote == nil {
			continue // no person was asked
		}
		var said []string // as the tool's own user says several
		for _, text := range []*string{a.Vote.Option, a.Vote.Answer} {
			if text != nil && *text != "" {
				said = append(said, *text)
			}
		}
		out.Answers[a.Description] = strings.Join(said, ", ")
	}
	input, err := encode(out)
	if err != nil {
		return nil, err
	}
	return verdict{Behavior: "allow", UpdatedInput: input}.result()
}
