package llmtest

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf16"
)

// Reply is what the endpoint answers. The zero value is a good answer that says
// nothing.
type Reply struct {
	Text  string
	Calls []Call

	// TextAt and ArgumentsAt are the offsets at which the text and the arguments of
	// each call are cut into pieces, in bytes, also within a character; with Escape
	// in UTF-16 units, also between the halves of a pair.
	TextAt      []int
	ArgumentsAt []int

	// How the endpoint is unlike others.
	NoIDs     bool // calls have none
	NoIndex   bool // calls have none
	SameIndex bool // all calls have index 0
	Repeat    bool // id and name come with every piece
	Escape    bool // everything is written as \u escapes
	NoUsage   bool
	NoFinish  bool   // no finish_reason
	NoDone    bool   // the stream ends without its mark
	Finish    string // the reason; empty: what fits
	Whole     bool   // one JSON object instead of a stream
	Page      bool   // a web page instead of all that
	Padding   int    // bytes of comment before each event
	Prompt    int64  // tokens counted; 0: 100
	Answer    int64  // tokens counted; 0: 20

	// Status, if it is not 0 or 200, is all that comes, with Body and RetryAfter.
	Status     int
	Body       string
	RetryAfter string

	// Break cuts the connection after so many events, Garble sends what is not JSON
	// after so many, Fail an error event, and Hang stops there until Until is
	// closed, the client goes away or the test ends; Reached is closed when the
	// last of those events has been sent. Counts begin at 1; 0: it does not happen,
	// but for Hang, which with Until or Reached set and no count stops before all.
	Break   int
	Garble  int
	Fail    int
	Hang    int
	Until   <-chan struct{}
	Reached chan<- struct{}
}

// Call is a tool call of the model. In its arguments $requestId stands for the
// id of the conversation.
type Call struct {
	ID        string // empty: call_N_I by the request's and the call's number
	Name      string
	Arguments string
	Object    bool // arguments come as they are instead of as a string
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, req Request, reply Reply) {
	if reply.RetryAfter != "" {
		w.Header().Set("Retry-After", reply.RetryAfter)
	}
	if reply.Status != 0 && reply.Status != http.StatusOK {
		w.WriteHeader(reply.Status)
		_, _ = w.Write([]byte(reply.Body))
		return
	}
	if reply.Page {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!doctype html><p>secret words"))
		return
	}
	if reply.Whole {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(reply.whole(req)))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events := reply.events(req)
	for sent := 0; ; sent++ {
		if sent == reply.Hang && (sent > 0 || reply.Until != nil || reply.Reached != nil) && !s.hang(w, r, reply) {
			return
		}
		switch {
		case sent > 0 && sent == reply.Break:
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case sent > 0 && sent == reply.Garble:
			fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\n\n")
		case sent > 0 && sent == reply.Fail:
			fmt.Fprint(w, "data: {\"error\":{\"message\":\"secret words\",\"code\":500}}\n\n")
		}
		if sent == len(events) {
			return
		}
		fmt.Fprintf(w, ": a comment%s\ndata: %s\n\n", strings.Repeat(".", reply.Padding), events[sent])
		_ = http.NewResponseController(w).Flush()
	}
}

// hang reports whether the reply is to go on.
func (s *Server) hang(w http.ResponseWriter, r *http.Request, reply Reply) bool {
	_ = http.NewResponseController(w).Flush()
	if reply.Reached != nil {
		close(reply.Reached)
	}
	select {
	case <-reply.Until: // never, if nil
		return true
	case <-r.Context().Done():
	case <-s.end:
	}
	return false
}

