package inbox_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// besideList asks for a request as a click on its row does.
var besideList = []webtest.Header{webtest.HTMX, {"HX-Target", "section#detail"}}

func TestTheFirstRequestStandsBesideTheList(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	first := w.Ask()
	w.Clock.Step(time.Second)
	second := w.Ask(func(in *models.AskInput) { in.Input = []byte(`{"command":"make second"}`) })

	page := p.Get("/").Is(http.StatusOK).Says("#inbox .row[aria-current]", "rm -rf build/").Says("#detail", "rm -rf build/")
	if page.Doc.Find("#detail[data-open]").Length() != 0 || page.Doc.Find(".row").Length() != 2 {
		t.Error("a phone would show the request and not the list")
	}
	open := page.Doc.Find("#row-"+string(second.ID)+" .row-link").AttrOr("href", "")
	if open != "/?open="+string(second.ID) {
		t.Fatalf("the row leads to %q", open)
	}
	page = p.Get(open).Is(http.StatusOK).Says("#inbox .row[aria-current]", "make second").Says("#detail[data-open]", "make second", "Back to the list")
	if page.Doc.Find("#row-"+string(first.ID)).Length() != 1 {
		t.Error("the list is not beside it")
	}
	got := p.Get(open, besideList...).Is(http.StatusOK).IsFragment().Says("#detail[data-open]", "make second")
	if got.Doc.Find("#inbox").Length() != 0 {
		t.Error("a click on a row brings the list too")
	}
	p.Get("/?open="+string(models.NewID[models.ResponseID]())).Is(http.StatusOK).Says("#detail", "Request not found")
	w.SignIn(webtest.StrangerEmail).Get(open).Is(http.StatusOK).Says("#detail", "Request not found").SaysNot("main", "make second")
	p.Get("/?open=nonsense").Is(http.StatusUnprocessableEntity).Says("main", "Check the filters")
	p.Get("/?after=nonsense").Is(http.StatusUnprocessableEntity)
}

func TestTheInboxIsNarrowedByItsAddress(t *testing.T) {
	t.Parallel()
	w := webtest.RiskyWorld(t)
	p := w.SignIn(webtest.OwnerEmail)
	for _, risk := range []string{"low", "high", "critical"} {
		w.Ask(webtest.Risky(risk))
	}
	last := w.Ask(func(in *models.AskInput) {
		in.Input, in.TimeoutSeconds, in.RunID = []byte(`{"command":"needle in a stack"}`), new(int64(30)), "other run"
	})
	for query, want := range map[string]string{
		"risk=high":                              "tool-high",
		"tool=tool-low":                          "tool-low",
		"q=NEEDLE":                               "needle in a stack",
		"whose=mine&risk=low":                    "tool-low",
		"agent=" + w.Agent.ID + "&risk=critical": "tool-critical",
		"conversation=" + string(last.ConversationID): "needle in a stack",
	} {
		page := p.Get("/?"+query).Is(http.StatusOK).Says("#inbox .rows", want).Says("#inbox-tally", "1 match · 4 waiting in total").Says("#inbox-count", "4")
		if n := page.Doc.Find(".row").Length(); n != 1 {
			t.Errorf("%s: %d rows", query, n)
		}
		if got := page.Doc.Find("#inbox").AttrOr("hx-get", ""); got != "/?"+query && !strings.Contains(query, "agent") {
			t.Errorf("%s: the list refetches itself at %q", query, got)
		}
	}
	p.Get("/?whose=routed").Is(http.StatusOK).Says("#inbox", "No matches").Says("#inbox-tally", "0 match · 4 waiting in total").SaysNot("#detail", "Try it")
	if got := p.Get("/").Doc.Find(".row").First().AttrOr("id", ""); got != "row-"+string(last.ID) {
		t.Errorf("the soonest is %q", got)
	}
	if got := p.Get("/?order=age").Is(http.StatusOK).Text(".row:first-child"); !strings.Contains(got, "tool-low") {
		t.Errorf("the one that waits longest is %q", got)
	}
	p.Get("/?whose=&agent=&risk=high&q=&tool=&order=").Redirects("/?risk=high")
	p.Get("/?risk=enormous").Is(http.StatusUnprocessableEntity).Says("main", "clear the filters")
	got := p.Get("/?q=" + strings.Repeat("x", 3000)).Is(http.StatusUnprocessableEntity)
	if got.Value("#filter-q") == "" || got.Text("#filter-q-error") == "" {
		t.Error("a text too long is not kept, or not told")
	}
	filled := p.Get("/?whose=mine&risk=low&tool=tool-low&q=tool").Is(http.StatusOK)
	if filled.Value("#filter-q") != "tool" || filled.Doc.Find("#filter-risk option[selected]").AttrOr("value", "") != "low" {
		t.Error("the form does not say what is filtered by")
	}
	if all := filled.Doc.Find(".filter-clear").AttrOr("href", ""); all != "/" {
		t.Errorf("clearing leads to %q", all)
	}
}

