package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
)

// conversation is one of the owner's agent with a reply in it, and the budget
// given.
func (w *world) conversation(budget int64) models.ConversationID {
	w.tb.Helper()
	id := models.NewID[models.ConversationID]()
	w.respond(id, models.KindReply, "Good morning.", 1)
	if budget >= 0 {
		w.budget(id, budget)
	}
	return id
}

func (w *world) respond(id models.ConversationID, kind models.Kind, content string, energy int64) *models.Approval {
	w.tb.Helper()
	a, err := w.store.Respond(w.tb.Context(), w.agent, models.ResponseInput{ConversationID: id, Kind: kind, Content: content, Energy: &energy})
	if err != nil {
		w.tb.Fatalf("respond: %v", err)
	}
	return a
}

func (w *world) budget(id models.ConversationID, budget int64) {
	w.tb.Helper()
	if _, err := w.store.ChangeBudget(w.tb.Context(), w.owner, id, models.BudgetChange{Set: &budget}, ""); err != nil {
		w.tb.Fatalf("set budget: %v", err)
	}
}

// budgetRequest has the agent ask for a budget.
func (w *world) budgetRequest(id models.ConversationID, want int64) *models.Approval {
	w.tb.Helper()
	got, err := w.store.ChangeBudget(w.tb.Context(), w.agent, id, models.BudgetChange{Set: &want}, "Four files are left.")
	if err != nil || got.Approval == nil {
		w.tb.Fatalf("ask for budget: %+v, %v", got, err)
	}
	return got.Approval
}

// total is the budget that stands; -1 for none.
func (w *world) total(id models.ConversationID) int64 {
	w.tb.Helper()
	v, err := w.store.Requests.Conversation(w.tb.Context(), w.admin, id)
	if err != nil {
		w.tb.Fatal(err)
	}
	if v.EnergyBudget == nil {
		return -1
	}
	return *v.EnergyBudget
}

func budgetPath(id models.ConversationID) string { return "/conversations/" + string(id) + "/budget" }

func TestChangingABudgetWithoutScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	for _, c := range []struct {
		name   string
		before int64 // -1: none
		button string
		fill   url.Values
		after  int64
		says   []string
	}{
		{"the first", -1, "#panel-change", url.Values{"amount": {"80"}, "reason": {"enough for\r\ntoday"}}, 80, []string{"set to 80", "no budget before", ownerEmail, "enough for today"}},
		{"a first by one press", -1, "button[value='=50']", nil, 50, []string{"set to 50"}},
		{"set lower", 100, "#panel-change", url.Values{"amount": {"0"}}, 0, []string{"100 → 0", "-100"}},
		{"add", 100, "#panel-change", url.Values{"how": {"add"}, "amount": {" 25 "}}, 125, []string{"100 → 125", "+25"}},
		{"take", 100, "#panel-change", url.Values{"how": {"take"}, "amount": {"30"}}, 70, []string{"100 → 70"}},
		{"take more than there is", 100, "#panel-change", url.Values{"how": {"take"}, "amount": {"300"}}, 0, []string{"100 → 0"}},
		{"ten more", 100, "button[value='+10']", nil, 110, []string{"100 → 110"}},
		{"double", 75, "button[title='Double the budget to 150']", url.Values{"reason": {"it goes well"}}, 150, []string{"75 → 150", "it goes well"}},
	} {
		id := w.conversation(c.before)
		form := p.get(budgetPath(id)).is(http.StatusOK).form("#panel-form", c.button)
		form.Set("how", "set") // the radio that is checked
		maps.Copy(form, c.fill)
		p.post(budgetPath(id), form).redirects(budgetPath(id))
		if got := w.total(id); got != c.after {
			t.Errorf("%s: the budget is %d, want %d", c.name, got, c.after)
		}
		p.get(budgetPath(id)).is(http.StatusOK).says(".budget-step:first-child", c.says...)
	}
	id := w.conversation(-1)
	p.post(budgetPath(id), url.Values{"how": {"set"}, "amount": {"5"}, "back": {"conversation"}}).redirects("/conversations/" + string(id))
}

func TestABudgetThatIsWrongIsSaidAtItsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	id, none := w.conversation(100), w.conversation(-1)
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
		for _, headers := range [][]header{nil, {htmx}} {
			got := p.post(budgetPath(c.id), c.form, headers...)
			if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text(c.at), c.says) {
				t.Errorf("%s: %d, %s says %q, want %q; %s", c.name, got.status, c.at, got.text(c.at), c.says, got.text("#budget-panel"))
			}
			if c.form.Has("amount") && got.value("#panel-amount") != c.form.Get("amount") || got.value("#panel-reason") != c.form.Get("reason") {
				t.Errorf("%s: the form lost what was typed: %q, %q", c.name, got.value("#panel-amount"), got.value("#panel-reason"))
			}
			if how := c.form.Get("how"); (how == "add" || how == "set") && c.id == id && got.doc.Find("input[name=how][checked][value="+how+"]").Length() != 1 {
				t.Errorf("%s: the form lost how", c.name)
			}
			if got.doc.Find("#budget-panel[data-kept]").Length() != 1 {
				t.Errorf("%s: the answer would be refetched away", c.name)
			}
			if headers != nil {
				got.isFragment()
			}
		}
	}
	if w.total(id) != 100 || w.total(none) != -1 {
		t.Errorf("the budgets are %d and %d", w.total(id), w.total(none))
	}
}

func TestWhoSeesAndChangesABudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.conversation(100)
	form := url.Values{"how": {"set"}, "amount": {"7"}}
	stranger := w.signedIn(strangerEmail)
	stranger.get(budgetPath(id)).is(http.StatusNotFound)
	stranger.post(budgetPath(id), form).is(http.StatusNotFound)
	stranger.get(budgetPath("nonsense")).is(http.StatusNotFound)
	if w.total(id) != 100 {
		t.Fatalf("a stranger made it %d", w.total(id))
	}
	w.signedIn("admin@example.com").post(budgetPath(id), form, htmx).is(http.StatusOK).isFragment().says(".budget-step:first-child", "100 → 7", "admin@example.com")
	if w.total(id) != 7 {
		t.Errorf("it is %d", w.total(id))
	}
	w.signedIn(ownerEmail).get(budgetPath(id), htmx).is(http.StatusOK).isFragment().says("#budget-panel", "1 used, 6 remaining of 7")
}

func TestThePanelOnTheConversationsPageStaysThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	id := w.conversation(100)
	for n := range int64(9) {
		w.budget(id, 200+n)
	}
	for _, got := range []*page{
		p.get(conversationPath(id)),
		p.get(budgetPath(id)+"?back=conversation", htmx).isFragment(),
		p.post(budgetPath(id), url.Values{"preset": {"+10"}, "back": {"conversation"}}, htmx).isFragment(),
		p.post(budgetPath(id), url.Values{"how": {"set"}, "back": {"conversation"}}, htmx).isFragment(),
	} {
		panel := got.doc.Find("#budget-panel")
		if from := panel.AttrOr("hx-get", ""); from != budgetPath(id)+"?back=conversation" || panel.Find("form input[name=back][value=conversation]").Length() != 1 {
			t.Errorf("%s: refetches from %q, or leads elsewhere", got.asked, from)
		}
		if n := panel.Find(".budget-step").Length(); n != 5 || panel.Find(".budget-steps a[href='"+budgetPath(id)+"']").Length() != 1 {
			t.Errorf("%s: %d changes, want the last 5 and a link to all", got.asked, n)
		}
	}
	if n := p.get(budgetPath(id)).doc.Find("#budget-panel form input[name=back]").Length(); n != 0 {
		t.Error("the budget's own page leads to the conversation")
	}
}

func TestTheBudgetWarnsAndShowsItsHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	id := w.conversation(10)
	p.get(budgetPath(id)).saysNot(".gauge", "spent", "Exhausted").says(".gauge", "1 used, 9 remaining of 10")
	w.respond(id, models.KindReply, "More.", 7)
	got := p.get(budgetPath(id)).says(".gauge", "8 used, 2 remaining of 10", "80% used or reserved")
	if got.doc.Find("meter[value='8'][max='10']").Length() != 1 || got.doc.Find(".burn svg[role=img][aria-label] path.burn-budget").Length() != 1 {
		t.Errorf("no meter or chart: %s", got.text("#budget-panel"))
	}
	got.says(".burn table", "8", "10")
	w.respond(id, models.KindReply, "All.", 2)
	p.get(budgetPath(id)).says(".gauge", "Exhausted")

	for n := range int64(60) {
		w.budget(id, 100+n)
	}
	seen := map[string]bool{}
	pages := 0
	for path := budgetPath(id); path != ""; pages++ {
		got := p.get(path).is(http.StatusOK)
		steps := got.doc.Find(".budget-step-change strong")
		for _, node := range steps.Nodes {
			seen[node.FirstChild.Data] = true
		}
		path = got.doc.Find(".budget-steps .pager a[rel=next]").AttrOr("href", "")
	}
	if pages != 3 || len(seen) != 61 || !seen["set to 10"] || !seen["158 → 159"] {
		t.Errorf("%d pages with %d changes", pages, len(seen))
	}
	p.get(budgetPath(id) + "?before=x").is(http.StatusNotFound)
	if got := p.get(budgetPath(w.conversation(-1))).says("#budget-panel", "no limit", "No budget has been set yet"); got.doc.Find("meter").Length() != 0 {
		t.Error("an unlimited budget has a gauge")
	}
}

