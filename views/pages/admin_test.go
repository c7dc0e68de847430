package pages_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/gallery"
	"countersign/views/pages"
)

func TestPeopleAndWhatMayBeDone(t *testing.T) {
	t.Parallel()
	v := pages.NewPeople(gallery.PeopleInput(), now)
	ada, bo, cy := v.Rows[0], v.Rows[1], v.Rows[2]
	if !ada.Self || ada.NewRole != models.RoleReviewer || ada.Sessions != "2" || ada.LastSeen.Text != "20 s ago" {
		t.Errorf("%+v", ada)
	}
	if bo.NewRole != models.RoleAdmin || bo.HasSessions || !strings.HasSuffix(bo.SwitchURL, "/disable") || !bo.LastSeen.IsZero() {
		t.Errorf("%+v", bo)
	}
	if cy.State.Text != "disabled" || cy.Sessions != "1,000+" || !strings.HasSuffix(cy.SwitchURL, "/enable") {
		t.Errorf("%+v", cy)
	}
	if v.Form.Role != models.RoleReviewer || v.Invites[0].Expires.Text == "" {
		t.Errorf("%+v %+v", v.Form, v.Invites)
	}
	html := draw(t, pages.PeoplePage(gallery.Frame("", "/people"), v))
	if strings.Count(html, "Disable now") != 2 || strings.Count(html, "Enable again") != 1 || strings.Count(html, `type="password"`) != 1 { // that of the dialog to sign in again
		t.Error("what may be done does not fit who they are")
	}
}

func TestDeviceNames(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		gallery.Firefox: "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0 Safari/537.36 Edg/139.0":            "Edge on Windows",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0 Mobile Safari/537.36":                         "Chrome on Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0 Safari/537.36":                "Chrome on macOS",
		"curl/8.5.0": "curl",
		"Linux":      "program on Linux",
		"":           "unknown program",
	} {
		if got := pages.DeviceName(agent); got != want {
			t.Errorf("%q is %q, want %q", agent, got, want)
		}
	}
}

func TestSessionsOfferToEndOnlyWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		in     pages.SessionsInput
		others bool
		ends   int
	}{
		{"several", gallery.SessionsInput(), true, 2},
		{"one", pages.SessionsInput{Devices: gallery.SessionsInput().Devices[:1], Current: "s1"}, false, 0},
		{"one, and more on the next page", pages.SessionsInput{Devices: gallery.SessionsInput().Devices[:1], Current: "s1", Next: "s1"}, true, 0},
	} {
		html := draw(t, pages.SessionsPage(gallery.Frame("", "/account/sessions"), pages.NewSessions(c.in)))
		if got := strings.Contains(html, `id="end-others"`); got != c.others {
			t.Errorf("%s: others can be ended: %v", c.name, got)
		}
		if n := strings.Count(html, "Sign out now"); n != c.ends {
			t.Errorf("%s: %d can be ended, want %d", c.name, n, c.ends)
		}
	}
}

func TestTheChainInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state            pages.ChainState
		word, text, prog string
	}{
		{pages.ChainState{}, "not checked", "Not checked since the server started.", ""},
		{pages.ChainState{Running: true}, "checking", "", "starting"},
		{pages.ChainState{Running: true, Read: 4096, Of: 10000}, "checking", "", "4,096 of 10,000 entries read"},
		{pages.ChainState{Ended: now, Took: 40 * time.Millisecond, Head: models.Head{Seq: 1200}}, "intact", "1,200 entries, each linked to the one before; checked in 40 ms.", ""},
		{pages.ChainState{Ended: now, Fault: "Entry 7.", Broken: true}, "broken", "Entry 7.", ""},
		{pages.ChainState{Ended: now, Fault: "Not read."}, "could not be checked", "Not read.", ""},
	} {
		got := pages.NewChain(c.state, now)
		if got.Word.Text != c.word || got.Text != c.text || got.Progress != c.prog {
			t.Errorf("%+v: %+v", c.state, got)
		}
		html := draw(t, pages.ChainPanel(got, "1:ab"))
		if refetches := strings.Contains(html, "every 1s"); refetches != c.state.Running {
			t.Errorf("%+v: refetches: %v", c.state, refetches)
		}
		if offers := strings.Contains(html, `id="check-chain"`); offers == c.state.Running {
			t.Errorf("%+v: offers to check: %v", c.state, offers)
		}
	}
}

func TestAnEntryShowsWhetherItIsWhole(t *testing.T) {
	t.Parallel()
	e, before := gallery.Sealed()
	v := pages.NewLedgerEntry(e, before, 2)
	if !v.Whole || !v.Follows || v.Later != "" || v.BeforeURL != "/audit/entries/1" {
		t.Errorf("%+v", v)
	}
	changed := e
	changed.Data = `{}`
	if v := pages.NewLedgerEntry(changed, before, 3); v.Whole || !v.Follows || v.Later != "/audit/entries/3" {
		t.Errorf("a changed entry: %+v", v)
	}
	if v := pages.NewLedgerEntry(e, []byte{1}, 2); !v.Whole || v.Follows {
		t.Errorf("after another one: %+v", v)
	}
	if raw := v.Raw; !strings.Contains(raw, `"data": "{\"status\":`) || !strings.Contains(raw, v.Hash) || strings.Contains(raw, `\u003c`) {
		t.Errorf("raw: %s", raw)
	}
}

