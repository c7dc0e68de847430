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
	b.UsePolicy(t, routed)
	return b, other
}

func TestAQuestionStopsTheClockAndItsAnswerLetsItRunOn(t *testing.T) {
	t.Parallel()
	b, other := routedBench(t)
	start := b.Clock.Now()
	a := b.AskFor(t, models.AskInput{TimeoutSeconds: new(int64(300))})
	b.runsOut(t, a.ID, start.Add(5*time.Minute))
	topics := b.Bus().Subscribe(20, events.InboxOf(other.ID), events.InboxOf(b.Owner.ID), events.Agent(b.Agent.ID), events.Approval(string(a.ID)))
	defer topics.Close()
	b.Clock.Step(100 * time.Second)
	got, err := b.AskBack(t.Context(), other, a.ID, "Why now?")
	storetest.Must(t, err)
	for range 4 {
		select {
		case <-topics.C:
		default:
			t.Error("somebody was not told of the question")
		}
	}
	b.runsOut(t, a.ID, b.Clock.Now().Add(time.Hour))
	if got.Digest != a.Digest || *got.PausedLeft != 200 || got.Note.Content != "Why now?" || !got.Note.Asks || got.Note.AuthorName != other.Name || *got.OpenNote != got.Note.ID {
		t.Errorf("%+v, %+v", got.Response, got.Note)
	}
	// Another question takes its place; what was left is kept.
	b.Clock.Step(10 * time.Minute)
	second, err := b.AskBack(t.Context(), b.Owner, a.ID, "And who?")
	storetest.Must(t, err)
	b.runsOut(t, a.ID, b.Clock.Now().Add(time.Hour))
	if *second.PausedLeft != 200 || *second.OpenNote == *got.OpenNote {
		t.Errorf("left %d, open %s", *second.PausedLeft, *second.OpenNote)
	}
	b.Clock.Step(59 * time.Minute)
	answered, note, err := b.AnswerNote(t.Context(), b.Agent, a.ID, "The window ends.")
	storetest.Must(t, err)
	b.runsOut(t, a.ID, b.Clock.Now().Add(200*time.Second))
	if answered.OpenNote != nil || answered.Note != nil || answered.PausedLeft != nil || note.Asks || note.Number != 3 || note.AuthorKind != models.ActorAgent {
		t.Errorf("%+v, %+v", answered.Response, note)
	}
	seen, err := b.Requests.Approval(t.Context(), b.Agent, a.ID)
	storetest.Must(t, err)
	if seen.OpenNote != nil || seen.Note != nil {
		t.Errorf("the question is still open: %v", seen.Note)
	}
	var texts []string
	notes, err := b.Notes(t.Context(), b.Agent, a.ID)
	storetest.Must(t, err)
	for _, n := range notes {
		texts = append(texts, n.AuthorName+": "+n.Content)
	}
	storetest.SameStrings(t, "notes", texts, []string{"routed@example.com: Why now?", "owner@example.com: And who?", "bot: The window ends."})
	b.Clock.Step(200 * time.Second)
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
	a := b.AskFor(t, models.AskInput{})
	storetest.Must(t, storetest.Err(b.AskBack(t.Context(), b.Owner, a.ID, "Why?")))
	b.Clock.Step(time.Hour)
	b.standsAs(t, a.ID, models.StatusExpired)
	wantCode(t, storetest.Err3(b.AnswerNote(t.Context(), b.Agent, a.ID, "late")), models.CodeExpired)
	wantCode(t, storetest.Err(b.AskBack(t.Context(), b.Owner, a.ID, "Again?")), models.CodeExpired)
}

