package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "countersign/cmd" // so that Go knows what the tests are of, and runs them again when it changes
	"countersign/models/storetest"
)

// Binary is the program under test, built once in each folder that tests it.
var Binary string

// Main builds the program and runs the tests of a folder, which may start it.
func Main(m *testing.M) {
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
	Binary = filepath.Join(dir, "countersign")
	// Go keeps what it made to run: the folders of tests share one link.
	build := exec.CommandContext(context.Background(), "go", "run", "-buildvcs=false", "-exec", "cp", "countersign",
		Binary)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// Patience is how long anything may take that should happen soon. It is long,
// for many tests share few processors, and some build a program; nothing waits for it unless it fails.
const Patience = 5 * time.Minute

// Stuck is after how long something is given up that would go on once a wait of 50 s is over.
const Stuck = 40 * time.Second

// Eventually looks until it sees what it wants.
func Eventually(t *testing.T, what string, seen func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !seen() {
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("not seen in %v: %s", Patience, what)
		}
	}
}

// Program is the program, running.
type Program struct {
	*exec.Cmd

	Out, Err *Output
	In       io.WriteCloser
	Done     chan struct{}
}

// Output gathers what a process prints, to be read while it runs.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// Start runs the program with an environment of its own: it gets nothing of this process's environment but env.
func Start(t *testing.T, env []string, args ...string) *Program {
	t.Helper()
	p := &Program{Cmd: exec.Command(Binary, args...), Out: &Output{}, Err: &Output{}, Done: make(chan struct{})}
	p.Env = environment(t, env, args)
	p.Stdout, p.Stderr = p.Out, p.Err
	var err error
	if p.In, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatalf("start: %v", err)
	}
	go func() {
		_ = p.Wait()
		close(p.Done)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.Done
	})
	return p
}

// environment is that of a program, with the address of the database of its data folder, if it is elsewhere.
func environment(t *testing.T, env, args []string) []string {
	t.Helper()
	all := append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	if at := slices.Index(args, "--data"); at >= 0 && !slices.Contains(args, "--database-url") {
		if url := storetest.URL(t, args[at+1]); url != "" {
			all = append(all, "COUNTERSIGN_DATABASE_URL="+url)
		}
	}
	return all
}

// Exit waits for the end and returns the exit code.
func (p *Program) Exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.Done:
	case <-time.After(Patience):
		t.Fatalf("%v did not end; it said:\n%s%s", p.Args[1:], p.Out, p.Err)
	}
	return p.ProcessState.ExitCode()
}

// Signal sends a signal to the program.
func (p *Program) Signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(sig); err != nil {
		t.Fatalf("signal: %v", err)
	}
}

// Says waits until a line with text was printed, and returns the line.
func (p *Program) Says(t *testing.T, o *Output, text string) string {
	t.Helper()
	found := ""
	Eventually(t, fmt.Sprintf("%q from %v", text, p.Args[1:]), func() bool {
		lines := bufio.NewScanner(strings.NewReader(o.String()))
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				found = lines.Text()
				return true
			}
		}
		select {
		case <-p.Done:
			t.Fatalf("%v ended without saying %q:\n%s%s", p.Args[1:], text, p.Out, p.Err)
		default:
		}
		return false
	})
	return found
}

// Run runs the program to its end.
func Run(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return RunWith(t, nil, stdin, args...)
}

// RunWith runs the program to its end in an environment.
func RunWith(t *testing.T, env []string, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return Start(t, env, args...).Give(t, stdin)
}

// Give sends the whole input and waits for the end.
func (p *Program) Give(t *testing.T, stdin string) (stdout, stderr string, code int) {
	t.Helper()
	if _, err := io.WriteString(p.In, stdin); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, os.ErrClosed) { // it may end without reading
		t.Fatal(err)
	}
	_ = p.In.Close()
	code = p.Exit(t)
	return p.Out.String(), p.Err.String(), code
}

// Must runs the program and fails the test if it fails.
func Must(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	out, stderr, code := Run(t, stdin, args...)
	if code != 0 {
		t.Fatalf("%v: exit %d\n%s%s", args, code, out, stderr)
	}
	return out
}

// FreeAddr is an address that was free a moment ago, for a process that has an address to listen on. The port is below
// those that systems hand out unasked, so that it does not become that of another test's server meanwhile.
func FreeAddr(tb testing.TB) string {
	tb.Helper()
	const first, ports = 20_000, 12_000
	var err error
	for range 100 {
		var l net.Listener
		if l, err = (&net.ListenConfig{}).Listen(tb.Context(), "tcp",
			fmt.Sprintf("127.0.0.1:%d", first+rand.N(ports))); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	tb.Fatal(err)
	return ""
}

// Send does not follow redirects and returns status and content type.
func Send(t *testing.T, req *http.Request) (status int, content string) {
	t.Helper()
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatalf("read answer: %v", err)
	}
	return res.StatusCode, res.Header.Get("Content-Type")
}

// Has reports whether a program is installed.
func Has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// Get reads a page or answer that is there.
func Get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body := new(bytes.Buffer)
	if _, err := body.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", url, res.Status, body)
	}
	return body.String()
}
