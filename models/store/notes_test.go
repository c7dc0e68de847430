package store_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/store"
	"countersign/models/storetest"
)

// deadlines are the deadline of a request as the row, and as each inbox, has it.
func (b *bench) deadlines(t *testing.T, id models.ResponseID) (time.Time, []time.Time) {
	t.Helper()
	var row time.Time
	db := storetest.Beside(t, b.Store)
	storetest.Must(t, db.QueryRowContext(t.Context(), `SELECT approval_timeout_at FROM responses WHERE id = ?`, id).Scan(&row))
	rows, err := db.QueryContext(t.Context(), `SELECT deadline FROM deciders WHERE response_id = ?`, id)
	storetest.Must(t, err)
	defer rows.Close()
	var inboxes []time.Time
	for rows.Next() {
		var at time.Time
		storetest.Must(t, rows.Scan(&at))
		inboxes = append(inboxes, at)
	}
	storetest.Must(t, rows.Err())
	return row, inboxes
}

// runsOut checks a deadline wherever it is kept, and that the expirer was woken.
func (b *bench) runsOut(t *testing.T, id models.ResponseID, want time.Time) {
	t.Helper()
	row, inboxes := b.deadlines(t, id)
	if !row.Equal(want) {
		t.Errorf("it runs out at %v, want %v", row, want)
	}
	for _, at := range inboxes {
		if !at.Equal(want) {
			t.Errorf("an inbox has it at %v, want %v", at, want)
		}
	}
	if len(inboxes) != 2 {
		t.Errorf("it is in %d inboxes, want 2", len(inboxes))
	}
	select {
	case <-b.DeadlineStored():
	default:
		t.Error("the expirer was not woken")
	}
}

const routed = `{"max_pause_minutes":60,"max_timeout_minutes":120,"rules":[{"name":"r","tools":["Bash"],"effect":"require","reviewers":["routed@example.com"]}]}`

// routedBench routes every request of Bash to another person too.
func routedBench(t *testing.T) (*bench, models.Actor) {
	t.Helper()
	b := newBench(t)
	other := storetest.Reviewer(t, b.Store, "routed@example.com")
	b.policy(t, routed)
	return b, other
}

func TestAQuestionStopsTheClockAndItsAnswerLetsItRunOn(t *testing.T) {
	t.Parallel()
	b, other := routedBench(t)
	start := b.clock.Now()
	a := b.ask(t, models.AskInput{TimeoutSeconds: new(int64(300))})
	b.runsOut(t, a.ID, start.Add(5*time.Minute))
	topics := b.Bus().Subscribe(20, events.InboxOf(other.ID), events.InboxOf(b.owner.ID), events.Agent(b.agent.ID), events.Approval(string(a.ID)))
	defer topics.Close()
	b.clock.Step(100 * time.Second)
	got, err := b.AskBack(t.Context(), other, a.ID, "Why now?")
	storetest.Must(t, err)
	for range 4 {
		select {
		case <-topics.C:
		default:
			t.Error("somebody was not told of the question")
		}
	}
	b.runsOut(t, a.ID, b.clock.Now().Add(time.Hour))
	if got.Digest != a.Digest || *got.PausedLeft != 200 || got.Note.Content != "Why now?" || !got.Note.Asks || got.Note.AuthorName != other.Name || *got.OpenNote != got.Note.ID {
		t.Errorf("%+v, %+v", got.Response, got.Note)
	}
	// Another question takes its place; what was left is kept.
	b.clock.Step(10 * time.Minute)
	second, err := b.AskBack(t.Context(), b.owner, a.ID, "And who?")
	storetest.Must(t, err)
	b.runsOut(t, a.ID, b.clock.Now().Add(time.Hour))
	if *second.PausedLeft != 200 || *second.OpenNote == *got.OpenNote {
		t.Errorf("left %d, open %s", *second.PausedLeft, *second.OpenNote)
	}
	b.clock.Step(59 * time.Minute)
	answered, note, err := b.AnswerNote(t.Context(), b.agent, a.ID, "The window ends.")
	storetest.Must(t, err)
	b.runsOut(t, a.ID, b.clock.Now().Add(200*time.Second))
	if answered.OpenNote != nil || answered.Note != nil || answered.PausedLeft != nil || note.Asks || note.Number != 3 || note.AuthorKind != models.ActorAgent {
		t.Errorf("%+v, %+v", answered.Response, note)
	}
	seen, err := b.Approval(t.Context(), b.agent, a.ID)
	storetest.Must(t, err)
	if seen.OpenNote != nil || seen.Note != nil {
		t.Errorf("the question is still open: %v", seen.Note)
	}
	var texts []string
	notes, err := b.Notes(t.Context(), b.agent, a.ID)
	storetest.Must(t, err)
	for _, n := range notes {
		texts = append(texts, n.AuthorName+": "+n.Content)
	}
	storetest.SameStrings(t, "notes", texts, []string{"routed@example.com: Why now?", "owner@example.com: And who?", "bot: The window ends."})
	b.clock.Step(200 * time.Second)
	b.standsAs(t, a.ID, models.StatusExpired)
	if n, err := b.ExpireDue(t.Context(), 10); n != 1 || err != nil {
		t.Errorf("%d expired, %v", n, err)
	}
	storetest.SameStrings(t, "ledger", b.entriesOf(t, a.ID), []string{
		"agent approval.requested", "user approval.asked_back", "user approval.asked_back", "agent approval.note_added", "system approval.expired",
	})
	for _, data := range storetest.Column(t, b.Store, `SELECT data FROM ledger WHERE response_id = ?`, a.ID) {
		if strings.Contains(data, "Why") || strings.Contains(data, "window") {
			t.Errorf("the ledger has words: %s", data)
		}
	}
}

