package faults_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models/db/dbtest"
	"countersign/models/storetest"
)

// node is a server process, which is killed and started again at the same address.
type node struct {
	*process.Program

	dir, addr string
	keys      string        // the folder of the keys that all share
	proxy     *dbtest.Proxy // before its database; nil: it is a file
	ahead     int           // seconds of its clock
}

// site is an installation, with an agent and two people who may decide what it asks: its owner, and an admin.
type site struct {
	t       *testing.T
	nodes   []*node
	agent   string    // token
	people  [2]string // tokens
	cookies []*http.Cookie
	pool    *sql.DB // of the database, past the nodes
}

// newSite starts nodes on one database.
func newSite(t *testing.T, nodes int) *site {
	t.Helper()
	dir := storetest.Dir(t)
	store := storetest.New(t, storetest.WithDir(dir))
	s := &site{t: t, pool: dbtest.Beside(t, store.Path())}
	admin, owner := storetest.Admin(t, store), storetest.Reviewer(t, store, "owner@example.com")
	_, s.agent = storetest.AgentToken(t, store, owner, "bot")
	_, s.people[0] = storetest.ReviewerToken(t, store, owner)
	_, s.people[1] = storetest.AdminToken(t, store, admin)
	_, err := store.ApplyPolicy(t.Context(), admin, []byte(policy), "", 0)
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	for range nodes {
		n := &node{dir: dir, addr: process.FreeAddr(t)}
		if address := storetest.URL(t, dir); address != "" {
			n.dir, n.proxy, n.keys = storetest.Dir(t), dbtest.NewProxy(t, address), dir
		}
		n.start(t)
		n.ready(t)
		s.nodes = append(s.nodes, n)
	}
	s.cookies = (&process.Victim{Addr: s.nodes[0].addr}).SignIn(t)
	return s
}

func (n *node) start(t *testing.T) {
	t.Helper()
	args := []string{
		"--data", n.dir, "--addr", n.addr, "--log-level", "error", "--limit-asks-per-minute", "0",
		"--limit-pending-per-agent", "0", "--limit-runs-per-hour", "0", "--limit-messages-per-hour", "0",
	}
	if n.proxy != nil {
		args = append(args, "--database-url", n.proxy.URL(), "--keys", n.keys)
	}
	n.Program = process.Start(t, []string{clockEnv + "=" + strconv.Itoa(n.ahead)}, args...)
}

