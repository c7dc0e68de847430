package conversation_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/runs"
)

func TestChangingABudgetWithoutScript(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for _, c := range []struct {
		name   string
		before int64 // -1: none
		button string
		fill   url.Values
		after  int64
		says   []string
	}{
		{"the first", -1, "#panel-change", url.Values{"amount": {"80"}, "reason": {"enough for\r\ntoday"}}, 80, []string{"set to 80", "no budget before", webtest.OwnerEmail, "enough for today"}},
		{"a first by one press", -1, "button[value='=50']", nil, 50, []string{"set to 50"}},
		{"set lower", 100, "#panel-change", url.Values{"amount": {"0"}}, 0, []string{"100 → 0", "-100"}},
		{"add", 100, "#panel-change", url.Values{"how": {"add"}, "amount": {" 25 "}}, 125, []string{"100 → 125", "+25"}},
		{"take", 100, "#panel-change", url.Values{"how": {"take"}, "amount": {"30"}}, 70, []string{"100 → 70"}},
		{"take more than there is", 100, "#panel-change", url.Values{"how": {"take"}, "amount": {"300"}}, 0, []string{"100 → 0"}},
		{"ten more", 100, "button[value='+10']", nil, 110, []string{"100 → 110"}},
		{"double", 75, "button[title='Double the budget to 150']", url.Values{"reason": {"it goes well"}}, 150, []string{"75 → 150", "it goes well"}},
	} {
		id := w.Conversation(c.before)
		form := p.Get(webtest.BudgetPath(id)).Is(http.StatusOK).Form("#panel-form", c.button)
		form.Set("how", "set") // the radio that is checked
		maps.Copy(form, c.fill)
		p.Post(webtest.BudgetPath(id), form).Redirects(webtest.BudgetPath(id))
		if got := w.Total(id); got != c.after {
			t.Errorf("%s: the budget is %d, want %d", c.name, got, c.after)
		}
		p.Get(webtest.BudgetPath(id)).Is(http.StatusOK).Says(".budget-step:first-child", c.says...)
	}
	id := w.Conversation(-1)
	p.Post(webtest.BudgetPath(id), url.Values{"how": {"set"}, "amount": {"5"}, "back": {"conversation"}}).Redirects("/conversations/" + string(id))
}

