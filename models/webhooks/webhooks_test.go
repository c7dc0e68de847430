package webhooks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/notices"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
	"countersign/models/webhooks"
)

func hook(name string) models.WebhookInput {
	return models.WebhookInput{Name: name, URL: "https://hooks.example.com/secret-path"}
}

func added(t *testing.T, s *store.Store, admin models.Actor, in models.WebhookInput) *models.Webhook {
	t.Helper()
	h, key, err := s.Webhooks.Add(t.Context(), admin, in)
	storetest.Must(t, err)
	if !strings.HasPrefix(key, "whsec_") {
		t.Fatalf("the key is %q", key)
	}
	return h
}

func TestAnEndpointBeginsAtTheHeadAndHidesItsAddress(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	h := added(t, s, admin, hook("  Deploys "))
	head, err := s.Ledger.Head(t.Context())
	storetest.Must(t, err)
	got, err := s.Webhooks.Get(t.Context(), admin, h.ID)
	storetest.Must(t, err)
	if got.Name != "Deploys" || got.Label != "https://hooks.example.com" || got.Cursor != head.Seq || got.Behind != 0 || got.OldestAt != nil || got.Owner == "" {
		t.Errorf("%+v", got)
	}
	if dump := storetest.Dump(t, s); strings.Contains(dump, "secret-path") || strings.Contains(dump, "whsec_") {
		t.Error("the address or the key is stored in the open")
	}
	all, err := s.Webhooks.Endpoints(t.Context())
	storetest.Must(t, err)
	if len(all) != 1 || all[0].Fault != nil || all[0].Target.URL != "https://hooks.example.com/secret-path" || len(all[0].Target.Keys) != 1 {
		t.Errorf("%+v", all)
	}
	storetest.Reviewer(t, s, "ann@example.com")
	if got, err = s.Webhooks.Get(t.Context(), admin, h.ID); err != nil || got.Behind == 0 || got.OldestAt == nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhatIsNoEndpointIsRefusedByField(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	added(t, s, admin, hook("taken"))
	for _, c := range []struct {
		name  string
		in    models.WebhookInput
		field string
	}{
		{"no name", models.WebhookInput{URL: "https://a.example"}, "name"},
		{"hidden characters", models.WebhookInput{Name: "a\u202eb", URL: "https://a.example"}, "name"},
		{"a scheme that is none", models.WebhookInput{Name: "a", URL: "ftp://a.example"}, "url"},
		{"a password", models.WebhookInput{Name: "a", URL: "https://u:p@a.example"}, "url"},
		{"a fragment", models.WebhookInput{Name: "a", URL: "https://a.example/#x"}, "url"},
		{"too long", models.WebhookInput{Name: "a", URL: "https://a.example/" + strings.Repeat("x", models.MaxTarget)}, "url"},
		{"a type that there is not", models.WebhookInput{Name: "a", URL: "https://a.example", Types: []string{"approval.approved", "no.such"}}, "types"},
		{"the same name", hook("taken"), "name"},
	} {
		_, _, err := s.Webhooks.Add(t.Context(), admin, c.in)
		if models.FieldsOf(err)[c.field] == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for i := range models.MaxWebhooks - 1 {
		added(t, s, admin, hook(fmt.Sprint(i)))
	}
	storetest.Refused(t, storetest.Err3(s.Webhooks.Add(t.Context(), admin, hook("one more"))), models.CodeConflict)
}

func TestWebhooksAreForAdmins(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	h := added(t, s, admin, hook("a"))
	ctx := t.Context()
	for who, actor := range storetest.WhoMayNot(t, s) {
		for what, err := range map[string]error{
			"list":    storetest.Err(s.Webhooks.List(ctx, actor)),
			"get":     storetest.Err(s.Webhooks.Get(ctx, actor, h.ID)),
			"page":    storetest.Err(s.Webhooks.Page(ctx, actor, h.ID, "")),
			"add":     storetest.Err3(s.Webhooks.Add(ctx, actor, hook("b"))),
			"change":  s.Webhooks.Change(ctx, actor, h.ID, hook("b")),
			"remove":  s.Webhooks.Remove(ctx, actor, h.ID),
			"pause":   s.Webhooks.Pause(ctx, actor, h.ID),
			"resume":  s.Webhooks.Resume(ctx, actor, h.ID),
			"rotate":  storetest.Err(s.Webhooks.Rotate(ctx, actor, h.ID)),
			"retire":  s.Webhooks.RetireOldKey(ctx, actor, h.ID),
			"replay":  s.Webhooks.Replay(ctx, actor, h.ID, models.WebhookFrom{Seq: 1}),
			"of":      storetest.Err(s.Webhooks.ReplayOf(ctx, actor, h.ID, models.WebhookFrom{Seq: 1})),
			"retry":   s.Webhooks.RetryNow(ctx, actor, h.ID),
			"skip":    s.Webhooks.Skip(ctx, actor, h.ID, 1, "why"),
			"blocks":  storetest.Err(s.Webhooks.Blocks(ctx, actor, h.ID)),
			"skipped": storetest.Err3(s.Webhooks.Skipped(ctx, actor, h.ID, "")),
			"answers": storetest.Err(s.Webhooks.Answers(ctx, actor, h.ID)),
			"test":    storetest.Err(s.Webhooks.ForTest(ctx, actor, h.ID)),
		} {
			if models.ErrorCode(err) != models.CodeForbidden {
				t.Errorf("%s by %s: %v", what, who, err)
			}
		}
	}
}

func TestTwoKeysSignWhileTheyChange(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	h, first, err := s.Webhooks.Add(t.Context(), admin, hook("a"))
	storetest.Must(t, err)
	keys := func() []string {
		t.Helper()
		all, err := s.Webhooks.Endpoints(t.Context())
		storetest.Must(t, err)
		return all[0].SigningKeys(s.Now())
	}
	second, err := s.Webhooks.Rotate(t.Context(), admin, h.ID)
	storetest.Must(t, err)
	if got := keys(); !slices.Equal(got, []string{second, first}) {
		t.Errorf("%q", got)
	}
	third, err := s.Webhooks.Rotate(t.Context(), admin, h.ID)
	storetest.Must(t, err)
	if got := keys(); !slices.Equal(got, []string{third, second}) {
		t.Errorf("%q", got)
	}
	clock.Step(models.WebhookOldKeyLife)
	if got := keys(); !slices.Equal(got, []string{third}) {
		t.Errorf("%q after the old key's time", got)
	}
	fourth, err := s.Webhooks.Rotate(t.Context(), admin, h.ID)
	storetest.Must(t, err)
	storetest.Must(t, s.Webhooks.RetireOldKey(t.Context(), admin, h.ID))
	storetest.Must(t, s.Webhooks.RetireOldKey(t.Context(), admin, h.ID)) // again is harmless
	if got := keys(); !slices.Equal(got, []string{fourth}) {
		t.Errorf("%q", got)
	}
}

func TestAnEndpointIsChangedPausedAndRemoved(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	since := storetest.LedgerAt(t, s)
	h := added(t, s, admin, hook("a"))
	w, ctx := s.Webhooks, t.Context()
	storetest.Must(t, w.Change(ctx, admin, h.ID, models.WebhookInput{Name: "b", Types: []string{"user.added", "approval.approved", "user.added"}, Inputs: true}))
	storetest.Must(t, w.Change(ctx, admin, h.ID, models.WebhookInput{Name: "b", Types: []string{"approval.approved", "user.added"}, Inputs: true})) // the same
	storetest.Must(t, w.Change(ctx, admin, h.ID, models.WebhookInput{Name: "b", URL: "http://127.0.0.1:9/x"}))
	got, err := w.Get(ctx, admin, h.ID)
	storetest.Must(t, err)
	if got.Name != "b" || len(got.Types) != 0 || got.Inputs || got.Label != "http://127.0.0.1:9" {
		t.Errorf("%+v", got)
	}
	storetest.Must(t, w.Pause(ctx, admin, h.ID))
	storetest.Must(t, w.Pause(ctx, admin, h.ID))
	if some, err := w.Any(ctx); err != nil || some {
		t.Errorf("%v, %v", some, err)
	}
	storetest.Refused(t, w.RetryNow(ctx, admin, h.ID), models.CodeConflict)
	if got, err = w.Get(ctx, admin, h.ID); err != nil || got.PausedWhy != models.PausedByPerson || got.PausedBy != admin.Name {
		t.Errorf("%+v, %v", got, err)
	}
	storetest.Must(t, w.Resume(ctx, admin, h.ID))
	storetest.Must(t, w.Resume(ctx, admin, h.ID))
	storetest.Must(t, w.RetryNow(ctx, admin, h.ID))
	storetest.Must(t, w.Remove(ctx, admin, h.ID))
	storetest.Refused(t, w.Remove(ctx, admin, h.ID), models.CodeNotFound)
	added(t, s, admin, hook("b")) // its name may be used again
	var want []string
	for _, action := range []string{"added", "changed", "changed", "paused", "resumed", "removed", "added"} {
		want = append(want, "webhook."+action+" "+admin.ID)
	}
	storetest.SameStrings(t, "entries", storetest.ActionsSince(t, s, since), want)
	storetest.CheckRows(t, s)
	beside := storetest.Tamper(t, s)
	_, err = beside.ExecContext(ctx, `UPDATE webhooks SET inputs = TRUE WHERE removed_at IS NULL`)
	storetest.Must(t, err)
	report, err := upkeep.New(s).VerifyRows(ctx, nil)
	if storetest.Must(t, err); report.Found != 1 {
		t.Errorf("%+v: a right that nobody gave is found", report)
	}
}

func TestARefusedEventIsSkippedForAReason(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	h := added(t, s, admin, hook("a"))
	lease, err := s.Nodes.TakeLease(t.Context(), "webhooks", "me", time.Minute)
	storetest.Must(t, err)
	for i := range 3 {
		storetest.Reviewer(t, s, fmt.Sprintf("r%d@example.com", i)) // entries without a conversation: one stream
	}
	first, last := h.Cursor+1, storetest.LedgerAt(t, s)
	block := models.WebhookBlockRow{Stream: "", NextSeq: first, Type: "user.added", Since: s.Now(), DueAt: s.Now(), Attempts: 3, Class: models.SendRejected, Status: 422}
	answers := make([]models.WebhookAnswer, 25)
	for i := range answers {
		answers[i] = models.WebhookAnswer{At: s.Now(), Seq: first, Type: "user.added", Attempt: i + 1, Took: time.Second, Class: models.SendRejected, Status: 422, Body: []byte("no")}
	}
	stale, err := s.Webhooks.Keep(t.Context(), lease, []webhooks.Progress{{ID: h.ID, Cursor: last, Blocks: []models.WebhookBlockRow{block}, Answers: answers}})
	storetest.Must(t, err)
	if len(stale) != 0 {
		t.Fatal(stale)
	}
	got, err := s.Webhooks.Answers(t.Context(), admin, h.ID)
	storetest.Must(t, err)
	if len(got) != models.WebhookAnswers || got[0].Attempt != 25 || got[19].Attempt != 6 || string(got[0].Body) != "no" || got[0].Took != time.Second {
		t.Errorf("%d answers, the first %+v", len(got), got[0])
	}
	if e := storetest.Refused(t, s.Webhooks.Skip(t.Context(), admin, h.ID, first, "  "), models.CodeInvalid); e.Fields["reason"] == "" {
		t.Errorf("%+v", e)
	}
	storetest.Refused(t, s.Webhooks.Skip(t.Context(), admin, h.ID, last, "not this one"), models.CodeConflict)
	storetest.Must(t, s.Webhooks.Skip(t.Context(), admin, h.ID, first, "it can't read it"))
	blocks, err := s.Webhooks.Blocks(t.Context(), admin, h.ID)
	storetest.Must(t, err)
	if len(blocks) != 1 || blocks[0].Seq != first+1 || blocks[0].Attempts != 0 {
		t.Errorf("%+v: the next one follows", blocks)
	}
	stale, err = s.Webhooks.Keep(t.Context(), lease, []webhooks.Progress{{ID: h.ID, Cursor: last}})
	if storetest.Must(t, err); len(stale) != 1 {
		t.Error("what the worker began before somebody skipped an event is kept")
	}
	for seq := first + 1; seq <= last; seq++ {
		storetest.Must(t, s.Webhooks.Skip(t.Context(), admin, h.ID, seq, "nor this"))
	}
	if blocks, err = s.Webhooks.Blocks(t.Context(), admin, h.ID); err != nil || len(blocks) != 0 {
		t.Errorf("%+v, %v", blocks, err)
	}
	dead, next, err := s.Webhooks.Skipped(t.Context(), admin, h.ID, "")
	storetest.Must(t, err)
	if len(dead) != int(last-first)+1 || next != "" || dead[0].Seq != last || dead[len(dead)-1].Reason != "it can't read it" || dead[len(dead)-1].Status != 422 {
		t.Errorf("%+v, %q", dead, next)
	}
}

func TestAReplayMovesTheCursorBack(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	storetest.Reviewer(t, s, "before@example.com")
	at := clock.Step(time.Hour)
	storetest.Reviewer(t, s, "then@example.com")
	h := added(t, s, admin, hook("a"))
	replay, err := s.Webhooks.ReplayOf(t.Context(), admin, h.ID, models.WebhookFrom{At: at})
	storetest.Must(t, err)
	if e := storetest.Scalar[int64](t, s, `SELECT min(seq) FROM ledger WHERE at >= ?`, at.Format("2006-01-02T15:04:05.000000Z")); replay.Seq != e || replay.Entries != h.Cursor-e+1 {
		t.Errorf("%+v, want from %d", replay, e)
	}
	storetest.Must(t, s.Webhooks.Replay(t.Context(), admin, h.ID, models.WebhookFrom{At: at}))
	if got, err := s.Webhooks.Get(t.Context(), admin, h.ID); err != nil || got.Cursor != replay.Seq-1 || !got.OldestAt.Equal(at) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range []struct {
		from  models.WebhookFrom
		field string
	}{{models.WebhookFrom{}, "at"}, {models.WebhookFrom{Seq: -1}, "seq"}, {models.WebhookFrom{Seq: replay.Seq + 1}, "seq"}, {models.WebhookFrom{At: clock.Step(time.Hour)}, "at"}} {
		if e := storetest.Refused(t, s.Webhooks.Replay(t.Context(), admin, h.ID, c.from), models.CodeInvalid); e.Fields[c.field] == "" {
			t.Errorf("%+v: %v", c.from, e.Fields)
		}
	}
}

func TestAFailingEndpointIsPausedAndItsOwnerTold(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	h := added(t, s, admin, hook("a"))
	lease, err := s.Nodes.TakeLease(t.Context(), "webhooks", "me", time.Minute)
	storetest.Must(t, err)
	session, _ := storetest.Session(t, s, "admin@example.com")
	tell, err := s.People.AddChannel(t.Context(), session, models.ChannelInput{Kind: models.ChannelWebPush, Target: models.ChannelTarget{
		URL: "https://push.example.com/x", P256dh: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", Auth: "tBHItJI5svbpez7KI4CCXg",
	}})
	storetest.Must(t, err)
	progress := webhooks.Progress{ID: h.ID, Cursor: h.Cursor, Pause: models.PausedFailing, Refuse: models.WebhookAnswer{Seq: h.Cursor, Type: "user.added", Class: models.SendConnect}}
	_, err = s.Webhooks.Keep(t.Context(), lease, []webhooks.Progress{progress})
	storetest.Must(t, err)
	_, err = s.Webhooks.Keep(t.Context(), lease, []webhooks.Progress{progress}) // it is told once
	storetest.Must(t, err)
	if got, err := s.Webhooks.Get(t.Context(), admin, h.ID); err != nil || got.PausedWhy != models.PausedFailing || got.PausedBy != "" {
		t.Errorf("%+v, %v", got, err)
	}
	due, _, err := notices.New(s).Due(t.Context(), 9)
	storetest.Must(t, err)
	if len(due) != 1 || due[0].ChannelID != tell.ID {
		t.Fatalf("%+v", due)
	}
	sender, err := s.Nodes.TakeLease(t.Context(), "notify", "me", time.Minute)
	storetest.Must(t, err)
	sending, err := notices.New(s).Begin(t.Context(), sender, due[0].ID)
	storetest.Must(t, err)
	if n := sending.Notice; n.Kind != models.NoticeWebhookPaused || n.Webhook != "a" || n.WebhookHost != "https://hooks.example.com" || n.Class != models.SendConnect {
		t.Errorf("%+v", n)
	}
}

// An answer that comes to be kept after contents were removed does not bring them back: an
// endpoint may have repeated what it got.
func TestAnAnswerToWhatWasRemovedIsKeptWithoutItsBody(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "bot")
	h := added(t, s, admin, hook("a"))
	a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "deploy", Input: []byte(`{"a":"gone"}`), Explicit: true})
	storetest.Must(t, err)
	seq := storetest.LedgerAt(t, s)
	storetest.Must(t, storetest.Err(s.Decide(t.Context(), admin, a.ID, models.DecisionInput{Approved: new(false), Digest: a.Digest})))
	lease, err := s.Nodes.TakeLease(t.Context(), "webhooks", "me", 1000*time.Hour)
	storetest.Must(t, err)
	keep := func() []byte {
		t.Helper()
		_, err = s.Webhooks.Keep(t.Context(), lease, []webhooks.Progress{{
			ID: h.ID, Cursor: h.Cursor, Answers: []models.WebhookAnswer{{At: s.Now(), Seq: seq, Type: "approval.requested", Attempt: 1, Class: models.SendSent, Status: 200, Body: []byte("gone")}},
		}})
		storetest.Must(t, err)
		answers, err := s.Webhooks.Answers(t.Context(), admin, h.ID)
		storetest.Must(t, err)
		return answers[0].Body
	}
	if got := keep(); string(got) != "gone" {
		t.Errorf("before: %q", got)
	}
	purge, err := upkeep.New(s).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: clock.Step(time.Hour)})
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(purge.All(t.Context())))
	if got := keep(); len(got) > 0 {
		t.Errorf("after: %q", got)
	}
}

