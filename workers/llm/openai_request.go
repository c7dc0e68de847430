package llm

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/sashabaranov/go-openai"
)

// params is the request as it goes over the wire, but for the name of the model.
func (m *openAI) params(r Request) (openai.ChatCompletionRequest, error) {
	p := openai.ChatCompletionRequest{StreamOptions: &openai.StreamOptions{IncludeUsage: true}}
	// The older name is the one that every compatible server knows: some ignore
	// the newer one without a word, and then nothing would bound the answer.
	if m.newerLimit.Load() {
		p.MaxCompletionTokens = int(m.MaxTokens)
	} else {
		p.MaxTokens = int(m.MaxTokens) //nolint:staticcheck // deprecated by one vendor only
	}
	if r.System != "" {
		p.Messages = append(p.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: r.System})
	}
	for _, message := range r.Turns {
		if message.Role != RoleAssistant || message.Content != "" || len(message.Calls) > 0 {
			p.Messages = append(p.Messages, sendableMessage(message))
		}
	}
	if r.Ephemeral != "" {
		p.Messages = append(p.Messages,
			openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: r.Ephemeral})
	}
	for _, tool := range r.Tools {
		if !tool.Schema.IsValid() || tool.Schema.Kind() != '{' {
			return p, &failure{text: "The schema of the tool " + tool.Name + " is not a JSON object"}
		}
		p.Tools = append(p.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: tool.Name, Description: tool.Description, Parameters: tool.Schema,
		}})
	}
	return p, nil
}

func sendableMessage(message Message) openai.ChatCompletionMessage {
	said := openai.ChatCompletionMessage{Role: string(message.Role), Content: message.Content, ToolCallID: message.CallID}
	for _, call := range message.Calls {
		said.ToolCalls = append(said.ToolCalls, openai.ToolCall{
			ID: call.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: sendableName(call.Name), Arguments: sendableArguments(call.Arguments)},
		})
	}
	if said.Content == "" && message.Role != RoleAssistant {
		said.Content = " " // the library leaves out an empty content, which endpoints refuse
	}
	return said
}

// sendableName is a name of the model's invention in letters that endpoints take;
// they would refuse the whole conversation otherwise, from then on.
func sendableName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), 64)]
}

// sendableArguments are arguments that are not a JSON object, put inside one, for
// endpoints that parse what the model said before.
func sendableArguments(arguments string) string {
	if v := jsontext.Value(arguments); v.IsValid() && v.Kind() == '{' {
		return arguments
	}
	wrapper, err := json.Marshal(map[string]string{"unreadable": arguments}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return "{}"
	}
	return string(wrapper)
}

// What an endpoint puts around a prompt, in tokens: the marks of each message or
// call, and what its template says of itself and of tools.
const (
	aroundMessage = 16
	aroundPrompt  = 1024
)

// WorstCase is the bound that energy is reserved by: a token for every byte of
// the prompt, for no tokenizer makes more of a text (a rare character may become
// one for each of its bytes), with what the endpoint's template
// puts around it, and the longest answer. Real prompts take about a quarter.
func (m *openAI) WorstCase(r Request) int64 {
	plain, other, marks := measure(r)
	return plain + other + marks + m.MaxTokens
}

// measure counts the bytes of a prompt, those of ASCII apart, and the tokens
// around it.
func measure(r Request) (plain, other, marks int64) {
	count := func(texts ...string) {
		marks += aroundMessage
		for _, text := range texts {
			for i := range len(text) {
				if text[i] < 0x80 {
					plain++
				} else {
					other++
				}
			}
		}
	}
	count(r.System)
	count(r.Ephemeral)
	for _, message := range r.Turns {
		count(message.Content, message.CallID)
		for _, call := range message.Calls {
			count(call.ID, sendableName(call.Name), sendableArguments(call.Arguments))
		}
	}
	for _, tool := range r.Tools {
		count(tool.Name, tool.Description, string(tool.Schema))
	}
	return plain, other, marks + aroundPrompt
}

// usage is what a turn took. An endpoint that counted nothing is estimated on the
// high side: two letters of ASCII a token, a byte a token for everything else.
func (m *openAI) usage(ctx context.Context, r Request, a *answer) Usage {
	plain, other, marks := measure(r)
	most := Usage{PromptTokens: plain + other + marks, CompletionTokens: m.MaxTokens}
	estimate := Usage{PromptTokens: plain/2 + other + marks, CompletionTokens: int64(a.size()+a.thought)/2 + 1}
	var count Usage
	if said := a.use; said != nil {
		count = Usage{PromptTokens: tokens(said.Prompt), CompletionTokens: tokens(said.Completion)}
		if count.PromptTokens > 0 { // some count what the model thought in the total only
			count.CompletionTokens = max(count.CompletionTokens, tokens(said.Total)-count.PromptTokens)
		}
	}
	if count.PromptTokens == 0 {
		count.PromptTokens = estimate.PromptTokens
	}
	if count.CompletionTokens == 0 {
		count.CompletionTokens = estimate.CompletionTokens
	}
	if count.PromptTokens > most.PromptTokens || count.CompletionTokens > most.CompletionTokens {
		m.Log.WarnContext(ctx, "model took more tokens than it was allowed",
			slog.String("model", m.Model), slog.String("counted", fmt.Sprint(count)), slog.String("allowed", fmt.Sprint(most)))
	}
	return Usage{
		PromptTokens:     min(count.PromptTokens, most.PromptTokens),
		CompletionTokens: min(count.CompletionTokens, most.CompletionTokens),
	}
}

// tokens is a count of an endpoint as a number that sums do not overflow.
func tokens(n float64) int64 {
	if n > 0 && n < 1e15 {
		return int64(n)
	}
	return 0
}
