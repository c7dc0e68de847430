package request_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// Whatever an input pretends to be, its page draws every member and every value of it, and a
// kind is claimed only where the input is of one (I13).
func TestACardDrawsAllOfItsInputI13(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for _, c := range webtest.HostileCards {
		t.Run(c.Name, func(t *testing.T) {
			a := w.Ask(webtest.ToolCall(c.Tool, c.Input))
			doc := p.Get(webtest.PageOf(a)).Is(http.StatusOK).Doc
			doc.Find("#what .sr-only").Remove()
			if got := plain(doc.Find("#what .known-figure")); got != c.Figure {
				t.Errorf("the card says %q, want %q", got, c.Figure)
			}
			if title := plain(doc.Find("h1")); strings.HasPrefix(title, "Pay ") != (c.Figure != "" && c.Tool == "pay") && c.Name != "a payee too long for a line" {
				t.Errorf("the title is %q", title)
			}
			names, values := drawnIn(doc)
			checkDrawn(t, jsontext.Value(c.Input), names, values)
			if source := doc.Find("#whole pre").Text(); !strings.HasPrefix(source, "{") || !strings.HasSuffix(source, "}") {
				t.Errorf("the source is %q", source)
			}
			if shut := doc.Find(".source:not([open])").Length() > 0; shut && doc.Find(".warning").Length() > 0 {
				t.Error("the source is hidden below a warning")
			}
		})
	}
	for name, in := range map[string]models.AskInput{
		"a member twice":           {ToolName: "pay", Input: []byte(`{"amount":5,"amount":5000000,"currency":"EUR","to":"A"}`)},
		"a tool of another script": {ToolName: "раy", Input: []byte(`{"amount":5,"currency":"EUR","to":"A"}`)},
	} {
		if _, err := w.Store.Ask(t.Context(), w.Agent, in); models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// drawnIn are the names and the values that a page shows above the source.
func drawnIn(doc *goquery.Document) (names, values []string) {
	doc.Find("#what .tree-name").Each(func(_ int, s *goquery.Selection) { names = append(names, s.Find("bdi").Text()) })
	doc.Find("#what .known-rows dt").Each(func(_ int, s *goquery.Selection) { names = append(names, s.AttrOr("title", "")) })
	doc.Find("#what .code-label").Each(func(_ int, s *goquery.Selection) { names = append(names, s.Text()) })
	doc.Find("#what .known-value bdi, #what .tree-value bdi, #what pre, #what .dl > code, #what .code-label").Each(func(_ int, s *goquery.Selection) { values = append(values, s.Text()) })
	if doc.Find("#what .code-empty").Length() > 0 {
		values = append(values, "")
	}
	return names, values
}

// drawnElsewhere are members that a card says without their names.
var drawnElsewhere = []string{"amount", "currency", "method", "url", "path", "old_string", "new_string"}

// checkDrawn looks for every name and value of an input among those that are drawn.
func checkDrawn(t *testing.T, input jsontext.Value, names, values []string) {
	t.Helper()
	d := jsontext.NewDecoder(strings.NewReader(string(input)))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return
		}
		kind, count := d.StackIndex(d.StackDepth())
		text := token.String()
		if token.Kind() == '"' && kind == '{' && count%2 == 1 {
			if shown := models.RevealString(text, false); !slices.Contains(names, shown) && !slices.Contains(drawnElsewhere, text) {
				t.Errorf("the member %q is not drawn: %q", text, names)
			}
			continue
		}
		if strings.ContainsRune("{}[]", rune(token.Kind())) {
			continue
		}
		shown := func(v string) bool {
			if token.Kind() != '"' {
				return v == text // a number is as it was sent, and never a text
			}
			one, lines := models.RevealString(text, false), models.RevealString(text, true)
			return v == one || v == lines || strings.HasPrefix(v, one+", every occurrence") || v == `"`+one+`"` || v == `"`+lines+`"`
		}
		if !slices.ContainsFunc(values, shown) && !whole(values, text) {
			t.Errorf("%s is not drawn: %q", token, values)
		}
	}
}

// whole reports whether a long text is drawn in the two parts that it folds into.
func whole(values []string, text string) bool {
	return len(text) > 300 && strings.Contains(strings.Join(values, ""), text)
}

// plain is the text of an element on one line.
func plain(s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") }

// What is confirmed is drawn as on the page, and of an edit what it would run (I6).
func TestTheCardIsConfirmedI6(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules":[{"name":"Money","tools":["pay"],"effect":"require","risk":"critical"}]}`)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Ask(webtest.ToolCall("pay", `{"amount":240.00,"currency":"EUR","to":"Nordlicht"}`))
	form := p.Get(webtest.PageOf(a)).Form("#verdict", "#approve")
	p.Post(webtest.DecideOf(a), form).Is(http.StatusOK).Says(".what .known-figure", "240.00", "EUR").Says(".what .known-rows", "Nordlicht").Says(".what .code", "Whole input")
	form.Set("verdict", "approve_edited")
	form.Set("input", `{"amount":2.00,"currency":"EUR","to":"Nordlicht"}`)
	doc := p.Post(webtest.DecideOf(a), form).Is(http.StatusOK).Doc
	if got := plain(doc.Find(".what .known-figure")); !strings.HasPrefix(got, "2.00") || doc.Find(".what .known").Length() != 1 {
		t.Errorf("the card of the edit says %q", got)
	}
	form.Set("input", `{"amount":2.00,"Amount":3,"currency":"EUR","to":"Nordlicht"}`)
	if doc = p.Post(webtest.DecideOf(a), form).Is(http.StatusOK).Doc; doc.Find(".what .known").Length() != 0 || !strings.Contains(doc.Find(".what .tree").Text(), "Amount") {
		t.Error("an edit that is no payment has the card of one")
	}
}
