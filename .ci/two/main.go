// Command two runs two servers on one PostgreSQL database behind a balancer, and the demo's agent, on loopback:
// `make run-two`. A server that is killed is started again. The balancer asks each server at /readyz whether it takes
// requests, and sends a request that a server did not take to the other.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
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
	log.SetFlags(log.Ltime)
	database := os.Getenv("COUNTERSIGN_TEST_POSTGRES")
	if len(os.Args) != 2 || database == "" || os.Unsetenv("COUNTERSIGN_TEST_POSTGRES") != nil {
		log.Fatal("usage: .ci/postgres go run ./.ci/two PROGRAM")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], database); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, program, database string) (err error) {
	folder, err := os.MkdirTemp("", "countersign-two-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	l, err := net.Listen("tcp", cmpOr(os.Getenv("ADDR"), "127.0.0.1:8080"))
	if err != nil {
		return err
	}
	b := &balancer{}
	two := &pair{program: program, database: database, folder: folder, public: "http://localhost:" + port(l.Addr())}
	password, token, err := two.people(ctx)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	defer group.Wait()
	for _, name := range []string{"one", "two"} {
		n := &node{name: name}
		if n.addr, err = freeAddr(); err != nil {
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
	fmt.Printf("\n    Open      %s\n    E-mail    %s\n    Password  %s\n\nKill a server, and see that pages and the agent go on; it comes back after %s:\n\n", two.public, email, password, again)
	for _, n := range b.nodes {
		fmt.Printf("    kill -9 %d    # %s, at %s\n", n.pid.Load(), n.name, n.addr)
	}
	fmt.Printf("\nSystem shows both. Ctrl-C ends all; nothing is kept.\n\n")
	group.Go(func() { two.agent(ctx, token) })
	<-ctx.Done()
	return nil
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func port(a net.Addr) string {
	_, p, _ := net.SplitHostPort(a.String())
	return p
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// pair are the two servers.
type pair struct{ program, database, folder, public string }

// command is the program with settings that all its commands take.
func (p *pair) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, p.program, args...)
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
	c.Stdout = os.Stdout
	input, err := c.StdinPipe() // open for as long as this process lives
	if err == nil {
		defer input.Close()
		err = c.Run()
	}
	if err != nil && ctx.Err() == nil {
		log.Print("the demo agent stopped: ", err)
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
				log.Printf("%s is started again: kill -9 %d", n.name, c.Process.Pid)
			}
			err = c.Wait()
		}
		n.ready.Store(false)
		if ctx.Err() != nil {
			return
		}
		log.Printf("%s has ended (%v); it is started again in %s", n.name, err, again)
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
		res, err := client.Get("http://" + n.addr + "/readyz")
		n.ready.Store(err == nil && res.StatusCode == http.StatusOK)
		if err == nil {
			_ = res.Body.Close()
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		}
	}
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