func TestI3AQuestionThatIsNeverAnsweredLetsTheRequestExpire(t *testing.T) {
	t.Parallel()
	b, _ := routedBench(t)
	a := b.ask(t, models.AskInput{})
	storetest.Must(t, storetest.Err(b.AskBack(t.Context(), b.owner, a.ID, "Why?")))
	b.clock.Step(time.Hour)
	b.standsAs(t, a.ID, models.StatusExpired)
	wantCode(t, third(b.AnswerNote(t.Context(), b.agent, a.ID, "late")), models.CodeExpired)
	wantCode(t, storetest.Err(b.AskBack(t.Context(), b.owner, a.ID, "Again?")), models.CodeExpired)
}

func TestAQuestionLeavesALaterDeadlineAndNoneAsTheyAre(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.policy(t, `{"max_pause_minutes":1}`)
	long, none := b.ask(t, models.AskInput{TimeoutSeconds: new(int64(600))}), b.ask(t, models.AskInput{Kind: models.KindQuestion})
	b.clock.Step(time.Minute)
	got, err := b.AskBack(t.Context(), b.owner, long.ID, "Why?")
	storetest.Must(t, err)
	if !got.ApprovalTimeoutAt.Equal(long.ApprovalTimeoutAt) || *got.PausedLeft != 540 {
		t.Errorf("until %v with %d left", got.ApprovalTimeoutAt, *got.PausedLeft)
	}
	b.clock.Step(time.Minute)
	got, _, err = b.AnswerNote(t.Context(), b.owner, long.ID, "So.")
	storetest.Must(t, err)
	if want := b.clock.Now().Add(540 * time.Second); !got.ApprovalTimeoutAt.Equal(want) {
		t.Errorf("until %v, want %v", got.ApprovalTimeoutAt, want)
	}
	for range 2 {
		got, err = b.AskBack(t.Context(), b.owner, none.ID, "Why?")
		storetest.Must(t, err)
		if got.HasDeadline() || got.PausedLeft != nil || got.OpenNote == nil {
			t.Errorf("%+v", got.Response)
		}
		got, _, err = b.AnswerNote(t.Context(), b.agent, none.ID, "So.")
		storetest.Must(t, err)
		if got.HasDeadline() || got.OpenNote != nil {
			t.Errorf("%+v", got.Response)
		}
	}
}

