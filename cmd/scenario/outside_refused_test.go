package scenario_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
)

// hub is an upstream that knows the specification's words and no others.
type hub struct {
	*httptest.Server

	t  *testing.T
	mu sync.Mutex

	key     string
	pending []map[string]any
	asked   []map[string]any // of people
	refuses string           // a call whose next decision is answered with 422
	said    map[string][]string
}

func newHub(t *testing.T, key string) *hub {
	t.Helper()
	h := &hub{t: t, key: key, said: map[string][]string{}, pending: []map[string]any{}, asked: []map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /function_calls", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("status") != "pending" {
			t.Errorf("asked for %s", r.URL)
		}
		h.answer(w, http.StatusOK, h.pending)
	})
	mux.HandleFunc("GET /human_contacts", func(w http.ResponseWriter, _ *http.Request) { h.answer(w, http.StatusOK, h.asked) })
	mux.HandleFunc("POST /function_calls/{call}/respond", h.respond)
	mux.HandleFunc("POST /human_contacts/{call}/respond", h.hearAnswer)
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+h.key {
			h.answer(w, http.StatusUnauthorized, map[string]any{"error": "unknown key"})
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hub) answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		h.t.Error(err)
	}
}

func (h *hub) respond(w http.ResponseWriter, r *http.Request) {
	var d struct {
		Decision string  `json:"decision"`
		Reason   *string `json:"reason"`
	}
	raw, err := io.ReadAll(r.Body)
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	call := r.PathValue("call")
	if err != nil || dec.Decode(&d) != nil || d.Reason == nil || d.Decision != "approve" && d.Decision != "deny" {
		h.t.Errorf("a decision on %s is not in the specification's words: %s", call, raw)
	}
	if call == h.refuses {
		h.refuses = ""
		h.answer(w, http.StatusUnprocessableEntity, map[string]any{"error": "run_9 is closed\u202e for " + r.Header.Get("Authorization")})
		return
	}
	h.said[call] = append(h.said[call], d.Decision+" "+*d.Reason)
	h.pending = slices.DeleteFunc(h.pending, func(item map[string]any) bool { return item["call_id"] == call })
	h.answer(w, http.StatusOK, map[string]any{})
}

func (h *hub) hearAnswer(w http.ResponseWriter, r *http.Request) {
	var d struct {
		Response string `json:"response"`
	}
	raw, err := io.ReadAll(r.Body)
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	call := r.PathValue("call")
	if err != nil || dec.Decode(&d) != nil || d.Response == "" {
		h.t.Errorf("an answer to %s is not in the specification's words: %s", call, raw)
	}
	h.said[call] = append(h.said[call], d.Response)
	h.asked = slices.DeleteFunc(h.asked, func(item map[string]any) bool { return item["call_id"] == call })
	h.answer(w, http.StatusOK, map[string]any{})
}

func (h *hub) askPerson(call, message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now().UTC()
	h.asked = append(h.asked, map[string]any{
		"id": "appr_" + call, "call_id": call, "run_id": "run_9", "type": "human_contact", "status": "pending", "function_args": map[string]any{"message": message},
		"requested_at": now.Format(time.RFC3339), "timeout_at": now.Add(time.Hour).Format(time.RFC3339),
	})
}

func (h *hub) ask(call, name string, args map[string]any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now().UTC()
	h.pending = append(h.pending, map[string]any{
		"id": "appr_" + call, "call_id": call, "run_id": "run_9", "type": "function_call", "status": "pending", "function_name": name, "function_args": args,
		"requested_at": now.Format(time.RFC3339), "timeout_at": now.Add(time.Hour).Format(time.RFC3339),
	})
}

func (h *hub) heard(call string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.said[call])
}

func (h *hub) set(change func(*hub)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// pageOf reads a page as the admin.
func pageOf(t *testing.T, v *process.Victim, path string) string {
	t.Helper()
	if v.Session == nil {
		v.Session = v.SignIn(t)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+v.Addr+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Session {
		req.AddCookie(c)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, res.Status, err)
	}
	return string(raw)
}

// says fails the test for each text that a page does not hold.
func says(t *testing.T, what, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("%s does not say %q", what, text)
		}
	}
}

