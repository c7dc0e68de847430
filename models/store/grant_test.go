package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// grant makes one on a request, with the members named staying as they are.
func (b *bench) grant(t *testing.T, a *models.Approval, uses int, fixed ...string) *models.Grant {
	t.Helper()
	g, err := b.MakeGrant(t.Context(), b.Owner, a.ID, models.GrantInput{Fixed: fixed, Hours: 1, Uses: uses, Digest: a.Digest})
	if err != nil {
		t.Fatalf("make grant: %v", err)
	}
	return g
}

// run asks for a command in a folder.
func (b *bench) run(t *testing.T, command, cwd string) *models.Approval {
	t.Helper()
	return b.AskFor(t, models.AskInput{Input: fmt.Appendf(nil, `{"command":%q,"cwd":%q}`, command, cwd)})
}

// uses are how often a grant was used, as it stands.
func (b *bench) uses(t *testing.T, id models.GrantID) int64 {
	t.Helper()
	g, err := b.Grant(t.Context(), b.Admin, id, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(g.Items)) != min(g.Uses, models.DefaultPage) {
		t.Errorf("%d uses are counted, %d calls name the grant", g.Uses, len(g.Items))
	}
	return g.Uses
}

// What no page shows whole is decided one by one: no pre-approval is made on it or covers it, and
// it is not approved with others at once.
func TestWhatNoPageShowsWholeIsDecidedAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	long := strings.Repeat("x", models.MaxDrawn)
	large := b.run(t, long, "/src")
	_, err := b.MakeGrant(t.Context(), b.Owner, large.ID, models.GrantInput{Digest: large.Digest, Fixed: []string{"cwd"}, Uses: 3, Hours: 1})
	wantCode(t, err, models.CodeWrongDecisionKind)
	_, err = b.Decide(t.Context(), b.Owner, large.ID, models.DecisionInput{Approved: new(true), Digest: large.Digest, Bulk: true})
	wantCode(t, err, models.CodeWrongDecisionKind)
	b.grant(t, b.run(t, "make test", "/src"), 3, "cwd")
	if a := b.run(t, "make it", "/src"); !a.LetThrough() {
		t.Errorf("a short call is %s", a.Status())
	}
	if a := b.run(t, long+"y", "/src"); a.Status() != models.StatusPending {
		t.Errorf("a long call is %s", a.Status())
	}
}

func TestAGrantLetsCallsThroughUntilItIsUsedUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.run(t, "make test", "/src")
	before := b.VerifiedHead(t)
	g := b.grant(t, first, 3, "cwd")
	b.WantActions(t, before, "grant.made")
	if g.Fixed != `{"cwd":"/src"}` || g.Free != `["command"]` || !g.ExpiresAt.Equal(b.Clock.Now().Add(time.Hour)) || g.MakerName != "owner@example.com" || !g.MakerMayDecide || g.AgentName != "bot" {
		t.Errorf("made %+v", g)
	}
	if stands, err := b.Requests.Approval(t.Context(), b.Owner, first.ID); err != nil || stands.Status() != models.StatusPending {
		t.Errorf("the request that it was made on is %s (%v)", stands.Status(), err)
	}
	for i := range 3 {
		before := b.VerifiedHead(t)
		a := b.run(t, fmt.Sprintf("make step-%d", i), "/src")
		want := fmt.Sprintf("Pre-approved by owner@example.com until 2026-03-02 13:00 UTC, use %d of 3. Otherwise it would have needed approval: The agent asked for approval.", i+1)
		for _, got := range []*models.Approval{a, b.Read(t, a.ID)} {
			if !got.LetThrough() || got.Cause != models.CauseGrant || got.GrantID == nil || *got.GrantID != g.ID || got.RequiresApproval || got.DecidedBy != nil || got.HasDeadline() {
				t.Errorf("call %d is %+v", i, got.Response)
			}
			if got.PolicyReason != want || got.PolicyRule == "" || got.PolicyVersion != 1 || got.Energy != 1 {
				t.Errorf("call %d: %q, rule %q of version %d", i, got.PolicyReason, got.PolicyRule, got.PolicyVersion)
			}
		}
		b.WantActions(t, before, "approval.let_through")
		if e := b.lastEntry(t); e.Grant != g.ID || e.Cause != models.CauseGrant || e.Status != "let_through" {
			t.Errorf("the ledger says %+v", e)
		}
	}
	if a := b.run(t, "make step-3", "/src"); a.Status() != models.StatusPending || a.GrantID != nil {
		t.Errorf("a fourth call of three is %s by %v", a.Status(), a.GrantID)
	}
	if n := b.uses(t, g.ID); n != 3 {
		t.Errorf("used %d times", n)
	}
}

