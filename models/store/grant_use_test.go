package store_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/people"
	"countersign/models/store"
	"countersign/models/storetest"
)

// aftermath is what happens to a grant, or around it, before the next call.
type aftermath func(ctx context.Context, b *bench, g *models.Grant) error

func policies(docs ...string) aftermath {
	return func(ctx context.Context, b *bench, _ *models.Grant) error {
		for _, doc := range docs {
			if _, err := b.ApplyPolicy(ctx, b.Admin, []byte(doc), "", 0); err != nil {
				return err
			}
		}
		return nil
	}
}

func later(d time.Duration) aftermath {
	return func(_ context.Context, b *bench, _ *models.Grant) error {
		b.Clock.Step(d)
		return nil
	}
}

func revoked(ctx context.Context, b *bench, g *models.Grant) error {
	return second(b.RevokeGrant(ctx, b.Owner, g.ID))
}

func makerDisabled(ctx context.Context, b *bench, _ *models.Grant) error {
	return second(b.People.DisableUser(ctx, b.Admin, b.Owner.UserID()))
}

func makerAudits(ctx context.Context, b *bench, _ *models.Grant) error {
	return b.People.SetRole(ctx, b.Admin, b.Owner.UserID(), models.RoleAuditor)
}

func makerReviews(ctx context.Context, b *bench, _ *models.Grant) error {
	return b.People.SetRole(ctx, b.Admin, b.Owner.UserID(), models.RoleReviewer)
}

func makerEnabled(ctx context.Context, b *bench, _ *models.Grant) error {
	return b.People.EnableUser(ctx, b.Admin, b.Owner.UserID())
}

// byAdmin replaces the owner's grant by the same one of an admin, who has the
// role afterwards.
func byAdmin(role models.Role) aftermath {
	return func(ctx context.Context, b *bench, g *models.Grant) error {
		user, err := b.People.AddUser(ctx, storetest.Operator(), people.NewUser{Email: "helper@example.com", Name: "helper", Role: models.RoleAdmin, Password: storetest.Password})
		if err != nil {
			return err
		}
		if err := revoked(ctx, b, g); err != nil {
			return err
		}
		on, err := b.Requests.Approval(ctx, b.Admin, g.MadeFrom)
		if err != nil {
			return err
		}
		helper := models.Actor{Kind: models.ActorUser, ID: string(user.ID), Name: user.Name, OwnerID: user.ID, Admin: true}
		if _, err := b.MakeGrant(ctx, helper, on.ID, models.GrantInput{Fixed: []string{"command"}, Hours: 1, Uses: 5, Digest: on.Digest}); err != nil {
			return err
		}
		return b.People.SetRole(ctx, b.Admin, user.ID, role)
	}
}

