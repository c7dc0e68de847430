package request_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
	"countersign/models/upkeep"
	"countersign/views"
)

// The largest input is judged, shown in part, downloaded whole, and approved as it was sent.
func TestTheLargestInputIsDecided(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	input := `{"file_path":"/srv/a","content":"` + strings.Repeat("0123456789abcde\\n", (models.MaxInput-100)/17) + `THE END"}`
	a := w.Ask(func(in *models.AskInput) { in.ToolName, in.Input = "Write", []byte(input) })
	p := w.SignIn(webtest.OwnerEmail)
	got := p.Get(webtest.PageOf(a)).Is(http.StatusOK).Says(".warning", "Only the beginning and the end of the input are shown").Says("#whole", "THE END")
	if len(got.Body) > 1<<20 {
		t.Errorf("the page has %d bytes", len(got.Body))
	}
	file := p.Get(views.InputURL(a.ID)).Is(http.StatusOK)
	if file.Body != input || !strings.HasPrefix(file.Header.Get("Content-Disposition"), `attachment; filename="input-`) || file.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d bytes of %d are downloaded, %v", len(file.Body), len(input), file.Header)
	}
	if hashed := p.Get(views.HashedURL(a.ID)).Is(http.StatusOK); models.Digest([]byte(hashed.Body)) != a.Digest {
		t.Errorf("the digest is not that of the %d bytes that are downloaded for it", len(hashed.Body))
	}
	w.SignIn(webtest.StrangerEmail).Get(views.InputURL(a.ID)).Is(http.StatusNotFound)
	p.Post(webtest.DecideOf(a), got.Form(".verdict", "#approve")).Redirects(webtest.PageOf(a))
	p.Get("/").Is(http.StatusOK)

	w.Clock.Step(time.Second)
	purge, err := upkeep.New(w.Store).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: w.Store.Now()})
	storetest.Must(t, err)
	_, err = purge.All(t.Context())
	storetest.Must(t, err)
	p.Get(views.InputURL(a.ID)).Is(http.StatusNotFound).Says("main", "removed")
}

// A call that was only reported has the same download on its page, for who sees its conversation.
func TestTheInputOfAReportedCallIsAFile(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	input := `{"content":"` + strings.Repeat("x", models.MaxDrawn) + `"}`
	conv := w.Run(models.RunInput{RunID: "r"}, models.RunEvent{Type: models.RunEventToolCall, ToolUseID: "c1", ToolName: "Write", Input: []byte(input)})
	id := storetest.Scalar[models.ResponseID](t, w.Store, `SELECT id FROM responses`)
	p := w.SignIn(webtest.OwnerEmail)
	href, ok := p.Get(views.CallURL(conv, id)).Is(http.StatusOK).Doc.Find("#whole").Parent().Find("a[download]").Attr("href")
	if !ok {
		t.Fatal("its page offers no file")
	}
	if got := p.Get(href).Is(http.StatusOK); got.Body != input {
		t.Errorf("%d bytes of %d are downloaded", len(got.Body), len(input))
	}
	w.SignIn(webtest.StrangerEmail).Get(href).Is(http.StatusNotFound)
}

// An edit is shown whole to those who sign it.
func TestALongInputIsNotEdited(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(func(in *models.AskInput) { in.ToolName, in.AcceptsEdits = "Write", true })
	_, err := w.Store.Decide(t.Context(), w.Owner, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest, Input: []byte(`"` + strings.Repeat("x", models.MaxDrawn) + `"`)})
	if models.ErrorCode(err) != models.CodeTooLarge || models.FieldsOf(err)["input"] == "" {
		t.Errorf("%v", err)
	}
}

func TestAnInputThatIsNotKeptWholeIsNoFile(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	p.Get("/approvals/none/input").Is(http.StatusNotFound)
	p.Get(views.InputURL(w.Ask(webtest.Question).ID)).Is(http.StatusNotFound)
	p.Post(views.InputURL(w.Ask().ID), url.Values{}).Is(http.StatusMethodNotAllowed)
}
