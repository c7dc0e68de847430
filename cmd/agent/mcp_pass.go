package agent

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/handlers/mcp"
	"countersign/models"
)

// The headers of the protocol.
const (
	headerSession  = "Mcp-Session-Id"
	headerProtocol = "Mcp-Protocol-Version"
)

// errCutOff says that the server was there, and that the call has no answer.
var errCutOff = errors.New("the connection to the server was cut off")

// pass sends a message that is not waited for by others.
func (p *pipe) pass(ctx context.Context, m piped) { p.passCall(ctx, m, nil) }

// passCall sends a message until it is answered.
func (p *pipe) passCall(ctx context.Context, m piped, call *pipedCall) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := p.once(ctx, m, call)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			return
		}
		switch cut := errors.Is(err, errCutOff); {
		case cut && !m.again():
			p.write(m.failure("The connection was cut off: the budget may have been changed. Look at it on the page before you change it again."))
			return
		case cut:
			pause = firstPause
		default:
			p.unreachable(err)
		}
		if m.id == nil && m.method != methodCancelled {
			return // no client waits for it
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// once sends a message and writes the answer. An error means that there was no answer.
func (p *pipe) once(ctx context.Context, m piped, call *pipedCall) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(pipeQuiet, cancel)
	defer quiet.Stop()
	req, err := p.request(ctx, m)
	if err != nil {
		p.write(m.failure(err.Error()))
		return nil
	}
	res, err := p.http.Do(req)
	if err != nil {
		if !m.again() && !neverSent(err) {
			return errCutOff
		}
		return fmt.Errorf("no server answers at %s", p.server)
	}
	defer res.Body.Close()
	if call != nil && res.StatusCode == http.StatusOK {
		call.once.Do(func() { close(call.start) })
	}
	if !later(res.StatusCode) {
		p.unreachable(nil)
	}
	switch kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); {
	case res.StatusCode == http.StatusAccepted:
		return nil
	case res.StatusCode == http.StatusOK && kind == "text/event-stream":
		return p.events(m, res, quiet)
	case !m.again() && later(res.StatusCode) && !undone(res.StatusCode):
		return errCutOff
	case later(res.StatusCode):
		return fmt.Errorf("the server at %s answers %s", p.server, res.Status)
	default:
		return p.answered(m, res)
	}
}

// later reports whether a status means that the same may be answered later.
func later(status int) bool {
	return status >= http.StatusInternalServerError || status == http.StatusTooManyRequests
}

// undone reports whether a status says that nothing was done.
func undone(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// neverSent reports whether a request can't have reached any server: there was no connection.
func neverSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

func (p *pipe) request(ctx context.Context, m piped) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.server+mcp.Path, bytes.NewReader(m.raw))
	if err != nil {
		return nil, err
	}
	h := req.Header
	h.Set("Authorization", "Bearer "+p.token)
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set(mcp.HeaderPipe, p.id)
	if m.protocol != "" {
		h.Set(headerProtocol, m.protocol)
		h.Set("Mcp-Method", m.method)
		if m.name != "" {
			h.Set("Mcp-Name", m.name)
		}
		return req, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session != "" && m.method != methodInitialize {
		h.Set(headerSession, p.session)
		h.Set(headerProtocol, p.protocol)
	}
	return req, nil
}

// events writes the messages of a stream, and reports whether it ended with the answer.
func (p *pipe) events(m piped, res *http.Response, quiet *time.Timer) error {
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 8*models.MaxBody)
	for lines.Scan() {
		quiet.Reset(pipeQuiet)
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if data = strings.TrimSpace(data); !ok || data == "" {
			continue
		}
		if m.method == methodInitialize {
			p.begins(res, []byte(data))
		}
		p.write([]byte(data))
		if isAnswer([]byte(data)) {
			return nil
		}
	}
	return errCutOff
}

// begins notes the session that the server has begun.
func (p *pipe) begins(res *http.Response, raw []byte) {
	var m struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session, p.protocol = res.Header.Get(headerSession), m.Result.ProtocolVersion
}

// answered writes an answer that is no stream: a message of the protocol, or why there is none.
func (p *pipe) answered(m piped, res *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(res.Body, 8*models.MaxBody))
	if err != nil {
		return errCutOff
	}
	if isAnswer(raw) {
		p.write(bytes.ReplaceAll(raw, []byte("\n"), nil))
		return nil
	}
	var problem struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal(raw, &problem) != nil || problem.Detail == "" {
		problem.Detail = "The server answers " + res.Status + "."
	}
	fmt.Fprintf(p.say, "countersign: %s\n", problem.Detail)
	if m.id != nil {
		p.write(m.failure(problem.Detail))
	}
	return nil
}
