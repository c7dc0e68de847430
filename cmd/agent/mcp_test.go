package agent_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
)

// TestThePipeSurvivesARestartI8 has the server down before, during and after the ask, in each
// protocol, for calls with and without an id of their own. One request is made, and its
// outcome told.
func TestThePipeSurvivesARestartI8(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		for _, toolUse := range []string{"toolu_1", ""} {
			t.Run(fmt.Sprintf("modern %t, id %q", modern, toolUse), func(t *testing.T) {
				t.Parallel()
				w := process.NewWorld(t)
				c := w.MCPClient(t, modern)
				c.Begins()
				w.Stop()
				c.AsksPermission(7, toolUse)
				c.Says(t, c.Err, "no server answers")
				w.Restart(t)
				row := w.OnlyPending(t)
				process.Eventually(t, "the agent waits", func() bool { return w.Store().Waiters() == 1 })
				w.Restart(t)
				c.Says(t, c.Err, "the server answers again")
				if again := w.OnlyPending(t); again.ID != row.ID {
					t.Error("it was asked twice")
				}
				process.Eventually(t, "the agent waits again", func() bool { return w.Store().Waiters() == 1 })
				w.Respond(t, row.ID, wire.RespondRequest{Approved: new(true), Digest: row.Digest})
				c.Says(t, c.Out, process.MCPAllowed)
				w.Stop()
				if strings.Count(c.Out.String(), `"id":7`) != 1 {
					t.Errorf("answered more than once:\n%s", c.Out)
				}
				c.In.Close()
				if code := c.Exit(t); code != 0 {
					t.Errorf("exit %d: %s", code, c.Err)
				}
			})
		}
	}
}

// TestThePipeCancels withdraws what its client gives up, in each protocol.
func TestThePipeCancels(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		w := process.NewWorld(t)
		c := w.MCPClient(t, modern)
		c.Begins()
		c.AsksPermission(7, "toolu_1")
		row := w.OnlyPending(t)
		other := w.MCPClient(t, modern) // ids of calls are its own
		other.Begins()
		other.Sends(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		other.Calls(8, "reply", `{"content":"hello"}`)
		other.Says(t, other.Out, `"id":8`)
		if again := w.OnlyPending(t); again.ID != row.ID {
			t.Error("another client cancelled it")
		}
		c.Sends(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		process.Eventually(t, "it is withdrawn", func() bool {
			a, err := w.Store().Requests.Approval(t.Context(), w.Admin, row.ID)
			return err == nil && a.Status() == models.StatusCancelled
		})
	}
}

// TestThePipeEnds with its client, which waits for nothing any more: its request is cancelled
// before the program has ended, in each protocol. A client that is killed says nothing (I8).
func TestThePipeEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(c *process.MCPClient)
		want models.Status
	}{
		"interrupted": {func(c *process.MCPClient) { c.Signal(t, syscall.SIGINT) }, models.StatusCancelled},
		"ended":       {func(c *process.MCPClient) { c.Signal(t, syscall.SIGTERM) }, models.StatusCancelled},
		"hung up":     {func(c *process.MCPClient) { c.Signal(t, syscall.SIGHUP) }, models.StatusCancelled},
		"said all":    {func(c *process.MCPClient) { c.In.Close() }, models.StatusCancelled},
		"killed":      {func(c *process.MCPClient) { c.Signal(t, syscall.SIGKILL) }, models.StatusPending},
	} {
		for _, modern := range []bool{false, true} {
			if modern && name == "killed" {
				continue // the connection is the call there
			}
			t.Run(fmt.Sprintf("%s, modern %t", name, modern), func(t *testing.T) {
				t.Parallel()
				w := process.NewWorld(t)
				client := w.MCPClient(t, modern)
				client.Begins()
				client.AsksPermission(7, "toolu_1")
				row := w.OnlyPending(t)
				process.Eventually(t, "the agent waits", func() bool { return w.Store().Waiters() == 1 })
				c.end(client)
				client.Exit(t)
				w.WantStatus(t, row.ID, c.want)
			})
		}
	}
}

// TestThePipeSaysWhatIsWrong: with a token that opens nothing, or messages that are none.
func TestThePipeSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	if _, stderr, code := process.Run(t, "", "mcp"); code == 0 || !strings.Contains(stderr, "COUNTERSIGN_TOKEN") {
		t.Errorf("without a token: exit %d, %s", code, stderr)
	}
	_, reviewer := storetest.ReviewerToken(t, w.Store(), w.Admin)
	for token, want := range map[string]string{"nothing": "token", reviewer: "Only an agent's token may use this address."} {
		c := process.Start(t, []string{"COUNTERSIGN_SERVER=http://" + w.Addr, "COUNTERSIGN_TOKEN=" + token}, "mcp")
		out, _, _ := c.Give(t, process.MCPBegins+"\n")
		if !strings.Contains(out, `"id":0,"error"`) || !strings.Contains(out, want) {
			t.Errorf("with another token: %s", out)
		}
	}
	c := w.MCPClient(t, false)
	c.Sends(`{"id":1,"id":2}`)
	c.Says(t, c.Out, `"id":null,"error"`)
	c.Says(t, c.Out, "twice")
	// A call that can't be passed on has an answer, for its client waits for it.
	c.Calls(5, "approve", `{"tool_name":"Bash","input":{"command":"echo \ud800"}}`)
	c.Says(t, c.Out, `"id":5,"error"`)
	c.Calls(6, "approve", `{"tool_name":"Bash","input":{"command":"ls","command":"rm"}}`)
	c.Says(t, c.Out, `"id":6,"error"`)
}

// TestThePipeChangesABudgetOnce: what may have been done is not sent again, though no answer
// came, and the client hears of it.
func TestThePipeChangesABudgetOnce(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"the connection breaks":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a proxy waited too long": func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusGatewayTimeout) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				sent.Add(1)
				answer(rw, r)
			}))
			t.Cleanup(server.Close)
			c := &process.MCPClient{Program: process.Start(t, []string{"COUNTERSIGN_SERVER=" + server.URL, "COUNTERSIGN_TOKEN=x"}, "mcp"), T: t}
			c.Calls(1, "adjust_budget", `{"delta":-30}`)
			c.Says(t, c.Out, "the budget may have been changed")
			if n := sent.Load(); n != 1 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

// TestThePipeEndsWithoutAServer: a client that ends before any server answered leaves no program
// behind.
func TestThePipeEndsWithoutAServer(t *testing.T) {
	t.Parallel()
	c := process.Start(t, []string{"COUNTERSIGN_SERVER=http://127.0.0.1:1", "COUNTERSIGN_TOKEN=x"}, "mcp")
	if _, err := io.WriteString(c.In, process.MCPBegins+"\n"); err != nil {
		t.Fatal(err)
	}
	c.Says(t, c.Err, "no server answers")
	c.In.Close()
	if code := c.Exit(t); code != 0 {
		t.Errorf("exit %d: %s", code, c.Err)
	}
}
