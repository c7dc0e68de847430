package agent_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models/storetest"
)

// How many permission prompts wait at once, and how many are decided a second.
const mcpWaiting, mcpDecided = 2000, 300

// BenchmarkMCPWaiting has permission prompts wait, in both kinds of protocol, and decides
// them: what each takes of the server's memory, and when its client hears.
func BenchmarkMCPWaiting(b *testing.B) {
	for _, modern := range []bool{false, true} {
		b.Run(fmt.Sprintf("modern=%t", modern), func(b *testing.B) {
			for range b.N {
				benchMCPWaiting(b, modern)
			}
		})
	}
}

func benchMCPWaiting(b *testing.B, modern bool) {
	b.Helper()
	dir := storetest.Dir(b)
	storetest.Migrate(b, dir)
	addr := process.FreeAddr(b)
	url := "http://" + addr
	var agent, reviewer string
	func() {
		s := storetest.New(b, storetest.WithDir(dir))
		owner := storetest.Admin(b, s)
		_, agent = storetest.AgentToken(b, s, owner, "coder")
		_, reviewer = storetest.ReviewerToken(b, s, owner)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}()
	server := exec.Command(process.Binary, "serve", "--data", dir, "--addr", addr, "--limit-asks-per-minute", "0", "--log-level", "warn")
	server.Env = append(os.Environ(), "GOMEMLIMIT=64MiB") // or garbage is left until there are 190 MiB of it
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = server.Process.Signal(syscall.SIGTERM); _ = server.Wait() }()
	reviews := client.New(url, reviewer)
	for ready := false; !ready; {
		if res, err := http.Get(url + "/readyz"); err == nil {
			ready = res.StatusCode == http.StatusOK
			res.Body.Close()
		}
	}
	session := ""
	if !modern {
		session = mcpSession(b, url, agent)
	}
	before := residentMemory(b, server.Process.Pid)

	told := make([]chan time.Time, mcpWaiting)
	var begun, ended sync.WaitGroup
	transport := &http.Transport{MaxConnsPerHost: 0, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	asking := make(chan struct{}, 64)
	for i := range told {
		told[i] = make(chan time.Time, 1)
		begun.Add(1)
		ended.Go(func() {
			asking <- struct{}{}
			waitForPermission(b, transport, mcpRequest(b, url, agent, session, modern, i), func() { begun.Done(); <-asking })
			told[i] <- time.Now()
		})
	}
	begun.Wait()
	pending := pendingByToolUse(b, url, reviewer)
	waiting := residentMemory(b, server.Process.Pid)

	var mu sync.Mutex
	var took []time.Duration
	pace := time.NewTicker(time.Second / mcpDecided)
	defer pace.Stop()
	var deciding sync.WaitGroup
	for i := range told {
		<-pace.C
		a := pending[fmt.Sprintf("t%d", i)]
		deciding.Go(func() {
			if _, err := reviews.Respond(context.Background(), a.ApprovalID, wire.RespondRequest{Approved: new(true), Digest: a.Digest}); err != nil {
				b.Error(err)
			}
			decided := time.Now()
			heard := <-told[i]
			mu.Lock()
			defer mu.Unlock()
			took = append(took, heard.Sub(decided))
		})
	}
	deciding.Wait()
	ended.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(waiting-before)/mcpWaiting/1024, "KiB/call")
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-p50")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "ms-p99")
	b.ReportMetric(took[len(took)-1].Seconds()*1000, "ms-max")
}

// pendingByToolUse are all that wait, by the agent's id of the call.
func pendingByToolUse(b *testing.B, url, reviewer string) map[string]*wire.Approval {
	b.Helper()
	pending := map[string]*wire.Approval{}
	for cursor := ""; len(pending) < mcpWaiting; {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url+"/v1/approvals/pending?limit=200&cursor="+cursor, nil)
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+reviewer)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		var page wire.PendingPage
		err = json.NewDecoder(res.Body).Decode(&page)
		res.Body.Close()
		if err != nil || len(page.Pending) == 0 {
			b.Fatalf("%d pending, then %d: %v", len(pending), res.StatusCode, err)
		}
		for _, a := range page.Pending {
			pending[*a.ToolUseID] = a
		}
		cursor = page.Next
	}
	return pending
}

func residentMemory(b *testing.B, pid int) int {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skipf("this system does not tell how much memory a process takes: %v", err)
	}
	_, line, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(line)[0])
	if err != nil {
		b.Fatal(err)
	}
	return kib << 10
}

// mcpPost is a message to the server.
func mcpPost(b *testing.B, url, agent, body string) *http.Request {
	b.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url+"/mcp", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+agent)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	return req
}

func mcpSession(b *testing.B, url, agent string) string {
	b.Helper()
	res, err := http.DefaultClient.Do(mcpPost(b, url, agent, process.MCPBegins))
	if err != nil {
		b.Fatal(err)
	}
	res.Body.Close()
	return res.Header.Get("Mcp-Session-Id")
}

func mcpRequest(b *testing.B, url, agent, session string, modern bool, i int) *http.Request {
	b.Helper()
	meta := `{"progressToken":1}`
	if modern {
		meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"progressToken":1}`
	}
	req := mcpPost(b, url, agent, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"approve","arguments":{"tool_name":"Bash","input":{"command":"touch %d.txt"},"tool_use_id":"t%d"},"_meta":%s}}`, i, i, i, meta))
	if modern {
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", "tools/call")
		req.Header.Set("Mcp-Name", "approve")
	} else {
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		req.Header.Set("Mcp-Session-Id", session)
	}
	return req
}

// waitForPermission calls the permission prompt, tells when it waits, and returns with the answer.
func waitForPermission(b *testing.B, transport http.RoundTripper, req *http.Request, waits func()) {
	b.Helper()
	res, err := transport.RoundTrip(req)
	if err != nil {
		b.Error(err)
		waits()
		return
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		switch line := lines.Text(); {
		case waits != nil && line != "":
			waits()
			waits = nil
		case strings.Contains(line, `"result"`):
			return
		}
	}
	b.Errorf("status %d, no answer: %v", res.StatusCode, lines.Err())
}
