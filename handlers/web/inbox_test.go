package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/models"
)

// besideList asks for a request as a click on its row does.
var besideList = []header{htmx, {"HX-Target", "section#detail"}}

func risky(risk string) func(*models.AskInput) {
	return func(in *models.AskInput) { in.ToolName = "tool-" + risk }
}

// riskyWorld judges tools by their names.
func riskyWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.applyPolicy(`{"rules": [
		{"name": "Low", "tools": ["tool-low"], "effect": "require", "risk": "low"},
		{"name": "High", "tools": ["tool-high"], "effect": "require", "risk": "high"},
		{"name": "Critical", "tools": ["tool-critical"], "effect": "require", "risk": "critical"}]}`)
	return w
}

func TestTheFirstRequestStandsBesideTheList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	first := w.ask()
	w.clock.Step(time.Second)
	second := w.ask(func(in *models.AskInput) { in.Input = []byte(`{"command":"make second"}`) })

	page := p.get("/").is(http.StatusOK).says("#inbox .row[aria-current]", "rm -rf build/").says("#detail", "rm -rf build/")
	if page.doc.Find("#detail[data-open]").Length() != 0 || page.doc.Find(".row").Length() != 2 {
		t.Error("a phone would show the request and not the list")
	}
	open := page.doc.Find("#row-"+string(second.ID)+" .row-link").AttrOr("href", "")
	if open != "/?open="+string(second.ID) {
		t.Fatalf("the row leads to %q", open)
	}
	page = p.get(open).is(http.StatusOK).says("#inbox .row[aria-current]", "make second").says("#detail[data-open]", "make second", "Back to the list")
	if page.doc.Find("#row-"+string(first.ID)).Length() != 1 {
		t.Error("the list is not beside it")
	}
	got := p.get(open, besideList...).is(http.StatusOK).isFragment().says("#detail[data-open]", "make second")
	if got.doc.Find("#inbox").Length() != 0 {
		t.Error("a click on a row brings the list too")
	}
	p.get("/?open="+string(models.NewID[models.ResponseID]())).is(http.StatusOK).says("#detail", "Request not found")
	w.signedIn(strangerEmail).get(open).is(http.StatusOK).says("#detail", "Request not found").saysNot("main", "make second")
	p.get("/?open=nonsense").is(http.StatusUnprocessableEntity).says("main", "Check the filters")
	p.get("/?after=nonsense").is(http.StatusUnprocessableEntity)
}

func TestTheInboxIsNarrowedByItsAddress(t *testing.T) {
	t.Parallel()
	w := riskyWorld(t)
	p := w.signedIn(ownerEmail)
	for _, risk := range []string{"low", "high", "critical"} {
		w.ask(risky(risk))
	}
	last := w.ask(func(in *models.AskInput) {
		in.Input, in.TimeoutSeconds, in.RunID = []byte(`{"command":"needle in a stack"}`), new(int64(30)), "other run"
	})
	for query, want := range map[string]string{
		"risk=high":                              "tool-high",
		"tool=tool-low":                          "tool-low",
		"q=NEEDLE":                               "needle in a stack",
		"whose=mine&risk=low":                    "tool-low",
		"agent=" + w.agent.ID + "&risk=critical": "tool-critical",
		"conversation=" + string(last.ConversationID): "needle in a stack",
	} {
		page := p.get("/?"+query).is(http.StatusOK).says("#inbox .rows", want).says("#inbox-tally", "1 match · 4 waiting in total").says("#inbox-count", "4")
		if n := page.doc.Find(".row").Length(); n != 1 {
			t.Errorf("%s: %d rows", query, n)
		}
		if got := page.doc.Find("#inbox").AttrOr("hx-get", ""); got != "/?"+query && !strings.Contains(query, "agent") {
			t.Errorf("%s: the list refetches itself at %q", query, got)
		}
	}
	p.get("/?whose=routed").is(http.StatusOK).says("#inbox", "No matches").says("#inbox-tally", "0 match · 4 waiting in total").saysNot("#detail", "Try it")
	if got := p.get("/").doc.Find(".row").First().AttrOr("id", ""); got != "row-"+string(last.ID) {
		t.Errorf("the soonest is %q", got)
	}
	if got := p.get("/?order=age").is(http.StatusOK).text(".row:first-child"); !strings.Contains(got, "tool-low") {
		t.Errorf("the one that waits longest is %q", got)
	}
	p.get("/?whose=&agent=&risk=high&q=&tool=&order=").redirects("/?risk=high")
	p.get("/?risk=enormous").is(http.StatusUnprocessableEntity).says("main", "clear the filters")
	got := p.get("/?q=" + strings.Repeat("x", 3000)).is(http.StatusUnprocessableEntity)
	if got.value("#filter-q") == "" || got.text("#filter-q-error") == "" {
		t.Error("a text too long is not kept, or not told")
	}
	filled := p.get("/?whose=mine&risk=low&tool=tool-low&q=tool").is(http.StatusOK)
	if filled.value("#filter-q") != "tool" || filled.doc.Find("#filter-risk option[selected]").AttrOr("value", "") != "low" {
		t.Error("the form does not say what is filtered by")
	}
	if all := filled.doc.Find(".filter-clear").AttrOr("href", ""); all != "/" {
		t.Errorf("clearing leads to %q", all)
	}
}

