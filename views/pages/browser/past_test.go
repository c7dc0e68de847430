package browser_test

import (
	"testing"

	"countersign/views/gallery"
)

// TestThePastIsReadOnAPhoneInCards of four lines at most, whatever a request says; a text is cut there and never more
// than one line.
func TestThePastIsReadOnAPhoneInCards(t *testing.T) {
	t.Parallel()
	s, ctx := newSite(t), tab(t)
	for _, state := range gallery.States() {
		if state.Page != "history" && state.Page != "audit" && state.Page != "ledger" || state.Name == "print" || state.Name == "print-more" {
			continue
		}
		visit(t, ctx, s.URL+"/"+state.Key())
		resize(t, ctx, 390)
		if wrong := eval(t, ctx, `[...document.querySelectorAll(".past .list-table tbody > tr")].map((row) => [row.getBoundingClientRect().height, row.textContent])
			.filter(([height]) => height > 120).map(([height, text]) => height + ": " + text.slice(0, 200)).join("\n")`); wrong != "" {
			t.Errorf("%s has cards higher than 120 px:\n%s", state.Key(), wrong)
		}
	}
}