// An upstream answers 422 to one decision, later 401 to everything, and is mended:
// nothing is stuck, nothing is lost, and the pages tell what happened.
func TestAnUpstreamThatRefusesAndIsMended(t *testing.T) {
	t.Parallel()
	const key, newKey = "key-1f00aa-first", "key-2e11bb-second"
	h := newHub(t, key)
	h.ask("call_1", "drop_table", map[string]any{"table": "orders"})
	h.ask("call_2", "send_mail", map[string]any{"to": "a@example.com"})
	h.refuses = "call_1"
	v := process.NewVictim(t, "--poll-every", "50ms", "--takeover-after", "1s")
	process.Must(t, key+"\n", "upstream", "add", "hub", "--data", v.Dir, "--url", h.URL, "--dialect", "plain", "--owner", storetest.AdminEmail)

	ids := map[string]models.ResponseID{}
	client := v.Client(v.Reviewer)
	process.Eventually(t, "both are asked for here", func() bool {
		var page struct{ Pending []wire.Approval }
		v.Get(t, "/v1/approvals/pending", &page)
		for i := range page.Pending {
			a := &page.Pending[i]
			ids[a.ToolName] = models.ResponseID(a.ApprovalID)
			want := map[string]string{"drop_table": `{"table":"orders"}`, "send_mail": `{"to":"a@example.com"}`}[a.ToolName]
			if string(a.Input) != want || a.Origin == nil || !strings.HasPrefix(a.Origin.ApprovalID, "appr_call_") {
				t.Fatalf("%s is shown with %s, %+v", a.ToolName, a.Input, a.Origin)
			}
		}
		return len(ids) == 2
	})
	first, second := ids["drop_table"], ids["send_mail"]
	firstPage := "/approvals/" + string(first)
	decide := func(id models.ResponseID, d wire.RespondRequest) {
		t.Helper()
		got, err := client.Get(t.Context(), wire.ResponseID(id), 0)
		if err != nil {
			t.Fatal(err)
		}
		d.Digest = got.Digest
		if _, err := client.Respond(t.Context(), wire.ResponseID(id), d); err != nil {
			t.Fatal(err)
		}
	}
	stands := func(id models.ResponseID, want models.Status) *wire.Approval {
		t.Helper()
		var got *wire.Approval
		process.Eventually(t, fmt.Sprintf("%s is %s and nothing holds it", id, want), func() bool {
			var err error
			got, err = client.Get(context.WithoutCancel(t.Context()), wire.ResponseID(id), 0)
			return err == nil && got.Status == wire.Status(want) && got.Held == nil
		})
		return got
	}

	// 422: the decision is taken back, and the request waits again.
	decide(first, wire.RespondRequest{Approved: new(true)})
	got := stands(first, models.StatusPending)
	if w := got.Origin.Withdrawn; len(w) != 1 || w[0].Status != 422 || w[0].Said != "run_9 is closed\u202e for Bearer [key]" {
		t.Fatalf("%+v", got.Origin)
	}
	page := pageOf(t, v, firstPage)
	says(t, "the page of the request", page, "hub refused", "approval (HTTP 422)", "run_9 is closed", "Bearer [key]", "approve again, or reject", "appr_call_1", `id="approve"`)
	if strings.Contains(page, key) || strings.Contains(page, "\u202e") {
		t.Error("the page shows the key, or characters that turn the text around")
	}
	says(t, "the inbox", pageOf(t, v, "/"), "hub refused", "waiting again")

	// 401: the upstream is paused, and what is decided meanwhile is kept.
	h.set(func(h *hub) { h.key = newKey })
	process.Eventually(t, "the upstream is paused", func() bool { return strings.Contains(pageOf(t, v, "/system"), "Some refuse their key and are paused") })
	says(t, "the page of upstreams", pageOf(t, v, "/upstreams"), "paused", "refuses the key (401)", "/resume")
	decide(first, wire.RespondRequest{Approved: new(false), Reason: "hub closed the run"})
	decide(second, wire.RespondRequest{Approved: new(true)})
	says(t, "the page of what is on its way", pageOf(t, v, firstPage), "rejection is being sent to hub: not confirmed yet", "Undo this decision")
	v.Kill(t)
	v.Start(t)
	if got, err := client.Get(t.Context(), wire.ResponseID(second), 0); err != nil || got.Held == nil || len(h.heard("call_2")) != 0 {
		t.Errorf("after a restart: %+v, %v; the upstream heard %v", got, err, h.heard("call_2"))
	}

	// A new key: both decisions arrive, once each.
	process.Must(t, newKey+"\n", "upstream", "set-key", "hub", "--data", v.Dir)
	stands(first, models.StatusRejected)
	stands(second, models.StatusApproved)
	if a, b := h.heard("call_1"), h.heard("call_2"); !slices.Equal(a, []string{"deny hub closed the run"}) || !slices.Equal(b, []string{"approve "}) {
		t.Errorf("the upstream heard %q and %q", a, b)
	}
	says(t, "the page of the outcome", pageOf(t, v, firstPage), "hub refused", "run_9 is closed", "hub closed the run")
	process.Eventually(t, "the system is well again", func() bool {
		return strings.Contains(pageOf(t, v, "/system"), "Every enabled upstream answers and has received every decision.")
	})
	process.Must(t, "", "audit", "verify", "--rows", "--data", v.Dir)
}
