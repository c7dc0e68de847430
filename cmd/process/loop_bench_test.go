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
//
//	BENCH_LOOP=5          pairs
//	BENCH_LOOP_SECONDS=3  each run, after a second that does not count
//	BENCH_LOOP_BEFORE=    another binary of Countersign, to compare with
func BenchmarkLoopAgainstYardstick(b *testing.B) {
	pairs, _ := strconv.Atoi(os.Getenv("BENCH_LOOP"))
	if pairs == 0 {
		b.Skip("it takes minutes, and the machine for itself: make bench-loop")
	}
	seconds, _ := strconv.Atoi(cmp.Or(os.Getenv("BENCH_LOOP_SECONDS"), "3"))
	contenders := []*contender{newYardstick(b), newContender(b, "this", process.Binary)}
	if before := os.Getenv("BENCH_LOOP_BEFORE"); before != "" {
		contenders = append(contenders, newContender(b, "before", before))
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
	data                     string // the folder that each run begins with; empty: an empty one
	ask, waits, decides      string // paths; {id} is the request's
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
		name: "yardstick", start: func(ctx context.Context, dir, addr string) *exec.Cmd {
			c := exec.CommandContext(ctx, self)
			c.Env = append(os.Environ(), yardstickEnv+"="+dir+" "+addr)
			return c
		},
		ask: "/requests", waits: "/requests/{id}/wait", decides: "/requests/{id}/decision", idMember: "id",
		asks: `{"title":"bench","details":"` + strings.Repeat("x", 400) + `"}`, verdict: `{"decision":"approved"}`,
	}
}

// newContender makes the data folder of a binary, by its own commands.
func newContender(b *testing.B, name, path string) *contender {
	b.Helper()
	c := &contender{
		name: name, data: b.TempDir(), start: func(ctx context.Context, dir, addr string) *exec.Cmd {
			return exec.CommandContext(ctx, path, "serve", "--data", dir, "--addr", addr, "--log-level", "error", "--limit-asks-per-minute", "0", "--limit-pending-per-agent", "0")
		},
		ask: "/v1/approvals", waits: "/v1/approvals/{id}?wait=50s", decides: "/v1/approvals/{id}/respond", idMember: "approvalId",
		asks: `{"toolName":"bench","input":{"n":"` + strings.Repeat("x", 400) + `"}}`, verdict: `{"approved":true}`,
	}
	if err := os.Chmod(c.data, 0o700); err != nil {
		b.Fatal(err)
	}
	does := func(stdin string, args ...string) string {
		command := exec.CommandContext(b.Context(), path, append(args, "--data", c.data)...)
		command.Stdin = strings.NewReader(stdin)
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

// run starts the server on a database of its own and measures it.
func (c *contender) run(b *testing.B, l workload) measured {
	b.Helper()
	dir := b.TempDir()
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	if c.data != "" {
		if err := os.CopyFS(dir, os.DirFS(c.data)); err != nil {
			b.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		for _, file := range files {
			err = cmp.Or(err, os.Chmod(file, 0o600))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(b.Context())
	addr := process.FreeAddr(b)
	server := c.start(ctx, dir, addr)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		stop()
		_ = server.Wait()
	}()
	for late := time.Now().Add(process.Patience); ; {
		if conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr); err == nil {
			conn.Close()
			break
		} else if time.Now().After(late) {
			b.Fatalf("%s does not listen: %v", c.name, err)
		}
	}
	c.loops(b, addr, workload{requesters: l.requesters, length: time.Second, think: l.think})
	before, counted := storetest.UsedBy(server.Process.Pid)
	told := c.loops(b, addr, l)
	after, _ := storetest.UsedBy(server.Process.Pid)
	if !counted {
		b.Skip("this system does not tell what a process uses")
	}
	slices.Sort(told)
	n := float64(len(told))
	return measured{
		perSecond: n / l.length.Seconds(), cpu: float64((after.CPU - before.CPU).Microseconds()) / n,
		written: float64(after.Written-before.Written) / 1000 / n, writes: float64(after.Writes-before.Writes) / n,
		p50: told[len(told)/2].Seconds() * 1000, p99: told[len(told)*99/100].Seconds() * 1000,
	}
}

// loops runs the load; for each loop, the time from the decision to the told.
func (c *contender) loops(b *testing.B, addr string, l workload) (told []time.Duration) {
	b.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	end := time.Now().Add(l.length)
	for range l.requesters {
		r, err := c.requester(b.Context(), addr)
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

func (c *contender) requester(ctx context.Context, addr string) (*requester, error) {
	r := &requester{contender: c, id: make(chan string), told: make(chan error, 1)}
	for _, at := range []**keptConn{&r.asking, &r.waiting, &r.deciding} {
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