func TestWhoMayAskAndWhoMayAnswer(t *testing.T) {
	t.Parallel()
	b, other := routedBench(t)
	a := b.ask(t, models.AskInput{})
	second, _ := storetest.AgentToken(t, b.Store, b.owner, "second")
	ask := func(who models.Actor) error { return storetest.Err(b.AskBack(t.Context(), who, a.ID, "Why?")) }
	answer := func(who models.Actor) error { return third(b.AnswerNote(t.Context(), who, a.ID, "So.")) }
	extend := func(who models.Actor) error {
		return storetest.Err(b.Extend(t.Context(), who, a.ID, b.clock.Now().Add(time.Hour)))
	}
	for _, tt := range []struct {
		name string
		does func(models.Actor) error
		who  models.Actor
		code models.Code
	}{
		{"I4: an agent asks back", ask, b.agent, models.CodeForbidden},
		{"a stranger asks back", ask, b.stranger, models.CodeNotFound},
		{"the operator asks back", ask, storetest.Operator(), models.CodeForbidden},
		{"I4: an agent extends", extend, b.agent, models.CodeForbidden},
		{"a stranger extends", extend, b.stranger, models.CodeNotFound},
		{"another agent answers", answer, second, models.CodeNotFound},
		{"a foreign agent answers", answer, b.other, models.CodeNotFound},
		{"a stranger answers", answer, b.stranger, models.CodeNotFound},
		{"a reviewer answers", answer, other, models.CodeForbidden},
		{"an admin answers", answer, b.admin, models.CodeForbidden},
		{"the operator answers", answer, storetest.Operator(), models.CodeForbidden},
		{"an owner whom nobody asked", answer, b.owner, models.CodeWrongDecisionKind},
	} {
		before := storetest.Dump(t, b.Store)
		if err := tt.does(tt.who); models.ErrorCode(err) != tt.code {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.code)
		}
		if after := storetest.Dump(t, b.Store); after != before {
			t.Error(difference(before, after))
		}
	}
	for _, who := range []models.Actor{other, b.admin, b.owner} {
		storetest.Must(t, ask(who))
	}
	storetest.Must(t, answer(b.owner))
	// The agent may add what it likes, asked or not.
	storetest.Must(t, third(b.AnswerNote(t.Context(), b.agent, a.ID, "The log: ok.")))
}

func TestNotesHaveLimitsAndARepeatIsTheSameNote(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.ask(t, models.AskInput{})
	for _, text := range []string{"", " \n", strings.Repeat("x", models.MaxNote+1), "\xff"} {
		wantCode(t, storetest.Err(b.AskBack(t.Context(), b.owner, a.ID, text)), models.CodeInvalid)
		wantCode(t, third(b.AnswerNote(t.Context(), b.agent, a.ID, text)), models.CodeInvalid)
	}
	first, err := b.AskBack(t.Context(), b.owner, a.ID, strings.Repeat("x", models.MaxNote))
	storetest.Must(t, err)
	again := func(does func() error) {
		t.Helper()
		b.clock.Step(time.Second)
		before := storetest.Dump(t, b.Store)
		storetest.Must(t, does())
		if after := storetest.Dump(t, b.Store); after != before {
			t.Error(difference(before, after))
		}
	}
	again(func() error {
		got, err := b.AskBack(t.Context(), b.owner, a.ID, strings.Repeat("x", models.MaxNote))
		if err == nil && *got.OpenNote != *first.OpenNote {
			t.Errorf("the repeat is %s, want %s", *got.OpenNote, *first.OpenNote)
		}
		return err
	})
	_, note, err := b.AnswerNote(t.Context(), b.agent, a.ID, "So.")
	storetest.Must(t, err)
	again(func() error {
		_, same, err := b.AnswerNote(t.Context(), b.agent, a.ID, "So.")
		if err == nil && same.ID != note.ID {
			t.Errorf("the repeat is %s, want %s", same.ID, note.ID)
		}
		return err
	})
	for i := 3; i <= models.MaxEvidence; i++ {
		storetest.Must(t, third(b.AnswerNote(t.Context(), b.agent, a.ID, "more "+strings.Repeat("i", i))))
	}
	// An agent cannot fill the room that questions and their answers need.
	wantCode(t, third(b.AnswerNote(t.Context(), b.agent, a.ID, "too much")), models.CodeInvalid)
	for i := models.MaxEvidence; i < models.MaxNotes; i += 2 {
		storetest.Must(t, storetest.Err(b.AskBack(t.Context(), b.owner, a.ID, "Why?")))
		storetest.Must(t, third(b.AnswerNote(t.Context(), b.agent, a.ID, "So.")))
	}
	wantCode(t, storetest.Err(b.AskBack(t.Context(), b.owner, a.ID, "Why?")), models.CodeInvalid)
	wantCode(t, third(b.AnswerNote(t.Context(), b.agent, a.ID, "too much")), models.CodeInvalid)
}

