package scenario_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

const (
	ownerEmail    = "owner@example.com"
	strangerEmail = "stranger@example.com"
)

// deciding is one verdict, from whichever surface, and the code that answers it:
// empty if it was taken.
type deciding struct {
	who    string // owner, stranger, admin or agent
	reject bool
	digest string // "": as shown; "none"; "wrong"
	reason string
	code   models.Code
}

// standing is where a request stands, in the words of the store.
type standing struct {
	status models.Status // StatusNone: allowed without a person
	cause  models.Cause
	by     string // who decided; empty: nobody
	reason string
}

// scenario is one rule: a policy, a call, what happens to it, and what then
// stands, the same on every surface.
type scenario struct {
	name    string
	policy  string
	tool    string
	happens string // before anybody decides: expires, withdrawn
	decided []deciding
	stands  standing
	held    bool // by /v1/approvals alone, whose asks need approval where no rule says otherwise
}

var scenarios = []scenario{
	{
		name: "an exact name is held, and approved", policy: `{"required_approval_tools":["delete_user"]}`, tool: "delete_user",
		decided: []deciding{{who: "owner", reason: "fine"}}, stands: standing{models.StatusApproved, models.CauseReviewer, ownerEmail, "fine"},
	},
	{
		name: "a regular expression holds, and a person rejects", policy: `{"required_approval_tools":["/.*delete.*/"]}`, tool: "bulk_delete_rows",
		decided: []deciding{{who: "owner", reject: true, reason: "not on Fridays"}}, stands: standing{models.StatusRejected, models.CauseReviewer, ownerEmail, "not on Fridays"},
	},
	{
		name: "another spelling of a listed name is held", policy: `{"required_approval_tools":["delete_user"]}`, tool: "Delete-User",
		stands: standing{status: models.StatusPending},
	},
	{
		name: "a rule lets through", policy: `{"rules":[{"name":"reading","tools":["read"],"effect":"allow"}]}`, tool: "read",
		decided: []deciding{{who: "owner", code: models.CodeAlreadyDecided}}, stands: standing{cause: models.CausePolicy},
	},
	{
		name: "a rule denies", policy: `{"rules":[{"name":"never","tools":["format"],"effect":"deny","reason":"not here"}]}`, tool: "format",
		decided: []deciding{{who: "admin", code: models.CodeAlreadyDecided}}, stands: standing{models.StatusRejected, models.CausePolicy, "", "not here"},
	},
	{
		name: "no rule settles it", policy: `{"required_approval_tools":["delete_user"]}`, tool: "read",
		stands: standing{cause: models.CausePolicy}, held: true,
	},
	{
		name: "no rule settles it, and what none does is held", policy: `{"unmatched":"require"}`, tool: "read",
		stands: standing{status: models.StatusPending},
	},
	{
		name: "the gate is off", policy: `{"approval_enabled":false,"required_approval_tools":["delete_user"]}`, tool: "delete_user",
		decided: []deciding{{who: "owner", reject: true, code: models.CodeAlreadyDecided}}, stands: standing{cause: models.CauseGateOff},
	},
	{
		name: "the gate is off, and a rule still denies", policy: `{"approval_enabled":false,"rules":[{"name":"never","tools":["format"],"effect":"deny","reason":"not here"}]}`,
		tool: "format", stands: standing{models.StatusRejected, models.CausePolicy, "", "not here"},
	},
	{
		name: "the first decision stands", policy: `{"required_approval_tools":["rm"]}`, tool: "rm",
		decided: []deciding{{who: "owner", reason: "first"}, {who: "admin", reject: true, reason: "second", code: models.CodeAlreadyDecided}, {who: "owner", code: models.CodeAlreadyDecided}},
		stands:  standing{models.StatusApproved, models.CauseReviewer, ownerEmail, "first"},
	},
	{
		name: "high risk is approved with the digest shown", policy: `{"rules":[{"name":"high","tools":["rm"],"effect":"require","risk":"high"}]}`, tool: "rm",
		decided: []deciding{{who: "owner", digest: "none", code: models.CodeDigestRequired}, {who: "owner", digest: "wrong", code: models.CodeDigestMismatch}, {who: "owner"}},
		stands:  standing{models.StatusApproved, models.CauseReviewer, ownerEmail, ""},
	},
	{
		name: "high risk is rejected without one", policy: `{"rules":[{"name":"high","tools":["rm"],"effect":"require","risk":"critical"}]}`, tool: "rm",
		decided: []deciding{{who: "owner", reject: true, digest: "none"}}, stands: standing{models.StatusRejected, models.CauseReviewer, ownerEmail, ""},
	},
	{
		name: "neither strangers nor agents decide", policy: `{"required_approval_tools":["rm"]}`, tool: "rm",
		decided: []deciding{{who: "stranger", code: models.CodeNotFound}, {who: "stranger", reject: true, code: models.CodeNotFound}, {who: "agent", code: models.CodeForbidden}},
		stands:  standing{status: models.StatusPending},
	},
	{
		name: "whom a rule routes it to decides", tool: "rm", policy: `{"rules":[{"name":"routed","tools":["rm"],"effect":"require","reviewers":["` + strangerEmail + `"]}]}`,
		decided: []deciding{{who: "stranger", reject: true, reason: "no"}}, stands: standing{models.StatusRejected, models.CauseReviewer, strangerEmail, "no"},
	},
	{
		name: "an admin decides", policy: `{"required_approval_tools":["rm"]}`, tool: "rm",
		decided: []deciding{{who: "admin"}}, stands: standing{models.StatusApproved, models.CauseReviewer, storetest.AdminEmail, ""},
	},
	{
		name: "a reason that is too long", policy: `{"required_approval_tools":["rm"]}`, tool: "rm",
		decided: []deciding{{who: "owner", reject: true, reason: strings.Repeat("x", models.MaxReason+1), code: models.CodeInvalid}}, stands: standing{status: models.StatusPending},
	},
	{
		name: "silence is not consent", policy: `{"required_approval_tools":["rm"],"default_timeout_minutes":1}`, tool: "rm", happens: "expires",
		decided: []deciding{{who: "owner", code: models.CodeExpired}, {who: "owner", reject: true, code: models.CodeExpired}},
		stands:  standing{models.StatusExpired, models.CauseTimeout, "", "Approval request timed out (1 minute)"},
	},
	{
		name: "the agent withdraws", policy: `{"required_approval_tools":["rm"]}`, tool: "rm", happens: "withdrawn",
		decided: []deciding{{who: "owner", code: models.CodeAlreadyDecided}}, stands: standing{models.StatusCancelled, models.CauseCancelled, "", "withdrawn by the agent"},
	},
}