type grantLine struct {
	Grant  models.GrantID
	Cause  models.Cause
	Status string
	Uses   int64
}

// lastEntry is what the ledger's last entry says of a grant.
func (b *bench) lastEntry(t *testing.T) grantLine {
	t.Helper()
	db := storetest.Tamper(t, b.Store)
	defer db.Close()
	var data string
	if err := db.QueryRowContext(t.Context(), `SELECT data FROM ledger ORDER BY seq DESC LIMIT 1`).Scan(&data); err != nil {
		t.Fatal(err)
	}
	var line grantLine
	if err := json.Unmarshal([]byte(data), &line, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	return line
}

func TestI4WhoMayMakeSeeAndRevokeGrants(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"rules":[{"name":"pay","tools":["pay"],"effect":"require","reviewers":["stranger@example.com"]}]}`)
	nobody := storetest.Reviewer(t, b.Store, "nobody@example.com")
	a := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"to":"ACME"}`)})
	in := models.GrantInput{Fixed: []string{"to"}, Hours: 1, Uses: 5, Digest: a.Digest}
	reviewerToken, _ := storetest.ReviewerToken(t, b.Store, b.Admin)
	mint := func(who models.Actor) error { return second(b.MakeGrant(t.Context(), who, a.ID, in)) }
	for _, c := range []struct {
		who  models.Actor
		code models.Code
	}{
		{b.Agent, models.CodeForbidden},
		{b.Other, models.CodeForbidden},
		{storetest.Operator(), models.CodeForbidden},
		{models.System("x"), models.CodeForbidden},
		{models.Actor{}, models.CodeForbidden},
		{b.Stranger, models.CodeForbidden}, // it was routed to them: they may decide it
		{nobody, models.CodeNotFound},
		{reviewerToken, models.CodeNotFound},
	} {
		storetest.WantUnchanged(t, b.Store, c.code, func() error { return mint(c.who) })
		wantCode(t, second(b.GrantReach(t.Context(), c.who, a.ID, nil)), c.code)
	}
	g := b.grant(t, a, 5, "to")
	for _, who := range []models.Actor{b.Agent, b.Other, storetest.Operator(), {}} {
		storetest.WantUnchanged(t, b.Store, models.CodeForbidden, func() error { return second(b.RevokeGrant(t.Context(), who, g.ID)) })
		wantCode(t, second(b.Grant(t.Context(), who, g.ID, "", 0)), models.CodeForbidden)
		wantCode(t, second(b.Grants(t.Context(), who, "", 0)), models.CodeForbidden)
	}
	for _, who := range []models.Actor{b.Stranger, nobody, reviewerToken} {
		storetest.WantUnchanged(t, b.Store, models.CodeNotFound, func() error { return second(b.RevokeGrant(t.Context(), who, g.ID)) })
		wantCode(t, second(b.Grant(t.Context(), who, g.ID, "", 0)), models.CodeNotFound)
		if list, err := b.Grants(t.Context(), who, "", 0); err != nil || len(list.Items) != 0 {
			t.Errorf("%s sees %v (%v)", who.Name, list.Items, err)
		}
	}
	before := b.VerifiedHead(t)
	for range 2 {
		got, err := b.RevokeGrant(t.Context(), b.Admin, g.ID)
		if err != nil || got.RevokedAt == nil || got.RevokerName != "admin@example.com" || *got.RevokedBy != b.Admin.UserID() {
			t.Fatalf("revoked: %+v, %v", got, err)
		}
	}
	b.WantActions(t, before, "grant.revoked")
	if line := b.lastEntry(t); line.Grant != g.ID {
		t.Errorf("the ledger says %+v", line)
	}
	if next := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"to":"ACME"}`)}); next.Status() != models.StatusPending {
		t.Errorf("a revoked grant lets through: %s", next.Cause)
	}
	if err := mint(b.Admin); err != nil { // and it can be made anew
		t.Error(err)
	}
	wantCode(t, second(b.RevokeGrant(t.Context(), b.Admin, models.NewID[models.GrantID]())), models.CodeNotFound)
}

func TestWhatNoGrantIsMadeOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"rules":[{"name":"wire","tools":["wire"],"effect":"require","risk":"critical"},{"name":"ls","tools":["ls"],"effect":"allow"},{"name":"no","tools":["no"],"effect":"deny"}]}`)
	mint := func(a *models.Approval, change func(*models.GrantInput)) func() error {
		in := models.GrantInput{Hours: 1, Uses: 1, Digest: a.Digest}
		change(&in)
		return func() error { return second(b.MakeGrant(t.Context(), b.Owner, a.ID, in)) }
	}
	as := func(*models.GrantInput) {}
	bash := b.AskFor(t, models.AskInput{Input: []byte(`{"command":"ls"}`)})
	rejected := b.AskFor(t, models.AskInput{Input: []byte(`{"command":"rm"}`)})
	if _, err := b.Decide(t.Context(), b.Owner, rejected.ID, storetest.No("")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		a     *models.Approval
		in    func(*models.GrantInput)
		code  models.Code
		field string
	}{
		"a question":       {b.AskFor(t, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "?"}}), as, models.CodeWrongDecisionKind, ""},
		"critical risk":    {b.AskFor(t, models.AskInput{ToolName: "wire"}), as, models.CodeWrongDecisionKind, ""},
		"allowed":          {b.AskFor(t, models.AskInput{ToolName: "ls"}), as, models.CodeWrongDecisionKind, ""},
		"denied":           {b.AskFor(t, models.AskInput{ToolName: "no"}), as, models.CodeAlreadyDecided, ""},
		"rejected":         {rejected, as, models.CodeAlreadyDecided, ""},
		"no digest":        {bash, func(in *models.GrantInput) { in.Digest = "" }, models.CodeDigestRequired, "digest"},
		"another digest":   {bash, func(in *models.GrantInput) { in.Digest = rejected.Digest }, models.CodeDigestMismatch, ""},
		"no hours":         {bash, func(in *models.GrantInput) { in.Hours = 0 }, models.CodeInvalid, "hours"},
		"too many hours":   {bash, func(in *models.GrantInput) { in.Hours = 25 }, models.CodeInvalid, "hours"},
		"no uses":          {bash, func(in *models.GrantInput) { in.Uses = 0 }, models.CodeInvalid, "uses"},
		"too many uses":    {bash, func(in *models.GrantInput) { in.Uses = 51 }, models.CodeInvalid, "uses"},
		"an unknown name":  {bash, func(in *models.GrantInput) { in.Fixed = []string{"command", "cwd"} }, models.CodeInvalid, "fixed"},
		"three at a time":  {bash, func(in *models.GrantInput) { in.Fixed, in.Hours, in.Uses = []string{"x"}, -1, -1 }, models.CodeInvalid, "fixed hours uses"},
		"a name of a list": {b.AskFor(t, models.AskInput{Input: []byte(`[1]`)}), func(in *models.GrantInput) { in.Fixed = []string{"0"} }, models.CodeInvalid, "fixed"},
	} {
		e := storetest.WantUnchanged(t, b.Store, c.code, mint(c.a, c.in))
		var fields []string
		for name := range e.Fields {
			fields = append(fields, name)
		}
		slices.Sort(fields)
		if got := strings.Join(fields, " "); got != c.field {
			t.Errorf("%s: the error is at %q, want %q", name, got, c.field)
		}
		if stands := c.code == models.CodeDigestMismatch || c.code == models.CodeAlreadyDecided; stands != (e.Approval != nil) {
			t.Errorf("%s: the standing row is %v", name, e.Approval)
		}
	}
	b.grant(t, bash, 5, "command")
	storetest.WantUnchanged(t, b.Store, models.CodeConflict, mint(bash, func(in *models.GrantInput) { in.Fixed, in.Uses = []string{"command"}, 9 })) // a form sent twice
	for name, doc := range map[string]string{
		"denied now": `{"rules":[{"name":"no","tools":["Bash"],"effect":"deny"}]}`, "critical now": `{"rules":[{"name":"no","tools":["Bash"],"effect":"require","risk":"critical"}]}`,
	} {
		b.UsePolicy(t, doc)
		if e := storetest.WantUnchanged(t, b.Store, models.CodeWrongDecisionKind, mint(bash, as)); e.Text == "" {
			t.Error(name)
		}
	}
	b.UsePolicy(t, `{"grants_enabled":false}`)
	storetest.WantUnchanged(t, b.Store, models.CodeForbidden, mint(bash, as))
	b.UsePolicy(t, `{"grant_max_hours":2,"grant_max_uses":1}`)
	storetest.WantUnchanged(t, b.Store, models.CodeInvalid, mint(bash, func(in *models.GrantInput) { in.Hours = 3 }))
	storetest.WantUnchanged(t, b.Store, models.CodeInvalid, mint(bash, func(in *models.GrantInput) { in.Uses = 2 }))
}

func TestGrantsOfOneToolAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mint := func(i int) error {
		a := b.AskFor(t, models.AskInput{Input: fmt.Appendf(nil, `{"n":%d}`, i), ToolUseID: fmt.Sprint("c", i)})
		return second(b.MakeGrant(t.Context(), b.Owner, a.ID, models.GrantInput{Fixed: []string{"n"}, Hours: 1, Uses: 1, Digest: a.Digest}))
	}
	for i := range models.MaxLiveGrants {
		if err := mint(i); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, mint(models.MaxLiveGrants), models.CodeConflict)
	b.Clock.Step(time.Hour)
	if err := mint(models.MaxLiveGrants + 1); err != nil {
		t.Errorf("after the others have expired: %v", err)
	}
}

func TestGrantsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	long := strings.Repeat("x", 3*models.MaxBrief)
	var made []models.GrantID
	for i := range 5 {
		b.Clock.Step(time.Second)
		a := b.AskFor(t, models.AskInput{Input: fmt.Appendf(nil, `{"n":%d,"text":%q}`, i, long)})
		made = append([]models.GrantID{b.grant(t, a, 1+i, "n", "text").ID}, made...)
	}
	foreign, err := b.Ask(t.Context(), b.Other, models.AskInput{ToolName: "Bash", Explicit: true})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := b.MakeGrant(t.Context(), b.Stranger, foreign.ID, models.GrantInput{Hours: 1, Uses: 1, Digest: foreign.Digest})
	if err != nil {
		t.Fatal(err)
	}
	for who, want := range map[*models.Actor][]models.GrantID{&b.Owner: made, &b.Stranger: {theirs.ID}, &b.Admin: append([]models.GrantID{theirs.ID}, made...)} {
		var got []models.GrantID
		after := ""
		for range 10 {
			page, err := b.Grants(t.Context(), *who, after, 2)
			if err != nil || len(page.Items) > 2 {
				t.Fatalf("%d items, %v", len(page.Items), err)
			}
			for _, g := range page.Items {
				if len(g.Fixed) > models.MaxBrief || g.AgentName != "bot" || g.OwnerName == "" || g.StateAt(b.Clock.Now()) != models.GrantLive {
					t.Errorf("listed %+v", g)
				}
				got = append(got, g.ID)
			}
			if after = page.Next; after == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s lists %v, want %v", who.Name, got, want)
		}
	}
	wantCode(t, second(b.Grants(t.Context(), b.Owner, "nonsense", 0)), models.CodeInvalid)
	whole, err := b.Grant(t.Context(), b.Owner, made[0], "", 0)
	if err != nil || len(whole.Fixed) < len(long) || len(whole.FixedMembers()) != 2 || whole.Whole() {
		t.Errorf("one grant has %d bytes fixed (%v)", len(whole.Fixed), err)
	}
}

