package cmd_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
)

// mcpClient is a client that starts `countersign mcp`, in one of the protocols.
type mcpClient struct {
	*process

	t      *testing.T
	modern bool
}

const (
	mcpBegins  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	mcpAllowed = `{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"touch one.txt\"}}`
)

func (w *world) mcpClient(t *testing.T, modern bool) *mcpClient {
	t.Helper()
	return &mcpClient{start(t, []string{"COUNTERSIGN_SERVER=http://" + w.addr, "COUNTERSIGN_TOKEN=" + w.agent}, "mcp"), t, modern}
}

func (c *mcpClient) sends(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *mcpClient) begins() {
	c.t.Helper()
	if !c.modern {
		c.sends(mcpBegins)
		c.says(c.t, c.out, `"protocolVersion":"2025-11-25"`)
		c.sends(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
}

func (c *mcpClient) calls(id int, tool, arguments string) {
	c.t.Helper()
	meta := `{"progressToken":1}`
	if c.modern {
		meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"progressToken":1}`
	}
	c.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":%s}}`, id, tool, arguments, meta))
}

// asksPermission calls the permission prompt; without an id of the call's own, if it is empty.
func (c *mcpClient) asksPermission(id int, toolUse string) {
	c.t.Helper()
	if toolUse != "" {
		toolUse = `,"tool_use_id":"` + toolUse + `"`
	}
	c.calls(id, "approve", `{"tool_name":"Bash","input":{"command":"touch one.txt"}`+toolUse+`}`)
}

// TestThePipeSurvivesARestartI8 has the server down before, during and after the ask, in each
// protocol, for calls with and without an id of their own. One request is made, and its
// outcome told.
func TestThePipeSurvivesARestartI8(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		for _, toolUse := range []string{"toolu_1", ""} {
			t.Run(fmt.Sprintf("modern %t, id %q", modern, toolUse), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				c := w.mcpClient(t, modern)
				c.begins()
				w.stop()
				c.asksPermission(7, toolUse)
				c.says(t, c.err, "no server answers")
				w.restart(t)
				row := w.onlyPending(t)
				eventually(t, "the agent waits", func() bool { return w.Store().Waiters() == 1 })
				w.restart(t)
				c.says(t, c.err, "the server answers again")
				if again := w.onlyPending(t); again.ID != row.ID {
					t.Error("it was asked twice")
				}
				eventually(t, "the agent waits again", func() bool { return w.Store().Waiters() == 1 })
				w.respond(t, row.ID, wire.RespondRequest{Approved: new(true), Digest: row.Digest})
				c.says(t, c.out, mcpAllowed)
				w.stop()
				if strings.Count(c.out.String(), `"id":7`) != 1 {
					t.Errorf("answered more than once:\n%s", c.out)
				}
				c.in.Close()
				if code := c.exit(t); code != 0 {
					t.Errorf("exit %d: %s", code, c.err)
				}
			})
		}
	}
}

// TestThePipeCancels withdraws what its client gives up, in each protocol.
func TestThePipeCancels(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		w := newWorld(t)
		c := w.mcpClient(t, modern)
		c.begins()
		c.asksPermission(7, "toolu_1")
		row := w.onlyPending(t)
		other := w.mcpClient(t, modern) // ids of calls are its own
		other.begins()
		other.sends(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		other.calls(8, "reply", `{"content":"hello"}`)
		other.says(t, other.out, `"id":8`)
		if again := w.onlyPending(t); again.ID != row.ID {
			t.Error("another client cancelled it")
		}
		c.sends(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		eventually(t, "it is withdrawn", func() bool {
			a, err := w.Store().Approval(t.Context(), w.admin, row.ID)
			return err == nil && a.Status() == models.StatusCancelled
		})
	}
}

// TestThePipeEnds with its client, which waits for nothing any more: its request is cancelled
// before the program has ended, in each protocol. A client that is killed says nothing (I8).
func TestThePipeEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(c *mcpClient)
		want models.Status
	}{
		"interrupted": {func(c *mcpClient) { c.signal(t, syscall.SIGINT) }, models.StatusCancelled},
		"ended":       {func(c *mcpClient) { c.signal(t, syscall.SIGTERM) }, models.StatusCancelled},
		"hung up":     {func(c *mcpClient) { c.signal(t, syscall.SIGHUP) }, models.StatusCancelled},
		"said all":    {func(c *mcpClient) { c.in.Close() }, models.StatusCancelled},
		"killed":      {func(c *mcpClient) { c.signal(t, syscall.SIGKILL) }, models.StatusPending},
	} {
		for _, modern := range []bool{false, true} {
			if modern && name == "killed" {
				continue // the connection is the call there
			}
			t.Run(fmt.Sprintf("%s, modern %t", name, modern), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				client := w.mcpClient(t, modern)
				client.begins()
				client.asksPermission(7, "toolu_1")
				row := w.onlyPending(t)
				eventually(t, "the agent waits", func() bool { return w.Store().Waiters() == 1 })
				c.end(client)
				client.exit(t)
				w.wantStatus(t, row.ID, c.want)
			})
		}
	}
}

// TestThePipeSaysWhatIsWrong: with a token that opens nothing, or messages that are none.
func TestThePipeSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, stderr, code := run(t, "", "mcp"); code == 0 || !strings.Contains(stderr, "COUNTERSIGN_TOKEN") {
		t.Errorf("without a token: exit %d, %s", code, stderr)
	}
	_, reviewer := storetest.ReviewerToken(t, w.Store(), w.admin)
	for token, want := range map[string]string{"nothing": "token", reviewer: "Only an agent's token may use this address."} {
		c := start(t, []string{"COUNTERSIGN_SERVER=http://" + w.addr, "COUNTERSIGN_TOKEN=" + token}, "mcp")
		out, _, _ := c.give(t, mcpBegins+"\n")
		if !strings.Contains(out, `"id":0,"error"`) || !strings.Contains(out, want) {
			t.Errorf("with another token: %s", out)
		}
	}
	c := w.mcpClient(t, false)
	c.sends(`{"id":1,"id":2}`)
	c.says(t, c.out, `"id":null,"error"`)
	c.says(t, c.out, "twice")
	// A call that can't be passed on has an answer, for its client waits for it.
	c.calls(5, "approve", `{"tool_name":"Bash","input":{"command":"echo \ud800"}}`)
	c.says(t, c.out, `"id":5,"error"`)
	c.calls(6, "approve", `{"tool_name":"Bash","input":{"command":"ls","command":"rm"}}`)
	c.says(t, c.out, `"id":6,"error"`)
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
			c := &mcpClient{process: start(t, []string{"COUNTERSIGN_SERVER=" + server.URL, "COUNTERSIGN_TOKEN=x"}, "mcp"), t: t}
			c.calls(1, "adjust_budget", `{"delta":-30}`)
			c.says(t, c.out, "the budget may have been changed")
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
	c := start(t, []string{"COUNTERSIGN_SERVER=http://127.0.0.1:1", "COUNTERSIGN_TOKEN=x"}, "mcp")
	if _, err := io.WriteString(c.in, mcpBegins+"\n"); err != nil {
		t.Fatal(err)
	}
	c.says(t, c.err, "no server answers")
	c.in.Close()
	if code := c.exit(t); code != 0 {
		t.Errorf("exit %d: %s", code, c.err)
	}
}