// TestOneRuleTheSameAnswerFromEverySurface runs the table over /v1/approvals,
// /api/approval, /conversations and the pages.
func TestOneRuleTheSameAnswerFromEverySurface(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(*stage) door{
		"approval queue": func(s *stage) door { return &queueDoor{s} },
		"tool approval":  func(s *stage) door { return &toolDoor{s} },
		"conversations":  func(s *stage) door { return &conversationsDoor{stage: s, asks: &toolDoor{s}} },
		"pages":          func(s *stage) door { return &pagesDoor{stage: s, asks: &toolDoor{s}, browsers: map[string]*browser{}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			d := of(s)
			for i, sc := range scenarios {
				t.Run(sc.name, func(t *testing.T) {
					s.t = t
					s.play(d, call{toolUse: fmt.Sprintf("toolu_%d", i), session: fmt.Sprintf("run %d", i), tool: sc.tool, input: `{"n":1}`}, sc)
				})
			}
		})
	}
}

// call is what an agent wants to do.
type call struct{ toolUse, session, tool, input string }

// play runs one scenario through a door.
func (s *stage) play(d door, c call, sc scenario) {
	t := s.t
	t.Helper()
	if _, err := s.Store().ApplyPolicy(t.Context(), s.admin, []byte(sc.policy), "", 0); err != nil {
		t.Fatal(err)
	}
	id, code := d.ask(c)
	if code != "" {
		t.Fatalf("ask: %s", code)
	}
	want := sc.stands
	if _, queue := d.(*queueDoor); queue && sc.held {
		want = standing{status: models.StatusPending}
	}
	switch sc.happens {
	case "expires":
		s.expire()
	case "withdrawn":
		s.withdraw(id)
	}
	for i, v := range sc.decided {
		if got := d.decide(id, c, v); got != v.code {
			t.Errorf("decision %d: %q, want %q", i+1, got, v.code)
		}
	}
	if got := d.stands(id, c); got != want {
		t.Errorf("stands as %+v, want %+v", got, want)
	}
	// I9: sent again it is the same; with another input it is refused.
	if again, code := d.ask(c); again != id || code != "" {
		t.Errorf("sent again: %s %s, want %s", again, code, id)
	}
	c.input = `{"n":2}`
	if _, code := d.ask(c); code != models.CodeKeyConflict {
		t.Errorf("sent again with another input: %q, want %q", code, models.CodeKeyConflict)
	}
	if got := d.stands(id, c); got != want {
		t.Errorf("after it was sent again it stands as %+v, want %+v", got, want)
	}
}

// expire lets all deadlines pass: a store beside the server whose clock is ahead
// writes down what has expired by it.
func (s *stage) expire() {
	s.t.Helper()
	clock := storetest.NewClock()
	clock.Step(time.Since(clock.Now()) + 2*time.Minute)
	ahead := storetest.New(s.t, storetest.WithDir(s.Dir), storetest.WithClock(clock))
	if n, err := ahead.Cleanup(s.t.Context(), storetest.Operator()); err != nil || n == 0 {
		s.t.Fatalf("%d expired: %v", n, err)
	}
}