func TestAQuestionLeavesALaterDeadlineAndNoneAsTheyAre(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"max_pause_minutes":1}`)
	long, none := b.AskFor(t, models.AskInput{TimeoutSeconds: new(int64(600))}), b.AskFor(t, models.AskInput{Kind: models.KindQuestion})
	b.Clock.Step(time.Minute)
	got, err := b.AskBack(t.Context(), b.Owner, long.ID, "Why?")
	storetest.Must(t, err)
	if !got.ApprovalTimeoutAt.Equal(long.ApprovalTimeoutAt) || *got.PausedLeft != 540 {
		t.Errorf("until %v with %d left", got.ApprovalTimeoutAt, *got.PausedLeft)
	}
	b.Clock.Step(time.Minute)
	got, _, err = b.AnswerNote(t.Context(), b.Owner, long.ID, "So.")
	storetest.Must(t, err)
	if want := b.Clock.Now().Add(540 * time.Second); !got.ApprovalTimeoutAt.Equal(want) {
		t.Errorf("until %v, want %v", got.ApprovalTimeoutAt, want)
	}
	for range 2 {
		got, err = b.AskBack(t.Context(), b.Owner, none.ID, "Why?")
		storetest.Must(t, err)
		if got.HasDeadline() || got.PausedLeft != nil || got.OpenNote == nil {
			t.Errorf("%+v", got.Response)
		}
		got, _, err = b.AnswerNote(t.Context(), b.Agent, none.ID, "So.")
		storetest.Must(t, err)
		if got.HasDeadline() || got.OpenNote != nil {
			t.Errorf("%+v", got.Response)
		}
	}
}

func TestWhoMayAskAndWhoMayAnswer(t *testing.T) {
	t.Parallel()
	b, other := routedBench(t)
	a := b.AskFor(t, models.AskInput{})
	second, _ := storetest.AgentToken(t, b.Store, b.Owner, "second")
	ask := func(who models.Actor) error { return storetest.Err(b.AskBack(t.Context(), who, a.ID, "Why?")) }
	answer := func(who models.Actor) error { return storetest.Err3(b.AnswerNote(t.Context(), who, a.ID, "So.")) }
	extend := func(who models.Actor) error {
		return storetest.Err(b.Extend(t.Context(), who, a.ID, b.Clock.Now().Add(time.Hour)))
	}
	for _, tt := range []struct {
		name string
		does func(models.Actor) error
		who  models.Actor
		code models.Code
	}{
		{"I4: an agent asks back", ask, b.Agent, models.CodeForbidden},
		{"a stranger asks back", ask, b.Stranger, models.CodeNotFound},
		{"the operator asks back", ask, storetest.Operator(), models.CodeForbidden},
		{"I4: an agent extends", extend, b.Agent, models.CodeForbidden},
		{"a stranger extends", extend, b.Stranger, models.CodeNotFound},
		{"another agent answers", answer, second, models.CodeNotFound},
		{"a foreign agent answers", answer, b.Other, models.CodeNotFound},
		{"a stranger answers", answer, b.Stranger, models.CodeNotFound},
		{"a reviewer answers", answer, other, models.CodeForbidden},
		{"an admin answers", answer, b.Admin, models.CodeForbidden},
		{"the operator answers", answer, storetest.Operator(), models.CodeForbidden},
		{"an owner whom nobody asked", answer, b.Owner, models.CodeWrongDecisionKind},
	} {
		before := storetest.Dump(t, b.Store)
		if err := tt.does(tt.who); models.ErrorCode(err) != tt.code {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.code)
		}
		if after := storetest.Dump(t, b.Store); after != before {
			t.Error(storetest.Difference(before, after))
		}
	}
	for _, who := range []models.Actor{other, b.Admin, b.Owner} {
		storetest.Must(t, ask(who))
	}
	storetest.Must(t, answer(b.Owner))
	// The agent may add what it likes, asked or not.
	storetest.Must(t, storetest.Err3(b.AnswerNote(t.Context(), b.Agent, a.ID, "The log: ok.")))
}

func TestNotesHaveLimitsAndARepeatIsTheSameNote(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{})
	for _, text := range []string{"", " \n", strings.Repeat("x", models.MaxNote+1), "\xff"} {
		wantCode(t, storetest.Err(b.AskBack(t.Context(), b.Owner, a.ID, text)), models.CodeInvalid)
		wantCode(t, storetest.Err3(b.AnswerNote(t.Context(), b.Agent, a.ID, text)), models.CodeInvalid)
	}
	first, err := b.AskBack(t.Context(), b.Owner, a.ID, strings.Repeat("x", models.MaxNote))
	storetest.Must(t, err)
	again := func(does func() error) {
		t.Helper()
		b.Clock.Step(time.Second)
		before := storetest.Dump(t, b.Store)
		storetest.Must(t, does())
		if after := storetest.Dump(t, b.Store); after != before {
			t.Error(storetest.Difference(before, after))
		}
	}
	again(func() error {
		got, err := b.AskBack(t.Context(), b.Owner, a.ID, strings.Repeat("x", models.MaxNote))
		if err == nil && *got.OpenNote != *first.OpenNote {
			t.Errorf("the repeat is %s, want %s", *got.OpenNote, *first.OpenNote)
		}
		return err
	})
	_, note, err := b.AnswerNote(t.Context(), b.Agent, a.ID, "So.")
	storetest.Must(t, err)
	again(func() error {
		_, same, err := b.AnswerNote(t.Context(), b.Agent, a.ID, "So.")
		if err == nil && same.ID != note.ID {
			t.Errorf("the repeat is %s, want %s", same.ID, note.ID)
		}
		return err
	})
	for i := 3; i <= models.MaxEvidence; i++ {
		storetest.Must(t, storetest.Err3(b.AnswerNote(t.Context(), b.Agent, a.ID, "more "+strings.Repeat("i", i))))
	}
	// An agent cannot fill the room that questions and their answers need.
	wantCode(t, storetest.Err3(b.AnswerNote(t.Context(), b.Agent, a.ID, "too much")), models.CodeInvalid)
	for i := models.MaxEvidence; i < models.MaxNotes; i += 2 {
		storetest.Must(t, storetest.Err(b.AskBack(t.Context(), b.Owner, a.ID, "Why?")))
		storetest.Must(t, storetest.Err3(b.AnswerNote(t.Context(), b.Agent, a.ID, "So.")))
	}
	wantCode(t, storetest.Err(b.AskBack(t.Context(), b.Owner, a.ID, "Why?")), models.CodeInvalid)
	wantCode(t, storetest.Err3(b.AnswerNote(t.Context(), b.Agent, a.ID, "too much")), models.CodeInvalid)
}

func TestWhatIsSettledHeldOrOutsideTakesNoQuestionAndNoExtension(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	storetest.Must(t, storetest.Err(w.ApplyPolicy(t.Context(), w.Admin, []byte(undoFor30), "test", 0)))
	outside := w.Taken(t, storetest.Call("c", "", "bash", `{}`))
	settled, waits := w.AskFor(t, models.AskInput{}), w.AskFor(t, models.AskInput{})
	storetest.Must(t, storetest.Err(w.Decide(t.Context(), w.Owner, settled.ID, storetest.No("no"))))
	storetest.Must(t, storetest.Err(w.Decide(t.Context(), w.Owner, waits.ID, storetest.Yes())))
	for id, code := range map[models.ResponseID]models.Code{
		outside: models.CodeWrongDecisionKind, settled.ID: models.CodeAlreadyDecided, waits.ID: models.CodeBeingDecided,
	} {
		before := storetest.Dump(t, w.Store)
		if err := storetest.Err(w.AskBack(t.Context(), w.Owner, id, "Why?")); models.ErrorCode(err) != code {
			t.Errorf("asked back: %v, want %s", err, code)
		}
		if err := storetest.Err(w.Extend(t.Context(), w.Owner, id, w.Clock.Now().Add(time.Hour))); models.ErrorCode(err) != code {
			t.Errorf("extended: %v, want %s", err, code)
		}
		if after := storetest.Dump(t, w.Store); after != before {
			t.Error(storetest.Difference(before, after))
		}
	}
	wantCode(t, storetest.Err3(w.AnswerNote(t.Context(), w.Agent, settled.ID, "So.")), models.CodeAlreadyDecided)
	// Whoever adds evidence does not learn of the verdict that holds it.
	storetest.Must(t, storetest.Err3(w.AnswerNote(t.Context(), w.Agent, waits.ID, "So.")))
	w.Clock.Step(time.Minute)
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
	a := b.AskFor(t, models.AskInput{})
	type told struct {
		a   *models.Approval
		err error
	}
	wait := func(opts ...store.WatchOption) chan told {
		got, before := make(chan told, 1), b.Waiters()
		go func() {
			a, err := b.Await(context.WithoutCancel(t.Context()), b.Agent, a.ID, time.Minute, opts...)
			got <- told{a, err}
		}()
		for b.Waiters() == before {
			runtime.Gosched()
		}
		return got
	}
	asleep, wakes := wait(), wait(store.SeenNote(""))
	asked, err := b.AskBack(t.Context(), b.Owner, a.ID, "Why?")
	storetest.Must(t, err)
	first := <-wakes
	if first.err != nil || first.a.Status() != models.StatusPending || first.a.Note == nil || first.a.Note.Content != "Why?" {
		t.Fatalf("%+v", first)
	}
	// Who has seen it sleeps on, who has not is told at once.
	seen := wait(store.SeenNote(*asked.OpenNote))
	at, err := b.Await(t.Context(), b.Agent, a.ID, time.Minute, store.SeenNote(""))
	if err != nil || at.Note == nil {
		t.Errorf("%+v, %v", at, err)
	}
	storetest.Must(t, storetest.Err3(b.AnswerNote(t.Context(), b.Agent, a.ID, "So.")))
	second, err := b.AskBack(t.Context(), b.Owner, a.ID, "And who?")
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
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())))
	if got := <-asleep; got.err != nil || got.a.Status() != models.StatusApproved {
		t.Errorf("%+v", got)
	}
}
