package process_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// TestEachLineNamesItsRequestOrWorker: what the store says while a request is answered, during
// its wait and at its end, has the request's id and the caller's trace; what a worker does has
// the worker's name. Neither answers nor the ledger know of a trace.
func TestEachLineNamesItsRequestOrWorker(t *testing.T) {
	t.Parallel()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	v := process.NewVictim(t, "--log-level", "debug", "--log-format", "json", "--access-log")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+v.Addr+"/v1/approvals?wait=50s",
		strings.NewReader(`{"toolUseId":"1","toolName":"deploy","timeoutSeconds":1}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + v.Agent}, "Content-Type": {"application/json"}, "Traceparent": {"00-" + trace + "-00f067aa0ba902b7-01"}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got wire.Approval
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil || got.Status != wire.StatusExpired {
		t.Fatalf("%+v, %v", got, err)
	}
	v.Says(t, v.Err, `"wait ended"`)
	v.Says(t, v.Err, `"approval expired"`)
	v.Says(t, v.Err, `"route":"/v1/approvals",`)
	id := res.Header.Get("X-Request-Id")
	var seen []string
	for line := range strings.SplitSeq(strings.TrimSpace(v.Err.String()), "\n") {
		var l struct {
			Msg, Worker, Route string
			Approval           models.ResponseID
			RequestID          string `json:"request_id"`
			TraceID            string `json:"trace_id"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch {
		case l.Approval != models.ResponseID(got.ApprovalID) && l.Route != "/v1/approvals":
		case l.Msg == "approval expired":
			if l.Worker != "expire" || l.RequestID != "" || l.TraceID != "" {
				t.Errorf("not of the worker: %s", line)
			}
			seen = append(seen, l.Msg)
		default:
			if l.RequestID != id || l.TraceID != trace || l.Worker != "" || strings.Count(line, "request_id") != 1 {
				t.Errorf("not of request %s: %s", id, line)
			}
			seen = append(seen, l.Msg)
		}
	}
	slices.Sort(seen)
	if want := []string{"approval asked", "approval expired", "policy judged", "request", "wait begun", "wait ended"}; !slices.Equal(slices.Compact(seen), want) {
		t.Errorf("the log says %v, want %v", seen, want)
	}
	ledger := process.Must(t, "", "audit", "export", "--data", v.Dir)
	for name, text := range map[string]string{"the ledger": ledger, "the answer's head": headText(t, res.Header)} {
		if strings.Contains(text, trace) {
			t.Errorf("%s has the trace: %s", name, text)
		}
	}
}

func headText(t *testing.T, h http.Header) string {
	t.Helper()
	var b strings.Builder
	if err := h.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
