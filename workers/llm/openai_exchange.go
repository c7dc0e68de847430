package llm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/sashabaranov/go-openai"
)

// exchange is one request of the library on its way to the endpoint, and the answer. It sits between the two because
// the library
//   - refuses some models, limits and tools by the model's name, before it asks:
//     what an endpoint can do is for the endpoint to say;
//   - reads a refusal without a limit, and drops its Retry-After;
//   - reads a stream that was cut as one that ended, and an answer that is not a
//     stream as an empty one.
//
// So the name is put in here, refusals become failures here, and the answer is kept for readEvents and readWhole.
type exchange struct {
	http   *http.Client
	model  string
	answer *http.Response
}

// Do sends the request. The library calls it in place of an http.Client.
func (e *exchange) Do(req *http.Request) (*http.Response, error) {
	req, err := e.named(req)
	if err != nil {
		return nil, err
	}
	res, err := e.http.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, refuse(req.Context(), res)
	}
	e.answer = res
	return res, nil
}

// unnamed is how the library writes the model that params leaves out. It is the
// first member, and no text can hold it: there the quotes are escaped.
var noModel = []byte(`"model":""`)

// named is the request with the name of the model.
func (e *exchange) named(req *http.Request) (*http.Request, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	name, err := json.Marshal(e.model)
	if err != nil {
		return nil, &failure{text: "The name of the model is not text"}
	}
	body = bytes.Replace(body, noModel, append([]byte(`"model":`), name...), 1)
	whole, err := http.NewRequestWithContext(req.Context(), req.Method, req.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("name the model: %w", err)
	}
	whole.Header = req.Header
	return whole, nil
}

// refuse reads a refusal, up to a limit, and says what it means.
func refuse(ctx context.Context, res *http.Response) error {
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return refusal(res, body)
}

// stayHere lets redirects lead to other paths of the endpoint only: no other host may get the key and the conversation.
func stayHere(to *http.Request, via []*http.Request) error {
	from := via[0].URL
	if to.URL.Scheme != from.Scheme || !strings.EqualFold(to.URL.Host, from.Host) || len(via) >= maxRedirects {
		return &failure{text: "The model's endpoint redirects to another address"}
	}
	return nil
}

const maxRedirects = 10

// client makes the library's client for one exchange.
func (m *openAI) client(e *exchange) *openai.Client {
	config := openai.DefaultConfig(m.APIKey)
	config.BaseURL = m.BaseURL
	config.HTTPClient = e
	return openai.NewClientWithConfig(config)
}