func TestPagesOfTheInboxKeepTheFilter(t *testing.T) {
	t.Parallel()
	w := riskyWorld(t)
	p := w.signedIn(ownerEmail)
	for i := range 120 {
		w.ask(risky([]string{"low", "high"}[i%2]))
	}
	seen, path := map[string]bool{}, "/?risk=high"
	for range 5 {
		page := p.get(path).is(http.StatusOK).says(".tally", "60 match · 120 waiting in total").saysNot(".rows", "tool-low")
		for _, row := range page.doc.Find(".row").EachIter() {
			seen[row.AttrOr("id", "")] = true
		}
		next, more := page.doc.Find("a[rel=next]").Attr("href")
		if !more {
			break
		}
		path = next
	}
	if len(seen) != 60 {
		t.Errorf("%d rows on all pages", len(seen))
	}
	if first := p.get(path).doc.Find(".pager a").First().AttrOr("href", ""); first != "/?risk=high" {
		t.Errorf("the start is at %q", first)
	}
}

func TestDecidingBesideTheListWithoutScript(t *testing.T) {
	t.Parallel()
	w := riskyWorld(t)
	p := w.signedIn(ownerEmail)
	first := w.ask(risky("low"))
	w.clock.Step(time.Second)
	second, third := w.ask(risky("low")), w.ask(risky("high"))
	place := "/?risk=low"
	page := p.get(place).is(http.StatusOK)
	form := page.form("#decide form:has(#approve)", "#approve")
	p.post(decideOf(first), form).redirects(place + "&open=" + string(second.ID))
	after := p.get(place+"&open="+string(second.ID)).is(http.StatusOK).
		says("#done", "Approved", "rm -rf build/").says("#row-"+string(first.ID), "Approved by you").says("#detail", "tool-low")
	if after.doc.Find("#row-"+string(first.ID)+"[data-gone]").Length() != 1 || after.doc.Find("#row-"+string(second.ID)+"[aria-current]").Length() != 1 {
		t.Error("no line stands where the request stood, or the next one is not open")
	}
	p.get(place).saysNot("main", "Approved by you: tool-low") // told once
	form = after.form("#decide form:has(#approve)", "#approve")
	p.post(decideOf(second), form).redirects(place + "&open=" + string(second.ID)) // none is left here: it shows its outcome
	p.get(place+"&open="+string(second.ID)).is(http.StatusOK).says("#detail .outcome", "approved").says("#inbox", "No matches")
	if w.stands(third.ID).Status() != models.StatusPending {
		t.Error("what was filtered out was decided")
	}
}

func TestDecidingBesideTheListBringsTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	first := w.ask()
	w.clock.Step(time.Second)
	second := w.ask(func(in *models.AskInput) { in.Input = []byte(`{"command":"make second"}`) })
	desk := "open=" + string(first.ID)
	got := p.post(decideOf(first), url.Values{"verdict": {"reject"}, "reason": {"no"}, "digest": {first.Digest}, "desk": {desk}}, htmx).is(http.StatusOK).isFragment()
	if got.header.Get("Hx-Retarget") != "#detail" || got.header.Get("Hx-Reswap") != "outerHTML" {
		t.Errorf("it goes to %q by %q", got.header.Get("Hx-Retarget"), got.header.Get("Hx-Reswap"))
	}
	got.says("#detail", "make second").says("#inbox", "Rejected by you").says("#inbox-said", "Rejected by you: “Run: rm -rf build/” from deployer.").says("#inbox-count", "1")
	if got.doc.Find("#inbox[hx-swap-oob=outerMorph]").Length() != 1 || got.doc.Find("#row-"+string(second.ID)+"[aria-current]").Length() != 1 {
		t.Error("the list does not come along, or does not mark the next")
	}
	// Refetched by itself the list keeps the line, and forgets it after a while.
	refetch := "/?open=" + string(second.ID) + "&gone=" + string(first.ID)
	p.get(refetch, htmx).is(http.StatusOK).isFragment().says("#row-"+string(first.ID), "Rejected by you")
	w.clock.Step(2 * time.Minute)
	if p.get(refetch, htmx).doc.Find("#row-"+string(first.ID)).Length() != 0 {
		t.Error("the line stays for ever")
	}
	// What is open and is settled elsewhere leaves a line too.
	if _, err := w.store.Decide(t.Context(), w.admin, second.ID, models.DecisionInput{Approved: new(true), Digest: second.Digest, Page: models.NoPage}); err != nil {
		t.Fatal(err)
	}
	p.get("/?open="+string(second.ID), htmx).is(http.StatusOK).says("#row-"+string(second.ID), "Approved by admin@example.com")
	p.get("/?gone="+string(second.ID)+"&gone=x&open="+string(models.NewID[models.ResponseID]()), htmx).is(http.StatusOK).says("#inbox", "Approved by admin")
	w.signedIn(strangerEmail).get("/?gone="+string(second.ID), htmx).is(http.StatusOK).saysNot("#inbox", "Approved by")
}

func TestAnApprovalInItsUndoWindowStaysInTheList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"undo_seconds": {"low": 20, "medium": 20, "high": 20, "critical": 20}}`)
	p := w.signedIn(ownerEmail)
	a := w.ask()
	form := p.get("/").form("#decide form:has(#approve)", "#approve")
	p.post(decideOf(a), form).redirects("/?open=" + string(a.ID))
	row := "#row-" + string(a.ID)
	page := p.get("/").is(http.StatusOK).says(row, "Approved by you – sends in").says("#done", "Approved", "Undo")
	undo := page.form(row+" form", "")
	if page.doc.Find(row+" input[name=pick]").Length() != 0 {
		t.Error("what is held can be ticked")
	}
	w.signedIn(adminEmail).get("/").says(row, "Approved by "+ownerEmail).saysNot(row, "Undo")
	p.post(page.doc.Find(row+" form").AttrOr("action", ""), undo).redirects("/?open=" + string(a.ID))
	p.get("/").is(http.StatusOK).saysNot(row, "Approved").says(row, "left")
	if w.stands(a.ID).HeldUntil != nil {
		t.Error("it is still held")
	}
}

func TestARepeatOfSomethingRejectedIsMarked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	before := w.ask()
	p.post(decideOf(before), url.Values{"verdict": {"reject"}, "digest": {before.Digest}})
	again := w.ask()
	page := p.get("/").is(http.StatusOK).says("#row-"+string(again.ID), "asked again after it was rejected")
	if got := page.doc.Find(".row-reask a").AttrOr("href", ""); got != pageOf(before) {
		t.Errorf("it leads to %q", got)
	}
}

func TestI13HostileTextInTheInbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	evil := `"><script src=/x></script>` + "\u202e\u200b"
	w.ask(func(in *models.AskInput) {
		in.RunID, in.Description, in.Input = evil, evil, []byte(`{"command":`+strconv.Quote(`</a></li><script src='/y'>`)+`}`)
	})
	w.ask(question, func(in *models.AskInput) { in.Description = evil })
	p := w.signedIn(ownerEmail)
	for _, path := range []string{"/", "/?q=" + url.QueryEscape(`"><script src=/x>`), "/?tool=" + url.QueryEscape(`"><script src=/x>`), "/?order=age"} {
		got := p.get(path).is(http.StatusOK)
		if n := got.doc.Find("script[src='/x'], script[src='/y']").Length(); n != 0 {
			t.Errorf("%s: %d foreign elements", path, n)
		}
		if strings.ContainsAny(got.body, "\u202e\u200b") {
			t.Errorf("%s: hidden characters are sent as they are", path)
		}
	}
	w.visitor().get("/?risk=low").redirects("/signin?next=" + url.QueryEscape("/?risk=low"))
}
