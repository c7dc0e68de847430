package request_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// A button that reads otherwise than what it releases says both.
func TestAnOptionSaysWhatItsButtonReleases(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(webtest.Question, func(in *models.AskInput) {
		in.Options = []models.Option{{Name: "yes", Title: "No, keep them"}, {Name: "later"}}
	})
	owner := w.SignIn(webtest.OwnerEmail)
	want := map[string]string{"yes": "No, keep them answers “yes”", "later": "later"}
	shown := owner.Get(webtest.PageOf(a)).Is(http.StatusOK)
	if got := buttons(shown, ".choices button[name=option]"); len(got) != 2 || got["yes"] != want["yes"] || got["later"] != want["later"] {
		t.Errorf("buttons read %q, want %q", got, want)
	}
	form := url.Values{"verdict": {"answer"}, "digest": {a.Digest}, "option": {"yes"}}
	owner.Post(webtest.DecideOf(a), form).Redirects(webtest.PageOf(a))
	owner.Get(webtest.PageOf(a)).Says(".outcome", `yes`).Says(".outcome", `shown as`).Says(".outcome", "No, keep them")
}

// What another system offers is not ours to refuse: options that read alike are
// told apart by their names.
func TestOptionsOfAnotherSystemThatReadAlikeAreShownByName(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	o.Take(models.OutsideItem{
		Kind: models.OutsideContact, CallID: "c1", Message: "Delete the backups?",
		Options: []models.Option{{Name: "delete", Title: "No"}, {Name: "keep", Title: "Ｎｏ"}},
	})
	a := o.Waits()
	shown := o.SignIn(webtest.OwnerEmail).Get(webtest.PageOf(&a)).Is(http.StatusOK)
	if got := buttons(shown, ".choices button[name=option]"); got["delete"] != "delete" || got["keep"] != "keep" {
		t.Errorf("buttons read %q, want their names", got)
	}
	if strings.Contains(shown.Doc.Text(), "does not give the digest") {
		t.Error("the digest of another system's question is not over what is shown")
	}
}

// buttons are what buttons read, by the value that they send.
func buttons(p *webtest.Page, selector string) map[string]string {
	out := map[string]string{}
	p.Doc.Find(selector).Each(func(_ int, s *goquery.Selection) {
		s.Find("[aria-hidden=true]").Remove()
		out[s.AttrOr("value", "")] = strings.Join(strings.Fields(s.Text()), " ")
	})
	return out
}
