package cmd_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"countersign/cmd"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	if code, is := yardstickProcess(); is {
		os.Exit(code)
	}
	if code, is := emptyRootProcess(); is {
		os.Exit(code)
	}
	storetest.ManyAtOnce()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "countersign-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "countersign")
	build := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", binary, "countersign")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// patience is how long anything may take that should happen soon. It is long,
// for many tests share few processors; nothing waits for it unless it fails.
const patience = time.Minute

// stuck is after how long something is given up that would go on once a wait of 50 s is over.
const stuck = 40 * time.Second

// eventually looks until it sees what it wants.
func eventually(t *testing.T, what string, seen func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !seen() {
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("not seen in %v: %s", patience, what)
		}
	}
}

// server is an App that runs in this process.
type server struct {
	*cmd.App

	dir, addr string
	stop      func()
}

// serve starts an App on a data folder; addr "" takes a free port. It stops with
// the test, or earlier by stop.
func serve(tb testing.TB, dir, addr string, change ...func(*cmd.Config)) *server {
	tb.Helper()
	if addr == "" {
		addr = freeAddr(tb) // a test may start it again there
	}
	storetest.Migrate(tb, dir)
	cfg := cmd.Config{Addr: addr, Data: dir}
	for _, c := range change {
		c(&cfg)
	}
	app, err := cmd.New(tb.Context(), cfg, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		tb.Fatalf("new app: %v", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ran := make(chan error, 1)
	go func() { ran <- app.Run(ctx) }()
	s := &server{App: app, dir: dir, addr: app.Addr()}
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-ran, app.Close()); err != nil {
			tb.Errorf("stop app: %v", err)
		}
	})
	tb.Cleanup(s.stop)
	return s
}

// world is a server with one admin, an agent of theirs and their tokens.
type world struct {
	*server

	admin           models.Actor
	agent, reviewer string // tokens
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{server: serve(t, storetest.Dir(t), "")}
	w.admin = storetest.Admin(t, w.Store())
	_, w.agent = storetest.AgentToken(t, w.Store(), w.admin, "bot")
	_, w.reviewer = storetest.ReviewerToken(t, w.Store(), w.admin)
	return w
}

// restart starts a server anew on the same folder and port.
func (w *world) restart(t *testing.T) {
	t.Helper()
	w.stop()
	// The new server has the old one's address, and a connection to the old one that was kept
	// would be tried again: what is sent over it is lost.
	http.DefaultClient.CloseIdleConnections()
	w.server = serve(t, w.dir, w.addr)
}

func (w *world) client(token string) *client.Client {
	return client.New("http://"+w.addr, token)
}

// onlyPending waits until exactly one request waits for a decision.
func (w *world) onlyPending(t *testing.T) models.Approval {
	t.Helper()
	var got []models.Brief
	eventually(t, "one pending request", func() bool {
		page, err := w.Store().Inbox(t.Context(), w.admin, store.InboxQuery{Limit: 10})
		if err != nil {
			t.Fatalf("inbox: %v", err)
		}
		got = page.Items
		return len(got) == 1
	})
	return got[0].Approval
}

func (w *world) respond(t *testing.T, id models.ResponseID, verdict wire.RespondRequest) {
	t.Helper()
	if _, err := w.client(w.reviewer).Respond(t.Context(), wire.ResponseID(id), verdict); err != nil {
		t.Fatalf("respond: %v", err)
	}
}

func (w *world) applyPolicy(t *testing.T, doc string) {
	t.Helper()
	if _, err := w.Store().ApplyPolicy(t.Context(), w.admin, []byte(doc), "", 0); err != nil {
		t.Fatalf("apply policy: %v", err)
	}
}

// process is the program, running.
type process struct {
	*exec.Cmd

	out, err *output
	in       io.WriteCloser
	done     chan struct{}
}

// output gathers what a process prints, to be read while it runs.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// start runs the program with an environment of its own: nothing of this
// process's gets in but what is given.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(binary, args...), out: &output{}, err: &output{}, done: make(chan struct{})} //nolint:noctx // ended by its own pid below
	p.Env = append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	p.Stdout, p.Stderr = p.out, p.err
	var err error
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatalf("start: %v", err)
	}
	go func() {
		_ = p.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.done
	})
	return p
}

// exit waits for the end and returns the exit code.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("%v did not end; it said:\n%s%s", p.Args[1:], p.out, p.err)
	}
	return p.ProcessState.ExitCode()
}

func (p *process) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(sig); err != nil {
		t.Fatalf("signal: %v", err)
	}
}

// says waits until a line with text was printed, and returns the line.
func (p *process) says(t *testing.T, o *output, text string) string {
	t.Helper()
	found := ""
	eventually(t, fmt.Sprintf("%q from %v", text, p.Args[1:]), func() bool {
		lines := bufio.NewScanner(strings.NewReader(o.String()))
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				found = lines.Text()
				return true
			}
		}
		select {
		case <-p.done:
			t.Fatalf("%v ended without saying %q:\n%s%s", p.Args[1:], text, p.out, p.err)
		default:
		}
		return false
	})
	return found
}

// run runs the program to its end.
func run(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return runWith(t, nil, stdin, args...)
}

func runWith(t *testing.T, env []string, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return start(t, env, args...).give(t, stdin)
}

// give sends the whole input and waits for the end.
func (p *process) give(t *testing.T, stdin string) (stdout, stderr string, code int) {
	t.Helper()
	if _, err := io.WriteString(p.in, stdin); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, os.ErrClosed) { // it may end without reading
		t.Fatal(err)
	}
	_ = p.in.Close()
	code = p.exit(t)
	return p.out.String(), p.err.String(), code
}

// must runs the program and fails the test if it fails.
func must(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	out, stderr, code := run(t, stdin, args...)
	if code != 0 {
		t.Fatalf("%v: exit %d\n%s%s", args, code, out, stderr)
	}
	return out
}

// freeAddr is an address that was free a moment ago, for a process that is told where to
// listen. The port is below those that systems hand out by themselves, so that it does not
// become that of another test's server meanwhile.
func freeAddr(tb testing.TB) string {
	tb.Helper()
	const first, ports = 20_000, 12_000
	var err error
	for range 100 {
		var l net.Listener
		if l, err = (&net.ListenConfig{}).Listen(tb.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", first+rand.N(ports))); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	tb.Fatal(err)
	return ""
}