func TestPagesOfTheInboxKeepTheFilter(t *testing.T) {
	t.Parallel()
	w := webtest.RiskyWorld(t)
	p := w.SignIn(webtest.OwnerEmail)
	for i := range 120 {
		w.Ask(webtest.Risky([]string{"low", "high"}[i%2]))
	}
	seen, path := map[string]bool{}, "/?risk=high"
	for range 5 {
		page := p.Get(path).Is(http.StatusOK).Says(".tally", "60 match · 120 waiting in total").SaysNot(".rows", "tool-low")
		for _, row := range page.Doc.Find(".row").EachIter() {
			seen[row.AttrOr("id", "")] = true
		}
		next, more := page.Doc.Find("a[rel=next]").Attr("href")
		if !more {
			break
		}
		path = next
	}
	if len(seen) != 60 {
		t.Errorf("%d rows on all pages", len(seen))
	}
	if first := p.Get(path).Doc.Find(".pager a").First().AttrOr("href", ""); first != "/?risk=high" {
		t.Errorf("the start is at %q", first)
	}
}

func TestDecidingBesideTheListWithoutScript(t *testing.T) {
	t.Parallel()
	w := webtest.RiskyWorld(t)
	p := w.SignIn(webtest.OwnerEmail)
	first := w.Ask(webtest.Risky("low"))
	w.Clock.Step(time.Second)
	second, third := w.Ask(webtest.Risky("low")), w.Ask(webtest.Risky("high"))
	place := "/?risk=low"
	page := p.Get(place).Is(http.StatusOK)
	form := page.Form("#decide form:has(#approve)", "#approve")
	p.Post(webtest.DecideOf(first), form).Redirects(place + "&open=" + string(second.ID))
	after := p.Get(place+"&open="+string(second.ID)).Is(http.StatusOK).
		Says("#done", "Approved", "rm -rf build/").Says("#row-"+string(first.ID), "Approved by you").Says("#detail", "tool-low")
	if after.Doc.Find("#row-"+string(first.ID)+"[data-gone]").Length() != 1 || after.Doc.Find("#row-"+string(second.ID)+"[aria-current]").Length() != 1 {
		t.Error("no line stands where the request stood, or the next one is not open")
	}
	p.Get(place).SaysNot("main", "Approved by you: tool-low") // told once
	form = after.Form("#decide form:has(#approve)", "#approve")
	p.Post(webtest.DecideOf(second), form).Redirects(place + "&open=" + string(second.ID)) // none is left here: it shows its outcome
	p.Get(place+"&open="+string(second.ID)).Is(http.StatusOK).Says("#detail .outcome", "approved").Says("#inbox", "No matches")
	if w.Approval(third.ID).Status() != models.StatusPending {
		t.Error("what was filtered out was decided")
	}
}

