package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// stateRow is a state that a call may be in: how it comes there, and what its agent may do on
// its account. All ask with {"n":1}.
type stateRow struct {
	name   string
	status models.Status // as it is stored
	held   models.HeldBy
	tool   string // empty: call
	sends  string // more members of the ask
	decide string // the body of a reviewer's verdict; empty: none is given
	then   func(*stateWalk, stateRow)

	input    string // that may run; empty: nothing may
	suggests string // with which to ask again
}

const askedInput, otherInput = `{"n":1}`, `{"n":2}`

func stateRows() []stateRow {
	const takes = `"acceptsEdits":true,`
	fell := `"fallback":{"at":"` + time.Now().UTC().Format(time.RFC3339Nano) + `"},`
	return []stateRow{
		{name: "waits", status: models.StatusPending},
		{name: "held-undo", status: models.StatusPending, held: models.HeldByUndo, tool: "grave", decide: `{"approved":true,"digest":"DIGEST"}`},
		{name: "held-quorum", status: models.StatusPending, held: models.HeldByQuorum, tool: "shared", sends: takes, decide: `{"approved":true,"input":` + otherInput + `}`},
		{name: "approved", status: models.StatusApproved, decide: `{"approved":true}`, input: askedInput},
		{name: "approved-takes", status: models.StatusApproved, sends: takes, decide: `{"approved":true}`, input: askedInput},
		{name: "edited", status: models.StatusApproved, sends: takes, decide: `{"approved":true,"input":` + otherInput + `}`, input: otherInput},
		{name: "let-through", status: models.StatusNone, tool: "free", input: askedInput},
		{name: "rejected", status: models.StatusRejected, decide: `{"approved":false,"reason":"no"}`},
		{name: "suggested", status: models.StatusRejected, decide: `{"approved":false,"suggestedInput":` + otherInput + `}`, suggests: otherInput},
		{name: "denied", status: models.StatusRejected, tool: "never"},
		{name: "expired", status: models.StatusExpired, sends: `"timeoutSeconds":1,`, then: (*stateWalk).waits},
		{name: "cancelled", status: models.StatusCancelled, then: (*stateWalk).cancels},
		{name: "ran", status: models.StatusRan, sends: fell},
		{name: "ran-denied", status: models.StatusRejected, tool: "never", sends: fell},
	}
}

// walkedElsewhere are states that no call of an agent's own comes into, and where they are walked.
var walkedElsewhere = map[string]string{
	string(models.StatusResolved): "handlers/api: TestI10EndsOfOutsideApprovalsAreToldApart",
	string(models.HeldByUpstream): "handlers/api: TestI1AVerdictIsHeldUntilTheOtherSystemKnows",
}

// asksNothing are the POST routes by which no agent asks about a call that it would run then.
var asksNothing = []string{
	"/api/approval/cleanup",
	"/api/approval/decide",
	"/conversations/{requestId}/approve",
	"/conversations/{requestId}/reject",
	"/conversations/{requestId}/responses",
	"/message",
	"/v1/approvals/{id}/cancel",
	"/v1/approvals/{id}/extend",
	"/v1/approvals/{id}/notes",
	"/v1/approvals/{id}/respond",
	"/v1/approvals/{id}/undo",
	"/v1/approvals/{id}/withdraw-decision",
	"/v1/conversations",
	"/v1/conversations/{conversationId}/events",
	"/v1/policy/lint",
	"/v1/policy/replay",
	"/v1/policy/try",
	"/v1/stops",
	"/v1/stops/{id}/lift",
}

// TestEachSurfaceTellsEachStateAsItIs brings calls into every state that they may be in, and
// reads them on every GET route of the document and by every way in which an agent asks: what
// reads as a yes, and which input it says to run, is as the table says. It does so again when the
// contents were removed, and when the requests are from before they said whether they take edits.
func TestEachSurfaceTellsEachStateAsItIs(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]func(*stateWalk){"kept": nil, "removed": (*stateWalk).removes, "from before": (*stateWalk).forgetsEdits} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStateWalk(t)
			for _, row := range s.rows {
				s.makes(row)
			}
			if later != nil {
				later(s)
			}
			for _, path := range s.reads() {
				for _, token := range []string{s.w.agent, s.w.reviewer} {
					_, raw := s.send(http.MethodGet, path, token, "") //nolint:bodyclose // send has closed it
					s.look("GET "+path, raw)
				}
			}
			s.asks()
			if s.seen < 40*len(s.rows) {
				t.Errorf("only %d members were compared", s.seen)
			}
		})
	}
}

// Every state of the closed lists has a row, and every way to ask is walked.
func TestEachStateHasARow(t *testing.T) {
	t.Parallel()
	has := map[string]bool{}
	for _, row := range stateRows() {
		has[string(row.status)], has[string(row.held)] = true, true
	}
	for _, status := range append(models.Statuses(), models.StatusNone) {
		if !has[string(status)] && walkedElsewhere[string(status)] == "" {
			t.Errorf("no row is %q", status)
		}
	}
	for _, by := range models.HeldBys() {
		if !has[string(by)] && walkedElsewhere[string(by)] == "" {
			t.Errorf("no row is held by %q", by)
		}
	}
}

