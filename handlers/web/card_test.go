package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// hostileCards are inputs that pretend to be of a kind, or to say something else there.
// figure is what is large on the card; empty: there must be no card.
var hostileCards = []struct{ name, tool, input, figure string }{
	{"a payment", "pay", `{"amount":240.00,"currency":"EUR","to":"Nordlicht Hosting","reference":7}`, "240.00 EUR"},
	{"an amount sent as text", "pay", `{"amount":"240.00","currency":"eur","to":"A"}`, "240.00 eur"},
	{"a second amount in other case", "pay", `{"amount":5,"Amount":5000000,"currency":"EUR","to":"A"}`, ""},
	{"a second amount under another name", "pay", `{"amount":5,"amount_cents":5000000,"currency":"EUR","to":"A"}`, ""},
	{"an amount in an object", "pay", `{"amount":{"value":5,"minor":500},"currency":"EUR","to":"A"}`, ""},
	{"a list of amounts", "pay", `{"amount":[5,5000000],"currency":"EUR","to":"A"}`, ""},
	{"a list of payees", "pay", `{"amount":5,"currency":"EUR","to":["A","B"]}`, ""},
	{"two payees", "pay", `{"amount":5,"currency":"EUR","to":"A","recipient":"B"}`, ""},
	{"hidden characters in an amount", "pay", `{"amount":"5\u200b000","currency":"EUR","to":"A"}`, ""},
	{"digits of another script", "pay", `{"amount":"٥","currency":"EUR","to":"A"}`, ""},
	{"a number without end", "pay", `{"amount":1e400,"currency":"EUR","to":"A"}`, ""},
	{"a huge amount", "pay", `{"amount":12345678901234567890,"currency":"EUR","to":"A"}`, ""},
	{"less than nothing", "pay", `{"amount":-5,"currency":"EUR","to":"A"}`, ""},
	{"a currency of another script", "pay", `{"amount":5,"currency":"ЕUR","to":"A"}`, ""},
	{"members named like labels", "pay", `{"amount":5,"currency":"EUR","to":"A","Payee":"B","Other members":"none","Reference":"C"}`, ""},
	{"a tool that is only like one", "Pay", `{"amount":5,"currency":"EUR","to":"A"}`, ""},
	{"a payee that imitates rows", "pay", `{"amount":5,"currency":"EUR","to":"A\nReference  paid\r\n\tAccount  DE00","reference":" "}`, "5 EUR"},
	{"a payee whose end differs", "pay", `{"amount":5,"currency":"EUR","to":"` + strings.Repeat("Nordlicht and sons ", 40) + `in Riga"}`, "5 EUR"},
	{"a payee too long for a line", "pay", `{"amount":5,"currency":"EUR","to":"` + strings.Repeat("Nordlicht ", 200) + `in Riga"}`, ""},
	{"a payee from right to left", "pay", `{"amount":5,"currency":"EUR","to":"שלום 100 \u202eEUR"}`, "5 EUR"},
	{"markup", "pay", `{"amount":5,"currency":"EUR","to":"</dd><dt>Account</dt>","iban":"<b>1</b>"}`, "5 EUR"},
	{"an email", "send_email", `{"to":["a@x.example","b\u200b@x.example"],"cc":[],"subject":"A\nBcc  nobody","body":"one line"}`, ""},
	{"an email to objects", "send_email", `{"to":[{"address":"a@x.example"}],"subject":"A","body":"B"}`, ""},
	{"a post that pays", "http.post", `{"url":"https://pay.example/x?to=A","json":{"amount":5,"currency":"EUR","Other members":[null,true,"true"]},"timeout":30}`, "POST"},
	{"a method that the name denies", "http.post", `{"url":"https://pay.example/x","method":"GET"}`, ""},
	{"a host that is read in two ways", "http.post", `{"url":"https://good.example\\@evil.example/","body":"x"}`, ""},
	{"texts that read as numbers", "submit", `{"a":"120","b":120,"c":"null","d":null,"e":"","f":[],"g":"[]","h":" x","i":"{}","j":{}}`, ""},
	{"values that imitate members", "submit", `{"a":"x\nto  B\namount  5","to":"A"}`, ""},
	{"a command with more", "Bash", `{"command":"ls\nwc","command\u200b":"rm -rf /","description":"lists","timeout":5}`, ""},
	{"a change with more", "edit_file", `{"path":"a.go","old_string":"a","new_string":"b","replace_all":true,"force":{"a":[1,"1"]}}`, ""},
}

// Whatever an input pretends to be, its page draws every member and every value of it, and a
// kind is claimed only where the input is of one (I13).
func TestACardDrawsAllOfItsInputI13(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	for _, c := range hostileCards {
		t.Run(c.name, func(t *testing.T) {
			a := w.ask(toolCall(c.tool, c.input))
			doc := p.get(pageOf(a)).is(http.StatusOK).doc
			doc.Find("#what .sr-only").Remove()
			if got := plain(doc.Find("#what .known-figure")); got != c.figure {
				t.Errorf("the card says %q, want %q", got, c.figure)
			}
			if title := plain(doc.Find("h1")); strings.HasPrefix(title, "Pay ") != (c.figure != "" && c.tool == "pay") && c.name != "a payee too long for a line" {
				t.Errorf("the title is %q", title)
			}
			names, values := drawnIn(doc)
			checkDrawn(t, jsontext.Value(c.input), names, values)
			if source := doc.Find("#whole pre").Text(); !strings.HasPrefix(source, "{") || !strings.HasSuffix(source, "}") {
				t.Errorf("the source is %q", source)
			}
			if strip := doc.Find("[data-act=source]").Length() > 0; strip && doc.Find(".warning").Length() > 0 {
				t.Error("the source is hidden below a warning")
			}
		})
	}
	for name, in := range map[string]models.AskInput{
		"a member twice":           {ToolName: "pay", Input: []byte(`{"amount":5,"amount":5000000,"currency":"EUR","to":"A"}`)},
		"a tool of another script": {ToolName: "раy", Input: []byte(`{"amount":5,"currency":"EUR","to":"A"}`)},
	} {
		if _, err := w.store.Ask(t.Context(), w.agent, in); models.ErrorCode(err) != models.CodeInvalid {
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
	w := newWorld(t)
	w.applyPolicy(`{"rules":[{"name":"Money","tools":["pay"],"effect":"require","risk":"critical"}]}`)
	p := w.signedIn(ownerEmail)
	a := w.ask(toolCall("pay", `{"amount":240.00,"currency":"EUR","to":"Nordlicht"}`))
	form := p.get(pageOf(a)).form("#verdict", "#approve")
	p.post(decideOf(a), form).is(http.StatusOK).says(".what .known-figure", "240.00", "EUR").says(".what .known-rows", "Nordlicht").says(".what .code", "Whole input")
	form.Set("verdict", "approve_edited")
	form.Set("input", `{"amount":2.00,"currency":"EUR","to":"Nordlicht"}`)
	doc := p.post(decideOf(a), form).is(http.StatusOK).doc
	if got := plain(doc.Find(".what .known-figure")); !strings.HasPrefix(got, "2.00") || doc.Find(".what .known").Length() != 1 {
		t.Errorf("the card of the edit says %q", got)
	}
	form.Set("input", `{"amount":2.00,"Amount":3,"currency":"EUR","to":"Nordlicht"}`)
	if doc = p.post(decideOf(a), form).is(http.StatusOK).doc; doc.Find(".what .known").Length() != 0 || !strings.Contains(doc.Find(".what .tree").Text(), "Amount") {
		t.Error("an edit that is no payment has the card of one")
	}
}
