package audit_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/people"
	"countersign/models/storetest"
)

// TestAListIsSavedAsItIsNarrowed on each list, by its form, and found again by its name.
func TestAListIsSavedAsItIsNarrowed(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for list, query := range map[string]string{
		"/history":   "status=rejected&q=build",
		"/audit":     "what=decisions&outcome=approved",
		"/audit/all": "who=" + url.QueryEscape(w.Owner.ID) + "&q=x",
	} {
		p := w.SignIn("admin@example.com")
		if all := p.Get(list + "?from=2026-11-02").Is(http.StatusOK); all.Doc.Find("#save-view").Length() != 0 {
			t.Errorf("%s: days alone can be saved", list)
		}
		narrowed := p.Get(list + "?" + query + "&from=2026-11-02").Is(http.StatusOK)
		form := narrowed.Doc.Find("#save-view form").AttrOr("action", "")
		if form != list+"/views?"+query {
			t.Fatalf("%s: the form goes to %q", list, form)
		}
		// Refused, the form comes back filled in beside the list, narrowed as it was.
		long := strings.Repeat("Böse ", 20)
		refused := p.Post(form, url.Values{"name": {long}}).Is(http.StatusUnprocessableEntity)
		refused.Says("#save-view .field-error", "at most 80")
		if refused.Value("#view-name") != long || refused.Doc.Find(".chips .filter-chip").Length() == 0 {
			t.Errorf("%s: the form lost what was typed", list)
		}
		if refused.Doc.Find(`nav a[aria-current="page"][href="/history"], nav a[aria-current="page"][href="/audit"]`).Length() == 0 {
			t.Errorf("%s: nothing says where the reader is", list)
		}
		p.Post(form, url.Values{"name": {"<b>Friday"}}).Redirects(list + "?" + query)
		saved := p.Get(list).Is(http.StatusOK).Says(".flash", "View saved")
		link := saved.Doc.Find(`nav[aria-label="Saved views"] a`)
		if link.Length() != 1 || link.AttrOr("href", "") != list+"?"+query || strings.TrimSpace(link.Text()) != "<b>Friday" {
			t.Errorf("%s: the link is %q to %q", list, link.Text(), link.AttrOr("href", ""))
		}
		here := p.Get(list + "?" + query + "&from=2026-11-03").Is(http.StatusOK)
		if here.Doc.Find(`nav[aria-label="Saved views"] a[aria-current]`).Length() != 1 || here.Doc.Find("#save-view").Length() != 0 {
			t.Errorf("%s: the view in view is not marked, or offered again", list)
		}
		other := w.SignIn(webtest.OwnerEmail)
		if list != "/audit/all" && other.Get(list).Is(http.StatusOK).Doc.Find(`nav[aria-label="Saved views"]`).Length() != 0 {
			t.Errorf("%s: another person sees the view", list)
		}
		remove := here.Doc.Find("form:has(#remove-view)")
		p.Post(remove.AttrOr("action", ""), url.Values{"name": {remove.Find("input[name=name]").AttrOr("value", "")}}).
			Redirects(list + "?" + query)
		if p.Get(list).Doc.Find(`nav[aria-label="Saved views"]`).Length() != 0 {
			t.Errorf("%s: the view is still there", list)
		}
		p.Post(list+"/views?from=2026-11-02", url.Values{"name": {"Days"}}).Is(http.StatusUnprocessableEntity).
			Says("#save-view .field-error", "set a filter or search first")
	}
}

// TestAViewOfAnotherVersionCanBeRemoved although its filters are in another order, or are known no more.
func TestAViewOfAnotherVersionCanBeRemoved(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for _, query := range []string{"q=build&status=rejected", "status=of-later"} {
		storetest.Must(t, people.ViewsOf(w.Store.People).Save(t.Context(), w.Owner, models.ListHistory, "Odd", query))
		link := p.Get("/history").Doc.Find(`nav[aria-label="Saved views"] a`)
		if link.Length() != 1 || link.AttrOr("aria-current", "") != "" {
			t.Fatalf("%s: %d links, the first is here: %q", query, link.Length(), link.AttrOr("aria-current", ""))
		}
		remove := p.Get(link.AttrOr("href", "")).Doc.Find("form:has(#remove-view)")
		p.Post(remove.AttrOr("action", "/nothing"), url.Values{"name": {remove.Find("input[name=name]").AttrOr("value", "")}})
		if p.Get("/history").Doc.Find(`nav[aria-label="Saved views"]`).Length() != 0 {
			t.Errorf("%s: the view is still there", query)
		}
	}
}
