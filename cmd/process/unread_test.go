package process_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
)

// mostMemory is what the server may take while nobody reads what it lists.
const mostMemory = 400 << 20

// Sixty clients ask for a hundred requests of 256 KiB each and read nothing.
func TestUnreadListsDoNotFillTheMemory(t *testing.T) {
	t.Parallel()
	const clients, requests = 60, 100
	v := process.NewVictim(t)
	input := append(append([]byte(`{"a":"`), bytes.Repeat([]byte("x"), 256<<10-20)...), `"}`...)
	for i := range requests {
		if _, err := v.Client(v.Agent).Ask(t.Context(), wire.AskRequest{ToolUseID: strconv.Itoa(i), ToolName: "deploy", Input: input}, 0); err != nil {
			t.Fatal(err)
		}
	}
	for range clients {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", v.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4096)
		}
		if _, err := fmt.Fprintf(conn, "GET /v1/approvals?limit=100 HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", v.Addr, v.Reviewer); err != nil {
			t.Fatal(err)
		}
	}
	most := 0
	answered := regexp.MustCompile(`(?m)^countersign_http_requests_total{method="GET",route="/v1/approvals",status="(\d+)"} (\d+)$`)
	process.Eventually(t, "all have been answered or given up", func() bool {
		most = max(most, memory(t, v))
		sum := 0
		for _, line := range answered.FindAllStringSubmatch(process.Get(t, "http://"+v.Addr+"/metrics"), -1) {
			n, err := strconv.Atoi(line[2])
			if err != nil || line[1] != "200" && line[1] != "429" {
				t.Fatal(line[0])
			}
			sum += n
		}
		return sum == clients
	})
	t.Logf("at most %d MiB", most>>20)
	if most > mostMemory {
		t.Errorf("the server took %d MiB, want at most %d", most>>20, mostMemory>>20)
	}
	var page wire.Page
	v.Get(t, "/v1/approvals?limit=100", &page)
	if len(page.Approvals) == 0 || page.Next == "" {
		t.Errorf("%d requests, next %q", len(page.Approvals), page.Next)
	}
}

// memory is what the process takes now, in bytes.
func memory(t *testing.T, v *process.Victim) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.Process.Pid))
	if err != nil {
		t.Skipf("this system does not tell how much memory a process takes: %v", err)
	}
	_, line, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(line)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
