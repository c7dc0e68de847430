package store_test

import (
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/policy"
	"countersign/models/store"
	"countersign/models/storetest"
)

// call asks as an orchestrator does: by a session string, and not explicitly.
func (b *bench) call(t *testing.T, agent models.Actor, session, toolUse string) *models.Approval {
	t.Helper()
	a, err := b.Ask(t.Context(), agent, models.AskInput{Session: session, ToolUseID: toolUse, ToolName: "rm"})
	storetest.Must(t, err)
	return a
}

const holdRM = `{"required_approval_tools":["rm"]}`

func TestASessionIsAConversationOrARunAndNeverANewID(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, holdRM)
	named := b.AskFor(t, models.AskInput{RunID: "run 1", ToolUseID: "a"})
	for _, session := range []string{"run 1", string(named.ConversationID)} {
		if got := b.call(t, b.Agent, session, "in "+session); got.ConversationID != named.ConversationID {
			t.Errorf("session %q is another conversation than the one it names", session)
		}
	}
	const fresh = "01890A5D-AC96-774B-BCCE-B302099A8057"
	opened := b.call(t, b.Agent, fresh, "b")
	if opened.RunID == nil || *opened.RunID != fresh || string(opened.ConversationID) == fresh || opened.ConversationID == named.ConversationID {
		t.Errorf("an unknown session opened conversation %s with run %v, want %s as run id only", opened.ConversationID, opened.RunID, fresh)
	}
	if again := b.call(t, b.Agent, fresh, "c"); again.ConversationID != opened.ConversationID {
		t.Error("the session sent again is another conversation")
	}
	_, err := b.Ask(t.Context(), b.Agent, models.AskInput{Session: "s", RunID: "s", ToolName: "rm"})
	wantCode(t, err, models.CodeInvalid)
	_, err = b.Ask(t.Context(), b.Agent, models.AskInput{Session: "s\n", ToolName: "rm"})
	wantCode(t, err, models.CodeInvalid)
}

// Two owners with the same strings never meet, also where one uses the other's
// conversation id.
func TestSessionsOfTwoOwnersNeverMeet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, holdRM)
	mine := b.call(t, b.Agent, "run", "tu")
	for _, session := range []string{"run", string(mine.ConversationID)} {
		theirs := b.call(t, b.Other, session, "tu")
		if theirs.ID == mine.ID || theirs.ConversationID == mine.ConversationID || *theirs.RunID != session {
			t.Errorf("session %q of a stranger met %s", session, mine.ConversationID)
		}
		found, err := b.FindInvocation(t.Context(), b.Stranger, "tu", session)
		storetest.Must(t, err)
		if found.ID != theirs.ID {
			t.Errorf("the stranger finds %s by %q, want their own", found.ID, session)
		}
	}
	found, err := b.FindInvocation(t.Context(), b.Owner, "tu", "")
	storetest.Must(t, err)
	if found.ID != mine.ID {
		t.Errorf("the owner finds %s, want their own", found.ID)
	}
	second, _ := storetest.AgentToken(t, b.Store, b.Owner, "second")
	for _, session := range []string{"run", string(mine.ConversationID)} {
		_, err := b.Ask(t.Context(), second, models.AskInput{Session: session, ToolUseID: "tu", ToolName: "rm"})
		wantCode(t, err, models.CodeOtherAgent)
		_, err = b.FindInvocation(t.Context(), second, "tu", session)
		wantCode(t, err, models.CodeNotFound)
	}
}