func TestLedgerLinksKeepTheOtherFilters(t *testing.T) {
	t.Parallel()
	v := pages.NewLedger(gallery.LedgerInput(), now)
	if want := "/audit/all?who=" + string(gallery.UserID) + "&action=approval.decided&from=2026-11-20"; v.Rows[0].WhoURL != want {
		t.Errorf("who: %s", v.Rows[0].WhoURL)
	}
	if want := "/audit/all?action=approval.decided&conversation=" + string(gallery.ConversationID) + "&from=2026-11-20"; v.Rows[0].ConversationURL != want {
		t.Errorf("conversation: %s", v.Rows[0].ConversationURL)
	}
	if v.NextURL != "/audit/all?action=approval.decided&from=2026-11-20&before=1190" || v.FirstURL != "" || v.Rows[2].WhoURL != "" {
		t.Errorf("%+v", v)
	}
	in := gallery.LedgerInput()
	in.Filter = views.LedgerFilter{Action: "gone.action"}
	if v := pages.NewLedger(in, now); len(v.Actions) != 5 || v.Actions[4].Value != "gone.action" {
		t.Errorf("an action that is not in the list is lost: %+v", v.Actions)
	}
}

func TestSystemInWords(t *testing.T) {
	t.Parallel()
	v := pages.NewSystem(gallery.SystemInput(), now)
	facts := map[string]string{}
	for _, g := range v.Facts {
		for _, f := range g.Facts {
			facts[f.Name] = f.Value + "|" + f.Note
		}
	}
	for name, want := range map[string]string{
		"Database": "48.0 MiB|3.0 MiB of it free", "Ledger": "120,000 entries|", "Conversations": "1,000+|",
		"Last day": "4,200 entries|about 1.6 MiB", "Countersign": "1.4.0|", "Stream clients": "9|open pages and event streams", "Running since": "1 d 2 h ago|",
	} {
		if facts[name] != want {
			t.Errorf("%s: %q, want %q", name, facts[name], want)
		}
	}
	if v.Oldest.URL == "" || v.Oldest.Left.Text != "1:00 left" || len(v.Health) != 5 {
		t.Errorf("%+v %+v", v.Oldest, v.Health)
	}
	if empty := pages.NewSystem(pages.SystemInput{Started: now}, now); empty.Oldest != nil {
		t.Errorf("%+v", empty)
	}
}

func TestUpstreamsInWords(t *testing.T) {
	t.Parallel()
	v := pages.NewUpstreams(pages.UpstreamsInput{Upstreams: gallery.UpstreamStates()}, now)
	for i, want := range []string{
		"ok||1 s ago||",
		"failing|The last 4 polls failed. Next poll in 1 min 10 s.|6 min ago|2|The upstream failed (503).",
		"incomplete||1 s ago||",
		"not polled yet||||",
		"not polled|Overdue by 2 min: no server polls it.|1 s ago||",
		"disabled||||",
		"paused|Paused 8 min ago: nothing is fetched from it or sent to it. Give it a new key, or resume once the key works again.|9 min ago|1|The upstream refuses the key (401).",
	} {
		row := v.Rows[i]
		if got := strings.Join([]string{row.Word.Text, row.Next, row.Succeeded.Text, row.Unsent, row.UnsentProblem}, "|"); got != want {
			t.Errorf("%s: %s, want %s", row.Name, got, want)
		}
	}
	if row := v.Rows[5]; row.Problem != "" || !strings.HasSuffix(row.SwitchURL, "/enable") || !row.Disabled {
		t.Errorf("%+v", row)
	}
	for words, in := range map[string][]models.UpstreamState{"ok": gallery.UpstreamStates()[:1], "look": gallery.UpstreamStates()[:2], "not ok": gallery.UpstreamStates()} {
		health := pages.NewSystem(pages.SystemInput{Upstreams: in}, now).Health
		if i := slices.IndexFunc(health, func(h pages.Health) bool { return h.Name == "Upstreams" }); i < 0 || health[i].Word.Text != words {
			t.Errorf("%+v, want %s", health, words)
		}
	}
}

func TestTheListOfUpstreamsIsLeftAloneWhileItIsTheSame(t *testing.T) {
	t.Parallel()
	state := func(mend func([]models.UpstreamState)) string {
		in := gallery.UpstreamStates()
		mend(in)
		return pages.NewUpstreams(pages.UpstreamsInput{Upstreams: in}, now).State
	}
	same := state(func([]models.UpstreamState) {})
	if state(func(u []models.UpstreamState) { u[0].Failures, u[0].Waiting = 3, 9 }) != same {
		t.Error("a poll tells whoever types a key to look again")
	}
	if state(func(u []models.UpstreamState) { u[0].DisabledAt = new(now) }) == same {
		t.Error("one that was disabled meanwhile is the same")
	}
}
