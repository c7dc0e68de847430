package server_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"countersign/cmd/config"
	"countersign/cmd/process"
	"countersign/models"
	"countersign/models/storetest"
)

// Pages and surfaces share one limit; a revoked token's stream ends, also from the
// command line; a stop ends the rest.
func TestStreamsOfPagesAndSurfaces(t *testing.T) {
	t.Parallel()
	s := process.Serve(t, storetest.Dir(t), "", func(c *config.Config) { c.StreamsPerUser = 3 })
	admin := storetest.Admin(t, s.Store())
	_, session := storetest.Session(t, s.Store(), storetest.AdminEmail)
	actor, doomed := storetest.AdminToken(t, s.Store(), admin)
	_, kept := storetest.ReviewerToken(t, s.Store(), admin)
	agentAs, agent := storetest.AgentToken(t, s.Store(), admin, "bot")

	open := func(token, path, cookie string) (status int, body io.Reader) {
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
		return res.StatusCode, res.Body
	}
	if status, _ := open("", "/events", session); status != http.StatusOK {
		t.Fatalf("the page's: %d", status)
	}
	first, revoked := open(doomed, "/v1/approvals/stream", "")
	second, reviewer := open(kept, "/v1/events", "")
	other, own := open(agent, "/v1/events", "")
	if first != http.StatusOK || second != http.StatusOK || other != http.StatusOK {
		t.Fatalf("two of the person and one of the agent: %d, %d, %d", first, second, other)
	}
	if fourth, _ := open(kept, "/api/approval/events", ""); fourth != http.StatusTooManyRequests {
		t.Errorf("the fourth of one person: %d, want 429", fourth)
	}
	if fourth, _ := open("", "/events", session); fourth != http.StatusTooManyRequests {
		t.Errorf("the fourth, of a page: %d, want 429", fourth)
	}

	process.Must(t, "", "token", "revoke", string(actor.TokenID), "--data", s.Dir)
	_, _ = io.Copy(io.Discard, revoked)
	if _, err := s.Store().Ask(t.Context(), agentAs, models.AskInput{ToolName: "deploy", Explicit: true}); err != nil {
		t.Fatal(err)
	}
	for _, body := range []io.Reader{reviewer, own} {
		if got := dataWith(body, `"new_approval"`); got == "" {
			t.Error("the request is not told")
		}
	}
	s.StopIn(10 * process.Patience) // which it would wait for streams that go on
	s.Stop()
	_, _ = io.Copy(io.Discard, own)
}

// dataWith is the next data of a stream that holds part; empty: the stream ended.
func dataWith(body io.Reader, part string) string {
	for scan := bufio.NewScanner(body); scan.Scan(); {
		if data, ok := strings.CutPrefix(scan.Text(), "data: "); ok && strings.Contains(data, part) {
			return data
		}
	}
	return ""
}
