package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/models"
)

// A button that reads otherwise than what it releases says both.
func TestAnOptionSaysWhatItsButtonReleases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask(question, func(in *models.AskInput) {
		in.Options = []models.Option{{Name: "yes", Title: "No, keep them"}, {Name: "later"}}
	})
	owner := w.signedIn(ownerEmail)
	want := map[string]string{"yes": "No, keep them answers “yes”", "later": "later"}
	shown := owner.get(pageOf(a)).is(http.StatusOK)
	if got := buttons(shown, ".choices button[name=option]"); len(got) != 2 || got["yes"] != want["yes"] || got["later"] != want["later"] {
		t.Errorf("buttons read %q, want %q", got, want)
	}
	form := url.Values{"verdict": {"answer"}, "digest": {a.Digest}, "option": {"yes"}}
	owner.post(decideOf(a), form).redirects(pageOf(a))
	owner.get(pageOf(a)).says(".outcome", `yes`).says(".outcome", `shown as`).says(".outcome", "No, keep them")
}

// What another system offers is not ours to refuse: options that read alike are
// told apart by their names.
func TestOptionsOfAnotherSystemThatReadAlikeAreShownByName(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	o.take(models.OutsideItem{
		Kind: models.OutsideContact, CallID: "c1", Message: "Delete the backups?",
		Options: []models.Option{{Name: "delete", Title: "No"}, {Name: "keep", Title: "Ｎｏ"}},
	})
	a := o.waits()
	shown := o.signedIn(ownerEmail).get(pageOf(&a)).is(http.StatusOK)
	if got := buttons(shown, ".choices button[name=option]"); got["delete"] != "delete" || got["keep"] != "keep" {
		t.Errorf("buttons read %q, want their names", got)
	}
	if strings.Contains(shown.doc.Text(), "does not give the digest") {
		t.Error("the digest of another system's question is not over what is shown")
	}
}

// buttons are what buttons read, by the value that they send.
func buttons(p *page, selector string) map[string]string {
	out := map[string]string{}
	p.doc.Find(selector).Each(func(_ int, s *goquery.Selection) {
		s.Find("[aria-hidden=true]").Remove()
		out[s.AttrOr("value", "")] = strings.Join(strings.Fields(s.Text()), " ")
	})
	return out
}
