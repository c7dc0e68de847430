package cmd_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/cmd"
	"countersign/models"
	"countersign/models/storetest"
)

// Pages and surfaces share one limit; a revoked token's stream ends within a
// second, also from the command line; a stop ends the rest.
func TestStreamsOfPagesAndSurfaces(t *testing.T) {
	t.Parallel()
	s := serve(t, storetest.Dir(t), "", func(c *cmd.Config) { c.StreamsPerUser = 3 })
	admin := storetest.Admin(t, s.Store())
	_, session := storetest.Session(t, s.Store(), storetest.AdminEmail)
	actor, doomed := storetest.AdminToken(t, s.Store(), admin)
	_, kept := storetest.ReviewerToken(t, s.Store(), admin)
	agentAs, agent := storetest.AgentToken(t, s.Store(), admin, "bot")

	open := func(token, path, cookie string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, s.URL()+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		} else {
			req.AddCookie(&http.Cookie{Name: "countersign", Value: cookie})
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	page := open("", "/events", session)
	revoked, reviewer := open(doomed, "/v1/approvals/stream", ""), open(kept, "/v1/events", "")
	if page.StatusCode != http.StatusOK || revoked.StatusCode != http.StatusOK || reviewer.StatusCode != http.StatusOK {
		t.Fatalf("open three: %s, %s, %s", page.Status, revoked.Status, reviewer.Status)
	}
	if fourth := open(kept, "/api/approval/events", ""); fourth.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the fourth of one person: %s, want 429", fourth.Status)
	}
	if fourth := open("", "/events", session); fourth.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the fourth, of a page: %s, want 429", fourth.Status)
	}
	own := open(agent, "/v1/events", "")
	if own.StatusCode != http.StatusOK {
		t.Errorf("the agent's first: %s", own.Status)
	}

	must(t, "", "token", "revoke", string(actor.TokenID), "--data", s.dir)
	began := time.Now()
	for scan := bufio.NewScanner(revoked.Body); scan.Scan(); {
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("the revoked token's stream ended after %v", took)
	}
	if _, err := s.Store().Ask(t.Context(), agentAs, models.AskInput{ToolName: "deploy", Explicit: true}); err != nil {
		t.Fatal(err)
	}
	for _, res := range []*http.Response{reviewer, own} {
		if got := firstData(res); !strings.Contains(got, `"new_approval"`) {
			t.Errorf("told %q", got)
		}
	}
	began = time.Now()
	s.stop()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the stop took %v", took)
	}
	for scan := bufio.NewScanner(own.Body); scan.Scan(); {
	}
}

// firstData reads a stream up to its first event.
func firstData(res *http.Response) string {
	for scan := bufio.NewScanner(res.Body); scan.Scan(); {
		if data, ok := strings.CutPrefix(scan.Text(), "data: "); ok {
			return data
		}
	}
	return "nothing"
}