func TestTheCallsOfAGrantArePagedNewestFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	g := b.grant(t, b.run(t, "ls", "/"), 7, "cwd")
	var want []models.ResponseID
	for i := range 7 {
		want = append([]models.ResponseID{b.run(t, fmt.Sprint(i), "/").ID}, want...)
	}
	var got []models.ResponseID
	after := ""
	for range 10 {
		page, err := b.Grant(t.Context(), b.Owner, g.ID, after, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page.Items {
			got = append(got, a.ID)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the calls are %v, want %v", got, want)
	}
	wantCode(t, second(b.Grant(t.Context(), b.Owner, g.ID, "nonsense", 0)), models.CodeInvalid)
}

func TestHowFarAGrantWouldHaveReached(t *testing.T) {
	t.Parallel()
	b := newBench(t, storetest.NoLimits)
	reach := func(fixed ...string) models.GrantReach {
		t.Helper()
		on := b.run(t, "make", "/src")
		got, err := b.GrantReach(t.Context(), b.Owner, on.ID, fixed)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := reach("cwd"); got != (models.GrantReach{}) {
		t.Errorf("before there were any calls: %+v", got)
	}
	oldest := b.Clock.Step(time.Minute)
	b.run(t, "make test", "/src")
	b.Clock.Step(time.Minute)
	b.run(t, "make test", "/etc")
	b.AskFor(t, models.AskInput{Input: []byte(`{"command":"make test","cwd":"/src","sudo":true}`)})
	b.AskFor(t, models.AskInput{Input: []byte(`"make test"`)})
	b.AskFor(t, models.AskInput{ToolName: "bash", Input: []byte(`{"command":"make test","cwd":"/src"}`)}) // another tool
	for i, c := range []struct {
		fixed   []string
		covered int
	}{{[]string{"cwd"}, 2}, {nil, 4}, {[]string{"command", "cwd"}, 3}} {
		// The first call of all is one more, and each request asked here is another.
		got := reach(c.fixed...)
		if got.Covered != c.covered || got.Sample != 5+i || got.More {
			t.Errorf("with %v fixed: %+v, want %d of %d", c.fixed, got, c.covered, 5+i)
		}
	}
	if got := reach("cwd"); !got.Since.Before(oldest) {
		t.Errorf("since %v", got.Since)
	}
	wantCode(t, second(b.GrantReach(t.Context(), b.Owner, b.run(t, "a", "b").ID, []string{"no"})), models.CodeInvalid)
	before := storetest.Dump(t, b.Store)
	reachOf := func(n int) models.GrantReach {
		list, err := b.Requests.Inbox(t.Context(), b.Owner, requests.InboxQuery{Limit: 1})
		if err != nil || len(list.Items) == 0 {
			t.Fatal(err)
		}
		got, err := b.GrantReach(t.Context(), b.Owner, list.Items[0].ID, nil)
		if err != nil || got.Sample != n {
			t.Errorf("looked at %+v, want %d (%v)", got, n, err)
		}
		return got
	}
	reachOf(9)
	if storetest.Dump(t, b.Store) != before {
		t.Error("I15: looking changed something")
	}
	storetest.Seed(t, b.Store, b.Agent, storetest.Rows{Settled: 600})
	if got := reachOf(500); !got.More {
		t.Errorf("of 600: %+v", got)
	}
}