// events are the data of the stream's events, in order.
func (p Reply) events(req Request) []string {
	var events []string
	delta := func(members string) {
		events = append(events,
			`{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{`+members+`},"finish_reason":null}]}`)
	}
	delta(`"role":"assistant","content":null`)
	for _, piece := range p.pieces(p.Text, p.TextAt) {
		delta(`"content":` + piece)
	}
	for i, call := range p.Calls {
		arguments := strings.ReplaceAll(call.Arguments, "$requestId", req.RequestID())
		pieces := p.pieces(arguments, p.ArgumentsAt)
		switch {
		case call.Object:
			pieces = []string{arguments}
		case arguments == "":
			pieces = []string{`""`}
		}
		for n, written := range pieces {
			delta(`"tool_calls":[` + p.call(req, i, n == 0, written) + `]`)
		}
	}
	if !p.NoFinish {
		events = append(events, `{"choices":[{"index":0,"delta":{},"finish_reason":"`+p.finish()+`"}]}`)
	}
	if !p.NoUsage {
		events = append(events, `{"choices":[],"usage":`+p.usage()+`}`)
	}
	if !p.NoDone {
		events = append(events, "[DONE]")
	}
	return events
}

// call is one piece of a call. written is its piece of the arguments.
func (p Reply) call(req Request, i int, first bool, written string) string {
	var members []string
	switch {
	case p.SameIndex:
		members = append(members, `"index":0`)
	case !p.NoIndex:
		members = append(members, fmt.Sprintf(`"index":%d`, i))
	}
	function := `"arguments":` + written
	if first || p.Repeat {
		if !p.NoIDs {
			id := p.Calls[i].ID
			if id == "" {
				id = fmt.Sprintf("call_%d_%d", req.N, i)
			}
			members = append(members, `"id":`+quoted(id))
		}
		members = append(members, `"type":"function"`)
		function = `"name":` + quoted(p.Calls[i].Name) + `,` + function
	}
	return "{" + strings.Join(append(members, `"function":{`+function+`}`), ",") + "}"
}

// whole is the answer as one object.
func (p Reply) whole(req Request) string {
	calls := make([]string, len(p.Calls))
	for i, call := range p.Calls {
		written := strings.ReplaceAll(call.Arguments, "$requestId", req.RequestID())
		if !call.Object {
			written = quoted(written)
		}
		calls[i] = p.call(req, i, true, written)
	}
	message := `"role":"assistant","content":` + quoted(p.Text)
	if len(calls) > 0 {
		message += `,"tool_calls":[` + strings.Join(calls, ",") + `]`
	}
	return `{"object":"chat.completion","choices":[{"index":0,"message":{` + message + `},"finish_reason":"` + p.finish() +
		`"}],"usage":` + p.usage() + `}`
}

func (p Reply) finish() string {
	switch {
	case p.Finish != "":
		return p.Finish
	case len(p.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (p Reply) usage() string {
	if p.NoUsage {
		return "null"
	}
	prompt, answer := p.Prompt, p.Answer
	if prompt == 0 {
		prompt = 100
	}
	if answer == 0 {
		answer = 20
	}
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, prompt, answer, prompt+answer)
}

// pieces cuts a text and writes each piece as a JSON string.
func (p Reply) pieces(text string, at []int) []string {
	if text == "" {
		return nil
	}
	var written []string
	if p.Escape {
		for _, piece := range cut(utf16.Encode([]rune(text)), at) {
			written = append(written, escaped(piece))
		}
		return written
	}
	for _, piece := range cut([]byte(text), at) {
		written = append(written, quoted(string(piece)))
	}
	return written
}

// cut cuts at rising offsets; what lies outside is left out.
func cut[T any](all []T, at []int) [][]T {
	var pieces [][]T
	from := 0
	for _, to := range at {
		if to > from && to < len(all) {
			pieces = append(pieces, all[from:to])
			from = to
		}
	}
	return append(pieces, all[from:])
}

// quoted writes a JSON string, with bytes that are not UTF-8 as they are.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// escaped writes a JSON string of escapes alone.
func escaped(units []uint16) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, unit := range units {
		fmt.Fprintf(&b, `\u%04X`, unit)
	}
	b.WriteByte('"')
	return b.String()
}