type stateWalk struct {
	*ranWalk

	rows  []stateRow
	known map[string]*stateRow // by id and by name
}

func newStateWalk(t *testing.T) *stateWalk {
	t.Helper()
	w := newWorld(t)
	storetest.Reviewer(t, w.Store(), "bo@example.com")
	w.applyPolicy(t, `{"fallback_auto_approve":true,"undo_seconds":{"low":0,"medium":0,"high":600,"critical":0},"rules":[
	 {"name":"never","tools":["never"],"effect":"deny","reason":"Nobody does."},{"name":"free","tools":["free"],"effect":"allow"},
	 {"name":"grave","tools":["grave"],"effect":"require","risk":"high"},
	 {"name":"others","tools":["shared"],"when":"input.n == 2","effect":"require","reviewers":["bo@example.com"],"reviewers_only":true,"self_approval":"never"},
	 {"name":"all","tools":["/.*/"],"effect":"require","risk":"medium"}]}`)
	return &stateWalk{ranWalk: &ranWalk{t: t, w: w}, rows: stateRows(), known: map[string]*stateRow{}}
}

// makes brings a call into a state.
func (s *stateWalk) makes(row stateRow) {
	s.t.Helper()
	if row.tool == "" {
		row.tool = "call"
	}
	_, raw := s.send(http.MethodPost, "/v1/approvals", s.w.agent, row.body()) //nolint:bodyclose // send has closed it
	var got struct{ ApprovalID, ConversationID, Digest string }
	if err := json.Unmarshal(raw, &got); err != nil || got.ApprovalID == "" {
		s.t.Fatalf("%s: %s", row.name, raw)
	}
	s.ids, s.names, s.conv = append(s.ids, got.ApprovalID), append(s.names, row.name), got.ConversationID
	s.known[got.ApprovalID], s.known[row.name] = &row, &row
	if row.decide != "" {
		body := strings.ReplaceAll(row.decide, "DIGEST", got.Digest)
		if res, raw := s.send(http.MethodPost, "/v1/approvals/"+got.ApprovalID+"/respond", s.w.reviewer, body); res.StatusCode >= 300 { //nolint:bodyclose // send has closed it
			s.t.Fatalf("%s: %s", row.name, raw)
		} else {
			s.look("respond", raw)
		}
	}
	if row.then != nil {
		row.then(s, row)
	}
	a, err := s.w.Store().Approval(s.t.Context(), s.w.admin, models.ResponseID(got.ApprovalID))
	if err == nil {
		err = s.w.Store().HeldVerdicts(s.t.Context(), s.w.admin, a)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if by, _ := a.Held(); a.Status() != row.status || by != row.held && row.held != models.HeldByQuorum {
		s.t.Fatalf("%s is %q, held by %q", row.name, a.Status(), by)
	}
}

func (row stateRow) body() string {
	return fmt.Sprintf(`{%s"runId":"run-1","toolUseId":%q,"toolName":%q,"input":%s}`, row.sends, row.name, row.tool, askedInput)
}

func (s *stateWalk) waits(row stateRow) {
	s.send(http.MethodPost, "/v1/approvals?wait=8s", s.w.agent, row.body()) //nolint:bodyclose // send has closed it; it ends with the deadline
}

func (s *stateWalk) cancels(stateRow) {
	s.send(http.MethodPost, "/v1/approvals/"+s.ids[len(s.ids)-1]+"/cancel", s.w.agent, "") //nolint:bodyclose // send has closed it
}

// removes removes the contents of all that is over: nothing of it may run.
func (s *stateWalk) removes() {
	p, err := upkeep.New(s.w.Store()).NewPurge(s.t.Context(), storetest.Operator(), models.PurgeQuery{Before: s.w.Store().Now()})
	if err == nil {
		_, err = p.All(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	for _, row := range s.known {
		row.input, row.suggests = "", ""
	}
}

// forgetsEdits has the requests be from before they said whether they take edits.
func (s *stateWalk) forgetsEdits() {
	storetest.Tampered(s.w.Store())
	if _, err := storetest.Beside(s.t, s.w.Store()).ExecContext(s.t.Context(), `DROP TRIGGER responses_accepts_edits; UPDATE responses SET accepts_edits = FALSE`); err != nil {
		s.t.Fatal(err)
	}
	for _, row := range s.known {
		if row.input == otherInput {
			row.input, row.suggests = "", otherInput
		}
	}
}

// asks has the agent ask again by each way that the document has, and by those without a place
// in it.
func (s *stateWalk) asks() {
	ways := map[string]string{
		"/v1/approvals":         `{SENDS"runId":"run-1","toolUseId":"NAME","toolName":"TOOL","input":` + askedInput + `}`,
		"/api/approval/request": `{"session_id":"run-1","tool_use_id":"NAME","tool_name":"TOOL","tool_input":` + askedInput + `,"accepts_edits":true}`,
		"/hooks/claude-code":    `{"session_id":"run-1","hook_event_name":"PreToolUse","cwd":"/x","tool_use_id":"NAME","tool_name":"TOOL","tool_input":` + askedInput + `}`,
	}
	for path, methods := range s.document() {
		if methods["post"] != nil && ways[path] == "" && !slices.Contains(asksNothing, path) {
			s.t.Errorf("POST %s is new: add it to ways if an agent asks by it, else to asksNothing", path)
		}
	}
	c := s.w.mcpClient(s.t, false)
	c.begins()
	for i, name := range s.names {
		row := s.known[name]
		if row.status != models.StatusPending { // a hook waits for those
			for path, body := range ways {
				body = strings.NewReplacer("NAME", name, "TOOL", row.tool, "SENDS", row.sends).Replace(body)
				_, raw := s.send(http.MethodPost, path, s.w.agent, body) //nolint:bodyclose // send has closed it
				if s.lookOf("POST "+path, raw, row); row.input != "" && !bytes.Contains(raw, []byte(`"allow"`)) && !bytes.Contains(bytes.ToLower(raw), []byte(`"approved"`)) {
					s.t.Errorf("POST %s tells no yes of %s: %s", path, name, raw)
				}
			}
		}
		_, raw := s.send(http.MethodGet, "/humanlayer/v1/function_calls/"+name, s.w.agent, "") //nolint:bodyclose // send has closed it
		if approved := bytes.Contains(raw, []byte(`"approved":true`)); approved != (row.input == askedInput) {
			s.t.Errorf("function call %s: %s", name, raw) // its client runs what it sent
		}
		c.calls(i+1, "check_approval", `{"approval_id":"`+s.ids[i]+`","wait_seconds":0}`)
		c.says(s.t, c.out, fmt.Sprintf(`"id":%d,`, i+1))
	}
	s.look("mcp", []byte(c.out.String()))
}

func (s *stateWalk) look(where string, raw []byte) { s.lookOf(where, raw, nil) }

// lookOf reads an answer, each line of which may be JSON. It is about a row, or names them.
func (s *stateWalk) lookOf(where string, raw []byte, row *stateRow) {
	s.t.Helper()
	parts := [][]byte{raw}
	if !json.Valid(raw) {
		parts = bytes.Split(raw, []byte("\n"))
	}
	for _, part := range parts {
		var v any
		if json.Unmarshal(part, &v) == nil {
			s.judge(where, v, row)
		}
	}
}

// judge compares each member on which an agent acts with the row of the call that it is about.
func (s *stateWalk) judge(where string, v any, row *stateRow) {
	s.t.Helper()
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			s.judge(where, one, row)
		}
	case map[string]any:
		for _, name := range []string{"approvalId", "approval_id", "tool_call_id", "responseId", "id", "toolUseId", "tool_use_id", "call_id"} {
			if text, _ := v[name].(string); s.known[text] != nil {
				row = s.known[text]
				break
			}
		}
		for name, value := range v {
			if row != nil {
				s.member(where, v, name, value, row)
			}
			if text, ok := value.(string); ok && name == "text" { // MCP has JSON as text
				s.lookOf(where, []byte(text), row)
			}
			if name != "suggestedInput" && name != "suggested_input" {
				s.judge(where+"."+name, value, row)
			}
		}
	}
}

func (s *stateWalk) member(where string, in map[string]any, name string, value any, row *stateRow) {
	s.t.Helper()
	wrong := func() { s.t.Errorf("%s of %s: %s is %v", where, row.name, name, value) }
	s.seen++
	text, _ := value.(string)
	switch strings.ToLower(name) {
	case "approved":
		if value != nil && value != (row.input != "") {
			wrong()
		}
	case "requiresapproval", "requires_approval":
		if value == false && row.input == "" {
			wrong()
		}
	case "status", "decision", "behavior", "permissiondecision", "outcome":
		if slices.Contains([]string{"approved", "allow", "allowed", "let_through"}, strings.ToLower(text)) && row.input == "" {
			wrong()
		}
	case "edited_input", "updatedinput":
		if value != nil && jsonOf(value) != row.input {
			wrong()
		}
	case "input":
		released := strings.HasSuffix(where, ".decision") || in["advice"] != nil && in["approval_id"] != nil
		if released && value != nil && jsonOf(value) != row.input || released && value == nil && row.input != "" {
			wrong()
		}
	case "suggestedinput", "suggested_input":
		if value != nil && jsonOf(value) != row.suggests {
			wrong()
		}
	default:
		s.seen--
	}
}

func jsonOf(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}
