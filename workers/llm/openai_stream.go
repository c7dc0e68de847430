package llm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of one try.
const (
	maxTry  = 15 * time.Minute
	maxBody = 32 << 20 // bytes of the stream, which has a frame around every few letters
)

// ask tries once.
func (m *openAI) ask(ctx context.Context, r Request, tell func(string)) (*Turn, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, maxTry, errSilent)
	defer stop()
	silence := time.AfterFunc(m.IdleTimeout, func() { cancel(errSilent) })
	defer silence.Stop()

	a, err := m.stream(ctx, r, tell, func() { silence.Reset(m.IdleTimeout) })
	switch {
	case err == nil:
	case errors.Is(context.Cause(ctx), errSilent):
		return nil, &failure{text: "The model stopped in the middle of its answer", transient: true}
	default:
		return nil, err
	}
	turn := a.turn(r)
	if turn.Content == "" && len(turn.Calls) == 0 && a.finish == "length" {
		return nil, &failure{text: fmt.Sprintf("The model spent all of the %d tokens that an answer may have without saying anything", m.MaxTokens)}
	}
	turn.Usage = m.usage(ctx, r, a)
	return turn, nil
}

// stream sends the request and reads the answer as it comes; alive is called
// whenever something has come.
func (m *openAI) stream(ctx context.Context, r Request, tell func(string), alive func()) (*answer, error) {
	params, err := m.params(r)
	if err != nil {
		return nil, err
	}
	// The library would say what it thinks of an address, password and all.
	if at, err := url.Parse(m.BaseURL); err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, &failure{text: "The address of the model's endpoint must begin with http:// or https://"}
	}
	sent := &exchange{http: &m.http, model: m.Model}
	unread, err := m.client(sent).CreateChatCompletionStream(ctx, params)
	if err != nil {
		return nil, err
	}
	defer unread.Close()
	body := &watchedBody{Reader: sent.answer.Body, alive: alive, rest: maxBody}
	a := &answer{}
	switch media, _, _ := mime.ParseMediaType(sent.answer.Header.Get("Content-Type")); media {
	case "application/json":
		err = a.readWhole(body, tell)
	case "text/html":
		err = &failure{text: "The model's endpoint answers with a web page; its address may be wrong"}
	default:
		err = a.readEvents(body, tell)
	}
	if err != nil {
		return nil, err
	}
	if !a.done && a.finish == "" {
		return nil, brokenOff(io.ErrUnexpectedEOF)
	}
	return a, nil
}

// readEvents reads an answer that comes as server-sent events.
func (a *answer) readEvents(body io.Reader, tell func(string)) error {
	for data, err := range events(body) {
		switch data = bytes.TrimSpace(data); {
		case err != nil && a.finish != "":
			return nil // all was said before it broke off
		case err != nil:
			return asFailure(err)
		case string(data) == "[DONE]":
			a.done = true
			return nil
		case len(data) == 0:
			continue
		}
		if err := a.read(data, tell); err != nil {
			return err
		}
	}
	return nil
}

// events yields the data of each event. One that was cut before its empty line is
// none.
func events(body io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, maxBody+1) // watchedBody ends a line that is too long
		var data []byte
		for lines.Scan() {
			line := lines.Bytes()
			if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(append(data, value...), '\n')
				continue
			}
			if len(line) == 0 {
				if !yield(data, nil) {
					return
				}
				data = nil
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// readWhole reads the answer of an endpoint that does not stream.
func (a *answer) readWhole(body io.Reader, tell func(string)) error {
	data, err := io.ReadAll(body)
	if err != nil {
		return asFailure(err)
	}
	a.done = true
	return a.read(data, tell)
}

func (a *answer) read(data []byte, tell func(string)) error {
	var c struct {
		chunk

		Error jsontext.Value `json:"error"`
	}
	if err := readLoosely(data, &c); err != nil {
		return &failure{
			text: "The model's answer cannot be read", transient: true, detail: "a chunk is not JSON of the expected form",
		}
	}
	if c.Error != nil && c.Error.Kind() != 'n' {
		return &failure{text: "The model's endpoint failed in the middle of an answer", transient: true}
	}
	text, err := a.add(&c.chunk)
	tell(text)
	return err
}

// asFailure says what an error while reading means.
func asFailure(err error) error {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	return brokenOff(err)
}

// readLoosely takes what others send: duplicate members, text that is not UTF-8.
func readLoosely(data []byte, into any) error {
	return json.Unmarshal(data, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// watchedBody reports each sign of life and ends a body that is too long.
type watchedBody struct {
	io.Reader

	alive func()
	rest  int
}

func (w *watchedBody) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.alive()
	}
	if w.rest -= n; w.rest < 0 {
		return 0, &failure{text: fmt.Sprintf("The model's answer is longer than %d MiB with everything around it",
			maxBody>>20)}
	}
	return n, err
}