func TestABudgetThatIsWrongIsSaidAtItsPlace(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	id, none := w.Conversation(100), w.Conversation(-1)
	for _, c := range []struct {
		name string
		id   models.ConversationID
		form url.Values
		at   string
		says string
	}{
		{"nothing", id, url.Values{"how": {"set"}}, "#panel-amount-error", "must not be empty"},
		{"no number", id, url.Values{"how": {"set"}, "amount": {"many"}}, "#panel-amount-error", "whole number"},
		{"half a unit", id, url.Values{"how": {"set"}, "amount": {"1.5"}}, "#panel-amount-error", "whole number"},
		{"below zero", id, url.Values{"how": {"add"}, "amount": {"-1"}}, "#panel-amount-error", "from 0"},
		{"not a number", id, url.Values{"how": {"set"}, "amount": {"NaN"}}, "#panel-amount-error", "whole number"},
		{"absurd", id, url.Values{"how": {"set"}, "amount": {"99999999999999999999"}}, "#panel-amount-error", "1,000,000,000,000"},
		{"absurd in the end", id, url.Values{"how": {"add"}, "amount": {"1000000000000"}}, "#panel-amount-error", "above"},
		{"a step from nothing", none, url.Values{"how": {"add"}, "amount": {"5"}}, "#panel-amount-error", "needs an existing budget"},
		{"a preset from nothing", none, url.Values{"preset": {"+10"}}, "#panel-amount-error", "needs an existing budget"},
		{"a made-up preset", id, url.Values{"preset": {"*9"}}, ".budget-form .flash", "Choose what to do"},
		{"no way", id, url.Values{"how": {"burn"}, "amount": {"5"}}, ".budget-form .flash", "Choose what to do"},
		{"a long reason", id, url.Values{"how": {"set"}, "amount": {"5"}, "reason": {strings.Repeat("x", models.MaxReason+1)}}, "#panel-reason-error", "4000"},
	} {
		for _, headers := range [][]webtest.Header{nil, {webtest.HTMX}} {
			got := p.Post(webtest.BudgetPath(c.id), c.form, headers...)
			if got.Status != http.StatusUnprocessableEntity || !strings.Contains(got.Text(c.at), c.says) {
				t.Errorf("%s: %d, %s says %q, want %q; %s", c.name, got.Status, c.at, got.Text(c.at), c.says, got.Text("#budget-panel"))
			}
			if c.form.Has("amount") && got.Value("#panel-amount") != c.form.Get("amount") || got.Value("#panel-reason") != c.form.Get("reason") {
				t.Errorf("%s: the form lost what was typed: %q, %q", c.name, got.Value("#panel-amount"), got.Value("#panel-reason"))
			}
			if how := c.form.Get("how"); (how == "add" || how == "set") && c.id == id && got.Doc.Find("input[name=how][checked][value="+how+"]").Length() != 1 {
				t.Errorf("%s: the form lost how", c.name)
			}
			if got.Doc.Find("#budget-panel[data-kept]").Length() != 1 {
				t.Errorf("%s: the answer would be refetched away", c.name)
			}
			if headers != nil {
				got.IsFragment()
			}
		}
	}
	if w.Total(id) != 100 || w.Total(none) != -1 {
		t.Errorf("the budgets are %d and %d", w.Total(id), w.Total(none))
	}
}

