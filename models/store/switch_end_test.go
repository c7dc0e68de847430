package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/models/store"
	"countersign/models/storetest"
)

// offForAnHour is a policy whose gate is off so long; more are further members.
func (b *bench) offForAnHour(t *testing.T, more string) time.Time {
	t.Helper()
	end := b.Clock.Now().Add(time.Hour)
	b.UsePolicy(t, fmt.Sprintf(`{"approval_enabled":false,"approval_off_until":%q,"required_approval_tools":["Bash"]%s}`, end.Format(time.RFC3339), more))
	return end
}

func (b *bench) versions(t *testing.T) []store.PolicyVersion {
	t.Helper()
	all, err := b.Policies(t.Context(), b.Admin, 0, 100)
	storetest.Must(t, err)
	return all
}

// Nothing runs here that writes an end down: the gate is on all the same.
func TestAGateIsOnAgainAtItsEndI3(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	end := b.offForAnHour(t, "")
	n := len(b.versions(t))
	b.Clock.Step(time.Hour - time.Second)
	if a := b.AskFor(t, models.AskInput{}); a.Cause != models.CauseGateOff || a.Status() != models.StatusNone {
		t.Errorf("a second before the end: %s, %s", a.Cause, a.Status())
	}
	b.Clock.Step(time.Second)
	waits := b.AskFor(t, models.AskInput{})
	if waits.Status() != models.StatusPending || !b.Clock.Now().Equal(end) {
		t.Errorf("at the end: %s, %s", waits.Cause, waits.Status())
	}
	if v := b.versions(t); len(v) != n || v[0].Program.Document().ApprovalEnabled {
		t.Errorf("something was saved: %d versions, %s", len(v), v[0].Document)
	}
	if around := b.around(t, b.Owner, waits.ID); around.Now.Effect != string(policy.EffectRequire) {
		t.Errorf("now it would be %s", around.Now.Effect)
	}
}

