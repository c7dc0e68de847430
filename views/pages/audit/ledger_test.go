package audit_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/gallery"
	"countersign/views/pages/audit"
	"countersign/views/pages/pagestest"
)

func TestTheChainInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state            audit.ChainState
		word, text, prog string
	}{
		{audit.ChainState{}, "not checked", "Not checked since the server started.", ""},
		{audit.ChainState{Runs: true}, "checking", "", "starting"},
		{audit.ChainState{Runs: true, Read: 4096, Of: 10000}, "checking", "", "4,096 of 10,000 entries read"},
		{audit.ChainState{Ended: gallery.Now, Took: 40 * time.Millisecond, Head: models.Head{Seq: 1200}}, "intact", "1,200 entries, each linked to the one before; checked in 40 ms.", ""},
		{audit.ChainState{Ended: gallery.Now, Fault: "Entry 7.", Broken: true}, "broken", "Entry 7.", ""},
		{audit.ChainState{Ended: gallery.Now, Fault: "Not read."}, "could not be checked", "Not read.", ""},
	} {
		got := audit.NewChain(c.state, gallery.Now)
		if got.Word.Text != c.word || got.Text != c.text || got.Progress != c.prog {
			t.Errorf("%+v: %+v", c.state, got)
		}
		html := pagestest.Draw(t, audit.ChainPanel(got, "1:ab"))
		if refetches := strings.Contains(html, "every 1s"); refetches != c.state.Runs {
			t.Errorf("%+v: refetches: %v", c.state, refetches)
		}
		if offers := strings.Contains(html, `id="check-chain"`); offers == c.state.Runs {
			t.Errorf("%+v: offers to check: %v", c.state, offers)
		}
	}
}

func TestAnEntryShowsWhetherItIsWhole(t *testing.T) {
	t.Parallel()
	e, before := gallery.Sealed()
	v := audit.NewLedgerEntry(e, before, 2)
	if !v.Whole || !v.Follows || v.Later != "" || v.BeforeURL != "/audit/entries/1" {
		t.Errorf("%+v", v)
	}
	changed := e
	changed.Data = `{}`
	if v := audit.NewLedgerEntry(changed, before, 3); v.Whole || !v.Follows || v.Later != "/audit/entries/3" {
		t.Errorf("a changed entry: %+v", v)
	}
	if v := audit.NewLedgerEntry(e, []byte{1}, 2); !v.Whole || v.Follows {
		t.Errorf("after another one: %+v", v)
	}
	if raw := v.Raw; !strings.Contains(raw, `"data": "{\"status\":`) || !strings.Contains(raw, v.Hash) || strings.Contains(raw, `\u003c`) {
		t.Errorf("raw: %s", raw)
	}
}

func TestLedgerLinksKeepTheOtherFilters(t *testing.T) {
	t.Parallel()
	v := audit.NewLedger(gallery.LedgerInput(), gallery.Now)
	if want := "/audit/all?who=" + string(gallery.UserID) + "&action=approval.approved&from=2026-11-20"; v.Rows[0].WhoURL != want {
		t.Errorf("who: %s", v.Rows[0].WhoURL)
	}
	if want := "/audit/all?action=approval.approved&conversation=" + string(gallery.ConversationID) + "&from=2026-11-20"; v.Rows[0].ConversationURL != want {
		t.Errorf("conversation: %s", v.Rows[0].ConversationURL)
	}
	if v.NextURL != "/audit/all?action=approval.approved&from=2026-11-20&before=1190" || v.FirstURL != "" || v.Rows[2].WhoURL != "" {
		t.Errorf("%+v", v)
	}
	in := gallery.LedgerInput()
	in.Filter = views.LedgerFilter{Action: "gone.action"}
	if v := audit.NewLedger(in, gallery.Now); len(v.Actions) != 5 || v.Actions[4].Value != "gone.action" {
		t.Errorf("an action that is not in the list is lost: %+v", v.Actions)
	}
}