func TestDecidingBesideTheListBringsTheNext(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	first := w.Ask()
	w.Clock.Step(time.Second)
	second := w.Ask(func(in *models.AskInput) { in.Input = []byte(`{"command":"make second"}`) })
	desk := "open=" + string(first.ID)
	got := p.Post(webtest.DecideOf(first), url.Values{"verdict": {"reject"}, "reason": {"no"}, "digest": {first.Digest}, "desk": {desk}}, webtest.HTMX).Is(http.StatusOK).IsFragment()
	if got.Header.Get("Hx-Retarget") != "#detail" || got.Header.Get("Hx-Reswap") != "outerHTML" {
		t.Errorf("it goes to %q by %q", got.Header.Get("Hx-Retarget"), got.Header.Get("Hx-Reswap"))
	}
	got.Says("#detail", "make second").Says("#inbox", "Rejected by you").Says("#inbox-said", "Rejected by you: “Run: rm -rf build/” from deployer.").Says("#inbox-count", "1")
	if got.Doc.Find("#inbox[hx-swap-oob=outerMorph]").Length() != 1 || got.Doc.Find("#row-"+string(second.ID)+"[aria-current]").Length() != 1 {
		t.Error("the list does not come along, or does not mark the next")
	}
	// Refetched by itself the list keeps the line, and forgets it after a while.
	refetch := "/?open=" + string(second.ID) + "&gone=" + string(first.ID)
	p.Get(refetch, webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#row-"+string(first.ID), "Rejected by you")
	w.Clock.Step(2 * time.Minute)
	if p.Get(refetch, webtest.HTMX).Doc.Find("#row-"+string(first.ID)).Length() != 0 {
		t.Error("the line stays for ever")
	}
	// What is open and is settled elsewhere leaves a line too.
	if _, err := w.Store.Decide(t.Context(), w.Admin, second.ID, models.DecisionInput{Approved: new(true), Digest: second.Digest, Page: models.NoPage}); err != nil {
		t.Fatal(err)
	}
	p.Get("/?open="+string(second.ID), webtest.HTMX).Is(http.StatusOK).Says("#row-"+string(second.ID), "Approved by admin@example.com")
	p.Get("/?gone="+string(second.ID)+"&gone=x&open="+string(models.NewID[models.ResponseID]()), webtest.HTMX).Is(http.StatusOK).Says("#inbox", "Approved by admin")
	w.SignIn(webtest.StrangerEmail).Get("/?gone="+string(second.ID), webtest.HTMX).Is(http.StatusOK).SaysNot("#inbox", "Approved by")
}

func TestAnApprovalInItsUndoWindowStaysInTheList(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"undo_seconds": {"low": 20, "medium": 20, "high": 20, "critical": 20}}`)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Ask()
	form := p.Get("/").Form("#decide form:has(#approve)", "#approve")
	p.Post(webtest.DecideOf(a), form).Redirects("/?open=" + string(a.ID))
	row := "#row-" + string(a.ID)
	page := p.Get("/").Is(http.StatusOK).Says(row, "Approved by you – sends in").Says("#done", "Approved", "Undo")
	undo := page.Form(row+" form", "")
	if page.Doc.Find(row+" input[name=pick]").Length() != 0 {
		t.Error("what is held can be ticked")
	}
	w.SignIn(webtest.AdminEmail).Get("/").Says(row, "Approved by "+webtest.OwnerEmail).SaysNot(row, "Undo")
	p.Post(page.Doc.Find(row+" form").AttrOr("action", ""), undo).Redirects("/?open=" + string(a.ID))
	p.Get("/").Is(http.StatusOK).SaysNot(row, "Approved").Says(row, "left")
	if w.Approval(a.ID).HeldUntil != nil {
		t.Error("it is still held")
	}
}

func TestARepeatOfSomethingRejectedIsMarked(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	before := w.Ask()
	p.Post(webtest.DecideOf(before), url.Values{"verdict": {"reject"}, "digest": {before.Digest}})
	again := w.Ask()
	page := p.Get("/").Is(http.StatusOK).Says("#row-"+string(again.ID), "Rejected before")
	if page.Doc.Find("#detail a[href='"+webtest.PageOf(before)+"']").Length() == 0 {
		t.Error("the request beside it does not lead to the earlier one")
	}
}

func TestI13HostileTextInTheInbox(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	evil := `"><script src=/x></script>` + "\u202e\u200b"
	w.Ask(func(in *models.AskInput) {
		in.RunID, in.Description, in.Input = evil, evil, []byte(`{"command":`+strconv.Quote(`</a></li><script src='/y'>`)+`}`)
	})
	w.Ask(webtest.Question, func(in *models.AskInput) { in.Description = evil })
	p := w.SignIn(webtest.OwnerEmail)
	for _, path := range []string{"/", "/?q=" + url.QueryEscape(`"><script src=/x>`), "/?tool=" + url.QueryEscape(`"><script src=/x>`), "/?order=age"} {
		got := p.Get(path).Is(http.StatusOK)
		if n := got.Doc.Find("script[src='/x'], script[src='/y']").Length(); n != 0 {
			t.Errorf("%s: %d foreign elements", path, n)
		}
		if strings.ContainsAny(got.Body, "\u202e\u200b") {
			t.Errorf("%s: hidden characters are sent as they are", path)
		}
	}
	w.Visitor().Get("/?risk=low").Redirects("/signin?next=" + url.QueryEscape("/?risk=low"))
}

