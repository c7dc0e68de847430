package outward_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/workers/outward"
)

// rawServer is a server on this machine that says what it likes to each connection, until
// that is closed; with TLS not before it is asked.
func rawServer(t *testing.T, config *tls.Config, say func(net.Conn)) (addr string, sent *atomic.Int64) {
	t.Helper()
	var lc net.ListenConfig
	listener, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	sent = &atomic.Int64{}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer conn.Close()
				var out net.Conn = &countedConn{conn, sent}
				if config != nil {
					out = tls.Server(out, config)
					// The client's library takes an answer before the question for a broken connection.
					if _, err := out.Read(make([]byte, 1)); err != nil {
						return
					}
				}
				say(out)
			})
		}
	})
	t.Cleanup(func() { listener.Close(); group.Wait() })
	return listener.Addr().String(), sent
}

type countedConn struct {
	net.Conn

	sent *atomic.Int64
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// repeat says head, and then the same part until the other end has gone.
func repeat(head, part string, every time.Duration) func(net.Conn) {
	return func(conn net.Conn) {
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		_, err := io.WriteString(conn, head)
		for tick := time.NewTicker(max(every, time.Microsecond)); err == nil; {
			if every > 0 {
				<-tick.C
			}
			_, err = io.WriteString(conn, part)
		}
	}
}

// once says something, and reads until the other end has gone.
func once(text string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = io.WriteString(conn, text)
		silent(conn)
	}
}

// silent reads until the other end has gone.
func silent(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// What is no answer, or never becomes one, ends within the time and takes no memory.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	secure := &tls.Config{Certificates: server.TLS.Certificates, MinVersion: tls.VersionTLS12}
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, tt := range map[string]struct {
		config *tls.Config
		say    func(net.Conn)
		want   models.SendClass
	}{
		"no handshake":               {nil, silent, models.SendTimeout},
		"no TLS":                     {nil, repeat("SSH-2.0-x\r\n", "x", 0), models.SendConnect},
		"no HTTP":                    {secure, repeat("220 mail.example.com\r\n", "220 x\r\n", 0), models.SendConnect},
		"headers that drip":          {secure, repeat(ok+"X: ", "x", 20*time.Millisecond), models.SendTimeout},
		"one endless header":         {secure, repeat(ok+"X: ", strings.Repeat("x", 1<<10), 0), models.SendTooLarge},
		"endless headers":            {secure, repeat(ok, "X: "+strings.Repeat("x", 1<<10)+"\r\n", 0), models.SendTooLarge},
		"endless interim answers":    {secure, repeat("", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 0), models.SendTooLarge},
		"another protocol":           {secure, repeat("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", "x", 0), models.SendRejected},
		"endless parts":              {secure, repeat(ok+"Transfer-Encoding: chunked\r\n\r\n", strings.Repeat("1\r\nx\r\n", 1<<10), 0), models.SendTooLarge},
		"parts with endless notes":   {secure, repeat(ok+"Transfer-Encoding: chunked\r\n\r\n1;", strings.Repeat("x", 1<<10), 0), models.SendConnect},
		"endless trailers":           {secure, repeat(ok+"Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n0\r\nX: ", strings.Repeat("x", 1<<10), 0), models.SendConnect},
		"a length that is not there": {secure, once(ok + "Content-Length: 99\r\n\r\n"), models.SendTimeout},
		"two lengths":                {secure, once(ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx"), models.SendConnect},
		"an endless error":           {secure, repeat("HTTP/1.1 500 No\r\n\r\n", "x", 0), models.SendUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, sent := rawServer(t, tt.config, tt.say)
			limit := 10 * time.Minute // what ends for another reason must not be decided by the machine's speed
			if tt.want == models.SendTimeout {
				limit = time.Second
			}
			c := outward.New(outward.Options{Hosts: hosts(addr), Timeout: limit, Roots: roots(server), Now: noon})
			a, err := c.Do(post(t, "https://"+addr), nil)
			switch {
			case err == nil:
				want := map[models.SendClass]int{models.SendUnavailable: 500, models.SendRejected: 101}[tt.want]
				if a.Status != want || len(a.Body) > outward.KeptBody {
					t.Errorf("%d with %d bytes, want %s", a.Status, len(a.Body), tt.want)
				}
			case classOf(t, err) != tt.want:
				t.Errorf("%v, want %s", err, tt.want)
			}
			if n := sent.Load(); n > 32<<20 {
				t.Errorf("the server could send %d bytes", n)
			}
		})
	}
}

// The same holds for HTTP/2, which another part of the library reads.
func TestHostileAnswersOfHTTP2(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1/", http.StatusFound)
	})
	mux.HandleFunc("/gigabyte", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, endless{}, 1<<30) })
	mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/closed", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) {
		for i := range 100 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 4<<10))
		}
	})
	var old atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			old.Add(1)
		}
		mux.ServeHTTP(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	for path, want := range map[string]models.SendClass{
		"/redirect": models.SendRedirect, "/gigabyte": models.SendTooLarge, "/silent": models.SendTimeout,
		"/closed": models.SendConnect, "/headers": models.SendConnect, // the library ends it, and says no more
	} {
		if a, err := way(server, time.Second).Do(post(t, server.URL+path), nil); err == nil {
			t.Errorf("%s: %+v", path, a)
		} else if classOf(t, err) != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if old.Load() != 0 {
		t.Error("it is asked in HTTP/1")
	}
}

// A proxy of the environment is not asked, whatever it is called.
func TestProxyOfTheEnvironment(t *testing.T) {
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	dns := newDNS(t, map[string][]string{"hooks.example.com": {"127.0.0.1"}})
	c := outward.New(outward.Options{Hosts: hosts("hooks.example.com"), Resolver: dns.resolver()})
	if _, err := c.Do(post(t, "https://hooks.example.com/x"), nil); classOf(t, err) != models.SendRefusedHost {
		t.Errorf("%v", err)
	}
	if asked.Load() != 0 {
		t.Error("the proxy was asked")
	}
}

// A request that its caller gives up ends at once, without a word that it was sent.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	addr, _ := rawServer(t, nil, silent)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := outward.New(outward.Options{Hosts: hosts(addr)})
	if _, err := c.Do(post(t, "https://"+addr).WithContext(ctx), nil); classOf(t, err) == models.SendSent {
		t.Errorf("%v", err)
	}
}
