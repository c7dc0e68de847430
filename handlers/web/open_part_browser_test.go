package web_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/models"
)

// What is folded opens in its place: the page stays, and so does a reason that is
// half written.
func TestInABrowserAFoldedPartOpensInItsCard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"rules":[{"name":"Shell","tools":["Bash"],"effect":"require","risk":"high"}]}`)
	a := w.ask(func(in *models.AskInput) {
		in.Input = fmt.Appendf(nil, `{"command":"%sTHE-VERY-END"}`, strings.Repeat(`echo line\n`, 100))
	})
	p := w.tab()
	p.signIn()
	p.open(pageOf(a))
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