// ready waits until it can write. It fails where the process has ended though nobody killed it.
func (n *node) ready(t *testing.T) {
	t.Helper()
	process.Eventually(t, "the node is ready", func() bool {
		n.alive(t)
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.addr+"/readyz", http.NoBody)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

func (n *node) alive(t *testing.T) {
	t.Helper()
	select {
	case <-n.Done:
		t.Fatalf("the node at %s ended and said:\n%s", n.addr, n.Err)
	default:
	}
}

func (n *node) kill(t *testing.T) {
	t.Helper()
	n.alive(t)
	_ = n.Process.Kill()
	<-n.Done
}

func (n *node) client(token string) *client.Client { return client.New("http://"+n.addr, token) }

func (s *site) now() int64 { return time.Now().UnixNano() }

func (s *site) rest(most time.Duration) {
	select {
	case <-s.t.Context().Done():
	case <-time.After(rand.N(most)):
	}
}

// prepare opens a conversation, or asks for and approves the call that a grant is made from.
func (s *site) prepare(h *history) {
	for s.t.Context().Err() == nil {
		var err error
		n := s.nodes[rand.IntN(len(s.nodes))]
		if p, ok := h.begin.(purse); ok {
			_, err = n.client(s.agent).OpenConversation(s.t.Context(), wire.OpenRequest{ID: h.id, RunID: h.id, EnergyBudget: new(wire.WholeNumber(p.total))})
		} else if _, err = n.client(s.agent).Ask(s.t.Context(), wire.AskRequest{ApprovalID: h.id, ToolName: h.tool}, 0); err == nil {
			_, err = n.client(s.people[1]).Respond(s.t.Context(), wire.ResponseID(h.id), wire.RespondRequest{Approved: new(true)})
		}
		if out := outcome(err); !out.unknown && !out.unsent { // or it was done before
			return
		}
		s.rest(time.Second)
	}
}

func (s *site) do(h *history, in input) answer {
	ctx, n := s.t.Context(), s.nodes[in.node%len(s.nodes)]
	agent, person, id := n.client(s.agent), n.client(s.people[in.who]), wire.ResponseID(h.id)
	switch in.act {
	case ask:
		r := wire.AskRequest{ApprovalID: h.id, ToolName: h.tool, Input: []byte(in.text), AcceptsEdits: true}
		if in.timeout > 0 {
			r.TimeoutSeconds = &in.timeout
		}
		return seen(agent.Ask(ctx, r, 0))
	case vote:
		r := wire.RespondRequest{Approved: &in.yes, Reason: in.reason}
		if in.text != "" {
			r.Input = []byte(in.text)
		}
		out, err := person.Respond(ctx, id, r)
		if err != nil {
			return outcome(err)
		}
		return decision(out)
	case cancel:
		return seen(agent.Cancel(ctx, id))
	case undo:
		return seen(person.Undo(ctx, id))
	case spend:
		_, err := agent.Ask(ctx, wire.AskRequest{ApprovalID: h.keys[in.n], RunID: h.id, ToolName: h.tool, Energy: &in.amount}, 0)
		out := outcome(err)
		return answer{unknown: out.unknown, unsent: out.unsent, code: out.code}
	case budget:
		change := wire.BudgetRequest{Delta: new(wire.WholeNumber(in.amount))}
		if in.set {
			change = wire.BudgetRequest{Budget: change.Delta}
		}
		got, err := person.ChangeBudget(ctx, wire.ConversationID(h.id), change)
		if err != nil {
			return outcome(err)
		}
		return answer{shows: true, total: *got.Budget.Total, spent: got.Budget.Used}
	case use:
		a, err := agent.Ask(ctx, wire.AskRequest{ApprovalID: h.keys[in.n], ToolName: h.tool}, 0)
		if err != nil {
			return outcome(err)
		}
		return answer{shows: true, free: a.Status == wire.StatusApproved && a.Cause == "grant"}
	case grant:
		a, err := agent.Get(ctx, id, 0)
		if err != nil {
			return answer{unsent: true} // the form was not read
		}
		at, out := s.post(n, "/approvals/"+h.id+"/grant", url.Values{"sent": {"1"}, "hours": {"1"}, "uses": {strconv.Itoa(mostUses)}, "digest": {a.Digest}})
		h.keep(at)
		return out
	case revoke:
		if h.address() == "" {
			return answer{unsent: true} // nobody knows of a grant
		}
		_, out := s.post(n, h.address()+"/revoke", nil)
		return out
	case get:
	}
	return s.read(ctx, n, h)
}

func (s *site) read(ctx context.Context, n *node, h *history) answer {
	switch h.begin.(type) {
	case purse:
		c, err := n.client(s.people[1]).Conversation(ctx, wire.ConversationID(h.id), 0, 0)
		if err != nil {
			return outcome(err)
		}
		return answer{shows: true, total: *c.Budget.Total, spent: c.Budget.Used}
	case leave:
		var spent int64
		if err := s.pool.QueryRowContext(ctx, `SELECT coalesce(sum(uses), 0) FROM grants WHERE tool_name = ?`, h.tool).Scan(&spent); err != nil {
			return answer{unsent: true}
		}
		return answer{shows: true, spent: spent}
	}
	return seen(n.client(s.agent).Get(ctx, wire.ResponseID(h.id), 0))
}

// post sends a form as the admin, and returns where it leads.
func (s *site) post(n *node, path string, form url.Values) (string, answer) {
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://"+n.addr+path, strings.NewReader(form.Encode()))
	if err != nil {
		return "", answer{unsent: true}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range s.cookies {
		req.AddCookie(c)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return "", outcome(err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusSeeOther && !strings.HasPrefix(res.Header.Get("Location"), "/signin"):
		return res.Header.Get("Location"), answer{}
	case res.StatusCode >= http.StatusInternalServerError:
		return "", answer{unknown: true, code: wire.Code(res.Status)}
	}
	return "", answer{code: wire.Code(fmt.Sprintf("a form was answered %s", res.Status))}
}

// outcome is what an error says of an operation.
func outcome(err error) answer {
	said, ok := errors.AsType[*client.AnswerError](err)
	dial, dials := errors.AsType[*net.OpError](err)
	switch {
	case err == nil:
		return answer{}
	case dials && dial.Op == "dial":
		return answer{unsent: true}
	case !ok:
		return answer{unknown: true}
	case said.Status >= http.StatusInternalServerError:
		return answer{unknown: true, code: said.Code}
	case said.Approval == nil:
		return answer{code: said.Code}
	}
	out := seen(said.Approval, nil)
	out.code = said.Code
	return out
}

// seen is a request, as an answer shows it.
func seen(a *wire.Approval, err error) answer {
	if err != nil {
		return outcome(err)
	}
	out := answer{shows: true, status: a.Status, held: a.Held != nil}
	if a.TimeoutAt != nil {
		out.deadline = a.TimeoutAt.UnixNano()
	}
	if out.held && a.Held.Until != nil {
		out.until = a.Held.Until.UnixNano()
	}
	if a.Status == wire.StatusApproved || a.Status == wire.StatusRejected {
		out.reason = a.Decision.Reason
	}
	if a.Status == wire.StatusApproved {
		out.input = string(a.Decision.Input)
	}
	return out
}

// decision is what a vote led to.
func decision(r *wire.RespondResult) answer {
	out := answer{shows: true, part: true, status: r.Status, held: r.Held != nil}
	if out.held && r.Held.Until != nil {
		out.until = r.Held.Until.UnixNano()
	}
	if r.Status != wire.StatusPending {
		out.reason = r.Response.Reason
	}
	return out
}

// keep notes the address of the grant.
func (h *history) keep(at string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.grant = at
}

func (h *history) address() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.grant
}
