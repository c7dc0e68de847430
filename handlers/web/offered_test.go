package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/models"
	"countersign/models/storetest"
)

// offer is one button of one form, as a page offers it.
type offer struct{ action, button, value string }

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|[0-9]+`)

// pageKind is what several pages or acts have in common: all but what they are about.
func pageKind(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return anyID.ReplaceAllString(path, ":id")
}

// offers are the buttons of a page that post, with what a browser would send.
func (p *page) offers() map[offer]url.Values {
	p.tb.Helper()
	out := map[offer]url.Values{}
	p.doc.Find("main form[method=post], header form[method=post]").Each(func(_ int, form *goquery.Selection) {
		const mark = "data-tested"
		form.SetAttr(mark, "")
		defer form.RemoveAttr(mark)
		buttons := form.Find("button[type=submit]:not([disabled])").AddSelection(p.doc.Find("button[type=submit]:not([disabled])").FilterFunction(func(_ int, b *goquery.Selection) bool {
			return b.AttrOr("form", "") != "" && b.AttrOr("form", "") == form.AttrOr("id", "")
		}))
		buttons.Each(func(_ int, b *goquery.Selection) {
			o := offer{b.AttrOr("formaction", form.AttrOr("action", "")), b.AttrOr("name", ""), b.AttrOr("value", "")}
			values := p.form("form["+mark+"]", "")
			if o.button != "" {
				values.Set(o.button, o.value)
			}
			out[o] = values
		})
	})
	return out
}

// linked are the pages here to which a page leads.
func (p *page) linked() []string {
	var out []string
	p.doc.Find("a[href^='/']").Each(func(_ int, a *goquery.Selection) {
		path, _, _ := strings.Cut(a.AttrOr("href", ""), "#")
		if !strings.HasPrefix(path, "/docs") && !strings.Contains(path, "/export") && !slices.Contains(out, path) {
			out = append(out, path)
		}
	})
	return out
}

// walk gets every kind of page that somebody can reach by links, at most three of a kind.
func (p *person) walk(visit func(path string, at *page)) {
	p.w.tb.Helper()
	const each = 3
	queue, seen, kinds := []string{"/"}, map[string]bool{"/": true}, map[string]int{}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		at := p.get(path)
		if at.status != http.StatusOK {
			if at.status >= 400 && at.status != http.StatusNotFound {
				p.w.tb.Errorf("a link leads to %s: %d", path, at.status)
			}
			continue
		}
		for _, next := range at.linked() {
			if k := pageKind(next); !seen[next] && kinds[k] < each {
				seen[next] = true
				kinds[k]++
				queue = append(queue, next)
			}
		}
		visit(path, at)
	}
}

// offering is a world in which there is something of everything.
func offering(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	everyPage(w)
	stranger, err := w.store.People.UserByEmail(t.Context(), w.admin, strangerEmail)
	storetest.Must(t, err)
	second := storetest.Reviewer(t, w.store, "second@example.com")
	storetest.Must(t, w.store.People.SetRole(t.Context(), w.admin, second.UserID(), models.RoleAdmin))
	for _, pair := range [][2]models.UserID{{w.owner.UserID(), w.admin.UserID()}, {w.owner.UserID(), stranger.ID}, {w.admin.UserID(), w.owner.UserID()}} {
		storetest.Must(t, storetest.Err(w.store.AskSubstitute(t.Context(), w.admin, pair[0], pair[1])))
	}
	held := w.ask()
	w.decides(held, true, "")
	w.signedIn(adminEmail).allowHost("hooks.example.com")
	return w
}

// What a page offers is not refused: every button of every form that a role can reach is
// pressed, with what the form holds. What is wrong with a field is said at it (422), and that
// is no refusal; nor is a form that another press has overtaken.
func TestNoActIsOfferedThatIsRefused(t *testing.T) {
	t.Parallel()
	for role, email := range map[string]string{"admin": adminEmail, "owner": ownerEmail, "stranger": strangerEmail} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			w := offering(t)
			p := w.signedIn(email)
			var paths []string
			p.walk(func(path string, _ *page) { paths = append(paths, path) })
			pressed := map[string]bool{}
			for _, path := range paths {
				for {
					at := p.get(path)
					if at.status == http.StatusSeeOther && strings.HasPrefix(at.header.Get("Location"), "/signin") {
						again, err := w.store.People.UserByEmail(t.Context(), models.Operator("test"), email) // who pressed what disables them
						storetest.Must(t, err)
						storetest.Must(t, w.store.People.EnableUser(t.Context(), models.Operator("test"), again.ID))
						p = w.signedIn(email)
						at = p.get(path)
					}
					o, values, ok := nextOffer(at, path, pressed)
					if !ok {
						break
					}
					if got := p.post(o.action, values); got.status == http.StatusForbidden || got.status == http.StatusConflict || got.status == http.StatusNotFound || got.status >= 500 {
						t.Errorf("%s offers %s %s=%s, and that is answered with %d: %.300s", path, o.action, o.button, o.value, got.status, strings.Join(strings.Fields(got.text("main")), " "))
					}
				}
			}
			if len(pressed) < 10 {
				t.Errorf("only %d acts were found", len(pressed))
			}
		})
	}
}

// endsAll are acts after which the role that the test walks with is gone.
var endsAll = []string{"/signout"}

// nextOffer is an act of a page that was not pressed yet, of its kind.
func nextOffer(at *page, path string, pressed map[string]bool) (offer, url.Values, bool) {
	for o, values := range at.offers() {
		k := pageKind(path) + " " + pageKind(o.action) + " " + o.button + "=" + anyID.ReplaceAllString(o.value, ":id")
		if pressed[k] || slices.Contains(endsAll, o.action) {
			continue
		}
		pressed[k] = true
		return o, values, true
	}
	return offer{}, nil, false
}
