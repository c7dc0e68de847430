package web_test

import (
	"fmt"
	"testing"

	"countersign/models"
)

// What arrives, leaves or changes beside the open request keeps nobody from deciding it:
// only the open request and its row's place do.
func TestInABrowserNoPressIsRefusedForAnotherRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := w.asks(4)
	p := w.desk(asked[0].ID)
	p.calm()
	p.value(`window.moved = 0, new MutationObserver(() => { moved++; }).observe(document.documentElement, { attributes: true, attributeFilter: ["data-shifted"] })`)
	arrive := func(after int64) *models.Approval {
		return w.ask(func(in *models.AskInput) { in.TimeoutSeconds = new(after) })
	}
	above, below := arrive(600), arrive(3*3600)
	p.sees("[data-newer]", "Bash")
	p.becomes(fmt.Sprintf(`document.getElementById("row-%s") !== null`, below.ID))
	if _, err := w.store.Decide(t.Context(), w.admin, asked[2].ID, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	p.becomes(fmt.Sprintf(`document.getElementById("row-%s")?.hasAttribute("data-gone") ?? true`, asked[2].ID))
	p.value(`document.querySelector("#inbox ol.rows").append(document.querySelector("#inbox li[data-id]:not([aria-current])")), ""`)
	if got := p.value(`new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(moved)))) && moved`); got != "0" {
		t.Errorf("what happened to others was taken %s times for a change of the open request", got)
	}

	// What happens to the open one does count.
	p.value(fmt.Sprintf(`document.getElementById("row-%s").removeAttribute("aria-current"), ""`, asked[0].ID))
	p.becomes(`moved > 0`)
	w.waits(asked[0], above, below)
}
