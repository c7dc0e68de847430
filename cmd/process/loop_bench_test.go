package process_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/models/storetest"
)

// BenchmarkLoopAgainstYardstick is `make bench-loop`: ask, wait, decide, told, over HTTP,
// each contender in a process of its own with a fresh database, in turns, beside the
// yardstick. It prints a table; the first column of figures is the median of the pairs.
// Where there is a PostgreSQL server, one and two servers of Countersign on it are
// contenders too; what a loop takes of PostgreSQL's own processes is not counted.
//
//	BENCH_LOOP=5          pairs
//	BENCH_LOOP_SECONDS=3  each run, after three seconds that do not count
//	BENCH_LOOP_BEFORE=    another binary of Countersign, to compare with
func BenchmarkLoopAgainstYardstick(b *testing.B) {
	pairs, _ := strconv.Atoi(os.Getenv("BENCH_LOOP"))
	if pairs == 0 {
		b.Skip("it takes minutes, and the machine for itself: make bench-loop")
	}
	postgres := os.Getenv("COUNTERSIGN_TEST_POSTGRES")
	if err := os.Unsetenv("COUNTERSIGN_TEST_POSTGRES"); err != nil { // Countersign refuses a variable that it does not know
		b.Fatal(err)
	}
	seconds, _ := strconv.Atoi(cmp.Or(os.Getenv("BENCH_LOOP_SECONDS"), "3"))
	contenders := []*contender{newYardstick(b), newContender(b, "this", process.Binary)}
	if before := os.Getenv("BENCH_LOOP_BEFORE"); before != "" {
		contenders = append(contenders, newContender(b, "before", before))
	}
	if postgres != "" {
		contenders = append(contenders, newOnPostgres(b, postgres, "postgres", 1), newOnPostgres(b, postgres, "two on it", 2))
	}
	fmt.Printf("\n%-22s %-10s %9s %8s %10s %8s %9s %8s %8s\n", "requesters", "", "loops/s", "ratio", "cpu µs", "ratio", "kB", "writes", "p50/p99 ms")
	for _, l := range []workload{
		{name: "1", requesters: 1},
		{name: "8", requesters: 8},
		{name: "64", requesters: 64},
		{name: "512", requesters: 512},
		{name: "512, at human pace", requesters: 512, think: 1500 * time.Millisecond},
	} {
		l.length = time.Duration(seconds) * time.Second
		if l.think > 0 {
			l.length = max(l.length, 6*time.Second)
		}
		runs := make([][]measured, len(contenders))
		for pair := range pairs {
			for i := range contenders {
				if pair%2 == 1 {
					i = len(contenders) - 1 - i
				}
				runs[i] = append(runs[i], contenders[i].run(b, l))
			}
		}
		for i, c := range contenders {
			middle := func(of func(measured) float64) float64 { return median(runs[i], of) }
			ratio := func(of func(measured) float64) float64 {
				each := make([]float64, pairs)
				for n := range each {
					each[n] = of(runs[i][n]) / of(runs[0][n])
				}
				return median(each, func(f float64) float64 { return f })
			}
			perSecond, cpu := func(m measured) float64 { return m.perSecond }, func(m measured) float64 { return m.cpu }
			fmt.Printf("%-22s %-10s %9.0f %8.2f %10.0f %8.2f %9.1f %8.1f %5.2f/%.2f\n", l.name, c.name, middle(perSecond), ratio(perSecond), middle(cpu), ratio(cpu),
				middle(func(m measured) float64 { return m.written }), middle(func(m measured) float64 { return m.writes }),
				middle(func(m measured) float64 { return m.p50 }), middle(func(m measured) float64 { return m.p99 }))
		}
	}
}

// warmUp is how long a server runs before it is measured: each connection to PostgreSQL plans its statements anew.
const warmUp = 3 * time.Second

