package scenario_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/models"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// stateRow is a state that a request may be in: how it comes there, and what its agent may do on
// its account. Calls ask with {"n":1}.
type stateRow struct {
	name   string
	kind   models.Kind   // empty: a call
	status models.Status // as it is stored
	cause  models.Cause
	held   models.HeldBy
	tool   string // empty: call
	sends  string // more members of the ask
	decide string // the body of a reviewer's verdict; empty: none is given
	before func(*stateWalk)
	then   func(*stateWalk, stateRow)

	input    string // that may run; empty: nothing may
	suggests string // with which to ask again
	answer   string // that a person gave to a question
}

// yes reports whether the agent may act on the outcome.
func (row *stateRow) yes() bool { return row.input != "" || row.answer != "" }

// terminal reports whether a hook leaves the call to the agent's own rules: where nobody looked,
// it is no laxer than no hook.
func (row *stateRow) terminal() bool { return row.cause == models.CauseGateOff && row.input != "" }

func (row *stateRow) takesEdits() bool { return strings.Contains(row.sends, "acceptsEdits") }

const askedInput, otherInput = `{"n":1}`, `{"n":2}`

func stateRows() []stateRow {
	const takes = `"acceptsEdits":true,`
	fell := `"fallback":{"at":"` + time.Now().UTC().Format(time.RFC3339Nano) + `"},`
	const reviewer = models.CauseReviewer
	return []stateRow{
		{name: "stopped", status: models.StatusRejected, cause: models.CauseStopped, before: (*stateWalk).stops, then: (*stateWalk).lifts}, // first: a stop cancels what waits
		{name: "waits", status: models.StatusPending},
		{name: "held-undo", status: models.StatusPending, held: models.HeldByUndo, tool: "grave", decide: `{"approved":true,"digest":"DIGEST"}`},
		{name: "held-quorum", status: models.StatusPending, held: models.HeldByQuorum, tool: "shared", sends: takes, decide: `{"approved":true,"input":` + otherInput + `}`},
		{name: "signed", status: models.StatusPending, held: models.HeldByQuorum, tool: "several", decide: `{"approved":true}`},
		{name: "signed-edit", status: models.StatusPending, held: models.HeldByQuorum, tool: "several", sends: takes, decide: `{"approved":true,"input":` + otherInput + `}`},
		{name: "approved", status: models.StatusApproved, cause: reviewer, decide: `{"approved":true}`, input: askedInput},
		{name: "approved-takes", status: models.StatusApproved, cause: reviewer, sends: takes, decide: `{"approved":true}`, input: askedInput},
		{name: "edited", status: models.StatusApproved, cause: reviewer, sends: takes, decide: `{"approved":true,"input":` + otherInput + `}`, input: otherInput},
		{name: "answered", kind: models.KindQuestion, status: models.StatusApproved, cause: reviewer, decide: `{"answer":"blue"}`, answer: "blue"},
		{name: "not-answered", kind: models.KindQuestion, status: models.StatusRejected, cause: reviewer, decide: `{"approved":false}`},
		{name: "let-through", status: models.StatusNone, cause: models.CausePolicy, tool: "free", input: askedInput},
		{name: "granted", status: models.StatusNone, cause: models.CauseGrant, tool: "again", before: (*stateWalk).grants, input: askedInput},
		{name: "gate-off", status: models.StatusNone, cause: models.CauseGateOff, before: (*stateWalk).opensGate, then: (*stateWalk).closesGate, input: askedInput},
		{name: "stranded", status: models.StatusExpired, cause: models.CauseNoReviewer, tool: "lost", sends: `"timeoutSeconds":1,`, then: (*stateWalk).strands},
		{name: "nobody", status: models.StatusRejected, cause: models.CauseNoReviewer, tool: "orphan", before: (*stateWalk).losesReviewer},
		{name: "rejected", status: models.StatusRejected, cause: reviewer, decide: `{"approved":false,"reason":"no"}`},
		{name: "suggested", status: models.StatusRejected, cause: reviewer, decide: `{"approved":false,"suggestedInput":` + otherInput + `}`, suggests: otherInput},
		{name: "denied", status: models.StatusRejected, cause: models.CausePolicy, tool: "never"},
		{name: "expired", status: models.StatusExpired, cause: models.CauseTimeout, sends: `"timeoutSeconds":1,`, then: (*stateWalk).waits},
		{name: "cancelled", status: models.StatusCancelled, cause: models.CauseCancelled, then: (*stateWalk).cancels},
		{name: "ran", status: models.StatusRan, cause: models.CauseFallback, sends: fell},
		{name: "ran-denied", status: models.StatusRejected, cause: models.CauseFallback, tool: "never", sends: fell},
	}
}

