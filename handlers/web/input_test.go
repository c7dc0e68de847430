package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/models/upkeep"
	"countersign/views"
)

// The largest input is judged, shown in part, downloaded whole, and approved as it was sent.
func TestTheLargestInputIsDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	input := `{"file_path":"/srv/a","content":"` + strings.Repeat("0123456789abcde\\n", (models.MaxInput-100)/17) + `THE END"}`
	a := w.ask(func(in *models.AskInput) { in.ToolName, in.Input = "Write", []byte(input) })
	p := w.signedIn(ownerEmail)
	got := p.get(pageOf(a)).is(http.StatusOK).says(".warning", "Only the beginning and the end of the input are shown").says("#whole", "THE END")
	if len(got.body) > 1<<20 {
		t.Errorf("the page has %d bytes", len(got.body))
	}
	file := p.get(views.InputURL(a.ID)).is(http.StatusOK)
	if file.body != input || !strings.HasPrefix(file.header.Get("Content-Disposition"), `attachment; filename="input-`) || file.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d bytes of %d are downloaded, %v", len(file.body), len(input), file.header)
	}
	if hashed := p.get(views.HashedURL(a.ID)).is(http.StatusOK); models.Digest([]byte(hashed.body)) != a.Digest {
		t.Errorf("the digest is not that of the %d bytes that are downloaded for it", len(hashed.body))
	}
	w.signedIn(strangerEmail).get(views.InputURL(a.ID)).is(http.StatusNotFound)
	p.post(decideOf(a), got.form(".verdict", "#approve")).redirects(pageOf(a))
	p.get("/").is(http.StatusOK)

	w.clock.Step(time.Second)
	purge, err := upkeep.New(w.store).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: w.store.Now()})
	storetest.Must(t, err)
	_, err = purge.All(t.Context())
	storetest.Must(t, err)
	p.get(views.InputURL(a.ID)).is(http.StatusNotFound).says("main", "removed")
}

// A call that was only reported has the same download on its page, for who sees its conversation.
func TestTheInputOfAReportedCallIsAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	input := `{"content":"` + strings.Repeat("x", models.MaxDrawn) + `"}`
	conv := w.run(models.RunInput{RunID: "r"}, models.RunEvent{Type: models.RunEventToolCall, ToolUseID: "c1", ToolName: "Write", Input: []byte(input)})
	id := storetest.Scalar[models.ResponseID](t, w.store, `SELECT id FROM responses`)
	p := w.signedIn(ownerEmail)
	href, ok := p.get(views.CallURL(conv, id)).is(http.StatusOK).doc.Find("#whole").Parent().Find("a[download]").Attr("href")
	if !ok {
		t.Fatal("its page offers no file")
	}
	if got := p.get(href).is(http.StatusOK); got.body != input {
		t.Errorf("%d bytes of %d are downloaded", len(got.body), len(input))
	}
	w.signedIn(strangerEmail).get(href).is(http.StatusNotFound)
}

// An edit is shown whole to those who sign it.
func TestALongInputIsNotEdited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask(func(in *models.AskInput) { in.ToolName, in.AcceptsEdits = "Write", true })
	_, err := w.store.Decide(t.Context(), w.owner, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest, Input: []byte(`"` + strings.Repeat("x", models.MaxDrawn) + `"`)})
	if models.ErrorCode(err) != models.CodeTooLarge || models.FieldsOf(err)["input"] == "" {
		t.Errorf("%v", err)
	}
}

func TestAnInputThatIsNotKeptWholeIsNoFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	p.get("/approvals/none/input").is(http.StatusNotFound)
	p.get(views.InputURL(w.ask(question).ID)).is(http.StatusNotFound)
	p.post(views.InputURL(w.ask().ID), url.Values{}).is(http.StatusMethodNotAllowed)
}
