package dbtest

import (
	"bytes"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Proxy passes on what a program and the tests' PostgreSQL server say to each other, and cuts connections on demand.
type Proxy struct {
	server string // its socket
	listen net.Listener
	url    url.URL

	mu    sync.Mutex
	down  bool
	cut   Cut
	delay time.Duration
	conns map[net.Conn]struct{}
}

// Cut is where the next COMMIT loses its connection.
type Cut int

// Where it may be.
const (
	Nowhere Cut = iota
	BeforeCommit
	AfterCommit // the server has committed, and its answer is lost
)

// NewProxy makes one for the address of a database of these tests.
func NewProxy(tb testing.TB, address string) *Proxy {
	tb.Helper()
	u, err := url.Parse(address)
	must(tb, err)
	p := &Proxy{server: filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432"), conns: map[net.Conn]struct{}{}}
	p.listen, err = net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed with the test
	must(tb, err)
	p.url = url.URL{Scheme: u.Scheme, User: u.User, Host: p.listen.Addr().String(), Path: u.Path, RawQuery: "sslmode=disable"}
	go p.serve()
	tb.Cleanup(func() {
		p.listen.Close()
		p.Down(true)
	})
	return p
}

// URL is the address of the database behind it.
func (p *Proxy) URL() string { return p.url.String() }

// Cut has the next COMMIT lose its connection.
func (p *Proxy) Cut(at Cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = at
}

// Delay has the server get so late what it is asked.
func (p *Proxy) Delay(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = by
}

// Down ends all connections and, as long as it is down, each new one.
func (p *Proxy) Down(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	for c := range p.conns {
		if down {
			c.Close()
		}
	}
}

func (p *Proxy) serve() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		go p.pass(client)
	}
}

// pass hands on what the two say to each other until one ends, or is cut.
func (p *Proxy) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", p.server) //nolint:noctx // on this machine
	if err != nil {
		return // it has been killed
	}
	defer server.Close()
	p.mu.Lock()
	down := p.down
	p.conns[client] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, client)
	}()
	if down {
		return
	}
	silent := make(chan struct{}) // closed: the next answer is lost
	go func() {
		defer client.Close()
		defer server.Close()
		answer := make([]byte, 1<<16)
		for {
			n, err := server.Read(answer)
			select {
			case <-silent:
				return
			default:
			}
			if err != nil || !wrote(client, answer[:n]) {
				return
			}
		}
	}()
	question := make([]byte, 1<<16)
	for {
		n, err := client.Read(question)
		if err != nil {
			return
		}
		switch p.at(question[:n]) {
		case BeforeCommit:
			return
		case AfterCommit:
			close(silent)
		case Nowhere:
		}
		p.wait()
		if !wrote(server, question[:n]) {
			return
		}
	}
}

// wait keeps back what was asked.
func (p *Proxy) wait() {
	p.mu.Lock()
	by := p.delay
	p.mu.Unlock()
	if by > 0 {
		<-time.After(by)
	}
}

// at is where the connection is cut, if these bytes ask for a COMMIT.
func (p *Proxy) at(question []byte) Cut {
	if !bytes.HasSuffix(question, []byte("COMMIT\x00")) {
		return Nowhere
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.cut
	p.cut = Nowhere
	return at
}

func wrote(to net.Conn, bytes []byte) bool {
	_, err := to.Write(bytes)
	return err == nil
}