// TestGrantsGoNoFurtherThanTheySay: after each change that ends or does not
// concern a grant the next call waits, or is what the policy says.
func TestGrantsGoNoFurtherThanTheySay(t *testing.T) {
	t.Parallel()
	rule := func(effect, more string) string {
		return `{"rules":[{"name":"sh","tools":["Bash"],"effect":"` + effect + `"` + more + `}]}`
	}
	const off = `{"grants_enabled":false}`
	const granted, waits = "/grant", "pending/"
	for name, c := range map[string]struct {
		after []aftermath
		ask   models.AskInput
		want  string // status and cause
	}{
		"nothing changed":                     {want: granted},
		"another value":                       {ask: models.AskInput{Input: []byte(`{"command":"rm"}`)}, want: waits},
		"a new argument":                      {ask: models.AskInput{Input: []byte(`{"command":"ls","cwd":"/"}`)}, want: waits},
		"another tool":                        {ask: models.AskInput{ToolName: "bash", Input: []byte(`{"command":"ls"}`)}, want: waits},
		"a question":                          {ask: models.AskInput{Kind: models.KindQuestion, ToolName: "Bash", Input: []byte(`{"command":"ls"}`)}, want: waits},
		"an hour later":                       {after: []aftermath{later(time.Hour)}, want: waits},
		"a moment before":                     {after: []aftermath{later(time.Hour - time.Microsecond)}, want: granted},
		"revoked":                             {after: []aftermath{revoked}, want: waits},
		"held by a rule":                      {after: []aftermath{policies(rule("require", ""))}, want: granted},
		"of high risk":                        {after: []aftermath{policies(rule("require", `,"risk":"high"`))}, want: granted},
		"of critical risk now":                {after: []aftermath{policies(rule("require", `,"risk":"critical"`))}, want: waits},
		"grants switched off":                 {after: []aftermath{policies(off)}, want: waits},
		"grants switched off and on":          {after: []aftermath{policies(off, rule("require", ""))}, want: granted},
		"held under a condition that is true": {after: []aftermath{policies(rule("require", `,"when":"input.command == 'ls'"`))}, want: granted},
		"held by what can't be judged":        {after: []aftermath{policies(rule("require", `,"when":"input.n > 1"`))}, want: waits},
		"denied by a rule":                    {after: []aftermath{policies(rule("deny", ""))}, want: "rejected/policy"},
		"allowed by a rule":                   {after: []aftermath{policies(rule("allow", ""))}, want: "/policy"},
		"the gate off":                        {after: []aftermath{policies(`{"approval_enabled":false}`)}, want: "/gate_off"},
		"its maker disabled":                  {after: []aftermath{makerDisabled}, want: waits},
		"its maker disabled and enabled":      {after: []aftermath{makerDisabled, makerEnabled}, want: granted},
		"its maker an auditor":                {after: []aftermath{makerAudits}, want: waits},
		"its maker an auditor and no more":    {after: []aftermath{makerAudits, makerReviews}, want: granted},
		"the admin who made it is none":       {after: []aftermath{byAdmin(models.RoleReviewer)}, want: waits},
		"the admin who made it is still one":  {after: []aftermath{byAdmin(models.RoleAdmin)}, want: granted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			g := b.grant(t, b.AskFor(t, models.AskInput{Input: []byte(`{"command":"ls"}`)}), 5, "command")
			for _, change := range c.after {
				ok(t, change(t.Context(), b, g))
			}
			if c.ask.Input == nil {
				c.ask.Input = []byte(`{"command":"ls"}`)
			}
			a := b.AskFor(t, c.ask)
			if got := string(a.Status()) + "/" + string(a.Cause); got != c.want {
				t.Errorf("it is %s, want %s: %s", got, c.want, a.PolicyReason)
			}
			// What the row says and what is counted are one.
			if n := b.usesOfAll(t); (n == 1) != (a.GrantID != nil) || (n == 1) != (c.want == granted) {
				t.Errorf("%d uses are counted", n)
			}
		})
	}
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (b *bench) usesOfAll(t *testing.T) int {
	t.Helper()
	list, err := b.Grants(t.Context(), b.Admin, "", 0)
	ok(t, err)
	n := 0
	for _, g := range list.Items {
		n += int(b.uses(t, g.ID))
	}
	return n
}

func TestAGrantIsForOneAgentOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.grant(t, b.run(t, "ls", "/"), 5)
	second, _ := storetest.AgentToken(t, b.Store, b.Owner, "second")
	for _, agent := range []models.Actor{second, b.Other} {
		a, err := b.Ask(t.Context(), agent, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"ls","cwd":"/"}`), Explicit: true})
		if err != nil || a.Status() != models.StatusPending {
			t.Errorf("a call of %s is %s (%v)", agent.Name, a.Status(), err)
		}
	}
}

func TestOfSeveralGrantsTheOneThatExpiresFirstIsUsed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.run(t, "ls", "/")
	mint := func(hours int, fixed ...string) models.GrantID {
		t.Helper()
		g, err := b.MakeGrant(t.Context(), b.Owner, on.ID, models.GrantInput{Fixed: fixed, Hours: hours, Uses: 1, Digest: on.Digest})
		ok(t, err)
		return g.ID
	}
	late, early, other := mint(3), mint(2, "cwd"), mint(1, "command")
	for i, want := range []models.GrantID{early, late} {
		if a := b.run(t, fmt.Sprint(i), "/"); a.GrantID == nil || *a.GrantID != want {
			t.Errorf("call %d used %v, want %s", i, a.GrantID, want)
		}
	}
	if a := b.run(t, "else", "/"); a.Status() != models.StatusPending {
		t.Errorf("a third is %s", a.Status())
	}
	if n := b.uses(t, other); n != 0 {
		t.Errorf("one that did not cover was used %d times", n)
	}
}

func TestI9ARepeatUsesNoGrant(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	g := b.grant(t, b.run(t, "ls", "/"), 2, "cwd")
	in := models.AskInput{ToolUseID: "c1", Input: []byte(`{"command":"a","cwd":"/"}`)}
	first := b.AskFor(t, in)
	for range 3 {
		if again := b.AskFor(t, in); again.ID != first.ID || again.Cause != models.CauseGrant || again.PolicyReason != first.PolicyReason || *again.GrantID != g.ID {
			t.Errorf("a repeat is %+v", again.Response)
		}
	}
	if n := b.uses(t, g.ID); n != 1 {
		t.Errorf("used %d times by one call", n)
	}
}

func TestACallThatWasReportedFirstUsesAGrantWhenItIsAsked(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	g := r.grant(t, r.Asks(t, "c0", "Bash", `{"command":"ls"}`), 1)
	r.Reports(t, storetest.One(storetest.Queued("c1", "Bash", `{"command":"make"}`, "b")), models.RunEventStored)
	before := r.VerifiedHead(t)
	a := r.Asks(t, "c1", "Bash", `{"command":"make"}`)
	if a.Cause != models.CauseGrant || a.GrantID == nil || *a.GrantID != g.ID || a.RequiresApproval || r.Read(t, a.ID).Cause != models.CauseGrant {
		t.Errorf("asked: %+v", a.Response)
	}
	r.WantActions(t, before, "approval.let_through")
	if n := r.uses(t, g.ID); n != 1 {
		t.Errorf("used %d times", n)
	}
	r.Reports(t, storetest.One(storetest.Queued("c2", "Bash", `{"command":"make"}`, "b2")), models.RunEventStored)
	if a := r.Asks(t, "c2", "Bash", `{"command":"make"}`); a.Status() != models.StatusPending {
		t.Errorf("the next is %s", a.Status())
	}
}

// TestI14ACallThatTheBudgetRefusesUsesNoGrant, and one that a grant lets through
// is paid for.
func TestI14ACallThatTheBudgetRefusesUsesNoGrant(t *testing.T) {
	t.Parallel()
	for name, reported := range map[string]bool{"asked": false, "reported first": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrace(t, "")
			g := r.grant(t, r.Asks(t, "c0", "Bash", `{"n":0}`), 9)
			total := int64(2)
			ok(t, second(r.ChangeBudget(t.Context(), r.Owner, r.Conv, models.BudgetChange{Set: &total}, "")))
			if a := r.Asks(t, "c1", "Bash", `{"n":1}`); a.Cause != models.CauseGrant {
				t.Fatalf("asked: %+v", a.Response)
			}
			if reported {
				r.Reports(t, storetest.One(storetest.Queued("c2", "Bash", `{"n":2}`, "b")), models.RunEventStored)
			}
			_, err := r.Ask(t.Context(), r.Agent, models.AskInput{ConversationID: string(r.Conv), ToolUseID: "c2", ToolName: "Bash", Input: []byte(`{"n":2}`), Explicit: true})
			wantCode(t, err, models.CodeBudgetExhausted)
			if n := r.uses(t, g.ID); n != 1 {
				t.Errorf("used %d times", n)
			}
			if v := r.ReadConversation(t, r.Conv); v.EnergyUsed != 2 {
				t.Errorf("%d units are used, want 2", v.EnergyUsed)
			}
			r.WantEnergyAddsUp(t)
		})
	}
}

func TestOf64CallsThatRaceForTenUsesTenAreLetThrough(t *testing.T) {
	t.Parallel()
	b := newBench(t, storetest.NoLimits)
	g := b.grant(t, b.run(t, "ls", "/"), 10, "cwd")
	through, waits := b.race(t, 64, func() {})
	if through != 10 || waits != 54 || b.uses(t, g.ID) != 10 {
		t.Errorf("%d were let through, %d wait, %d uses are counted", through, waits, b.uses(t, g.ID))
	}
}

// race asks n times at once, beside something else.
func (b *bench) race(t *testing.T, n int, beside func()) (through, waits int64) {
	t.Helper()
	var passed, pending atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			a, err := b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "Bash", Input: fmt.Appendf(nil, `{"command":"%d","cwd":"/"}`, i), Explicit: true})
			switch {
			case err != nil:
				t.Errorf("ask: %v", err)
			case a.Cause == models.CauseGrant && a.LetThrough():
				passed.Add(1)
			case a.Status() == models.StatusPending && a.GrantID == nil:
				pending.Add(1)
			}
		})
	}
	wg.Go(func() { <-start; beside() })
	close(start)
	wg.Wait()
	return passed.Load(), pending.Load()
}

func TestARevocationEndsAGrantBetweenTwoUses(t *testing.T) {
	t.Parallel()
	b := newBench(t, storetest.NoLimits)
	for range 20 {
		g := b.grant(t, b.run(t, "ls", "/"), 50, "cwd")
		through, waits := b.race(t, 16, func() { ok(t, second(b.RevokeGrant(t.Context(), b.Owner, g.ID))) })
		if n := b.uses(t, g.ID); through+waits != 16 || n != through {
			t.Errorf("%d were let through and %d wait, %d uses are counted", through, waits, n)
		}
		if a := b.run(t, "after", "/"); a.Status() != models.StatusPending {
			t.Fatalf("after the revocation: %s", a.Cause)
		}
	}
}

// TestI8AUseAndItsCallAreOneCommit: what a kill before the commit leaves behind
// has neither, what one after it leaves has both.
func TestI8AUseAndItsCallAreOneCommit(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, "its file is copied while it is written")
	var armed atomic.Bool
	var b *bench
	before := storetest.Dir(t)
	b = newBench(t, func(o *store.Options) {
		o.BeforeCommit = func() {
			if armed.CompareAndSwap(true, false) {
				copyDatabase(t, filepath.Dir(b.Path()), before)
			}
		}
	})
	g := b.grant(t, b.run(t, "ls", "/"), 2, "cwd")
	armed.Store(true)
	a := b.run(t, "make", "/")
	after := storetest.Dir(t)
	copyDatabase(t, filepath.Dir(b.Path()), after)
	for dir, want := range map[string]int64{before: 0, after: 1} {
		left := &bench{&storetest.Bench{Store: storetest.New(t, storetest.WithDir(dir), storetest.WithClock(b.Clock)), Clock: b.Clock, Admin: b.Admin, Owner: b.Owner, Agent: b.Agent}}
		_, err := left.Requests.Approval(t.Context(), b.Admin, a.ID)
		if n := left.uses(t, g.ID); n != want || (err == nil) != (want == 1) {
			t.Errorf("%d uses are counted, want %d; the call: %v", n, want, err)
		}
		// A server that has just started finds the grants that stand.
		if next := left.run(t, "next", "/"); next.Cause != models.CauseGrant {
			t.Errorf("after the restart a call is %s", next.Status())
		}
	}
}

// copyDatabase copies what a killed process would leave.
func copyDatabase(t *testing.T, from, to string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(from, models.DatabaseFile+"*"))
	if err != nil || len(files) == 0 {
		t.Errorf("nothing to copy in %s: %v", from, err)
	}
	for _, path := range files {
		if filepath.Base(path) == models.DatabaseFile+"-shm" {
			continue
		}
		in, err := os.Open(path)
		if err != nil {
			t.Error(err)
			return
		}
		out, err := os.OpenFile(filepath.Join(to, filepath.Base(path)), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := io.Copy(out, in); err != nil {
			t.Error(err)
		}
		in.Close()
		out.Close()
	}
}

// TestAGrantOfAnotherProcessIsHonoured although this one knew that there was
// none.
func TestAGrantOfAnotherProcessIsHonoured(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.run(t, "ls", "/")
	if a := b.run(t, "ls", "/"); a.Status() != models.StatusPending {
		t.Fatal("there is a grant already")
	}
	other := &bench{&storetest.Bench{Store: storetest.New(t, storetest.WithDir(filepath.Dir(b.Path())), storetest.WithClock(b.Clock)), Clock: b.Clock, Owner: b.Owner, Admin: b.Admin}}
	g := other.grant(t, on, 5)
	if a := b.run(t, "ls", "/"); a.Cause != models.CauseGrant {
		t.Errorf("it is %s", a.Status())
	}
	ok(t, second(other.RevokeGrant(t.Context(), b.Owner, g.ID)))
	if a := b.run(t, "ls", "/"); a.Status() != models.StatusPending {
		t.Errorf("after the other process revoked it: %s", a.Cause)
	}
}

// TestAGrantMadeAfterTheLastOneExpiredIsHonoured: the writer remembers when the
// last one expires.
func TestAGrantMadeAfterTheLastOneExpiredIsHonoured(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.run(t, "ls", "/")
	for range 3 {
		b.Clock.Step(2 * time.Hour)
		if a := b.run(t, "ls", "/"); a.Status() != models.StatusPending {
			t.Fatalf("before it is made: %s", a.Cause)
		}
		b.grant(t, on, 1)
		if a := b.run(t, "ls", "/"); a.Cause != models.CauseGrant {
			t.Errorf("it is %s", a.Status())
		}
	}
}