// A page of an endpoint is of one moment: what it counts is what it lists, whatever the worker
// stores meanwhile.
func TestAPageIsOfOneMoment(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	h := added(t, s, admin, hook("a"))
	lease, err := s.Nodes.TakeLease(t.Context(), "webhooks", "me", time.Hour)
	storetest.Must(t, err)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-ended:
				return
			default:
			}
			p := webhooks.Progress{ID: h.ID, Cursor: h.Cursor, Free: []string{"s"}}
			if n%2 == 0 {
				p.Free, p.Blocks = nil, []models.WebhookBlockRow{{Stream: "s", NextSeq: 1, Type: "user.added", Since: s.Now(), DueAt: s.Now(), Attempts: 1, Class: models.SendRejected}}
			}
			if _, err := s.Webhooks.Keep(t.Context(), lease, []webhooks.Progress{p}); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	seen := map[int]bool{}
	for i := 0; i < 300 || len(seen) < 2 && i < 100_000; i++ {
		page, err := s.Webhooks.Page(t.Context(), admin, h.ID, "")
		storetest.Must(t, err)
		seen[page.BlockCount] = true
		if page.BlockCount != len(page.Blocks) {
			t.Errorf("it counts %d, and lists %d", page.BlockCount, len(page.Blocks))
			break
		}
	}
	close(ended)
	<-done
	if len(seen) < 2 && !t.Failed() {
		t.Error("nothing changed meanwhile: this test shows nothing")
	}
}
