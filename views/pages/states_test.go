package pages_test

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/views/gallery"
	"countersign/views/pages/pagestest"
)

// documents are the states of the gallery as a browser reads them, each drawn once.
var documents = sync.OnceValue(func() map[string]func() (*goquery.Document, error) {
	out := map[string]func() (*goquery.Document, error){}
	for key, drawn := range pagestest.Screens() {
		out[key] = sync.OnceValues(func() (*goquery.Document, error) { return pagestest.Parse(drawn()) })
	}
	return out
})

// shows is a state of the gallery, to be read and not changed.
func shows(t *testing.T, key string) *goquery.Document {
	t.Helper()
	document, ok := documents()[key]
	if !ok {
		t.Fatalf("the gallery has no state %q", key)
	}
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// page is a state of the gallery and what it tells; like names an earlier one that
// tells the same but for what is named here.
type page struct {
	key, like string
	seen      seen
}

// told is what each state must tell.
func told(t *testing.T) map[string]seen {
	t.Helper()
	out := map[string]seen{}
	for _, p := range slices.Concat(requestPages, laterRequestPages, inboxPages, actingPages, conversationPages, listPages, notifyPages, awayPages, webhookPages, formPages) {
		if out[p.key] != nil {
			t.Fatalf("%s appears twice", p.key)
		}
		all := seen{}
		if p.like != "" {
			if out[p.like] == nil {
				t.Fatalf("%s is like %s, which is not before it", p.key, p.like)
			}
			maps.Copy(all, out[p.like])
		}
		for name, text := range p.seen {
			if all[name] = text; text == "" {
				delete(all, name)
			}
		}
		out[p.key] = all
	}
	return out
}

// Each state tells who asks, what, why and until when, what can be done, and what
// is wrong; and nothing else of that kind. A page that is itself a component is told
// by its golden file.
func TestPagesTellWhatMatters(t *testing.T) {
	t.Parallel()
	want := told(t)
	for _, s := range gallery.States() {
		if _, ok := want[s.Key()]; !ok && !slices.ContainsFunc(components, func(c component) bool { return c.state == s.Key() && c.selector == "main" }) {
			t.Errorf("it is nowhere said what %s tells", s.Key())
		}
	}
	for key := range want {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			got := see(shows(t, key))
			for _, p := range places {
				if got[p.name] != want[key][p.name] {
					t.Errorf("\n got %q: %q\nwant %q: %q", p.name, got[p.name], p.name, want[key][p.name])
				}
				delete(want[key], p.name)
			}
			for name := range want[key] {
				t.Errorf("there is no place %q", name)
			}
		})
	}
}

// Each state has a name of its own, and says what to look at.
func TestStatesHaveNames(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, s := range gallery.States() {
		if known[s.Key()] || s.Page == "" || s.Name == "" || s.Note == "" {
			t.Errorf("%s appears twice, or lacks page, name or note", s.Key())
		}
		known[s.Key()] = true
	}
}

// What an agent or another system wrote is never markup, on any page: within it are
// only the spans that show hidden letters, colours and lines.
func TestUntrustedTextIsNoMarkup(t *testing.T) {
	t.Parallel()
	for _, s := range gallery.States() {
		doc := shows(t, s.Key())
		doc.Find(".untrusted *, textarea *, option *, title *").Each(func(_ int, e *goquery.Selection) {
			if name := goquery.NodeName(e); name != "span" {
				t.Errorf("%s: <%s> in %s", s.Key(), name, e.Parent().Text())
			}
		})
		doc.Find("pre *").Each(func(_ int, e *goquery.Selection) {
			if name := goquery.NodeName(e); name != "span" && name != "code" && name != "bdi" {
				t.Errorf("%s: <%s> in %s", s.Key(), name, e.Parent().Text())
			}
		})
		if doc.Find("iframe, object, embed, base, script:not([src]), img:not([src^='/'])").Length() > 0 {
			t.Errorf("%s loads what it should not", s.Key())
		}
	}
}

// What a page calls the bytes behind the digest are those, and each form that
// decides on them sends that digest.
func TestDigestsAreOfWhatIsShownI6(t *testing.T) {
	t.Parallel()
	pages := 0
	for _, s := range gallery.States() {
		doc := shows(t, s.Key())
		raw, digest := doc.Find("#raw pre"), doc.Find("article #detail-digest, article .digest code").Text()
		if raw.Length() == 0 {
			continue
		}
		if raw.Find(".unseen").Length() == 0 && raw.Closest(".right-to-left").Length() == 0 {
			pages++
			if sum := sha256.Sum256([]byte(raw.Text())); hex.EncodeToString(sum[:]) != digest {
				t.Errorf("%s: the bytes shown have the digest %x, not %s", s.Key(), sum, digest)
			}
		}
		doc.Find("#approval form input[name=digest]").Each(func(_ int, e *goquery.Selection) {
			if e.AttrOr("value", "") != digest {
				t.Errorf("%s: a form sends %s", s.Key(), e.AttrOr("value", ""))
			}
		})
	}
	if pages < 40 {
		t.Errorf("only %d pages show the bytes", pages)
	}
}

// A request says in one place how far it is: the time that is left, that it will be sent, or the outcome.
func TestARequestHasOneStatus(t *testing.T) {
	t.Parallel()
	n := 0
	for _, s := range gallery.States() {
		doc := shows(t, s.Key())
		if doc.Find("#approval").Length() == 0 {
			continue
		}
		n++
		if got := doc.Find("#approval").Find(".approval-marks .deadline, .decide-bar .undo, .decide-bar [data-held], .outcome-line").Length(); got != 1 {
			t.Errorf("%s: %d places say its status", s.Key(), got)
		}
	}
	if n < 60 {
		t.Errorf("only %d states show a request", n)
	}
}