func TestWhoSeesAndChangesABudget(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	id := w.Conversation(100)
	form := url.Values{"how": {"set"}, "amount": {"7"}}
	stranger := w.SignIn(webtest.StrangerEmail)
	stranger.Get(webtest.BudgetPath(id)).Is(http.StatusNotFound)
	stranger.Post(webtest.BudgetPath(id), form).Is(http.StatusNotFound)
	stranger.Get(webtest.BudgetPath("nonsense")).Is(http.StatusNotFound)
	if w.Total(id) != 100 {
		t.Fatalf("a stranger made it %d", w.Total(id))
	}
	w.SignIn("admin@example.com").Post(webtest.BudgetPath(id), form, webtest.HTMX).Is(http.StatusOK).IsFragment().Says(".budget-step:first-child", "100 → 7", "admin@example.com")
	if w.Total(id) != 7 {
		t.Errorf("it is %d", w.Total(id))
	}
	w.SignIn(webtest.OwnerEmail).Get(webtest.BudgetPath(id), webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#budget-panel", "1 used, 6 remaining of 7")
}

func TestThePanelOnTheConversationsPageStaysThere(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	id := w.Conversation(100)
	for n := range int64(9) {
		w.Budget(id, 200+n)
	}
	for _, got := range []*webtest.Page{
		p.Get(webtest.ConversationPath(id)),
		p.Get(webtest.BudgetPath(id)+"?back=conversation", webtest.HTMX).IsFragment(),
		p.Post(webtest.BudgetPath(id), url.Values{"preset": {"+10"}, "back": {"conversation"}}, webtest.HTMX).IsFragment(),
		p.Post(webtest.BudgetPath(id), url.Values{"how": {"set"}, "back": {"conversation"}}, webtest.HTMX).IsFragment(),
	} {
		panel := got.Doc.Find("#budget-panel")
		if from := panel.AttrOr("hx-get", ""); from != webtest.BudgetPath(id)+"?back=conversation" || panel.Find("form input[name=back][value=conversation]").Length() != 1 {
			t.Errorf("%s: refetches from %q, or leads elsewhere", got.Asked, from)
		}
		if n := panel.Find(".budget-step").Length(); n != 5 || panel.Find(".budget-steps a[href='"+webtest.BudgetPath(id)+"']").Length() != 1 {
			t.Errorf("%s: %d changes, want the last 5 and a link to all", got.Asked, n)
		}
	}
	if n := p.Get(webtest.BudgetPath(id)).Doc.Find("#budget-panel form input[name=back]").Length(); n != 0 {
		t.Error("the budget's own page leads to the conversation")
	}
}

func TestTheBudgetWarnsAndShowsItsHistory(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	id := w.Conversation(10)
	p.Get(webtest.BudgetPath(id)).SaysNot(".gauge", "spent", "Exhausted").Says(".gauge", "1 used, 9 remaining of 10")
	w.Respond(id, models.KindReply, "More.", 7)
	got := p.Get(webtest.BudgetPath(id)).Says(".gauge", "8 used, 2 remaining of 10", "80% used or reserved")
	if got.Doc.Find("meter[value='8'][max='10']").Length() != 1 || got.Doc.Find(".burn svg[role=img][aria-label] path.burn-budget").Length() != 1 {
		t.Errorf("no meter or chart: %s", got.Text("#budget-panel"))
	}
	got.Says(".burn table", "8", "10")
	w.Respond(id, models.KindReply, "All.", 2)
	p.Get(webtest.BudgetPath(id)).Says(".gauge", "Exhausted")

	for n := range int64(60) {
		w.Budget(id, 100+n)
	}
	seen := map[string]bool{}
	pages := 0
	for path := webtest.BudgetPath(id); path != ""; pages++ {
		got := p.Get(path).Is(http.StatusOK)
		steps := got.Doc.Find(".budget-step-change strong")
		for _, node := range steps.Nodes {
			seen[node.FirstChild.Data] = true
		}
		path = got.Doc.Find(".budget-steps .pager a[rel=next]").AttrOr("href", "")
	}
	if pages != 3 || len(seen) != 61 || !seen["set to 10"] || !seen["158 → 159"] {
		t.Errorf("%d pages with %d changes", pages, len(seen))
	}
	p.Get(webtest.BudgetPath(id) + "?before=x").Is(http.StatusNotFound)
	if got := p.Get(webtest.BudgetPath(w.Conversation(-1))).Says("#budget-panel", "no limit", "No budget has been set yet"); got.Doc.Find("meter").Length() != 0 {
		t.Error("an unlimited budget has a gauge")
	}
}

func TestTheListOfConversations(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	owner, admin := w.SignIn(webtest.OwnerEmail), w.SignIn("admin@example.com")
	owner.Get("/conversations").Is(http.StatusOK).Says("main", "No conversations yet", "New conversation", "/conversations/$(uuidgen)/responses")

	running, waiting := w.Conversation(100), w.Conversation(-1)
	w.Respond(waiting, models.KindProposal, "Shall I?", 1)
	other := w.SignIn(webtest.StrangerEmail)
	other.Get("/conversations").SaysNot("#conversations", "deployer")

	list := owner.Get("/conversations").Is(http.StatusOK).Says("#conversation-"+string(running), "deployer", "1 of 100").
		Says("#conversation-"+string(waiting), "1 to decide", "2 used, no limit")
	list.SaysNot("#conversation-"+string(running), webtest.OwnerEmail, "to decide")
	admin.Get("/conversations").Says("#conversation-"+string(running), webtest.OwnerEmail)
	admin.Get("/conversations").Says("#filter-owner", "Anybody", webtest.OwnerEmail, webtest.StrangerEmail)
	owner.Get("/conversations").SaysNot("#filter", "Owner", webtest.StrangerEmail)
	owner.Get("/conversations", webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#conversations", "deployer")

	has := func(p *webtest.Person, path string, want ...models.ConversationID) {
		t.Helper()
		got := p.Get(path).Is(http.StatusOK)
		rows := got.Doc.Find("#conversations .row")
		if rows.Length() != len(want) {
			t.Errorf("%s lists %d, want %d: %s", path, rows.Length(), len(want), got.Text("#conversations"))
		}
		for _, id := range want {
			if got.Doc.Find("#conversation-"+string(id)).Length() != 1 {
				t.Errorf("%s lacks %s", path, id)
			}
		}
	}
	has(owner, "/conversations?status=running", running)
	has(owner, "/conversations?status=waiting_input", waiting)
	has(owner, "/conversations?status=failed")
	has(owner, "/conversations?agent="+w.Agent.ID, running, waiting)
	has(owner, "/conversations?agent="+w.Agent.ID+"&status=running", running)
	has(owner, "/conversations?agent="+string(models.NewID[models.AgentID]()))
	has(admin, "/conversations?owner="+webtest.OwnerEmail, running, waiting)
	has(admin, "/conversations?owner="+webtest.StrangerEmail)
	has(other, "/conversations?owner="+webtest.OwnerEmail) // no admin's filter: his own, which are none
	if _, err := runs.New(w.Store).Steer(t.Context(), w.Owner, running, models.SteerArchive); err != nil {
		t.Fatal(err)
	}
	has(owner, "/conversations", waiting)
	has(owner, "/conversations?archived=true", running)
	owner.Get("/conversations?status=running").Says("#conversations", "Nothing matches")

	for _, path := range []string{"/conversations?status=asleep", "/conversations?agent=x", "/conversations?owner=nobody@example.com"} {
		if got := admin.Get(path); got.Status != http.StatusUnprocessableEntity || got.Doc.Find(".filters .field-error").Length() != 1 {
			t.Errorf("%s: %d %s", path, got.Status, got.Text(".filters"))
		}
	}
	owner.Get("/conversations?after=x").Is(http.StatusNotFound)
}

func TestTheListOfConversationsPagesByKey(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for range 120 {
		w.Conversation(-1)
	}
	p := w.SignIn(webtest.OwnerEmail)
	seen, pages := map[string]bool{}, 0
	for path := "/conversations?status=running"; path != ""; pages++ {
		got := p.Get(path).Is(http.StatusOK)
		for _, row := range got.Doc.Find("#conversations .row").Nodes {
			seen[row.Attr[1].Val] = true
		}
		path = got.Doc.Find(".pager a[rel=next]").AttrOr("href", "")
	}
	if pages != 3 || len(seen) != 120 {
		t.Errorf("%d pages with %d conversations", pages, len(seen))
	}
}

func TestRequestsAndEntriesLeadToTheirConversation(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules":[{"name":"Plans","tools":["respond_with_approval"],"effect":"require","reviewers":["` + webtest.StrangerEmail + `"]}]}`)
	id := w.Conversation(10)
	a := w.Proposes(id, "Shall I?", 0)
	owner, stranger := w.SignIn(webtest.OwnerEmail), w.SignIn(webtest.StrangerEmail)
	if n := owner.Get(webtest.PageOf(a)).Doc.Find(".approval-who a[href='" + webtest.ConversationPath(id) + "']").Length(); n != 1 {
		t.Errorf("%d links lead from a request to its conversation", n)
	}
	if n := stranger.Get(webtest.PageOf(a)).Is(http.StatusOK).Doc.Find("#approval a[href^='/conversations/']").Length(); n != 0 {
		t.Errorf("%d links lead where their reader may not go", n)
	}
	owner.Get("/audit").Is(http.StatusOK).Says("main", "changed the budget of a conversation", "conversation_status", "running → waiting_input")
	for _, p := range []*webtest.Page{owner.Get("/audit"), w.SignIn("admin@example.com").Get("/audit/all")} {
		if p.Doc.Find("main a[href='"+webtest.ConversationPath(id)+"']").Length() == 0 {
			t.Errorf("%s: no entry leads to the conversation", p.Asked)
		}
	}
}