func TestWhatIsSettledHeldOrOutsideTakesNoQuestionAndNoExtension(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	storetest.Must(t, storetest.Err(w.ApplyPolicy(t.Context(), w.admin, []byte(undoFor30), "test", 0)))
	outside := w.taken(t, call("c", "", "bash", `{}`))
	settled, waits := w.ask(t, models.AskInput{}), w.ask(t, models.AskInput{})
	storetest.Must(t, storetest.Err(w.Decide(t.Context(), w.owner, settled.ID, no("no"))))
	storetest.Must(t, storetest.Err(w.Decide(t.Context(), w.owner, waits.ID, yes())))
	for id, code := range map[models.ResponseID]models.Code{
		outside: models.CodeWrongDecisionKind, settled.ID: models.CodeAlreadyDecided, waits.ID: models.CodeBeingDecided,
	} {
		before := storetest.Dump(t, w.Store)
		if err := storetest.Err(w.AskBack(t.Context(), w.owner, id, "Why?")); models.ErrorCode(err) != code {
			t.Errorf("asked back: %v, want %s", err, code)
		}
		if err := storetest.Err(w.Extend(t.Context(), w.owner, id, w.clock.Now().Add(time.Hour))); models.ErrorCode(err) != code {
			t.Errorf("extended: %v, want %s", err, code)
		}
		if after := storetest.Dump(t, w.Store); after != before {
			t.Error(difference(before, after))
		}
	}
	wantCode(t, third(w.AnswerNote(t.Context(), w.agent, settled.ID, "So.")), models.CodeAlreadyDecided)
	// Whoever adds evidence does not learn of the verdict that holds it.
	storetest.Must(t, third(w.AnswerNote(t.Context(), w.agent, waits.ID, "So.")))
	w.clock.Step(time.Minute)
	if n, err := w.ReleaseDue(t.Context(), 10); n != 1 || err != nil {
		t.Errorf("%d released, %v", n, err)
	}
}

func TestI8AQuestionAndItsClockOutliveARestart(t *testing.T) {
	t.Parallel()
	dir, clock := storetest.Dir(t), storetest.NewClock()
	s := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	owner := storetest.Reviewer(t, s, "owner@example.com")
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "Bash", Explicit: true})
	storetest.Must(t, err)
	clock.Step(time.Minute)
	storetest.Must(t, storetest.Err(s.AskBack(t.Context(), owner, a.ID, "Why?")))
	storetest.Must(t, s.Close())
	clock.Step(30 * time.Minute)
	s = storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	got, _, err := s.AnswerNote(t.Context(), agent, a.ID, "So.")
	storetest.Must(t, err)
	if want := clock.Now().Add(4 * time.Minute); !got.ApprovalTimeoutAt.Equal(want) {
		t.Errorf("it runs out at %v, want %v", got.ApprovalTimeoutAt, want)
	}
}

func TestAWaitEndsEarlyForAQuestionOnlyWhereThatIsWanted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.ask(t, models.AskInput{})
	type told struct {
		a   *models.Approval
		err error
	}
	wait := func(opts ...store.WatchOption) chan told {
		got, before := make(chan told, 1), b.Waiters()
		go func() {
			a, err := b.Await(context.WithoutCancel(t.Context()), b.agent, a.ID, time.Minute, opts...)
			got <- told{a, err}
		}()
		for b.Waiters() == before {
			runtime.Gosched()
		}
		return got
	}
	asleep, wakes := wait(), wait(store.SeenNote(""))
	asked, err := b.AskBack(t.Context(), b.owner, a.ID, "Why?")
	storetest.Must(t, err)
	first := <-wakes
	if first.err != nil || first.a.Status() != models.StatusPending || first.a.Note == nil || first.a.Note.Content != "Why?" {
		t.Fatalf("%+v", first)
	}
	// Who has seen it sleeps on, who has not is told at once.
	seen := wait(store.SeenNote(*asked.OpenNote))
	at, err := b.Await(t.Context(), b.agent, a.ID, time.Minute, store.SeenNote(""))
	if err != nil || at.Note == nil {
		t.Errorf("%+v, %v", at, err)
	}
	storetest.Must(t, third(b.AnswerNote(t.Context(), b.agent, a.ID, "So.")))
	second, err := b.AskBack(t.Context(), b.owner, a.ID, "And who?")
	storetest.Must(t, err)
	if got := <-seen; got.err != nil || got.a.OpenNote == nil || *got.a.OpenNote != *second.OpenNote {
		t.Errorf("%+v", got)
	}
	select {
	case got := <-asleep:
		t.Fatalf("a wait that does not ask for questions ended: %+v", got)
	default:
	}
	if n := b.Waiters(); n != 1 {
		t.Errorf("%d wait, want the one that sleeps", n)
	}
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.owner, a.ID, yes())))
	if got := <-asleep; got.err != nil || got.a.Status() != models.StatusApproved {
		t.Errorf("%+v", got)
	}
}
