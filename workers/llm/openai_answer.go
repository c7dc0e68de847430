package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of one answer.
const (
	maxAnswer = 256 << 10 // bytes of text and arguments together
	maxCalls  = 64
	maxCallID = 128 // bytes; a longer id is replaced
)

// answer is a turn while it comes in.
type answer struct {
	content joiner
	calls   []*callParts
	byIndex map[string]*callParts
	thought int    // bytes of reasoning, which is not kept
	use     *usage // the last that was sent
	finish  string // why the model stopped; empty: nothing was said of it
	done    bool   // the stream was ended as it should
}

// callParts is a tool call while it comes in.
type callParts struct {
	id        string
	name      string
	arguments joiner
}

// The parts of a chunk that are read. Members are raw where endpoints differ in
// what they put there.
type (
	chunk struct {
		Choices []choice `json:"choices"`
		Usage   *usage   `json:"usage"`
	}
	choice struct {
		Delta        delta          `json:"delta"`
		Message      *delta         `json:"message"` // of an endpoint that does not stream
		FinishReason jsontext.Value `json:"finish_reason"`
	}
	delta struct {
		Content          jsontext.Value `json:"content"`
		ReasoningContent jsontext.Value `json:"reasoning_content"`
		Reasoning        jsontext.Value `json:"reasoning"`
		ToolCalls        []toolCall     `json:"tool_calls"`
	}
	toolCall struct {
		Index    jsontext.Value `json:"index"`
		ID       jsontext.Value `json:"id"`
		Function struct {
			Name      jsontext.Value `json:"name"`
			Arguments jsontext.Value `json:"arguments"`
		} `json:"function"`
	}
	contentPart struct {
		Text jsontext.Value `json:"text"`
	}
	usage struct {
		Prompt     float64 `json:"prompt_tokens"`
		Completion float64 `json:"completion_tokens"`
		Total      float64 `json:"total_tokens"`
	}
)

// add takes one chunk and returns the text that has become whole by it.
func (a *answer) add(c *chunk) (string, error) {
	if c.Usage != nil {
		a.use = c.Usage
	}
	if len(c.Choices) == 0 {
		return "", nil
	}
	first := c.Choices[0]
	if reason := whole(first.FinishReason); reason != "" {
		a.finish = reason
	}
	d := first.Delta
	if first.Message != nil {
		d = *first.Message
	}
	a.thought += len(d.ReasoningContent) + len(d.Reasoning)
	text := a.content.add(contentOf(d.Content))
	for i := range d.ToolCalls {
		if err := a.addCall(&d.ToolCalls[i]); err != nil {
			return text, err
		}
	}
	if a.size() > maxAnswer {
		return text, &failure{text: fmt.Sprintf("The model's answer is longer than %d KiB", maxAnswer>>10)}
	}
	return text, nil
}

// contentOf reads a content, which a few endpoints send as a list of parts.
func contentOf(v jsontext.Value) []byte {
	if v.Kind() != '[' {
		return unquote(v)
	}
	var parts []contentPart
	if err := readLoosely(v, &parts); err != nil {
		return nil
	}
	var text []byte
	for _, part := range parts {
		text = append(text, unquote(part.Text)...)
	}
	return text
}

func (a *answer) addCall(part *toolCall) error {
	id, name := whole(part.ID), whole(part.Function.Name)
	arguments := unquote(part.Function.Arguments)
	if kind := part.Function.Arguments.Kind(); kind != '"' && kind != 'n' {
		arguments = part.Function.Arguments // an object instead of a string, or something odd
	}
	call := a.callOf(part, id, name, arguments)
	if call == nil {
		if len(a.calls) == maxCalls {
			return &failure{text: fmt.Sprintf("The model's answer has more than %d tool calls", maxCalls)}
		}
		call = &callParts{}
		a.calls = append(a.calls, call)
	}
	if index := string(part.Index); part.Index.Kind() == '0' {
		if a.byIndex == nil {
			a.byIndex = map[string]*callParts{}
		}
		a.byIndex[index] = call
	}
	if call.id == "" {
		call.id = id
	}
	// Some endpoints send the name in pieces, others all of it in each.
	if call.name != name && call.arguments.whole.Len() == 0 {
		call.name += name
	}
	call.arguments.add(arguments)
	return nil
}

// callOf finds the call that a part continues; nil: it begins one. Endpoints
// leave out the index, or send 0 for every call; ids and names may come with each
// part or with the first, or not at all.
func (a *answer) callOf(part *toolCall, id, name string, arguments []byte) *callParts {
	var call *callParts
	switch {
	case part.Index.Kind() == '0':
		call = a.byIndex[string(part.Index)]
	case id != "":
		for _, known := range a.calls {
			if known.id == id {
				return known
			}
		}
		return nil
	case name == "" && len(a.calls) > 0:
		call = a.calls[len(a.calls)-1]
	}
	if call == nil || id != "" && call.id != "" && id != call.id {
		return nil
	}
	// A whole call after a whole call: another one in the same place.
	if name != "" && strings.HasPrefix(strings.TrimSpace(string(arguments)), "{") &&
		jsontext.Value(call.arguments.whole.String()).Kind() == '{' && jsontext.Value(call.arguments.whole.String()).IsValid() {
		return nil
	}
	return call
}

// size is how much of the answer is kept so far, in bytes.
func (a *answer) size() int {
	n := a.content.whole.Len() + len(a.content.tail)
	for _, call := range a.calls {
		n += len(call.id) + len(call.name) + call.arguments.whole.Len() + len(call.arguments.tail)
	}
	return n
}

// turn is the whole answer. Calls without an id, and with one that the context
// already has, get their own: the same for the same answer to the same request,
// and another for any other.
func (a *answer) turn(r Request) *Turn {
	a.content.end()
	t := &Turn{Content: a.content.whole.String()}
	ids := map[string]bool{"": true}
	for _, m := range r.Turns {
		for _, c := range m.Calls {
			ids[c.ID] = true
		}
	}
	for i, part := range a.calls {
		part.arguments.end()
		call := Call{ID: part.id, Name: part.name, Arguments: part.arguments.whole.String()}
		for n := 0; ids[call.ID] || len(call.ID) > maxCallID; n++ {
			call.ID = madeID(r, i, n, call)
		}
		ids[call.ID] = true
		t.Calls = append(t.Calls, call)
	}
	return t
}

func madeID(r Request, place, attempt int, call Call) string {
	h := sha256.New()
	for _, m := range r.Turns {
		fmt.Fprintf(h, "%q %q %q\n", m.Role, m.Content, m.CallID)
		for _, c := range m.Calls {
			fmt.Fprintf(h, "%q %q %q\n", c.ID, c.Name, c.Arguments)
		}
	}
	fmt.Fprintf(h, "%d %d %q %q", place, attempt, call.Name, call.Arguments)
	return "call_" + hex.EncodeToString(h.Sum(nil)[:12])
}