// What only others may approve comes last, is not opened by itself, and is left out on wish.
func TestTheInboxIsForItsReaderFirst(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	storetest.Reviewer(t, w.Store, "finance@example.com")
	w.ApplyPolicy(webtest.FinancePays)
	p := w.SignIn(webtest.OwnerEmail)
	theirs := w.Ask(webtest.Payment, func(in *models.AskInput) { in.TimeoutSeconds = new(int64(60)) })
	p.Get("/?whose=me").Is(http.StatusOK).Says("#inbox", "Nothing for you to approve").Says("#inbox-tally", "0 match · 1 waiting in total")
	mine := w.Ask()
	page := p.Get("/").Is(http.StatusOK).Says("#detail", "rm -rf build/").Says(".whose [aria-current]", "All")
	if last := page.Doc.Find("#inbox .row[data-others]"); last.Length() != 1 || last.AttrOr("id", "") != "row-"+string(theirs.ID) || last.Index() != 1 {
		t.Error("what is for others does not come last")
	}
	page = p.Get(page.Doc.Find(".whose a").First().AttrOr("href", "")).Is(http.StatusOK).Says(".whose [aria-current]", "For me").Says("#inbox-tally", "1 match · 2 waiting in total")
	if rows := page.Doc.Find("#inbox .row"); rows.Length() != 1 || rows.AttrOr("id", "") != "row-"+string(mine.ID) {
		t.Error("it is not left out")
	}
	// A page of those for the reader is filled from further on in the list, and ends.
	for range 55 {
		w.Ask(webtest.Payment, func(in *models.AskInput) { in.TimeoutSeconds = new(int64(30)) })
	}
	p.Get("/?whose=me").Is(http.StatusOK).Says("#inbox-tally", "1 match · 57 waiting in total").SaysNot("#inbox", "Search further")
	p.Get("/history?by=" + string(w.Owner.UserID())).Is(http.StatusOK)
}

// TestWhatIsOnlyReadHasItsOwnPlace: in every order and filter the inbox has what its reader is asked about, and beside
// it what they only see, while there is such.
func TestWhatIsOnlyReadHasItsOwnPlace(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	storetest.Reviewer(t, w.Store, "finance@example.com")
	storetest.Reviewer(t, w.Store, "eve@example.com")
	w.ApplyPolicy(strings.Replace(webtest.FinancePays, `"reviewers":`, `"readers":["eve@example.com"],"reviewers":`, 1))
	eve, finance := w.SignIn("eve@example.com"), w.SignIn("finance@example.com")
	eve.Get("/").Is(200).SaysNot(".whose", "To read")
	a := w.Ask(webtest.Payment)
	for _, query := range []string{"", "?order=age", "?order=risk", "?agent=" + string(a.AgentID), "?conversation=" + string(a.ConversationID), "?whose=routed", "?whose=routed&order=age", "?whose=me", "?tool=payment.send"} {
		eve.Get("/"+query).Is(200).SaysNot("#inbox", "Pay 9999.00 EUR").Says(".whose", "To read")
		finance.Get("/"+query).Is(200).Says("#inbox", "Pay 9999.00 EUR").SaysNot(".whose", "To read")
	}
	for _, query := range []string{"", "&order=age", "&order=risk", "&agent=" + string(a.AgentID), "&tool=payment.send"} {
		page := eve.Get("/?whose=read"+query).Is(200).Says("#row-"+string(a.ID), "Pay 9999.00 EUR").Says("#inbox-tally", "1")
		if n := page.Doc.Find("#row-" + string(a.ID) + " input, .decide-bar button").Length(); n > 0 {
			t.Errorf("%s offers %d acts: %s", query, n, page.Text(".decide-bar"))
		}
	}
	for _, text := range []string{"payment.send", string(a.ID[28:])} {
		eve.Get("/go?q="+text).Is(200).Says("main", "Pay 9999.00 EUR")
	}
	w.SignIn(storetest.AdminEmail).Get("/?whose=read").Is(200).Says("#inbox", "Nothing to read")
	finance.Post(webtest.DecideOf(a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}})
	eve.Get("/").Is(200).SaysNot(".whose", "To read")
	eve.Get("/?whose=read").Is(200).Says("#inbox", "Nothing to read")
	eve.Get("/history").Is(200).Says("main", "Pay 9999.00 EUR")
}