// median is the middle one of what of says.
func median[T any](all []T, of func(T) float64) float64 {
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = of(one)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// workload is so many who ask, one request at a time each, for so long. think is how long a
// decision takes: any time up to twice that.
type workload struct {
	name          string
	requesters    int
	length, think time.Duration
}

// measured is one run: what a loop took of the server, and from the decision to the told.
type measured struct {
	perSecond            float64
	cpu, written, writes float64 // microseconds, kB and calls a loop
	p50, p99             float64 // ms
}

// contender is a server that is measured, and how it is talked to.
type contender struct {
	name                     string
	start                    func(ctx context.Context, dir, addr string) *exec.Cmd
	data                     string                           // the folder that each run begins with; empty: an empty one
	servers                  int                              // how many, on one database
	database                 func(b *testing.B) (drop func()) // makes the PostgreSQL database of a run; nil: it is in the folder
	ask, waits, decides      string                           // paths; {id} is the request's
	asks, verdict, idMember  string
	agentToken, reviewsToken string
}

func newYardstick(b *testing.B) *contender {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	return &contender{
		name: "yardstick", servers: 1, start: func(ctx context.Context, dir, addr string) *exec.Cmd {
			c := exec.CommandContext(ctx, self)
			c.Env = append(os.Environ(), yardstickEnv+"="+dir+" "+addr)
			return c
		},
		ask: "/requests", waits: "/requests/{id}/wait", decides: "/requests/{id}/decision", idMember: "id",
		asks: `{"title":"bench","details":"` + strings.Repeat("x", 400) + `"}`, verdict: `{"decision":"approved"}`,
	}
}

// serves starts a binary's server without limits.
func serves(path string, env ...string) func(ctx context.Context, dir, addr string) *exec.Cmd {
	return func(ctx context.Context, dir, addr string) *exec.Cmd {
		c := exec.CommandContext(ctx, path, "serve", "--data", dir, "--addr", addr, "--log-level", "error", "--limit-asks-per-minute", "0", "--limit-pending-per-agent", "0")
		c.Env = append(os.Environ(), env...)
		return c
	}
}

// newContender makes the data folder of a binary, by its own commands. env are variables that they all have.
func newContender(b *testing.B, name, path string, env ...string) *contender {
	b.Helper()
	c := &contender{
		name: name, data: b.TempDir(), servers: 1, start: serves(path, env...),
		ask: "/v1/approvals", waits: "/v1/approvals/{id}?wait=50s", decides: "/v1/approvals/{id}/respond", idMember: "approvalId",
		asks: `{"toolName":"bench","input":{"n":"` + strings.Repeat("x", 400) + `"}}`, verdict: `{"approved":true}`,
	}
	if err := os.Chmod(c.data, 0o700); err != nil {
		b.Fatal(err)
	}
	does := func(stdin string, args ...string) string {
		command := exec.CommandContext(b.Context(), path, append(args, "--data", c.data)...)
		command.Stdin, command.Env = strings.NewReader(stdin), append(os.Environ(), env...)
		out, err := command.Output()
		if err != nil {
			b.Fatalf("%v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	does("a correct horse battery\n", "user", "add", "ada@example.com", "--name", "Ada", "--role", "admin", "--password-stdin")
	c.agentToken = does("", "token", "add", "bench", "--user", "ada@example.com", "--scope", "agent")
	c.reviewsToken = does("", "token", "add", "reviews", "--user", "ada@example.com", "--scope", "reviewer")
	return c
}

// newOnPostgres is a contender whose runs begin with copies of a database at a PostgreSQL server.
func newOnPostgres(b *testing.B, at, name string, servers int) *contender {
	b.Helper()
	exec := storetest.AtPostgres(b, at)
	made, run := fmt.Sprintf("loop_%d", servers), fmt.Sprintf("loop_%d_run", servers)
	exec(`CREATE DATABASE ` + made)
	c := newContender(b, name, process.Binary, "COUNTERSIGN_DATABASE_URL="+strings.Replace(at, "/postgres?", "/"+made+"?", 1))
	c.start = serves(process.Binary, "COUNTERSIGN_DATABASE_URL="+strings.Replace(at, "/postgres?", "/"+run+"?", 1))
	c.servers = servers
	c.database = func(b *testing.B) func() {
		b.Helper()
		exec(`CREATE DATABASE ` + run + ` TEMPLATE ` + made)
		return func() { exec(`DROP DATABASE ` + run + ` WITH (FORCE)`) }
	}
	return c
}

// run starts the servers on a database of their own and measures them.
func (c *contender) run(b *testing.B, l workload) measured {
	b.Helper()
	if c.database != nil {
		defer c.database(b)()
	}
	dir := c.folder(b)
	defer os.RemoveAll(dir)
	ctx, stop := context.WithCancel(b.Context())
	var addrs []string
	var servers []*exec.Cmd
	defer func() {
		stop()
		for _, server := range servers {
			_ = server.Wait()
		}
	}()
	for range c.servers {
		addr := process.FreeAddr(b)
		server := c.start(ctx, dir, addr)
		server.Stderr = os.Stderr
		if err := server.Start(); err != nil {
			b.Fatal(err)
		}
		addrs, servers = append(addrs, addr), append(servers, server)
		c.listens(ctx, b, addr) // the first makes the keys that the next one needs
	}
	used := func() (sum storetest.Used) {
		for _, server := range servers {
			one, counted := storetest.UsedBy(server.Process.Pid)
			if !counted {
				b.Skip("this system does not tell what a process uses")
			}
			sum.CPU, sum.Written, sum.Writes = sum.CPU+one.CPU, sum.Written+one.Written, sum.Writes+one.Writes
		}
		return sum
	}
	c.loops(b, addrs, workload{requesters: l.requesters, length: warmUp, think: l.think})
	before := used()
	told := c.loops(b, addrs, l)
	after := used()
	slices.Sort(told)
	n := float64(len(told))
	return measured{
		perSecond: n / l.length.Seconds(), cpu: float64((after.CPU - before.CPU).Microseconds()) / n,
		written: float64(after.Written-before.Written) / 1000 / n, writes: float64(after.Writes-before.Writes) / n,
		p50: told[len(told)/2].Seconds() * 1000, p99: told[len(told)*99/100].Seconds() * 1000,
	}
}

// folder is a data folder for one run.
func (c *contender) folder(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	err := os.Chmod(dir, 0o700)
	if err == nil && c.data != "" {
		err = os.CopyFS(dir, os.DirFS(c.data))
		files, failed := filepath.Glob(filepath.Join(dir, "*"))
		for _, file := range files {
			err = cmp.Or(err, os.Chmod(file, 0o600))
		}
		err = cmp.Or(err, failed)
	}
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

// listens waits for a server.
func (c *contender) listens(ctx context.Context, b *testing.B, addr string) {
	b.Helper()
	for late := time.Now().Add(process.Patience); ; {
		if conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr); err == nil {
			conn.Close()
			return
		} else if time.Now().After(late) {
			b.Fatalf("%s does not listen: %v", c.name, err)
		}
	}
}

// loops runs the load; for each loop, the time from the decision to the told. Of several servers, each requester asks
// and waits at one and decides at the next: no answer is had from the memory of one.
func (c *contender) loops(b *testing.B, addrs []string, l workload) (told []time.Duration) {
	b.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	end := time.Now().Add(l.length)
	for i := range l.requesters {
		r, err := c.requester(b.Context(), addrs[i%len(addrs)], addrs[(i+1)%len(addrs)])
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer r.close()
			var own []time.Duration
			for time.Now().Before(end) {
				took, err := r.loop(l.think)
				if err != nil {
					b.Errorf("%s: %v", c.name, err)
					break
				}
				own = append(own, took)
			}
			mu.Lock()
			defer mu.Unlock()
			told = append(told, own...)
		})
	}
	wg.Wait()
	if b.Failed() || len(told) == 0 {
		b.FailNow()
	}
	return told
}

// requester is one who asks, waits and decides, on a connection for each.
type requester struct {
	*contender

	asking, waiting, deciding *keptConn
	id                        chan string
	told                      chan error
}

func (c *contender) requester(ctx context.Context, asks, decides string) (*requester, error) {
	r := &requester{contender: c, id: make(chan string), told: make(chan error, 1)}
	for at, addr := range map[**keptConn]string{&r.asking: asks, &r.waiting: asks, &r.deciding: decides} {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err != nil {
			return nil, err
		}
		*at = &keptConn{conn: conn, in: bufio.NewReaderSize(conn, 4096), host: addr}
	}
	go func() {
		for id := range r.id {
			answer, err := r.waiting.do(http.MethodGet, strings.ReplaceAll(c.waits, "{id}", id), c.agentToken, "")
			if err == nil && strings.Contains(answer, `"pending"`) {
				err = fmt.Errorf("the wait ended before the decision: %s", answer)
			}
			r.told <- err
		}
	}()
	return r, nil
}

func (r *requester) close() {
	close(r.id)
	for _, c := range []*keptConn{r.asking, r.waiting, r.deciding} {
		c.conn.Close()
	}
}

func (r *requester) loop(think time.Duration) (time.Duration, error) {
	answer, err := r.asking.do(http.MethodPost, r.ask, r.agentToken, r.asks)
	if err != nil {
		return 0, err
	}
	_, id, _ := strings.Cut(answer, `"`+r.idMember+`":"`)
	id, _, _ = strings.Cut(id, `"`)
	r.id <- id
	if think > 0 {
		<-time.After(rand.N(2 * think))
	}
	begun := time.Now()
	if _, err := r.deciding.do(http.MethodPost, strings.ReplaceAll(r.decides, "{id}", id), r.reviewsToken, r.verdict); err != nil {
		return 0, err
	}
	err = <-r.told
	return time.Since(begun), err
}

// keptConn is one connection of HTTP/1.1. The client of net/http hands each request from one
// goroutine to another twice, which is felt where it shares the processors with the server.
type keptConn struct {
	conn net.Conn
	in   *bufio.Reader
	host string
}

func (w *keptConn) do(method, path, token, body string) (string, error) {
	head := method + " " + path + " HTTP/1.1\r\nHost: " + w.host + "\r\n"
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	if body != "" {
		head += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	if _, err := io.WriteString(w.conn, head+"\r\n"+body); err != nil {
		return "", err
	}
	res, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %s: %.200s", method, path, res.Status, answer)
	}
	return string(answer), err
}
