package demo_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/people"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
)

func TestDemoRefusesAFolderThatNoDemoMade(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	process.Must(t, "", "migrate", "--data", dir)
	_, said, code := process.Run(t, "", "demo", "--data", dir)
	if code != 1 || !strings.Contains(said, "was not made by a demo") {
		t.Errorf("exit %d: %s", code, said)
	}
	if _, err := os.Stat(filepath.Join(dir, ".countersign-demo")); err == nil {
		t.Error("the refused folder was marked")
	}
}

// demo is a running demo and a reviewer's hand in it.
type demo struct {
	*process.Program

	url, password string
	client        *client.Client
	store         *store.Store
	admin         models.Actor
}

// startDemo starts a demo at addr and signs a reviewer's token for its admin.
func startDemo(t *testing.T, dir, addr string) *demo {
	t.Helper()
	d := &demo{Program: process.Start(t, nil, "demo", "--data", dir, "--addr", addr)}
	word := func(label string) string { return strings.Fields(d.Says(t, d.Out, label))[1] }
	d.password, d.url = word("    Password"), word("    Open")
	d.store = storetest.New(t, storetest.WithDir(dir))
	u, err := d.store.People.UserByEmail(t.Context(), storetest.Operator(), word("    E-mail"))
	if err != nil {
		t.Fatal(err)
	}
	d.admin = models.Actor{Kind: models.ActorUser, ID: string(u.ID), Name: u.Name, OwnerID: u.ID, Admin: true}
	_, token := storetest.ReviewerToken(t, d.store, d.admin)
	d.client = client.New(d.url, token)
	return d
}

// inbox waits until n requests of the tour are there, by tool.
func (d *demo) inbox(t *testing.T, n int) map[string]models.Approval {
	t.Helper()
	byTool := map[string]models.Approval{}
	process.Eventually(t, strconv.Itoa(n)+" requests of the demo agent", func() bool {
		page, err := d.store.Requests.Inbox(t.Context(), d.admin, requests.InboxQuery{Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		clear(byTool)
		for _, a := range page.Items {
			if a.AgentName == "demo-agent" { // the built-in one proposes something too
				byTool[a.ToolName] = a.Approval
			}
		}
		return len(byTool) == n
	})
	return byTool
}

func TestDemoAgentReactsAndStartsOver(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := filepath.Join(t.TempDir(), "demo")
	d := startDemo(t, dir, taken.Addr().String())
	if d.url == "http://"+taken.Addr().String() {
		t.Errorf("the demo claims the taken address %s", d.url)
	}
	if _, _, err := d.store.People.SignIn(t.Context(), "admin@example.com", d.password, people.SignInFrom{Address: "127.0.0.1"}); err != nil {
		t.Errorf("sign in with the printed password: %v", err)
	}
	if _, said, code := process.Run(t, "", "demo", "--data", dir); code != 1 || !strings.Contains(said, "a demo is already running") {
		t.Errorf("a second demo in the folder: exit %d: %s", code, said)
	}

	asked := d.inbox(t, 4)
	if got := asked["shell.run"].ConversationTitle; got != "Getting the shop ready" {
		t.Errorf("the conversation is called %q", got)
	}
	if _, err := d.client.Note(t.Context(), wire.ResponseID(asked["shell.run"].ID), "What is in build/?"); err != nil {
		t.Fatal(err)
	}
	d.Says(t, d.Out, "is asked by Demo admin: What is in build/?")
	d.Says(t, d.Out, "answers: Everything in build/ is made from the sources")
	for tool, verdict := range map[string]wire.RespondRequest{
		"shell.run":    {Approved: new(true), Input: []byte(`{"command": "make release"}`)},
		"file.edit":    {Approved: new(false), Reason: "not in a freeze"},
		"payment.send": {Approved: new(true), Digest: asked["payment.send"].Digest},
		"question":     {Option: new("summer")},
	} {
		if _, err := d.client.Respond(t.Context(), wire.ResponseID(asked[tool].ID), verdict); err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
	}
	for _, reaction := range []string{
		"shell: ran your version instead: make release",
		"file: writes the change into a draft for the next review instead (you said: not in a freeze)",
		"payment: sent 240.00 EUR to Nordlicht Hosting",
		"question: puts this on the start page: Summer sale",
	} {
		d.Says(t, d.Out, reaction)
	}
	again := d.inbox(t, 1)["question"]
	if _, err := d.client.Respond(t.Context(), wire.ResponseID(again.ID), wire.RespondRequest{Option: new("again")}); err != nil {
		t.Fatal(err)
	}
	d.inbox(t, 4)

	agent := childOf(t, d.Process.Pid)
	d.Signal(t, syscall.SIGINT)
	if code := d.Exit(t); code != 0 {
		t.Errorf("exit %d: %s", code, d.Err)
	}
	process.Eventually(t, "the agent is gone", func() bool { return gone(agent) })
}

// Whoever comes back after the deadlines finds requests, and a night without
// readers leaves no heap of them.
func TestDemoAgentAsksAgainWhenSomebodyIsThere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "demo")
	d := startDemo(t, dir, process.FreeAddr(t))
	d.inbox(t, 4)
	clock := storetest.NewClock()
	clock.Step(time.Until(clock.Now()).Abs() + time.Hour)
	later := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	if n, err := later.ExpireDue(t.Context(), 10); err != nil || n != 3 { // questions have no deadline
		t.Fatalf("%d expired: %v", n, err)
	}
	for _, tool := range []string{"shell", "file", "payment"} {
		d.Says(t, d.Out, "agent: "+tool+": nobody answered")
	}
	d.inbox(t, 1)

	session, _, err := d.store.People.SignIn(t.Context(), "admin@example.com", d.password, people.SignInFrom{Address: "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: "countersign", Value: session})
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("a page's stream: %s", res.Status)
	}
	d.inbox(t, 4)
}

func TestDemoAgentEndsWithAKilledDemo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "demo")
	d := startDemo(t, dir, process.FreeAddr(t))
	d.inbox(t, 4)
	first, agent := d.password, childOf(t, d.Process.Pid)
	if err := d.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	process.Eventually(t, "the agent is gone", func() bool { return gone(agent) })
	if second := startDemo(t, dir, process.FreeAddr(t)); second.password == first {
		t.Error("the second start has the password of the first")
	}
}

// childOf is the one process that pid started.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	child := 0
	process.Eventually(t, "the agent's process", func() bool {
		lists, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children") // each thread has its own
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range lists {
			raw, err := os.ReadFile(list)
			if fields := strings.Fields(string(raw)); err == nil && len(fields) > 0 {
				child, err = strconv.Atoi(fields[0])
				return err == nil
			}
		}
		return false
	})
	return child
}

// gone reports whether a process has ended; one that nobody has reaped yet has.
func gone(pid int) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(raw), ") Z ")
}