func TestTheListOfConversations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, admin := w.signedIn(ownerEmail), w.signedIn("admin@example.com")
	owner.get("/conversations").is(http.StatusOK).says("main", "No conversations yet", "New conversation", "/conversations/$(uuidgen)/responses")

	running, waiting := w.conversation(100), w.conversation(-1)
	w.respond(waiting, models.KindProposal, "Shall I?", 1)
	other := w.signedIn(strangerEmail)
	other.get("/conversations").saysNot("#conversations", "deployer")

	list := owner.get("/conversations").is(http.StatusOK).says("#conversation-"+string(running), "deployer", "1 of 100").
		says("#conversation-"+string(waiting), "1 to decide", "2 used, no limit")
	list.saysNot("#conversation-"+string(running), ownerEmail, "to decide")
	admin.get("/conversations").says("#conversation-"+string(running), ownerEmail)
	admin.get("/conversations").says("#filter-owner", "Anybody", ownerEmail, strangerEmail)
	owner.get("/conversations").saysNot("#filter", "Owner", strangerEmail)
	owner.get("/conversations", htmx).is(http.StatusOK).isFragment().says("#conversations", "deployer")

	has := func(p *person, path string, want ...models.ConversationID) {
		t.Helper()
		got := p.get(path).is(http.StatusOK)
		rows := got.doc.Find("#conversations .row")
		if rows.Length() != len(want) {
			t.Errorf("%s lists %d, want %d: %s", path, rows.Length(), len(want), got.text("#conversations"))
		}
		for _, id := range want {
			if got.doc.Find("#conversation-"+string(id)).Length() != 1 {
				t.Errorf("%s lacks %s", path, id)
			}
		}
	}
	has(owner, "/conversations?status=running", running)
	has(owner, "/conversations?status=waiting_input", waiting)
	has(owner, "/conversations?status=failed")
	has(owner, "/conversations?agent="+w.agent.ID, running, waiting)
	has(owner, "/conversations?agent="+w.agent.ID+"&status=running", running)
	has(owner, "/conversations?agent="+string(models.NewID[models.AgentID]()))
	has(admin, "/conversations?owner="+ownerEmail, running, waiting)
	has(admin, "/conversations?owner="+strangerEmail)
	has(other, "/conversations?owner="+ownerEmail) // no admin's filter: his own, which are none
	if _, err := w.store.Steer(t.Context(), w.owner, running, models.SteerArchive); err != nil {
		t.Fatal(err)
	}
	has(owner, "/conversations", waiting)
	has(owner, "/conversations?archived=true", running)
	owner.get("/conversations?status=running").says("#conversations", "Nothing matches")

	for _, path := range []string{"/conversations?status=asleep", "/conversations?agent=x", "/conversations?owner=nobody@example.com"} {
		if got := admin.get(path); got.status != http.StatusUnprocessableEntity || got.doc.Find(".filters .field-error").Length() != 1 {
			t.Errorf("%s: %d %s", path, got.status, got.text(".filters"))
		}
	}
	owner.get("/conversations?after=x").is(http.StatusNotFound)
}

func TestTheListOfConversationsPagesByKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 120 {
		w.conversation(-1)
	}
	p := w.signedIn(ownerEmail)
	seen, pages := map[string]bool{}, 0
	for path := "/conversations?status=running"; path != ""; pages++ {
		got := p.get(path).is(http.StatusOK)
		for _, row := range got.doc.Find("#conversations .row").Nodes {
			seen[row.Attr[1].Val] = true
		}
		path = got.doc.Find(".pager a[rel=next]").AttrOr("href", "")
	}
	if pages != 3 || len(seen) != 120 {
		t.Errorf("%d pages with %d conversations", pages, len(seen))
	}
}

func TestRequestsAndEntriesLeadToTheirConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"rules":[{"name":"Plans","tools":["respond_with_approval"],"effect":"require","reviewers":["` + strangerEmail + `"]}]}`)
	id := w.conversation(10)
	a := w.proposes(id, "Shall I?", 0)
	owner, stranger := w.signedIn(ownerEmail), w.signedIn(strangerEmail)
	if n := owner.get(pageOf(a)).doc.Find(".approval-who a[href='" + conversationPath(id) + "']").Length(); n != 1 {
		t.Errorf("%d links lead from a request to its conversation", n)
	}
	if n := stranger.get(pageOf(a)).is(http.StatusOK).doc.Find("#approval a[href^='/conversations/']").Length(); n != 0 {
		t.Errorf("%d links lead where their reader may not go", n)
	}
	owner.get("/audit").is(http.StatusOK).says("main", "conversation budget", "conversation_status", "running → waiting_input")
	for _, p := range []*page{owner.get("/audit"), w.signedIn("admin@example.com").get("/audit/all")} {
		if p.doc.Find("main a[href='"+conversationPath(id)+"']").Length() == 0 {
			t.Errorf("%s: no entry leads to the conversation", p.asked)
		}
	}
}
