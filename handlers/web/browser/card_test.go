package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
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
	w := webtest.New(t)
	p := openTab(w)
	p.signIn()
	for _, width := range []int64{1440, 390} {
		p.do("a screen", chromedp.EmulateViewport(width, 900))
		for _, c := range webtest.HostileCards {
			p.open(webtest.PageOf(w.Ask(webtest.ToolCall(c.Tool, c.Input))))
			if wrong := p.value(outOfColumn); wrong != "" {
				t.Errorf("%s at %d: %s", c.Name, width, wrong)
			}
			if got := p.text("#what .known-figure"); c.Figure != "" && !strings.HasPrefix(got, c.Figure[:1]) {
				t.Errorf("%s: the card reads %q", c.Name, got)
			}
		}
	}
}

// The source of what is drawn whole is closed at first at low and medium risk, and s opens it;
// at high and critical risk it is open (I13).
func TestInABrowserTheSourceStartsClosedI13(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := openTab(w)
	p.signIn()
	for risk, shut := range map[models.Risk]bool{models.RiskLow: true, models.RiskMedium: true, models.RiskHigh: false, models.RiskCritical: false} {
		w.ApplyPolicy(`{"rules":[{"name":"Money","tools":["pay"],"effect":"require","risk":"` + string(risk) + `"}]}`)
		p.open(webtest.PageOf(w.Ask(webtest.ToolCall("pay", `{"amount":240.00,"currency":"EUR","to":"Nordlicht","reference":"R-1","iban":"DE00"}`))))
		last := `String(!!document.evaluate("//*[@id='whole']//text()[contains(., 'Nordlicht')]", document, null, 9, null).singleNodeValue?.parentElement.checkVisibility())`
		if got := p.value(last); got != map[bool]string{true: "false", false: "true"}[shut] {
			t.Errorf("%s: the end of the source is in sight: %s", risk, got)
		}
		if !shut {
			continue
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

// What is folded opens in its place: the page stays, and so does a reason that is
// half written.
func TestInABrowserAFoldedPartOpensInItsCard(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules":[{"name":"Shell","tools":["Bash"],"effect":"require","risk":"high"}]}`)
	a := w.Ask(func(in *models.AskInput) {
		in.Input = fmt.Appendf(nil, `{"command":"%sTHE-VERY-END"}`, strings.Repeat(`echo line\n`, 100))
	})
	p := openTab(w)
	p.signIn()
	p.open(webtest.PageOf(a))
	p.value("window.same = 'page'")
	p.value(`document.querySelector("#reason").value = "half wri"`)
	if p.value(`String(document.querySelector("#block-1").textContent.includes("THE-VERY-END"))`) != "false" {
		t.Fatal("it is not folded")
	}
	p.value(`document.querySelector("#block-1 .open-part button").click()`)
	p.becomes(`document.querySelector("#block-1").textContent.includes("THE-VERY-END") && !document.querySelector("#block-1 .open-part")`)
	if got := p.value(`window.same + " " + document.querySelector("#reason").value`); got != "page half wri" {
		t.Errorf("the page is %q", got)
	}
}