// A call whose condition was judged before its transaction is not let through by a gate
// that has come on since.
func TestACallJudgedAheadWaitsBehindTheEndI3(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, step := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC), time.Duration(0)
	b := newBench(t, func(o *store.Options) {
		o.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(step)
			return now
		}
	})
	const rule = `,"rules":[{"name":"dear","tools":["pay"],"when":"input.amount > 1","effect":"require"}]`
	b.UsePolicy(t, `{"approval_enabled":false,"approval_off_until":"2026-03-02T12:05:00Z"`+rule+`}`)
	ask := func() *models.Approval {
		return b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"amount":5}`)})
	}
	if a := ask(); a.Cause != models.CauseGateOff {
		t.Fatalf("while the gate is off: %s, %s", a.Cause, a.Status())
	}
	mu.Lock()
	now, step = now.Add(5*time.Minute-2*time.Second), time.Second // each look at the clock is a second later
	mu.Unlock()
	for range 4 {
		if a := ask(); (a.Cause == models.CauseGateOff) != a.CreatedAt.Before(time.Date(2026, time.March, 2, 12, 5, 0, 0, time.UTC)) {
			t.Errorf("asked at %s: %s, %s", a.CreatedAt, a.Cause, a.Status())
		}
	}
	mu.Lock()
	step = 0
	mu.Unlock()
}

// The system saves the version behind an end, once, with its entry (I7), also if the server
// did not run at the end (I8).
func TestTheSystemSavesWhatAnEndChangesI7I8(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock), storetest.WithDir(dir))
	admin := storetest.Admin(t, s)
	end := clock.Now().Add(time.Hour)
	doc := fmt.Sprintf(`{"approval_enabled":false,"approval_off_until":%[1]q,"fallback_auto_approve":true,"fallback_until":%[1]q,"default_timeout_minutes":7}`, end.Format(time.RFC3339))
	saved, err := s.ApplyPolicy(t.Context(), admin, []byte(doc), "for the migration", 0)
	storetest.Must(t, err)
	select {
	case <-s.DeadlineStored():
	default:
		t.Error("the expirer was not told of the end")
	}
	if at, some, err := s.NextSwitchEnd(t.Context()); err != nil || !some || !at.Equal(end) {
		t.Errorf("the next end is %s, %v, %v", at, some, err)
	}
	clock.Step(time.Hour - time.Second)
	if ended, err := s.EndSwitches(t.Context()); err != nil || ended != 0 {
		t.Errorf("a second before: %v, %v", ended, err)
	}
	storetest.Must(t, s.Close())
	clock.Step(time.Hour)

	s = storetest.New(t, storetest.WithClock(clock), storetest.WithDir(dir))
	seq := storetest.LedgerAt(t, s)
	for i, want := range []int{1, 0} {
		if ended, err := s.EndSwitches(t.Context()); err != nil || ended != want {
			t.Errorf("time %d: %v, %v", i+1, ended, err)
		}
	}
	v, err := s.CurrentPolicy(t.Context())
	storetest.Must(t, err)
	d := v.Program.Document()
	if v.Version != saved.Version+1 || !d.ApprovalEnabled || d.FallbackAutoApprove || d.ApprovalOffUntil != nil || d.FallbackUntil != nil || d.DefaultTimeoutMinutes != 7 {
		t.Errorf("version %d: %s", v.Version, v.Document)
	}
	if v.AuthorName != models.SystemAuthor || v.AuthorID != "" || v.Note != "The gate was switched on again: its end of 2026-03-02 13:00 UTC was reached. Fallback was switched off again: its end of 2026-03-02 13:00 UTC was reached." {
		t.Errorf("by %q (%s): %s", v.AuthorName, v.AuthorID, v.Note)
	}
	storetest.SameStrings(t, "entries", storetest.ActionsSince(t, s, seq), []string{"policy.changed "})
	if kind := storetest.Scalar[string](t, s, `SELECT actor_kind || ' ' || actor_name FROM ledger ORDER BY seq DESC LIMIT 1`); kind != "system policy" {
		t.Errorf("by %s", kind)
	}
	if at, some, err := s.NextSwitchEnd(t.Context()); err != nil || some {
		t.Errorf("the next end is %s, %v, %v", at, some, err)
	}
	storetest.CheckRows(t, s)
}

// Two ends at different times are two versions.
func TestEachEndIsSavedAtItsTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	later := b.Clock.Now().Add(2 * time.Hour)
	b.offForAnHour(t, fmt.Sprintf(`,"fallback_auto_approve":true,"fallback_until":%q`, later.Format(time.RFC3339)))
	b.Clock.Step(time.Hour)
	storetest.Must(t, storetest.Err(b.EndSwitches(t.Context())))
	if at, some, err := b.NextSwitchEnd(t.Context()); err != nil || !some || !at.Equal(later) {
		t.Errorf("the next end is %s, %v, %v", at, some, err)
	}
	if d := b.versions(t)[0].Program.Document(); !d.ApprovalEnabled || !d.FallbackAutoApprove || d.FallbackUntil == nil {
		t.Errorf("after the first end: %+v", d)
	}
	b.Clock.Step(time.Hour)
	storetest.Must(t, storetest.Err(b.EndSwitches(t.Context())))
	if v := b.versions(t)[0]; v.Program.Document().FallbackAutoApprove || !strings.HasPrefix(v.Note, "Fallback was") {
		t.Errorf("after the second end: %s (%s)", v.Document, v.Note)
	}
}

// A version saved behind an end that nobody has written down yet comes behind that of the
// system, whether all of the document was sent or a member of it changed.
func TestASaveBehindAnEndThatIsNotWrittenDown(t *testing.T) {
	t.Parallel()
	for name, save := range map[string]func(*testing.T, *bench, store.PolicyVersion) (store.PolicyVersion, error){
		"document": func(t *testing.T, b *bench, v store.PolicyVersion) (store.PolicyVersion, error) {
			t.Helper()
			text := strings.Replace(v.Document, `"default_timeout_minutes": 5`, `"default_timeout_minutes": 9`, 1)
			return b.ApplyPolicy(t.Context(), b.Admin, []byte(text), "nine minutes", v.Version)
		},
		"member": func(t *testing.T, b *bench, _ store.PolicyVersion) (store.PolicyVersion, error) {
			t.Helper()
			return b.ChangePolicy(t.Context(), b.Admin, "nine minutes", func(d *policy.Document) { d.DefaultTimeoutMinutes = 9 })
		},
	} {
		b := newBench(t)
		b.offForAnHour(t, "")
		before := b.versions(t)[0]
		b.Clock.Step(time.Hour)
		seq := storetest.LedgerAt(t, b.Store)
		saved, err := save(t, b, before)
		storetest.Must(t, err)
		d := saved.Program.Document()
		if saved.Version != before.Version+2 || saved.Note != "nine minutes" || !d.ApprovalEnabled || d.ApprovalOffUntil != nil || d.DefaultTimeoutMinutes != 9 {
			t.Errorf("%s: version %d: %s", name, saved.Version, saved.Document)
		}
		if end := b.versions(t)[1]; end.AuthorName != models.SystemAuthor || !end.Program.Document().ApprovalEnabled || end.Program.Document().DefaultTimeoutMinutes != 5 {
			t.Errorf("%s: the version before is by %s: %s", name, end.AuthorName, end.Document)
		}
		storetest.SameStrings(t, name, storetest.ActionsSince(t, b.Store, seq), []string{"policy.changed ", "policy.changed "})
		if ended, err := b.EndSwitches(t.Context()); err != nil || ended != 0 {
			t.Errorf("%s: it is written down again: %v, %v", name, ended, err)
		}
	}
}

// A document that only says again what had ended makes no version but the system's.
func TestAnUnchangedSaveBehindAnEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.offForAnHour(t, "")
	before := b.versions(t)[0]
	b.Clock.Step(time.Hour)
	saved, err := b.ApplyPolicy(t.Context(), b.Admin, []byte(before.Document), "again", before.Version)
	storetest.Must(t, err)
	if saved.Version != before.Version+1 || saved.AuthorName != models.SystemAuthor || !saved.Program.Document().ApprovalEnabled {
		t.Errorf("version %d by %s: %s", saved.Version, saved.AuthorName, saved.Document)
	}
	// Now it is a new end, and in the past.
	_, err = b.ApplyPolicy(t.Context(), b.Admin, []byte(before.Document), "again", 0)
	if e := storetest.Refused(t, err, models.CodeInvalid); !strings.Contains(e.Fields["approval_off_until"], "is in the past") {
		t.Errorf("%v", e.Fields)
	}
	_, err = b.ChangePolicy(t.Context(), b.Admin, "", func(d *policy.Document) {
		d.ApprovalEnabled, d.ApprovalOffUntil = false, new(b.Clock.Now().Add(time.Second))
	})
	if e := storetest.Refused(t, err, models.CodeInvalid); !strings.Contains(e.Fields["approval_off_until"], "less than a minute") {
		t.Errorf("%v", e.Fields)
	}
}

// Whoever comes first, the end is written down once, and what an admin saves is there or was
// refused, never half of it.
func TestSavesRaceWithAnEnd(t *testing.T) {
	t.Parallel()
	for range 10 {
		b := newBench(t)
		b.offForAnHour(t, "")
		before := b.versions(t)[0]
		b.Clock.Step(time.Hour)
		text := strings.Replace(before.Document, `"default_timeout_minutes": 5`, `"default_timeout_minutes": 9`, 1)
		var group sync.WaitGroup
		var failed error
		for range 3 {
			group.Go(func() { _, _ = b.EndSwitches(t.Context()) })
		}
		group.Go(func() { _, failed = b.ApplyPolicy(t.Context(), b.Admin, []byte(text), "nine", before.Version) })
		group.Wait()
		var authors []string
		for _, v := range b.versions(t)[:b.versions(t)[0].Version-before.Version] {
			authors = append(authors, v.AuthorName)
		}
		now := b.versions(t)[0].Program.Document()
		if !now.ApprovalEnabled || now.ApprovalOffUntil != nil {
			t.Fatalf("the gate is off: %+v", now)
		}
		e, _ := errors.AsType[*models.Error](failed)
		switch {
		case failed == nil && len(authors) == 2 && authors[1] == models.SystemAuthor && now.DefaultTimeoutMinutes == 9:
		case e != nil && e.Code == models.CodeConflict && len(authors) == 1 && authors[0] == models.SystemAuthor && now.DefaultTimeoutMinutes == 5:
		default:
			t.Fatalf("%v: versions by %v, minutes %d", failed, authors, now.DefaultTimeoutMinutes)
		}
	}
}

// A draft that was begun before an end is kept, and is not saved over the system's version.
func TestADraftOutlivesAnEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.offForAnHour(t, "")
	before := b.versions(t)[0]
	text := strings.Replace(before.Document, `"default_timeout_minutes": 5`, `"default_timeout_minutes": 9`, 1)
	kept, err := drafts.New(b.Store).Keep(t.Context(), b.Admin, before.Version, 0, text)
	storetest.Must(t, err)
	b.Clock.Step(time.Hour)
	storetest.Must(t, storetest.Err(b.EndSwitches(t.Context())))
	wantCode(t, storetest.Err(drafts.New(b.Store).Apply(t.Context(), b.Admin, kept.Revision, "nine")), models.CodeConflict)
	mine, err := policy.Parse([]byte(text))
	storetest.Must(t, err)
	merged, clashes, err := policy.Merge(before.Program.Document(), b.versions(t)[0].Program.Document(), mine.Document())
	if err != nil || len(clashes) > 0 {
		t.Fatalf("%v, %v", clashes, err)
	}
	raw, err := merged.Marshal()
	storetest.Must(t, err)
	kept, err = drafts.New(b.Store).Keep(t.Context(), b.Admin, before.Version+1, kept.Revision, string(raw))
	storetest.Must(t, err)
	saved, err := drafts.New(b.Store).Apply(t.Context(), b.Admin, kept.Revision, "nine")
	storetest.Must(t, err)
	if d := saved.Program.Document(); !d.ApprovalEnabled || d.DefaultTimeoutMinutes != 9 {
		t.Errorf("%s", saved.Document)
	}
}

// A report of the fallback is taken for a time at which a client could believe in it: up to
// ten minutes after it was switched off, and never at or after the end that the client knew.
func TestAFallbackIsBelievedUntilItsEndI11(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	start := b.Clock.Now()
	set := func(end time.Duration) {
		doc := `{"fallback_auto_approve":true`
		if end > 0 {
			doc += fmt.Sprintf(`,"fallback_until":%q`, start.Add(end).Format(time.RFC3339))
		}
		b.UsePolicy(t, doc+`}`)
	}
	hour := func(n int, minutes int) time.Duration {
		return time.Duration(n)*time.Hour + time.Duration(minutes)*time.Minute
	}
	b.Clock.Step(time.Hour)
	set(hour(2, 0))                           // 1:00, until 2:00
	b.Clock.Step(hour(1, 30))                 // its end passes, and is not written down
	set(hour(4, 0))                           // 2:30, until 4:00
	b.Clock.Step(hour(0, 30))                 //
	b.UsePolicy(t, `{}`)                      // 3:00, off
	b.Clock.Step(hour(2, 0))                  //
	set(0)                                    // 5:00, without an end
	b.Clock.Step(hour(0, 30))                 //
	set(hour(5, 35))                          // 5:30, until 5:35
	b.Clock.Step(hour(0, 3))                  //
	b.UsePolicy(t, `{"unmatched":"require"}`) // 5:33, off
	b.Clock.Step(hour(1, 0))
	for i, tt := range []struct {
		at    time.Duration
		taken bool
	}{
		{hour(0, 59), false},
		{hour(1, 0), true},
		{hour(2, 0) - time.Second, true},
		{hour(2, 0), false},
		{hour(2, 0) + time.Second, false},
		{hour(2, 29), false},
		{hour(2, 30), true},
		{hour(3, 9), true}, // switched off at 3:00, and believed for ten minutes more
		{hour(3, 11), false},
		{hour(4, 59), false},
		{hour(5, 20), true},
		{hour(5, 34), true},
		{hour(5, 36), true},  // confirmed before 5:30, as without an end
		{hour(5, 41), false}, // more than ten minutes after that, and behind the end of the other
	} {
		_, err := b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "Bash", ToolUseID: fmt.Sprint(i), Explicit: true, FallbackAt: start.Add(tt.at).Format(time.RFC3339Nano)})
		if tt.taken && err != nil {
			t.Errorf("at %s: %v", tt.at, err)
		}
		if !tt.taken {
			wantCode(t, err, models.CodeForbidden)
		}
	}
}

// TestAStoredPatternWithOneSlashStaysWhatItWas: it is refused at save by now, but what
// a version has keeps its meaning, and does not keep other changes from being made.
func TestAStoredPatternWithOneSlashStaysWhatItWas(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	s := storetest.New(t, storetest.WithDir(dir))
	owner, admin := storetest.Reviewer(t, s, "owner@example.com"), storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	storetest.Tampered(s)
	_, err := storetest.Beside(t, s).ExecContext(t.Context(), `UPDATE policies SET document = '{"rules":[{"name":"a","tools":["/delete"],"effect":"require"}]}'`)
	storetest.Must(t, err)
	storetest.Must(t, s.Close())

	s = storetest.New(t, storetest.WithDir(dir))
	asks := func(tool string) models.Status {
		t.Helper()
		a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: tool})
		storetest.Must(t, err)
		return a.Status()
	}
	if got := [...]models.Status{asks("/delete"), asks("delete_page")}; got != [...]models.Status{models.StatusPending, models.StatusNone} {
		t.Errorf("what is stored means something else: %q", got)
	}
	_, err = s.ChangePolicy(t.Context(), admin, "", func(d *policy.Document) { d.DefaultTimeoutMinutes = 7 })
	storetest.Must(t, err)
	_, err = s.ApplyPolicy(t.Context(), admin, []byte(`{"rules":[{"name":"a","tools":["/delete","/remove"],"effect":"require"}]}`), "", 0)
	wantCode(t, err, models.CodeInvalid)
	if !strings.Contains(err.Error(), "rules[0].tools[1]: has a slash at one end only") || strings.Contains(err.Error(), "tools[0]") {
		t.Error(err)
	}
	_, err = s.ChangePolicy(t.Context(), admin, "", func(d *policy.Document) { d.RequiredApprovalTools = []string{"rm/"} })
	wantCode(t, err, models.CodeInvalid)
}
