package webhook_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/views/pages/webhooks"
)

const listenSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// listening is a `webhook listen`, and the address that it said to enter.
type listening struct {
	*process.Program

	t  *testing.T
	at string
}

func listen(t *testing.T, env []string, args ...string) *listening {
	t.Helper()
	l := &listening{Program: process.Start(t, env, append([]string{"webhook", "listen", "--addr", "127.0.0.1:0"}, args...)...), t: t}
	line := l.Says(t, l.Err, "Address for System > Webhooks:")
	l.at = line[strings.Index(line, "http://"):]
	return l
}

// post sends an event as the server does, but for what change changes.
func (l *listening) post(id, body string, at time.Time, change func(http.Header)) (status int, answer string) {
	l.t.Helper()
	hook, err := standardwebhooks.NewWebhook(listenSecret)
	if err != nil {
		l.t.Fatal(err)
	}
	signature, err := hook.Sign(id, at, []byte(body))
	if err != nil {
		l.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(l.t.Context(), http.MethodPost, l.at, bytes.NewReader([]byte(body)))
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	req.Header.Set("webhook-signature", signature)
	if change != nil {
		change(req.Header)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return res.StatusCode, string(said)
}

func TestWebhookListenPrintsWhatItVerified(t *testing.T) {
	t.Parallel()
	l := listen(t, []string{"COUNTERSIGN_WEBHOOK_SECRET=" + listenSecret})
	if host := strings.TrimSuffix(strings.TrimPrefix(l.at, "http://"), "/"); !strings.HasSuffix(l.Says(t, l.Err, "Host to allow on System > Notifications:"), " "+host) {
		t.Errorf("the host to allow is not that of %s:\n%s", l.at, l.Err)
	}
	l.Says(t, l.Err, "Waiting for events.")
	now := time.Now()
	const body = `{"type": "approval.resolved", "data": {"id": "evt_1", "by": "A` + "\u202e" + `nn"}}`
	for range 2 {
		if status, said := l.post("evt_1", body, now, nil); status != http.StatusNoContent || said != "" {
			t.Errorf("answered %d %q", status, said)
		}
	}
	want := "approval.resolved  evt_1  verified, answered 204\n{\n  \"type\": \"approval.resolved\",\n  \"data\": {\n    \"id\": \"evt_1\",\n    \"by\": \"A⟨U+202E⟩nn\"\n  }\n}\n"
	l.Says(t, l.Out, "answered 204, sent 2 times")
	if out := l.Out.String(); !strings.Contains(out, want) {
		t.Errorf("printed:\n%s", out)
	}
	l.Signal(t, syscall.SIGINT)
	if code := l.Exit(t); code != 0 {
		t.Errorf("exit %d: %s", code, l.Err)
	}
}

func TestWebhookListenRefusesWhatItCannotVerify(t *testing.T) {
	t.Parallel()
	l := listen(t, []string{"COUNTERSIGN_WEBHOOK_SECRET=" + listenSecret})
	now := time.Now()
	for name, tt := range map[string]struct {
		at     time.Time
		change func(http.Header)
		says   string
	}{
		"no signature":        {now, func(h http.Header) { h.Del("webhook-signature") }, "it is not signed"},
		"another signature":   {now, func(h http.Header) { h.Set("webhook-id", "evt_3") }, "it is not signed with this secret"},
		"another version":     {now, func(h http.Header) { h.Set("webhook-signature", "v2,AAAA") }, "it is not signed with this secret"},
		"a time that is none": {now, func(h http.Header) { h.Set("webhook-timestamp", "noon") }, "its signature cannot be read"},
		"replayed later":      {now.Add(-6 * time.Minute), nil, "compare the clocks"},
		"from ahead":          {now.Add(6 * time.Minute), nil, "compare the clocks"},
	} {
		status, said := l.post("evt_2", `{"type": "planted"}`, tt.at, tt.change)
		if status != http.StatusUnauthorized || !strings.Contains(said, tt.says) {
			t.Errorf("%s: answered %d %q, want 401 and %q", name, status, said, tt.says)
		}
		l.Says(t, l.Err, "refused with 401: "+strings.TrimSpace(said))
	}
	if status, said := l.post("evt_2", strings.Repeat(" ", 5<<20), now, nil); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of 5 MiB is answered with %d %q", status, said)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.at, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET is answered with %d", res.StatusCode)
	}
	if out := l.Out.String(); out != "" {
		t.Errorf("printed what it did not verify:\n%s", out)
	}
}

func TestWebhookListenAnswersWithAStatusToTry(t *testing.T) {
	t.Parallel()
	l := listen(t, nil, "--status", "503")
	l.Says(t, l.Err, "Host to allow")
	if _, err := io.WriteString(l.In, listenSecret+"\n"); err != nil { // it is asked for where the environment has none
		t.Fatal(err)
	}
	if status, _ := l.post("evt_1", `{"type": "webhook.test"}`, time.Now(), nil); status != http.StatusServiceUnavailable {
		t.Errorf("answered %d, want 503", status)
	}
	l.Says(t, l.Out, "webhook.test  evt_1  verified, answered 503")
}

func TestWebhookListenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	taken := process.FreeAddr(t)
	first := process.Start(t, []string{"COUNTERSIGN_WEBHOOK_SECRET=" + listenSecret}, "webhook", "listen", "--addr", taken)
	first.Says(t, first.Err, "Waiting for events.")
	for name, tt := range map[string]struct {
		env  []string
		args []string
		says string
	}{
		"status":        {nil, []string{"--status", "100"}, "--status: must be from 200 to 599"},
		"no secret":     {nil, nil, "the secret: must be the endpoint's secret"},
		"short secret":  {[]string{"COUNTERSIGN_WEBHOOK_SECRET=whsec_"}, nil, "COUNTERSIGN_WEBHOOK_SECRET: must be the endpoint's secret"},
		"other secret":  {[]string{"COUNTERSIGN_WEBHOOK_SECRET=csk_" + strings.Repeat("A", 40)}, nil, "COUNTERSIGN_WEBHOOK_SECRET: must be"},
		"address taken": {nil, []string{"--addr", taken}, taken + " is already in use"},
	} {
		args := append([]string{"webhook", "listen", "--addr", "127.0.0.1:0"}, tt.args...)
		if out, said, code := process.RunWith(t, tt.env, "", args...); code != 1 || out != "" || !strings.Contains(said, tt.says) {
			t.Errorf("%s: exit %d, says %q, want %q", name, code, out+said, tt.says)
		}
	}
}

// The whole way, with the program itself at the other end: it says what to enter and to allow,
// is added there, and prints what somebody approved, signed now and verified by the official
// library. The event has what the guide shows of one.
func TestWebhookListenGetsWhatIsApproved(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	l := listen(t, nil)
	host := strings.TrimSpace(strings.SplitAfterN(l.Says(t, l.Err, "Host to allow on System > Notifications:"), ":", 2)[1])
	_, _, err := w.Store().Webhooks.Add(t.Context(), w.Admin, models.WebhookInput{Name: "Not allowed", URL: l.at})
	if models.FieldsOf(err)["url"] == "" {
		t.Errorf("a host that is not allowed: %v", err)
	}
	if err := w.Store().People.AllowHost(t.Context(), w.Admin, host); err != nil {
		t.Fatal(err)
	}
	added, secret, err := w.Store().Webhooks.Add(t.Context(), w.Admin, models.WebhookInput{Name: "Here", URL: l.at, Types: []string{"approval.requested", "approval.approved"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(l.In, secret+"\n"); err != nil {
		t.Fatal(err)
	}
	p := process.Start(t, w.Env(t), "ask", "payment.send", "--input", `{"to": "never-sent"}`)
	a := w.OnlyPending(t)
	l.Says(t, l.Out, "approval.requested  evt_")
	w.Respond(t, a.ID, wire.RespondRequest{Approved: new(true), Reason: "never-sent"})
	if code := p.Exit(t); code != 0 {
		t.Fatalf("exit %d: %s", code, p.Err)
	}
	l.Says(t, l.Out, "approval.approved  evt_")
	l.Says(t, l.Out, string(a.ID))
	if said := l.Out.String() + l.Err.String(); strings.Contains(said, "never-sent") || strings.Contains(said, "refused with") {
		t.Errorf("it said:\n%s", said)
	}
	_, event, _ := strings.Cut(l.Out.String(), "approval.approved  evt_")
	_, event, _ = strings.Cut(event, "\n")
	event, _, _ = strings.Cut(event, "\n}\n")
	_, example, _ := strings.Cut(webhooks.Guide(), "```json\n")
	example, _, _ = strings.Cut(example, "```")
	if got, want := membersOf(t, event+"\n}"), membersOf(t, example); !slices.Equal(got, want) {
		t.Errorf("an event has the members\n%s\nand that of the guide\n%s\n%s", strings.Join(got, " "), strings.Join(want, " "), event)
	}
	process.Eventually(t, "its answers", func() bool {
		answers, err := w.Store().Webhooks.Answers(t.Context(), w.Admin, added.ID)
		return err == nil && len(answers) == 2 && answers[0].Status == http.StatusNoContent && answers[0].Class == models.SendSent
	})
}

// membersOf are the names of all members of a JSON object, with where they are.
func membersOf(t *testing.T, text string) []string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	var out []string
	var walk func(prefix string, object map[string]any)
	walk = func(prefix string, object map[string]any) {
		for name, value := range object {
			out = append(out, prefix+name)
			if below, ok := value.(map[string]any); ok {
				walk(prefix+name+".", below)
			}
		}
	}
	walk("", object)
	slices.Sort(out)
	return out
}
