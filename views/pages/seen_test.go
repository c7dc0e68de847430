package pages_test

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// seen is what matters of a page to whoever reads it: a name of places to what is
// found there. What is not named must not be on the page.
type seen map[string]string

// places are where a page tells what matters.
var places = []struct{ name, selector, not string }{
	{"title", "h1", ""},
	{"who", ".approval-who", ""},
	{"marks", ".approval-marks", ""},
	{"tally", ".tally, #inbox-said, .filter, .chips", ""},
	{"warns", "main .warning, main .flash, main .call-note, main .policy-now, #closed, #dangers > *", "[hidden], .warning .warning, #detail *"},
	{"errors", ".field-error", ""},
	{"why", "main > article .approval-why dt:first-of-type + dd, main > article .approval-why dt:contains(reason) + dd", ""},
	{"what", "#what .code-body, .laid-out, .asked-sum, .question", ".source *"},
	{"labels", "main > article .code-label, main > article .code-head .quiet", ".editor *, .compared *"},
	{"whole", "main > article #whole", ""},
	{"more", "#other, #beside, #result, #edited", ""},
	{"outcome", ".outcome", ""},
	{"notes", "#notes .note", ""},
	{"rows", "main .aside-line, main .row, main .group-head, main tbody tr, main .changes > li, .bulk-rows > li, .entry-head, .batch-calls > li, .grant-member, .stop-lines > li, .applied > li, .request-lines > li", "#detail tr, article tr"},
	{"said", ".entry-text, .said, .entry-summary, .entry-outcome", ""},
	{"empty", ".empty-state, .empty-line", ""},
	{"acts", "main button, main a.btn, main a.act-link, main summary.btn, .decide summary", "[role=search] *, #bulk *, .editor *, .copy, [hidden], [hidden] *, tbody *, .row *"},
	{"folds", "main > article summary", ".editor *, .decide *, .compared *, .confirm *, .act *, .warning *, .tree *, .btn"},
	{"tried", ".tried-answer, #replay-summary, #replayed-briefly, #replayed .panel-line [role=status]", ""},
	{"help", "#ask-text-help, #approval > .decide-note, .decide > .decide-note, .sheet-head ~ p.quiet, main form > .quiet", "#bulk *, .open-part *"},
	{"checklist", "main .checklist", ""},
	{"signatures", "article:has(.signatures) .must-approve, .signatures > p:not(.signatures-title), .signature-steps > li, article:has(.signatures) .proposed > p, article:has(.signatures) .undo", ""},
	{"for-others", "main .came, main .decides-for, #handovers li, #unanswered p, #unanswered li, .approval-why dt:contains('Asks next') + dd", ""},
	{"policy words", "main .template-text", ""},
	{"connect", ".connect [aria-current], .connect .steps .code-label, #received, .connect .facts dd:first-of-type", ""},
	{"filled", "main input:not([type=hidden], [type=checkbox], [type=radio]), main select, main textarea, main :checked", ".editor *, tbody *, .row *, [hidden] *, option"},
	{"finds", "#palette a.palette-row, .palette-says:not(:empty), .go-rows a", ""},
	{"leads", "main .pager a, main .filter a, main .chips a, main .filter-clear, .outcome-next a", ".btn"},
	{"ways", ".channel-add > p, #ways li, #backlog dd, #channels .secret", ""},
	{"endpoint", "#replay-from button, #webhook-state dd, .secret:has(#webhook-secret), #replay > p", ""},
	{"absence", "#absence > p", ""},
	{"says", "main .sheet-head p, main .alone > p, .bulk-question > p, .bulk-body > p, main .sheet > p, main .sheet > form > p", ".flash, :has(.btn)"},
}

// see reads what matters on a page.
func see(page *goquery.Document) seen {
	out := seen{}
	for _, p := range places {
		var told []string
		page.Find(p.selector).Not(p.not).Each(func(_ int, e *goquery.Selection) {
			if text := tells(e); text != "" {
				told = append(told, short(text, 280))
			}
		})
		if len(told) > 0 {
			out[p.name] = short(strings.Join(told, " | "), 1000)
		}
	}
	return out
}

// tells is what an element tells: source text letter by letter, a field's name and
// value, where a link leads, and of all else the words.
func tells(e *goquery.Selection) string {
	switch goquery.NodeName(e) {
	case "input":
		return field(e, e.AttrOr("value", ""))
	case "textarea":
		return field(e, e.Text())
	case "select":
		return field(e, e.Find("option[selected]").AttrOr("value", ""))
	case "a":
		return words(e) + " → " + e.AttrOr("href", "")
	}
	if source := e.Find("pre"); source.Length() > 0 && e.Is(".code-body") {
		return source.Text()
	}
	return words(e)
}

func field(e *goquery.Selection, value string) string {
	if value == "" {
		return ""
	}
	return e.AttrOr("name", "") + "=" + value
}

// apart are the elements around which a reader sees a space.
var apart = regexp.MustCompile(`^(p|div|li|dt|dd|td|th|h[1-6]|summary|button|label|legend|option|time|a)\b|^span\.(badge|row-|entry-|upstream-|mono)`)

// words are an element's texts on one line.
func words(e *goquery.Selection) string {
	var b strings.Builder
	var write func(*html.Node)
	write = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
			return
		}
		space := apart.MatchString(n.Data + attributes(n))
		if space {
			b.WriteString(" ")
		}
		for child := range n.ChildNodes() {
			write(child)
		}
		if space {
			b.WriteString(" ")
		}
	}
	for _, n := range e.Nodes {
		write(n)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// short gives a text that is longer than most by its ends, its length and its hash.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s … %s (%d bytes, %.8x)", strings.ToValidUTF8(text[:60], ""), strings.ToValidUTF8(text[len(text)-40:], ""), len(text), sha256.Sum256([]byte(text)))
}