// walkedElsewhere are states that no request of this agent comes into, and where they are walked.
var walkedElsewhere = map[string]string{
	string(models.StatusResolved):   "handlers/api: TestI10EndsOfOutsideApprovalsAreToldApart",
	string(models.CauseElsewhere):   "handlers/api: TestI10EndsOfOutsideApprovalsAreToldApart",
	string(models.CauseGone):        "handlers/api: TestI10EndsOfOutsideApprovalsAreToldApart",
	string(models.CauseRunEnded):    "handlers/api: TestI10EndsOfOutsideApprovalsAreToldApart",
	string(models.CauseCascade):     "handlers/api: TestI10EndsOfOutsideApprovalsAreToldApart",
	string(models.CauseUndelivered): "handlers/api: TestI10EndsOfOutsideApprovalsAreToldApart",
	string(models.HeldByUpstream):   "handlers/api: TestI1AVerdictIsHeldUntilTheOtherSystemKnows",
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
	for name, later := range map[string]func(*stateWalk){
		"kept": nil, "removed": (*stateWalk).removes, "from before": (*stateWalk).forgetsEdits, "stopped": (*stateWalk).stopsAll,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStateWalk(t)
			for _, row := range s.rows {
				s.makes(row)
			}
			if later != nil {
				later(s)
			}
			streams := map[string]bool{}
			for _, path := range s.reads() {
				for _, token := range []string{s.w.Agent, s.w.Reviewer} {
					res, raw := s.send(http.MethodGet, path, token, "")
					if isStream(res) {
						path, _, _ = strings.Cut(path, "?")
						streams[path] = true
						continue
					}
					s.look("GET "+path, raw)
				}
			}
			s.streams(streams)
			s.webhooks()
			s.asks()
			s.programs()
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
		has[string(row.status)], has[string(row.held)], has[string(row.cause)] = true, true, true
	}
	for _, cause := range models.Causes() {
		if !has[string(cause)] && walkedElsewhere[string(cause)] == "" {
			t.Errorf("no row has the cause %q", cause)
		}
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
	stop  models.StopID
	cy    models.UserID // the only reviewer of a rule
}

const statePolicy = `{"fallback_auto_approve":true,"undo_seconds":{"low":0,"medium":0,"high":600,"critical":0},"rules":[
	 {"name":"never","tools":["never"],"effect":"deny","reason":"Nobody does."},{"name":"free","tools":["free"],"effect":"allow"},
	 {"name":"grave","tools":["grave"],"effect":"require","risk":"high"},
	 {"name":"orphan","tools":["orphan"],"effect":"require","reviewers":["cy@example.com"],"reviewers_only":true,"self_approval":"never"},
	 {"name":"several","tools":["several"],"effect":"require","approvals":[{"from":["admin@example.com","bo@example.com"],"count":2}]},
	 {"name":"lost","tools":["lost"],"effect":"require","approvals":[{"from":["cy@example.com","bo@example.com"],"count":2}]},
	 {"name":"others","tools":["shared"],"when":"input.n == 2","effect":"require","reviewers":["bo@example.com"],"reviewers_only":true,"self_approval":"never"},
	 {"name":"all","tools":["/.*/"],"effect":"require","risk":"medium"}]}`

func newStateWalk(t *testing.T) *stateWalk {
	t.Helper()
	w := process.NewWorld(t)
	storetest.Reviewer(t, w.Store(), "bo@example.com")
	cy := storetest.Reviewer(t, w.Store(), "cy@example.com")
	w.ApplyPolicy(t, statePolicy)
	return &stateWalk{ranWalk: &ranWalk{t: t, w: w}, cy: cy.UserID(), rows: stateRows(), known: map[string]*stateRow{}}
}

// makes brings a call into a state.
func (s *stateWalk) makes(row stateRow) {
	s.t.Helper()
	if row.tool == "" {
		row.tool = "call"
	}
	if row.before != nil {
		row.before(s)
	}
	_, raw := s.send(http.MethodPost, "/v1/approvals", s.w.Agent, row.body())
	var got struct{ ApprovalID, ConversationID, Digest string }
	if err := json.Unmarshal(raw, &got); err != nil || got.ApprovalID == "" {
		s.t.Fatalf("%s: %s", row.name, raw)
	}
	s.ids, s.names, s.conv = append(s.ids, got.ApprovalID), append(s.names, row.name), got.ConversationID
	s.known[got.ApprovalID], s.known[row.name] = &row, &row
	if row.decide != "" {
		body := strings.ReplaceAll(row.decide, "DIGEST", got.Digest)
		if res, raw := s.send(http.MethodPost, "/v1/approvals/"+got.ApprovalID+"/respond", s.w.Reviewer, body); res.StatusCode >= 300 {
			s.t.Fatalf("%s: %s", row.name, raw)
		} else {
			s.look("respond", raw)
		}
	}
	if row.then != nil {
		row.then(s, row)
	}
	a, err := s.w.Store().Requests.Approval(s.t.Context(), s.w.Admin, models.ResponseID(got.ApprovalID))
	if err == nil {
		err = s.w.Store().Requests.HeldVerdicts(s.t.Context(), s.w.Admin, a)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if by, _ := a.Held(); a.Status() != row.status || a.Cause != row.cause || by != row.held && row.held != models.HeldByQuorum {
		s.t.Fatalf("%s is %q for %q, held by %q", row.name, a.Status(), a.Cause, by)
	}
}

func (row stateRow) body() string {
	if row.kind == models.KindQuestion {
		return fmt.Sprintf(`{%s"kind":"question","runId":"run-1","toolUseId":%q,"description":"Which?"}`, row.sends, row.name)
	}
	return fmt.Sprintf(`{%s"runId":"run-1","toolUseId":%q,"toolName":%q,"input":%s}`, row.sends, row.name, row.tool, askedInput)
}

func (s *stateWalk) waits(row stateRow) {
	s.send(http.MethodPost, "/v1/approvals?wait=8s", s.w.Agent, row.body())
}

func (s *stateWalk) cancels(stateRow) {
	s.send(http.MethodPost, "/v1/approvals/"+s.ids[len(s.ids)-1]+"/cancel", s.w.Agent, "")
}

// stops stops all agents.
func (s *stateWalk) stops() {
	stop, _, err := s.w.Store().Stop(s.t.Context(), s.w.Admin, "", "enough")
	if err != nil {
		s.t.Fatal(err)
	}
	s.stop = stop.ID
}

func (s *stateWalk) lifts(stateRow) {
	if err := s.w.Store().Lift(s.t.Context(), s.w.Admin, s.stop, "go on"); err != nil {
		s.t.Fatal(err)
	}
}

// stopsAll stops all agents, and lets the stop stand: what waits is cancelled, and what was
// approved and is not done lets nothing run. An answer stays one.
func (s *stateWalk) stopsAll() {
	s.stops()
	for _, row := range s.known {
		if row.status == models.StatusPending {
			row.status, row.cause = models.StatusCancelled, models.CauseStopped
		}
		row.input = ""
	}
}

// opensGate switches approvals off.
func (s *stateWalk) opensGate() { s.w.ApplyPolicy(s.t, `{"approval_enabled":false}`) }

func (s *stateWalk) closesGate(stateRow) { s.w.ApplyPolicy(s.t, statePolicy) }

// strands has too few left who could sign, and waits until the request expires.
func (s *stateWalk) strands(row stateRow) {
	s.losesReviewer()
	s.waits(row)
}

// losesReviewer disables the only person who could decide on a tool.
func (s *stateWalk) losesReviewer() {
	if _, err := s.w.Store().People.DisableUser(s.t.Context(), s.w.Admin, s.cy); err != nil {
		s.t.Fatal(err)
	}
}

// grants pre-approves calls like one that was asked about.
func (s *stateWalk) grants() {
	s.t.Helper()
	_, raw := s.send(http.MethodPost, "/v1/approvals", s.w.Agent, stateRow{name: "granted-from", tool: "again"}.body())
	var got struct{ ApprovalID, Digest string }
	err := json.Unmarshal(raw, &got)
	if err == nil {
		_, err = s.w.Store().MakeGrant(s.t.Context(), s.w.Admin, models.ResponseID(got.ApprovalID), models.GrantInput{Fixed: []string{"n"}, Hours: 2, Uses: 50, Digest: got.Digest, Page: models.NoPage})
	}
	if err != nil {
		s.t.Fatalf("%v: %s", err, raw)
	}
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
		row.input, row.suggests, row.answer = "", "", ""
	}
}

// forgetsEdits has the requests be from before they said whether they take edits.
func (s *stateWalk) forgetsEdits() {
	storetest.Forge(s.t, s.w.Store(), `UPDATE responses SET accepts_edits = FALSE`)
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
		"/v1/approvals":         "", // as it was asked
		"/api/approval/request": `{"session_id":"run-1","tool_use_id":"NAME","tool_name":"TOOL","tool_input":` + askedInput + `,"accepts_edits":true}`,
		"/hooks/claude-code":    `{"session_id":"run-1","hook_event_name":"PreToolUse","cwd":"/x","tool_use_id":"NAME","tool_name":"TOOL","tool_input":` + askedInput + `}`,
	}
	for path, methods := range s.document() {
		if _, walked := ways[path]; methods["post"] != nil && !walked && !slices.Contains(asksNothing, path) {
			s.t.Errorf("POST %s is new: add it to ways if an agent asks by it, else to asksNothing", path)
		}
	}
	c := s.w.MCPClient(s.t, false)
	c.Begins()
	for i, name := range s.names {
		row := s.known[name]
		if row.status != models.StatusPending { // a hook waits for those
			for path, body := range ways {
				if body == "" {
					body = row.body()
				} else if row.kind == models.KindQuestion {
					continue // it has no way to ask one
				}
				body = strings.NewReplacer("NAME", name, "TOOL", row.tool).Replace(body)
				_, raw := s.send(http.MethodPost, path, s.w.Agent, body)
				if s.lookOf("POST "+path, raw, row); row.yes() && (path != "/hooks/claude-code" || !row.terminal()) && !bytes.Contains(raw, []byte(`"allow"`)) && !bytes.Contains(bytes.ToLower(raw), []byte(`"approved"`)) {
					s.t.Errorf("POST %s tells no yes of %s: %s", path, name, raw)
				}
			}
		}
		_, raw := s.send(http.MethodGet, "/humanlayer/v1/function_calls/"+name, s.w.Agent, "")
		s.lookOf("function call", raw, row)
		if approved := bytes.Contains(raw, []byte(`"approved":true`)); approved != (row.input == askedInput) {
			s.t.Errorf("function call %s: %s", name, raw) // its client runs what it sent
		}
		c.Calls(i+1, "check_approval", `{"approval_id":"`+s.ids[i]+`","wait_seconds":0}`)
		c.Says(s.t, c.Out, fmt.Sprintf(`"id":%d,`, i+1))
	}
	s.look("mcp", []byte(c.Out.String()))
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
		if where == "function call.status" && value != nil {
			break // its client runs what it sent
		}
		if value != nil && value != row.yes() {
			wrong()
		}
	case "requiresapproval", "requires_approval":
		if value == false && !row.yes() {
			wrong()
		}
	case "advice":
		acts := strings.Contains(text, "go ahead") || strings.Contains(text, "decision.answer")
		if suggests := strings.Contains(text, "decision.suggestedInput"); acts != row.yes() || suggests && row.suggests == "" {
			wrong()
		}
		if decision, _ := in["decision"].(map[string]any); decision != nil && strings.Contains(text, "decision.reason") && isMark(decision["reason"]) {
			wrong()
		}
	case "permissiondecisionreason", "message", "comment":
		if isMark(value) && !strings.HasSuffix(where, ".function_args") { // which are what was asked
			wrong()
		}
	case "answer":
		if value != nil && text != row.answer || strings.HasSuffix(where, ".decision") && text != row.answer {
			wrong()
		}
	case "status", "decision", "behavior", "permissiondecision", "outcome":
		if slices.Contains([]string{"approved", "allow", "allowed", "let_through"}, strings.ToLower(text)) && !row.yes() {
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

// isMark reports whether a text has the mark that stands in the place of contents that were
// removed: an agent would take it for what a person said.
func isMark(v any) bool {
	text, _ := v.(string)
	return strings.Contains(text, "removed on ")
}

func jsonOf(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}
