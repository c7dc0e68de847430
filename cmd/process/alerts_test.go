package process_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
)

// metrics are what the server tells Prometheus, as text.
func metrics(t *testing.T, w *process.World) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+w.Addr+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", res.Status, err)
	}
	return string(raw)
}

// figure is the value of one line of metrics; -1: there is none.
func figure(text, name string) float64 {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			if n, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
				return n
			}
		}
	}
	return -1
}

// alertRule is how a rule of the file is written.
var alertRule = regexp.MustCompile(`^(?:- )?alert: (\w+)
        expr: (.+)
(?:        for: \d+[mh]
)?        labels: \{severity: (?:page|ticket)\}
        annotations: \{summary: "[^"]+"\}$`)

// TestEachAlertIsOfSomethingThatIsTold: a metric that an alert names, and a value of its labels
// that it compares with, is there on a server that has just begun.
func TestEachAlertIsOfSomethingThatIsTold(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../.deploy/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := process.NewWorld(t)
	metrics(t, w) // an answer, whose duration is counted
	text := metrics(t, w)
	names, label := regexp.MustCompile(`countersign_\w+`), regexp.MustCompile(`(risk|age|channel|class)=~"([^"]*)"`)
	seen := 0
	_, rules, _ := strings.Cut(string(raw), "    rules:\n")
	for rule := range strings.SplitSeq(strings.TrimSpace(rules), "\n      - ") {
		shape := alertRule.FindStringSubmatch(rule)
		if shape == nil {
			t.Errorf("this has no name, expression, severity and summary in this order:\n%s", rule)
			continue
		}
		for _, name := range names.FindAllString(shape[2], -1) {
			if seen++; !strings.Contains(text, "\n"+name+" ") && !strings.Contains(text, "\n"+name+"{") {
				t.Errorf("%s is about %s, which /metrics does not tell", shape[1], name)
			}
		}
		for _, one := range label.FindAllStringSubmatch(shape[2], -1) {
			for value := range strings.SplitSeq(one[2], "|") {
				if !strings.Contains(text, one[1]+`="`+value+`"`) {
					t.Errorf("%s is about %s %s, which /metrics does not tell", shape[1], one[1], value)
				}
			}
		}
	}
	if seen < 15 {
		t.Errorf("%d metrics are named: the rules are not read", seen)
	}
}

// TestMetricsToPageOnFollow changes each thing and looks at its figure.
func TestMetricsToPageOnFollow(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	before := metrics(t, w)
	for name, want := range map[string]float64{
		"countersign_gate_off": 0, "countersign_fallback_on": 0, "countersign_stops": 0, "countersign_backup_timestamp_seconds": 0, "countersign_decision_told_seconds_count": 0,
	} {
		if got := figure(before, name); got != want {
			t.Errorf("at first %s is %v, want %v", name, got, want)
		}
	}
	told := make(chan error, 1)
	go func() {
		_, err := w.Client(w.Agent).AskUntilDecided(t.Context(), wire.AskRequest{ToolName: "deploy"}, client.WaitOptions{Connect: process.Patience})
		told <- err
	}()
	asked := w.OnlyPending(t)
	// Only who has read that it is pending is told: a wait that begins reads the decision.
	process.Eventually(t, "the agent waits", func() bool {
		there, err := w.Store().Presences(t.Context(), asked.ID)
		return err == nil && there[asked.ID].Waiting
	})
	if got := figure(metrics(t, w), `countersign_approvals_pending_by_age{age="under_1m",risk="`+string(asked.Risk)+`"}`); got != 1 {
		t.Errorf("%v wait with risk %s", got, asked.Risk)
	}
	w.Respond(t, asked.ID, wire.RespondRequest{Approved: new(true)})
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	process.Must(t, "", "backup", filepath.Join(t.TempDir(), "copy.db"), "--data", w.Dir)
	w.ApplyPolicy(t, `{"approval_enabled": false, "fallback_auto_approve": true}`)
	if _, _, err := w.Store().Stop(t.Context(), w.Admin, "", "for the test"); err != nil {
		t.Fatal(err)
	}
	after := metrics(t, w)
	for name, least := range map[string]float64{
		"countersign_gate_off": 1, "countersign_fallback_on": 1, "countersign_stops": 1, "countersign_decision_told_seconds_count": 1,
		"countersign_backup_timestamp_seconds": float64(time.Now().Add(-time.Hour).Unix()), "countersign_database_bytes": 4096,
		"countersign_database_log_bytes": 1, "countersign_disk_free_bytes": 1, `countersign_http_request_seconds_count{method="GET",route="/metrics"}`: 1,
	} {
		if got := figure(after, name); got < least {
			t.Errorf("%s is %v, want %v or more", name, got, least)
		}
	}
}
