package ui_test

import (
	"strings"
	"testing"

	"countersign/views/ui"
)

func treeOf(t *testing.T, text string) ui.Block {
	t.Helper()
	tree, tooMany := ui.NewTree([]byte(text))
	if tree == nil || tooMany {
		t.Fatalf("%q gives no tree (%v)", text, tooMany)
	}
	return ui.Block{Code: ui.Code{Label: "x", Part: "block-1"}, Tree: tree}
}

func TestTreeTellsTypes(t *testing.T) {
	t.Parallel()
	html := draw(t, ui.BlockView(treeOf(t, `{"a":[1,120.00,9007199254740993,1e400],"b":"äöü","c":{},"d":[],"e":null,"f":true,"g":false,"h":"","i":{"x":1},"j":"x"}`)))
	for _, want := range []string{
		`title="list of 4"`, ">1<", ">120.00<", ">9007199254740993<", ">1e400<", `title="text, 3 characters"`, ">äöü<", `title="text, 1 character"`, `title="empty object"`, ">{}<",
		`title="empty list"`, ">[]<", ">null<", ">true<", ">false<", `title="text, 0 characters"`, ">&#34;&#34;<", `title="object of 1"`, `class="sr-only">, number<`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing in %s", want, html)
		}
	}
}

// A text that reads as a number or as nothing stands between quotation marks, so that it is
// told from one without a look at its type.
func TestTreeQuotesTextsThatReadAsSomethingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, drawn string }{
		{`120`, "120"},
		{`"120"`, "&#34;120&#34;"},
		{`"true"`, "&#34;true&#34;"},
		{`"null"`, "&#34;null&#34;"},
		{`"[]"`, "&#34;[]&#34;"},
		{`"\"5\""`, "&#34;&#34;5&#34;&#34;"},
		{`" EUR"`, "&#34; EUR&#34;"},
		{`""`, "&#34;&#34;"},
		{`"EUR"`, "EUR"},
		{`"1e400"`, "&#34;1e400&#34;"},
		{`"1,000"`, "1,000"},
	} {
		if html := draw(t, ui.BlockView(treeOf(t, `{"a":`+c.value+`}`))); !strings.Contains(html, ">"+c.drawn+"<") {
			t.Errorf("%s is not drawn as %s: %s", c.value, c.drawn, html)
		}
	}
}

func TestTreeEscapesI13(t *testing.T) {
	t.Parallel()
	html := draw(t, ui.BlockView(treeOf(t, "{\"a\u202E<b>\":\"x\u200B<i>\\n\"}")))
	if strings.ContainsAny(html, "\u202E\u200B") || strings.Contains(html, "<b>") || strings.Contains(html, "<i>") {
		t.Errorf("hostile text came through: %s", html)
	}
}

func TestTreeFoldsLongTexts(t *testing.T) {
	t.Parallel()
	b := treeOf(t, `["`+strings.Repeat("ä", 1204)+`"]`)
	html := draw(t, ui.BlockView(b))
	if !b.Folds() || !strings.Contains(html, "1,204 characters") || strings.Count(html, "ä") != 1204 || !strings.Contains(html, "Show the remaining 904 characters") {
		t.Error("not folded, or not all of it is on the page")
	}
	b.OpenURL = "/x"
	if html = draw(t, ui.BlockView(b)); strings.Count(html, "ä") != 300 || !strings.Contains(html, `name="part" value="block-1"`) {
		t.Error("not shut")
	}
	b.Opened = true
	if html = draw(t, ui.BlockView(b)); strings.Count(html, "ä") != 1204 || strings.Contains(html, "<form") {
		t.Error("not in full")
	}
}

func TestTreeHasLimits(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	if html := draw(t, ui.BlockView(treeOf(t, deep))); strings.Count(html, `title="list of 1"`) != 62 {
		t.Error("64 levels are not all shown")
	}
	if _, tooMany := ui.NewTree([]byte("[" + strings.Repeat("1,", ui.MaxNodes-2) + "1]")); tooMany {
		t.Error("2,000 values are too many")
	}
	if tree, tooMany := ui.NewTree([]byte("[" + strings.Repeat("1,", ui.MaxNodes-1) + "1]")); tree != nil || !tooMany {
		t.Error("2,001 values are not too many")
	}
	for _, text := range []string{"", "{", "[1", `{"a"}`, "1 2"} {
		if tree, tooMany := ui.NewTree([]byte(text)); tree != nil || tooMany {
			t.Errorf("%q is a tree", text)
		}
	}
}
