package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/runs"
	"countersign/models/storetest"
	"countersign/models/upkeep"
	"countersign/views"
)

const removedToday = "removed on 20"

// TestPagesSayWhatWasRemoved: the request, its conversation, the history and its
// export, what went before, and pre-approvals.
func TestPagesSayWhatWasRemoved(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	const secret = "zanzibar"
	a := w.Ask(webtest.ToolCall("Bash", `{"command":"`+secret+`"}`), func(in *models.AskInput) { in.Description, in.RunID = secret, "run" })
	w.Decides(a, false, secret)
	edited := w.Ask(webtest.ToolCall("Bash", `{"command":"`+secret+` 2"}`), func(in *models.AskInput) { in.RunID = "run" })
	if _, err := w.Store.Decide(t.Context(), w.Owner, edited.ID, models.DecisionInput{Approved: new(true), Digest: edited.Digest, Page: models.NoPage, Input: []byte(`{"command":"` + secret + ` 3"}`)}); err != nil {
		t.Fatal(err)
	}
	asked := w.Ask(webtest.Question, func(in *models.AskInput) { in.RunID, in.Description = "run", secret })
	if _, err := w.Store.Decide(t.Context(), w.Owner, asked.ID, models.DecisionInput{Answer: new(secret), Digest: asked.Digest}); err != nil {
		t.Fatal(err)
	}
	w.Decides(w.Proposes(a.ConversationID, secret, 0), true, "")
	if _, err := runs.New(w.Store).Say(t.Context(), w.Owner, models.MessageInput{ConversationID: a.ConversationID, Content: secret}); err != nil {
		t.Fatal(err)
	}
	paths := []string{views.ApprovalURL(a.ID), views.ApprovalURL(edited.ID), views.ApprovalURL(asked.ID), webtest.ConversationPath(a.ConversationID), "/history", "/history/export?format=jsonl", "/history/export?format=csv"}
	for _, path := range paths {
		if got := p.Get(path).Is(http.StatusOK); !strings.Contains(got.Body, secret) {
			t.Errorf("%s does not show it before", path)
		}
	}
	w.Clock.Step(time.Second)
	purge, err := upkeep.New(w.Store).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: w.Store.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := purge.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := w.Ask(webtest.ToolCall("Bash", `{"command":"ls"}`), func(in *models.AskInput) { in.RunID = "run" })
	for _, path := range append(paths, views.ApprovalURL(next.ID)) {
		got := p.Get(path).Is(http.StatusOK)
		if strings.Contains(got.Body, secret) || !strings.Contains(got.Body, removedToday) {
			t.Errorf("%s holds it, or does not say that it was removed: %s", path, strings.Join(strings.Fields(got.Doc.Find("main").Text()), " "))
		}
	}
	got := p.Get(views.ApprovalURL(a.ID))
	if text := got.Doc.Find("#approval").Text(); !strings.Contains(text, "The contents were removed on ") || !strings.Contains(text, "by tester. Names, times, the outcome and the digest are kept.") ||
		strings.Contains(text, "does not fit") {
		t.Errorf("the request's page says %s", strings.Join(strings.Fields(text), " "))
	}
	if text := got.Doc.Find("#approval .warning, #approval [data-tone=bad]").Text(); strings.Contains(text, "digest") {
		t.Errorf("it takes the removal for tampering: %s", text)
	}
	text := p.Get(views.ApprovalURL(next.ID)).Doc.Find(".compared").Text()
	if !strings.Contains(text, "Its input was removed on ") {
		t.Errorf("compared with what was removed: %q", text)
	}
}

// TestThePolicyFormTakesRetention: it is typed, reviewed with a warning, and saved.
func TestThePolicyFormTakesRetention(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.AdminEmail)
	form := p.Get("/policy/settings").Is(http.StatusOK).Form("#policy-form", "#review")
	if form.Get("retention_days") != "0" {
		t.Fatalf("it begins with %q", form.Get("retention_days"))
	}
	form.Set("step", "review")
	form.Set("retention_days", "-1")
	p.Post("/policy/settings", form).Is(http.StatusUnprocessableEntity)
	form = p.Get("/policy/settings").Form("#policy-form", "#review")
	form.Set("retention_days", "90")
	p.Post("/policy/settings", form).Redirects("/policy/review")
	w.Ask() // what waits is not counted
	save := p.Get("/policy/review").Is(http.StatusOK).Says("main", "permanently removed, including existing ones").Says("#removal", "begins 24 hours after you save", "It would now affect 0 requests").Form("form:has(#save)", "#save")
	save.Set("note", "ninety days")
	again := p.Post("/policy/review", save).Is(http.StatusUnprocessableEntity).Says("#retention_typed-error", "must be 90")
	if got := again.Form("form:has(#save)", "#save").Get("note"); got != "ninety days" {
		t.Errorf("the note comes back as %q", got)
	}
	save.Set("retention_typed", "90")
	p.Post("/policy/review", save).Redirects("/policy")
	now, err := w.Store.CurrentPolicy(t.Context())
	if err != nil || now.Program.Document().RetentionDays != 90 {
		t.Errorf("saved: %v, %v", now.Program.Document().RetentionDays, err)
	}

	// Until it begins it can be cancelled, and a restored version asks again.
	cancel := p.Get("/policy").Says("#retention-soon", "removed 90 days after the end of", "Until then nothing is removed").Form("#retention-soon form", "#keep-longer")
	p.Post("/policy/retention/cancel", cancel).Redirects("/policy")
	if n := p.Get("/policy").Doc.Find("#retention-soon").Length(); n != 0 {
		t.Error("it is still announced")
	}
	p.Post("/policy/retention/cancel", cancel).Redirects("/policy")
	p.Get("/policy").Says(".flash", "Nothing to cancel")
	p.Post("/policy/versions/2/restore", p.Get("/policy/versions/2").Form(`form:has(#restore)`, "#restore")).Is(http.StatusSeeOther)
	p.Get("/policy/review").Says("#removal", "begins 24 hours after you save")
	w.SignIn(webtest.OwnerEmail).Post("/policy/retention/cancel", cancel).Is(http.StatusForbidden)
}
