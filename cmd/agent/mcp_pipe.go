package agent

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"countersign/models"
)

const (
	// pipeQuiet is after how long without a sign the server is taken for gone; it gives one
	// every 15 s.
	pipeQuiet = time.Minute
	// pipeEnd is how long answers under way may take once the client has ended.
	pipeEnd = 2 * time.Second
	// pipeWithdraw is how long the pipe may then take to cancel calls without an answer.
	pipeWithdraw = 1500 * time.Millisecond

	firstPause, longestPause = 200 * time.Millisecond, 5 * time.Second
)

// pipe passes messages between an MCP client and the server, and repeats interrupted calls.
type pipe struct {
	server, token string
	id            string // of this run: what ids of calls are unique in
	http          *http.Client

	mu       sync.Mutex // guards what follows, and the order of lines
	out, say io.Writer
	session  string
	protocol string
	calls    map[string]*pipedCall
	silent   bool // it was told that the server can't be reached

	gone  chan struct{}   // closed when the client has ended its output
	stop  <-chan struct{} // closed when the pipe is interrupted
	under sync.WaitGroup
}

// pipedCall is one call under way.
type pipedCall struct {
	start chan struct{} // closed when the server has it
	over  <-chan struct{}
	once  sync.Once
	stop  context.CancelFunc
}

func newPipe(server, token string, out, say io.Writer) *pipe {
	return &pipe{
		server: server, token: token, id: uuid.NewString(), http: &http.Client{}, out: out, say: say,
		calls: make(map[string]*pipedCall), gone: make(chan struct{}),
	}
}

// run passes on until the client ends its output, or ctx ends. What the client then waits for
// is given up as if it had said so: nothing would come of a decision.
func (p *pipe) run(interrupt context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(interrupt))
	defer p.under.Wait()
	defer cancel()
	p.stop = interrupt.Done()
	lines := make(chan []byte)
	result := make(chan error, 1)
	go func() {
		defer close(lines)
		defer close(p.gone)
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, 2*models.MaxBody)
		for scan.Scan() {
			select {
			case lines <- bytes.Clone(scan.Bytes()):
			case <-ctx.Done():
				return
			}
		}
		result <- scan.Err()
	}()
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				p.finish()
				p.withdraw(ctx)
				return <-result
			}
			p.take(ctx, line)
		case <-p.stop:
			p.withdraw(ctx)
			return nil
		}
	}
}

// finish waits a while for calls under way to end.
func (p *pipe) finish() {
	done := make(chan struct{})
	go func() { p.under.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(pipeEnd):
	case <-p.stop:
	}
}

// withdraw gives up all calls that are under way, while their connections are open: a lost
// connection ends nothing (I8).
func (p *pipe) withdraw(ctx context.Context) {
	limitCtx, cancel := context.WithTimeout(ctx, pipeWithdraw)
	defer cancel()
	p.mu.Lock()
	ids := slices.Collect(maps.Keys(p.calls))
	p.mu.Unlock()
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() {
			p.giveUp(limitCtx, piped{
				method: methodCancelled, cancelled: jsontext.Value(id),
				raw: []byte(`{"jsonrpc":"2.0","method":"` + methodCancelled + `","params":{"requestId":` + id +
					`,"reason":"The client has ended."}}`),
			})
		})
	}
	all.Wait()
}

// take passes one message on. What begins a session is answered before anything else is sent.
func (p *pipe) take(ctx context.Context, line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	m, err := parsePiped(line)
	if err != nil {
		p.write(piped{id: idOf(line)}.failure("A message " + err.Error() + "."))
		return
	}
	if m.method == methodInitialize {
		answered := make(chan struct{})
		p.under.Go(func() { defer close(answered); p.pass(ctx, m) })
		select {
		case <-answered:
		case <-p.gone: // no client begins a session
		case <-p.stop:
		}
		return
	}
	if m.method == methodCancelled {
		p.under.Go(func() { p.giveUp(ctx, m) })
		return
	}
	ctx, call := p.begin(ctx, m)
	p.under.Go(func() {
		defer p.over(m, call)
		p.passCall(ctx, m, call)
	})
}

func (p *pipe) begin(ctx context.Context, m piped) (context.Context, *pipedCall) {
	ctx, stop := context.WithCancel(ctx)
	call := &pipedCall{start: make(chan struct{}), over: ctx.Done(), stop: stop}
	if m.id != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.calls[string(m.id)] = call
	}
	return ctx, call
}

func (p *pipe) over(m piped, call *pipedCall) {
	call.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[string(m.id)] == call {
		delete(p.calls, string(m.id))
	}
}

// giveUp tells the server that the client no longer waits for a call, once the server has the
// call: it would be asked again otherwise, and stay.
func (p *pipe) giveUp(ctx context.Context, m piped) {
	p.mu.Lock()
	call := p.calls[string(m.cancelled)]
	p.mu.Unlock()
	if call == nil {
		return // it was answered
	}
	select {
	case <-call.start:
		p.pass(ctx, m)
		call.stop()
	case <-call.over: // it was answered, or the pipe ends
	case <-ctx.Done():
	}
}

// write sends one message to the client.
func (p *pipe) write(message []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.out.Write(append(message, '\n'))
}

// unreachable tells once that the server can't be reached, and once that it can again.
func (p *pipe) unreachable(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil && !p.silent:
		fmt.Fprintf(p.say, "countersign: %v. Calls wait until it answers again.\n", err)
	case err == nil && p.silent:
		fmt.Fprintln(p.say, "countersign: the server answers again.")
	}
	p.silent = err != nil
}
