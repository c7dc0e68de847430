package server_test

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
)

// With 1,000 waits and 100 streams open, of pages and of all three vocabularies,
// the server stops without waiting for any of them, every wait is answered as pending,
// and every stream ends. A quiet machine takes a part of the two seconds that it has.
func TestAStopUnderLoadIsQuick(t *testing.T) {
	const waits, each = 1000, 25
	paths := []string{"/events", "/v1/approvals/stream", "/api/approval/events", "/v1/events"}
	streams := each * len(paths)
	w := process.NewWorld(t)
	_, session := storetest.Session(t, w.Store(), storetest.AdminEmail)
	transport := &http.Transport{MaxIdleConns: 1, MaxIdleConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	client := w.Client(w.Agent)
	client.HTTP = &http.Client{Transport: transport}

	var all sync.WaitGroup
	var pending, ended atomic.Int64
	for i := range waits {
		all.Go(func() {
			got, err := client.Ask(context.WithoutCancel(t.Context()), wire.AskRequest{ToolUseID: strconv.Itoa(i), ToolName: "deploy"}, 50*time.Second)
			if err != nil || got.Status != wire.StatusPending {
				t.Errorf("ask %d: %+v, %v", i, got, err)
				return
			}
			pending.Add(1)
		})
	}
	process.Eventually(t, "all wait", func() bool { return w.Store().Waiters() == waits })
	for i := range streams {
		body := stream(t, transport, w, paths[i%len(paths)], session)
		all.Go(func() {
			defer body.Close()
			_, _ = io.Copy(io.Discard, body)
			ended.Add(1)
		})
	}
	for surface, want := range map[string]int{"pages": each, "api": streams - each} {
		if got := metric(t, w.Addr, `countersign_stream_clients{surface="`+surface+`"}`); got != float64(want) {
			t.Errorf("%v streams of %s are told to be open, want %d", got, surface, want)
		}
	}
	if got := metric(t, w.Addr, "countersign_waiters"); got != waits {
		t.Errorf("%v waiters are told, want %d", got, waits)
	}
	w.StopIn(10 * process.Patience)
	began := time.Now()
	w.Stop()
	if took := time.Since(began); took > process.Stuck {
		t.Errorf("the stop took %v: it waited for agents", took)
	}
	all.Wait()
	if pending.Load() != waits || ended.Load() != int64(streams) {
		t.Errorf("%d of %d waits were answered, %d of %d streams ended", pending.Load(), waits, ended.Load(), streams)
	}
}

// stream opens one event stream, of a page by the session and of the API by the
// agent's token, and returns once it stands.
func stream(t *testing.T, transport *http.Transport, w *process.World, path, session string) io.ReadCloser {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, "http://"+w.Addr+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if path == "/events" {
		req.AddCookie(&http.Cookie{Name: "countersign", Value: session})
	} else {
		req.Header.Set("Authorization", "Bearer "+w.Agent)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatalf("open %s: %v", path, err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("open %s: %s", path, res.Status)
	}
	return res.Body
}

func TestMetricsFollowARequestFromAskToDecision(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, `{"rules":[{"name":"no rm","tools":["rm"],"effect":"deny"}]}`)
	ask := func(id, tool string) *wire.Approval {
		t.Helper()
		got, err := w.Client(w.Agent).Ask(t.Context(), wire.AskRequest{ToolUseID: id, ToolName: tool}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := func(name string, value float64) {
		t.Helper()
		if got := metric(t, w.Addr, name); got != value {
			t.Errorf("%s is %v, want %v", name, got, value)
		}
	}
	want("countersign_approvals_pending", 0)
	want("countersign_approvals_oldest_pending_seconds", 0)
	held := ask("1", "deploy")
	ask("2", "rm")
	want("countersign_approvals_pending", 1)
	w.Respond(t, models.ResponseID(held.ApprovalID), wire.RespondRequest{Approved: new(true)})
	want("countersign_approvals_pending", 0)
	want(`countersign_approvals_settled_total{cause="reviewer",status="approved"}`, 1)
	want(`countersign_approvals_settled_total{cause="policy",status="rejected"}`, 1)
	want(`countersign_approval_decision_seconds_count`, 1)
	want(`countersign_http_requests_total{method="POST",route="/v1/approvals",status="202"}`, 1)
	want(`countersign_http_requests_total{method="POST",route="/v1/approvals/:id/respond",status="200"}`, 1)
	if n := metric(t, w.Addr, "countersign_commit_callers_count"); n < 3 {
		t.Errorf("%v commits are told", n)
	}
	head, err := w.Store().Ledger.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want("countersign_ledger_entry", float64(head.Seq))
}

// metric reads one figure, as a scraper on this machine does.
func metric(t *testing.T, addr, name string) float64 {
	t.Helper()
	text := process.Get(t, "http://"+addr+"/metrics")
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(text)
	if line == nil {
		t.Fatalf("%s is not told:\n%s", name, text)
	}
	value, err := strconv.ParseFloat(line[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// The log of the real program: one line a request with the id of its answer,
// judgements at the level for finding faults, and nothing that must not be read.
func TestTheLogOfTheProgram(t *testing.T) {
	t.Parallel()
	dir, addr := storetest.Dir(t), process.FreeAddr(t)
	process.Must(t, "correct horse battery\n", "user", "add", "a@example.com", "--name", "Ada", "--role", "admin", "--password-stdin", "--data", dir)
	agent := strings.TrimSpace(process.Must(t, "", "token", "add", "bot", "--user", "a@example.com", "--scope", "agent", "--data", dir))
	p := process.Start(t, nil, "serve", "--data", dir, "--addr", addr, "--log-level", "debug", "--log-format", "json", "--access-log")
	p.Says(t, p.Err, "serving")
	client := client.New("http://"+addr, agent)
	got, err := client.Ask(t.Context(), wire.AskRequest{
		ToolUseID: "1", ToolName: "deploy", Input: []byte(`{"password":"hush-hush"}`), Explanation: wire.Explanation{Description: "hush-hush", Context: "hush-hush"},
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	judged := p.Says(t, p.Err, "policy judged")
	for _, want := range []string{`"digest":"` + got.Digest + `"`, `"rule":"`, `"effect":"require"`, `"policy_version":1`} {
		if !strings.Contains(judged, want) {
			t.Errorf("%s is not in %s", want, judged)
		}
	}
	p.Says(t, p.Err, `"route":"/v1/approvals"`)
	for _, secret := range []string{"hush-hush", agent} {
		if strings.Contains(p.Err.String()+p.Out.String(), secret) {
			t.Errorf("%q is in the log:\n%s", secret, p.Err)
		}
	}
	if lines := regexp.MustCompile(`"msg":"request","method":"POST","route":"/v1/approvals","status":202,"took":[0-9]+,"request_id":"[0-9a-f]{16}"`).
		FindAllString(p.Err.String(), -1); len(lines) != 1 {
		t.Errorf("%d lines for one request:\n%s", len(lines), p.Err)
	}
}
