// Command two runs two servers on one PostgreSQL database behind a balancer, and the demo's agent, on loopback:
// `make run-two`. A server that is killed is started again. The balancer asks each server at /readyz whether it takes
// requests, and sends a request that a server did not take to the other.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	email = "admin@example.com"
	// drain is how long a server that ends goes on answering: several looks of the balancer.
	drain     = "1s"
	lookEvery = 200 * time.Millisecond
	// again is how long a server that ended stays away, so that one sees what the other does.
	again = 10 * time.Second
	// maxBody is the most that a request may send, kept to be sent to the other server.
	maxBody = 8 << 20
)

func main() {
	database := os.Getenv("COUNTERSIGN_TEST_POSTGRES")
	if len(os.Args) != 2 || database == "" || os.Unsetenv("COUNTERSIGN_TEST_POSTGRES") != nil {
		fmt.Fprintln(os.Stderr, "usage: .ci/postgres go run ./.ci/two PROGRAM")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, os.Args[1], database)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, program, database string) (err error) {
	folder, err := os.MkdirTemp("", "countersign-two-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", cmp.Or(os.Getenv("ADDR"), "127.0.0.1:8080"))
	if err != nil {
		return err
	}
	b := &balancer{}
	two := &pair{out: out, program: program, database: database, folder: folder, public: "http://localhost:" + port(l.Addr())}
	password, token, err := two.people(ctx)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	defer group.Wait()
	for _, name := range []string{"one", "two"} {
		n := &node{name: name}
		if n.addr, err = freeAddr(ctx); err != nil {
			return err
		}
		n.proxy = httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: n.addr})
		n.proxy.FlushInterval = -1
		b.nodes = append(b.nodes, n)
		group.Go(func() { two.keep(ctx, n) })
		group.Go(func() { n.look(ctx) })
	}
	server := &http.Server{Handler: b, ReadHeaderTimeout: time.Minute}
	group.Go(func() { _ = server.Serve(l) })
	defer server.Close()
	for !b.nodes[0].ready.Load() || !b.nodes[1].ready.Load() {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookEvery):
		}
	}
	fmt.Fprintf(out, "\n    Open      %s\n    E-mail    %s\n    Password  %s\n\nKill a server, and see that pages and the agent go on; it comes back after %s:\n\n", two.public, email, password, again)
	for _, n := range b.nodes {
		fmt.Fprintf(out, "    kill -9 %d    # %s, at %s\n", n.pid.Load(), n.name, n.addr)
	}
	fmt.Fprintf(out, "\nSystem shows both. Ctrl-C ends all; nothing is kept.\n\n")
	group.Go(func() { two.agent(ctx, token) })
	<-ctx.Done()
	return nil
}

func port(a net.Addr) string {
	_, p, _ := net.SplitHostPort(a.String())
	return p
}

func freeAddr(ctx context.Context) (string, error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// pair are the two servers.
type pair struct {
	out                               io.Writer
	program, database, folder, public string
}

func (p *pair) say(format string, args ...any) {
	fmt.Fprintf(p.out, format+"\n", args...)
}

// command is the program with settings that all its commands take.
func (p *pair) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, p.program, args...) //nolint:gosec // the program that make has built
	c.Env = append(os.Environ(), "COUNTERSIGN_DATABASE_URL="+p.database, "COUNTERSIGN_KEYS="+p.folder)
	c.Stderr = os.Stderr
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	return c
}

// people makes an admin, and an agent of theirs.
func (p *pair) people(ctx context.Context) (password, token string, err error) {
	password = strings.ToLower(rand.Text()[:16])
	data := filepath.Join(p.folder, "setup")
	add := p.command(ctx, "user", "add", email, "--name", "Admin", "--role", "admin", "--password-stdin", "--data", data)
	add.Stdin = strings.NewReader(password + "\n")
	if err := add.Run(); err != nil {
		return "", "", fmt.Errorf("add the admin: %w", err)
	}
	out, err := p.command(ctx, "token", "add", "demo-agent", "--user", email, "--data", data).Output()
	if err != nil {
		return "", "", fmt.Errorf("add the agent: %w", err)
	}
	return password, strings.TrimSpace(string(out)), nil
}

// agent runs the demo's agent, which asks through the balancer.
func (p *pair) agent(ctx context.Context, token string) {
	c := p.command(ctx, "demo-agent")
	c.Env = []string{"COUNTERSIGN_SERVER=" + p.public, "COUNTERSIGN_TOKEN=" + token}
	c.Stdout = p.out
	input, err := c.StdinPipe() // open for as long as this process lives
	if err == nil {
		defer input.Close()
		err = c.Run()
	}
	if err != nil && ctx.Err() == nil {
		p.say("the demo agent stopped: %v", err)
	}
}

// node is one of the servers.
type node struct {
	name, addr string
	proxy      *httputil.ReverseProxy
	ready      atomic.Bool
	pid        atomic.Int64
}

// keep starts a server, and again whenever it has ended.
func (p *pair) keep(ctx context.Context, n *node) {
	for ctx.Err() == nil {
		c := p.command(ctx, "serve", "--addr", n.addr, "--public-url", p.public, "--node-name", n.name, "--drain", drain,
			"--data", filepath.Join(p.folder, n.name), "--trusted-proxies", "127.0.0.1", "--log-level", "warn")
		err := c.Start()
		if err == nil {
			if last := n.pid.Swap(int64(c.Process.Pid)); last != 0 {
				p.say("%s is started again: kill -9 %d", n.name, c.Process.Pid)
			}
			err = c.Wait()
		}
		n.ready.Store(false)
		if ctx.Err() != nil {
			return
		}
		p.say("%s has ended (%v); it is started again in %s", n.name, err, again)
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

// look asks a server whether it takes requests, again and again.
func (n *node) look(ctx context.Context) {
	client := &http.Client{Timeout: time.Second}
	for ctx.Err() == nil {
		n.ready.Store(n.takes(ctx, client))
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		}
	}
}

// takes reports whether a server says that it takes requests.
func (n *node) takes(ctx context.Context, client *http.Client) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.addr+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	res, err := client.Do(req)
	if err != nil {
		return false
	}
	return res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

// balancer sends requests to the servers that are ready, in turn.
type balancer struct {
	nodes []*node
	turn  atomic.Int64
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "The request is too large.", http.StatusRequestEntityTooLarge)
		return
	}
	first := int(b.turn.Add(1))
	for i := range b.nodes {
		n := b.nodes[(first+i)%len(b.nodes)]
		if n.ready.Load() && n.serve(w, r, body) {
			return
		}
	}
	w.Header().Set("Retry-After", "1")
	http.Error(w, "No server is ready.", http.StatusServiceUnavailable)
}

// serve passes a request on; false: the server did not take it, and nothing was answered. One that had begun and was cut
// off is cut off for the client too, which sends it again.
func (n *node) serve(w http.ResponseWriter, r *http.Request, body []byte) (taken bool) {
	taken = true
	proxy := *n.proxy
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
			n.ready.Store(false)
			taken = false
			return
		}
		w.Header().Set("Retry-After", "1")
		http.Error(w, "The server ended.", http.StatusBadGateway)
	}
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	proxy.ServeHTTP(w, again)
	return taken
}
