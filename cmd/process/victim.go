package process

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
)

// Victim is a server process that is killed, and started again on the same
// folder and port.
type Victim struct {
	*Program

	Dir, Addr              string
	Settings               []string
	Person                 models.Actor
	Agent, Reviewer, Admin string         // tokens
	Session                []*http.Cookie // of the admin, once a page was read
}

// NewVictim makes the people and starts the server. Afterwards only the server has the database open: a kill leaves it
// as a crash would.
func NewVictim(t *testing.T, settings ...string) *Victim {
	t.Helper()
	return NewVictimIn(t, storetest.Dir(t), settings...)
}

// NewVictimIn is NewVictim in a folder.
func NewVictimIn(t *testing.T, dir string, settings ...string) *Victim {
	t.Helper()
	v := &Victim{Dir: dir, Addr: FreeAddr(t), Settings: settings}
	s := storetest.New(t, storetest.WithDir(v.Dir))
	v.Person = storetest.Admin(t, s)
	_, v.Agent = storetest.AgentToken(t, s, v.Person, "bot")
	_, v.Reviewer = storetest.ReviewerToken(t, s, v.Person)
	_, v.Admin = storetest.AdminToken(t, s, v.Person)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	v.Start(t)
	return v
}

// Start starts the server, and waits until it is ready.
func (v *Victim) Start(t *testing.T) {
	t.Helper()
	args := []string{"serve", "--data", v.Dir, "--addr", v.Addr, "--log-level", "error", "--limit-asks-per-minute", "0"}
	v.Program = Start(t, nil, append(args, v.Settings...)...)
	Eventually(t, "the server is ready", func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+v.Addr+"/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// Kill is kill -9.
func (v *Victim) Kill(t *testing.T) {
	t.Helper()
	if err := v.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-v.Done
}

// Client is a client of the server with a token.
func (v *Victim) Client(token string) *client.Client {
	return client.New("http://"+v.Addr, token)
}

// SignIn signs the admin in by the form, and returns the cookies.
func (v *Victim) SignIn(t *testing.T) []*http.Cookie {
	t.Helper()
	form := url.Values{"email": {storetest.AdminEmail}, "password": {storetest.Password}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+v.Addr+"/signin",
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) == 0 {
		t.Errorf("signing in: %s", res.Status)
	}
	return res.Cookies()
}

// Get reads one JSON answer for the admin.
func (v *Victim) Get(t *testing.T, path string, out any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+v.Addr+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+v.Admin)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// Waiting waits until n callers are blocked.
func (v *Victim) Waiting(t *testing.T, n int) {
	t.Helper()
	Eventually(t, fmt.Sprintf("%d blocked callers", n), func() bool {
		var stats struct {
			ResolversCount int `json:"resolversCount"`
		}
		v.Get(t, "/v1/approvals/stats", &stats)
		return stats.ResolversCount == n
	})
}

// Pending are the deadlines of all that waits for a decision.
func (v *Victim) Pending(t *testing.T) map[models.ResponseID]time.Time {
	t.Helper()
	all := map[models.ResponseID]time.Time{}
	for next := ""; ; {
		var page struct {
			Pending []wire.Approval `json:"pending"`
			Next    string          `json:"next"`
		}
		v.Get(t, "/v1/approvals/pending?limit=100&cursor="+next, &page)
		for _, a := range page.Pending {
			all[models.ResponseID(a.ApprovalID)] = *a.TimeoutAt
		}
		if next = page.Next; next == "" {
			return all
		}
	}
}