func TestFindInvocation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	routed := storetest.Reviewer(t, b.Store, "routed@example.com")
	b.UsePolicy(t, `{"rules":[{"name":"rm","tools":["rm"],"effect":"require","reviewers":["routed@example.com"]}]}`)
	one := b.call(t, b.Agent, "s1", "once")
	first, second := b.call(t, b.Agent, "s1", "tu"), b.call(t, b.Agent, "s2", "tu")
	theirs := b.call(t, b.Other, "s1", "tu")
	for _, tt := range []struct {
		name             string
		actor            models.Actor
		toolUse, session string
		want             *models.Approval
		code             models.Code
	}{
		{"agent", b.Agent, "once", "", one, ""},
		{"agent, in several", b.Agent, "tu", "", nil, models.CodeAmbiguousSession},
		{"agent, by run", b.Agent, "tu", "s2", second, ""},
		{"agent, by conversation", b.Agent, "tu", string(first.ConversationID), first, ""},
		{"agent, in another session", b.Agent, "once", "s2", nil, models.CodeNotFound},
		{"agent, unknown", b.Agent, "nothing", "", nil, models.CodeNotFound},
		{"other agent", b.Other, "tu", "", theirs, ""},
		{"other agent, a name of the first", b.Other, "once", "", nil, models.CodeNotFound},
		{"owner", b.Owner, "once", "", one, ""},
		{"owner, in several", b.Owner, "tu", "", nil, models.CodeAmbiguousSession},
		{"owner, by run", b.Owner, "tu", "s1", first, ""},
		{"stranger", b.Stranger, "tu", "", theirs, ""},
		{"stranger, another's", b.Stranger, "once", "", nil, models.CodeNotFound},
		{"stranger, another's conversation", b.Stranger, "once", string(one.ConversationID), nil, models.CodeNotFound},
		{"routed", routed, "once", "", one, ""},
		{"routed, in several", routed, "tu", "", nil, models.CodeAmbiguousSession},
		{"routed, by run of one owner", routed, "tu", "s2", second, ""},
		{"routed, a run of two owners", routed, "tu", "s1", nil, models.CodeAmbiguousSession},
		{"routed, by conversation", routed, "tu", string(theirs.ConversationID), theirs, ""},
		{"admin", b.Admin, "once", "", one, ""},
		{"admin, a run of two owners", b.Admin, "tu", "s1", nil, models.CodeAmbiguousSession},
		{"admin, by conversation", b.Admin, "tu", string(theirs.ConversationID), theirs, ""},
		{"no name", b.Admin, "", "", nil, models.CodeInvalid},
		{"nobody", models.Actor{}, "tu", "", nil, models.CodeForbidden},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := b.FindInvocation(t.Context(), tt.actor, tt.toolUse, tt.session)
			wantCode(t, err, tt.code)
			if tt.want != nil && got.ID != tt.want.ID {
				t.Errorf("found %s, want %s", got.ID, tt.want.ID)
			}
		})
	}
}

