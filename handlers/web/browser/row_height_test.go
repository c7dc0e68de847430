package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// Whatever a request says, its row has two lines and the height of every other, and what is special
// about it is one sign, whose words are in the name of its link.
func TestInABrowserEachRowIsOfOneHeight(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"undo_seconds": {"medium": 600}, "rules": [
		{"name":"Money","tools":["pay"],"effect":"require","risk":"critical"},
		{"name":"Settled","tools":["settled"],"effect":"require","risk":"low"},
		{"name":"Deploys","tools":["/deploy-.*/"],"effect":"require","risk":"high"}]}`)
	tool := func(name, input string) *models.Approval { return w.Ask(webtest.ToolCall(name, input)) }
	held := tool("Bash", `{"command":"make held"}`)
	tool("Bash", `{"command":"make twice"}`)
	tool("Bash", `{"command":"make twice"}`)
	before, twin := w.Pays(), w.Pays()
	w.Approves(before)
	w.Decides(tool("fetch", `{"url":"https://example.org"}`), false, "Not today.")
	again := tool("fetch", `{"url":"https://example.org"}`)
	hidden := tool("Write", `{"file_path":"a\u200bb.txt","content":"`+strings.Repeat("x", 200)+`"}`)
	w.Ask(webtest.Question)
	longest := tool(strings.Repeat("unbroken", 25), `{"command":"`+strings.Repeat("x ", 900)+`"}`)
	for n := range 12 {
		tool(fmt.Sprintf("deploy-%d", n), `{"region":"eu-west-1","note":"`+strings.Repeat("words ", n*10)+`"}`)
	}
	settled := tool("settled", `{"a":1}`)

	p := openDesk(w, held.ID)
	p.acts("a")
	p.becomes(fmt.Sprintf(`document.querySelector("#row-%s [data-act=undo]") !== null`, held.ID))
	p.point("#row-" + string(again.ID))
	w.Approves(settled)
	p.sees(fmt.Sprintf("#row-%s[data-gone] [data-gone-text]", settled.ID), "Approved by admin@example.com")
	p.sees(fmt.Sprintf("#row-%s s.row-summary", settled.ID), "settled: a 1")
	for _, size := range []struct{ width, row int64 }{{1440, 56}, {1024, 56}, {390, 64}} {
		p.do("a screen", chromedp.EmulateViewport(size.width, 900))
		if size.width < 1000 { // one thing at a time
			p.open("/?gone=" + string(settled.ID))
		}
		if got := p.value(`[...new Set([...document.querySelectorAll("#inbox .row, #inbox .group-head")].filter((row) => row.checkVisibility()).map((row) => Math.round(row.getBoundingClientRect().height)))].join()`); got != fmt.Sprint(size.row) {
			t.Errorf("at %d the rows are %s px high", size.width, got)
		}
		if got := p.value(`[...document.querySelectorAll("#inbox .row-tool")].filter((tool) => tool.scrollWidth > tool.clientWidth + 1).map((tool) => tool.closest("li").id).join()`); got != "row-"+string(longest.ID) {
			t.Errorf("at %d tools are cut in %s", size.width, got)
		}
		p.fits()
	}
	p.do("a screen", chromedp.EmulateViewport(1440, 900))
	p.calm()
	whole := `(() => { const bottom = document.querySelector("#bulk").getBoundingClientRect().top, top = document.querySelector("#inbox ol").getBoundingClientRect().top;
		return [...document.querySelectorAll("#inbox .row, #inbox .group-head")].filter((row) => { const box = row.getBoundingClientRect(); return box.top >= top && box.bottom <= bottom; }).length >= 12; })()`
	if p.value(whole) != "true" {
		t.Error("fewer than 12 rows are seen whole in 900 px")
	}
	for a, want := range map[*models.Approval]string{twin: "Same as", again: "Rejected before", hidden: "Hidden characters"} {
		if got := p.value(fmt.Sprintf(`document.querySelector("#row-%s .row-link").textContent`, a.ID)); !strings.Contains(got, want) {
			t.Errorf("the link of %s reads %q", a.ToolName, got)
		}
		if got := p.value(fmt.Sprintf(`document.querySelectorAll("#row-%s .row-signals").length`, a.ID)); got != "1" {
			t.Errorf("%s has %s signs", a.ToolName, got)
		}
	}
}
