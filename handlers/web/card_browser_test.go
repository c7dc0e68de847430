package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/models"
)

// outOfColumn lists the lines of values that begin left of their column, where names are, and
// values that are cut or not in sight.
const outOfColumn = `[...document.querySelectorAll("#what .known-rows dd, #what .tree-cell")].flatMap((cell) => {
  const left = cell.getBoundingClientRect().left - 1;
  const range = document.createRange();
  range.selectNodeContents(cell.querySelector("bdi"));
  const rects = [...range.getClientRects()];
  const wrong = rects.some((r) => r.left < left || r.right > innerWidth + 1) || !rects.some((r) => r.width > 0) || cell.scrollWidth > cell.clientWidth + 1;
  return wrong ? [cell.textContent] : [];
}).join("\n")`

// A line of a value never stands where names do, on screens of both sizes (I13).
func TestInABrowserNoValueOfACardReadsAsAnotherRowI13(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.tab()
	p.signIn()
	for _, width := range []int64{1440, 390} {
		p.do("a screen", chromedp.EmulateViewport(width, 900))
		for _, c := range hostileCards {
			p.open(pageOf(w.ask(toolCall(c.tool, c.input))))
			if wrong := p.value(outOfColumn); wrong != "" {
				t.Errorf("%s at %d: %s", c.name, width, wrong)
			}
			if got := p.text("#what .known-figure"); c.figure != "" && !strings.HasPrefix(got, c.figure[:1]) {
				t.Errorf("%s: the card reads %q", c.name, got)
			}
		}
	}
}

// The source of what is drawn whole starts as a strip at low and medium risk, and s opens it;
// at high and critical risk it is open, and there is nothing to press (I13).
func TestInABrowserTheSourceStartsAsAStripI13(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.tab()
	p.signIn()
	for risk, strip := range map[models.Risk]bool{models.RiskLow: true, models.RiskMedium: true, models.RiskHigh: false, models.RiskCritical: false} {
		w.applyPolicy(`{"rules":[{"name":"Money","tools":["pay"],"effect":"require","risk":"` + string(risk) + `"}]}`)
		p.open(pageOf(w.ask(toolCall("pay", `{"amount":240.00,"currency":"EUR","to":"Nordlicht","reference":"R-1","iban":"DE00"}`))))
		last := `String(!!document.evaluate("//*[@id='whole']//text()[contains(., 'Nordlicht')]", document, null, 9, null).singleNodeValue?.parentElement.checkVisibility())`
		if got := p.value(last); got != map[bool]string{true: "false", false: "true"}[strip] {
			t.Errorf("%s: the end of the source is in sight: %s", risk, got)
		}
		if !strip {
			continue
		}
		if got := p.text("#whole summary"); got != "Show all 7 lines" {
			t.Errorf("%s: it says %q", risk, got)
		}
		p.press("s")
		p.becomes(last + ` === "true"`)
		p.press("s")
		p.becomes(last + ` === "false"`)
		p.value(`localStorage.setItem("countersign:keys", "off")`)
		p.open(p.value("location.pathname"))
		p.press("s")
		if got := p.value(last); got != "false" {
			t.Error("s works although single keys are off")
		}
		p.value(`localStorage.removeItem("countersign:keys")`)
	}
}