func TestSessionPending(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"rules":[{"name":"soon","tools":["soon"],"effect":"require","timeout_minutes":1},{"name":"rm","tools":["rm"],"effect":"require"}]}`)
	first, second := b.call(t, b.Agent, "s", "1"), b.call(t, b.Agent, "s", "2")
	soon, err := b.Ask(t.Context(), b.Agent, models.AskInput{Session: "s", ToolUseID: "3", ToolName: "soon"})
	storetest.Must(t, err)
	b.call(t, b.Agent, "other", "1")
	theirs := b.call(t, b.Other, "s", "1")
	sees := func(actor models.Actor, session string, want ...*models.Approval) {
		t.Helper()
		var got, ids []string
		for next, more := "", true; more; more = next != "" {
			page, err := b.SessionPending(t.Context(), actor, session, next, 2)
			storetest.Must(t, err)
			for i := range page.Items {
				got = append(got, string(page.Items[i].ID))
			}
			next = page.Next
		}
		for _, a := range want {
			ids = append(ids, string(a.ID))
		}
		storetest.SameStrings(t, "pending of "+session, got, ids)
	}
	conversation := string(first.ConversationID)
	for _, session := range []string{"s", conversation} {
		sees(b.Agent, session, soon, first, second)
		sees(b.Owner, session, soon, first, second)
	}
	sees(b.Admin, conversation, soon, first, second)
	sees(b.Admin, "s", soon, first, second, theirs)
	sees(b.Stranger, conversation)
	sees(b.Stranger, "s", theirs)
	sees(b.Other, conversation)
	sees(b.Agent, "unknown")
	_, err = b.Decide(t.Context(), b.Owner, first.ID, storetest.Yes())
	storetest.Must(t, err)
	b.Clock.Step(time.Minute)
	sees(b.Agent, "s", second) // the one past its deadline has expired (I3)
	_, err = b.SessionPending(t.Context(), b.Agent, "s", "nonsense", 2)
	wantCode(t, err, models.CodeInvalid)
}

func TestChangePolicyKeepsTheRest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"required_approval_tools":["a"],"rules":[{"name":"r","tools":["x"],"effect":"deny"}],"max_timeout_minutes":60}`)
	before, err := b.CurrentPolicy(t.Context())
	storetest.Must(t, err)
	change := func(actor models.Actor, tools ...string) (store.PolicyVersion, error) {
		return b.ChangePolicy(t.Context(), actor, "note", func(d *policy.Document) { d.RequiredApprovalTools = tools })
	}
	for _, actor := range []models.Actor{b.Owner, b.Agent, {}} {
		_, err := change(actor, "b")
		wantCode(t, err, models.CodeForbidden)
	}
	_, err = change(b.Admin, "b", "/(/")
	if e := refusal(t, err, models.CodeInvalid); e.Fields["required_approval_tools[1]"] == "" {
		t.Errorf("the path is not named: %v", e.Fields)
	}
	if v, err := change(b.Admin, "a"); err != nil || v.Version != before.Version {
		t.Errorf("a change of nothing made version %d (%v)", v.Version, err)
	}
	after, err := change(b.Admin, "b")
	storetest.Must(t, err)
	doc := after.Program.Document()
	if after.Version != before.Version+1 || after.Note != "note" || after.AuthorID != b.Admin.ID || len(doc.Rules) != 1 || doc.MaxTimeoutMinutes != 60 ||
		len(doc.RequiredApprovalTools) != 1 || doc.RequiredApprovalTools[0] != "b" {
		t.Errorf("version %d by %s: %+v", after.Version, after.AuthorID, doc)
	}
}

// Partial changes at the same time do not undo each other.
func TestChangesOfThePolicyAtOnceAllStand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var all sync.WaitGroup
	for _, change := range []func(*policy.Document){
		func(d *policy.Document) { d.ApprovalEnabled = false },
		func(d *policy.Document) { d.FallbackAutoApprove = true },
		func(d *policy.Document) { d.DefaultTimeoutMinutes = 7 },
		func(d *policy.Document) { d.RequiredApprovalTools = []string{"rm"} },
	} {
		all.Go(func() {
			if _, err := b.ChangePolicy(t.Context(), b.Admin, "", change); err != nil {
				t.Errorf("change policy: %v", err)
			}
		})
	}
	all.Wait()
	v, err := b.CurrentPolicy(t.Context())
	storetest.Must(t, err)
	if d := v.Program.Document(); v.Version != 5 || d.ApprovalEnabled || !d.FallbackAutoApprove || d.DefaultTimeoutMinutes != 7 || len(d.RequiredApprovalTools) != 1 {
		t.Errorf("version %d: %+v, want all four changes", v.Version, d)
	}
}

func TestCleanupSaysHowMany(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, holdRM)
	for i := range 300 {
		b.call(t, b.Agent, "s", "call "+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	for _, actor := range []models.Actor{b.Owner, b.Agent, {}} {
		_, err := b.Cleanup(t.Context(), actor)
		wantCode(t, err, models.CodeForbidden)
	}
	for _, tt := range []struct {
		step time.Duration
		want int
	}{{time.Minute, 0}, {4 * time.Minute, 300}, {0, 0}} {
		b.Clock.Step(tt.step)
		if n, err := b.Cleanup(t.Context(), b.Admin); err != nil || n != tt.want {
			t.Errorf("cleaned up %d (%v), want %d", n, err, tt.want)
		}
	}
}
