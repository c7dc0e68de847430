package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/models/upkeep"
	"countersign/views"
)

const removedToday = "removed on 20"

// TestPagesSayWhatWasRemoved: the request, its conversation, the history and its
// export, what went before, and pre-approvals.
func TestPagesSayWhatWasRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	const secret = "zanzibar"
	a := w.ask(toolCall("Bash", `{"command":"`+secret+`"}`), func(in *models.AskInput) { in.Description, in.RunID = secret, "run" })
	w.decides(a, false, secret)
	edited := w.ask(toolCall("Bash", `{"command":"`+secret+` 2"}`), func(in *models.AskInput) { in.RunID = "run" })
	if _, err := w.store.Decide(t.Context(), w.owner, edited.ID, models.DecisionInput{Approved: new(true), Digest: edited.Digest, Page: models.NoPage, Input: []byte(`{"command":"` + secret + ` 3"}`)}); err != nil {
		t.Fatal(err)
	}
	asked := w.ask(question, func(in *models.AskInput) { in.RunID, in.Description = "run", secret })
	if _, err := w.store.Decide(t.Context(), w.owner, asked.ID, models.DecisionInput{Answer: new(secret), Digest: asked.Digest}); err != nil {
		t.Fatal(err)
	}
	w.decides(w.proposes(a.ConversationID, secret, 0), true, "")
	if _, err := w.store.Say(t.Context(), w.owner, models.MessageInput{ConversationID: a.ConversationID, Content: secret}); err != nil {
		t.Fatal(err)
	}
	paths := []string{views.ApprovalURL(a.ID), views.ApprovalURL(edited.ID), views.ApprovalURL(asked.ID), conversationPath(a.ConversationID), "/history", "/history/export?format=jsonl", "/history/export?format=csv"}
	for _, path := range paths {
		if got := p.get(path).is(http.StatusOK); !strings.Contains(got.body, secret) {
			t.Errorf("%s does not show it before", path)
		}
	}
	w.clock.Step(time.Second)
	purge, err := upkeep.New(w.store).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: w.store.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := purge.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := w.ask(toolCall("Bash", `{"command":"ls"}`), func(in *models.AskInput) { in.RunID = "run" })
	for _, path := range append(paths, views.ApprovalURL(next.ID)) {
		got := p.get(path).is(http.StatusOK)
		if strings.Contains(got.body, secret) || !strings.Contains(got.body, removedToday) {
			t.Errorf("%s holds it, or does not say that it was removed: %s", path, strings.Join(strings.Fields(got.doc.Find("main").Text()), " "))
		}
	}
	got := p.get(views.ApprovalURL(a.ID))
	if text := got.doc.Find("#approval").Text(); !strings.Contains(text, "The contents were removed on ") || !strings.Contains(text, "by tester. Names, times, the outcome and the digest are kept.") ||
		strings.Contains(text, "does not fit") {
		t.Errorf("the request's page says %s", strings.Join(strings.Fields(text), " "))
	}
	if text := got.doc.Find("#approval .warning, #approval [data-tone=bad]").Text(); strings.Contains(text, "digest") {
		t.Errorf("it takes the removal for tampering: %s", text)
	}
	text := p.get(views.ApprovalURL(next.ID)).doc.Find(".compared").Text()
	if !strings.Contains(text, "Its input was removed on ") {
		t.Errorf("compared with what was removed: %q", text)
	}
}

// TestThePolicyFormTakesRetention: it is typed, reviewed with a warning, and saved.
func TestThePolicyFormTakesRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(adminEmail)
	form := p.get("/policy").is(http.StatusOK).form("#policy-form", "#review")
	if form.Get("retention_days") != "0" {
		t.Fatalf("it begins with %q", form.Get("retention_days"))
	}
	form.Set("step", "review")
	form.Set("retention_days", "-1")
	p.post("/policy", form).is(http.StatusUnprocessableEntity)
	form = p.get("/policy").form("#policy-form", "#review")
	form.Set("retention_days", "90")
	p.post("/policy", form).redirects("/policy/review")
	w.ask() // what waits is not counted
	save := p.get("/policy/review").is(http.StatusOK).says("main", "permanently removed, including existing ones").says("#removal", "begins 24 hours after you save", "It would now affect 0 requests").form("form:has(#save)", "#save")
	save.Set("note", "ninety days")
	again := p.post("/policy/review", save).is(http.StatusUnprocessableEntity).says("#retention_typed-error", "must be 90")
	if got := again.form("form:has(#save)", "#save").Get("note"); got != "ninety days" {
		t.Errorf("the note comes back as %q", got)
	}
	save.Set("retention_typed", "90")
	p.post("/policy/review", save).redirects("/policy")
	now, err := w.store.CurrentPolicy(t.Context())
	if err != nil || now.Compiled.Document().RetentionDays != 90 {
		t.Errorf("saved: %v, %v", now.Compiled.Document().RetentionDays, err)
	}

	// Until it begins it can be cancelled, and a restored version asks again.
	cancel := p.get("/policy").says("#retention-soon", "removed 90 days after the end of", "Until then nothing is removed").form("#retention-soon form", "#keep-longer")
	p.post("/policy/retention/cancel", cancel).redirects("/policy")
	if n := p.get("/policy").doc.Find("#retention-soon").Length(); n != 0 {
		t.Error("it is still announced")
	}
	p.post("/policy/retention/cancel", cancel).redirects("/policy")
	p.get("/policy").says(".flash", "Nothing to cancel")
	p.post("/policy/versions/2/restore", p.get("/policy/versions/2").form(`form:has(#restore)`, "#restore")).is(http.StatusSeeOther)
	p.get("/policy/review").says("#removal", "begins 24 hours after you save")
	w.signedIn(ownerEmail).post("/policy/retention/cancel", cancel).is(http.StatusForbidden)
}
