package grants_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

func TestAGrantIsMadeUsedListedAndRevokedWithoutScript(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	p.Get("/grants").Is(http.StatusOK).Says("main", "No pre-approvals yet").Says("nav", "Pre-approvals")
	a := w.Bash("make", "/src")
	form := p.Get(webtest.GrantPath(a)).Is(http.StatusOK).Says("#grant-form", "command", `"make"`, "cwd", `"/src"`).Says("#grant-reach", "no earlier call")
	if n := form.Doc.Find("#grant-form [name=keep][checked]").Length(); n != 2 {
		t.Errorf("%d members are ticked at first", n)
	}
	if form.Value("#grant-form [name=digest]") != a.Digest || form.Doc.Find("#grant-form #grant-approve").Length() != 1 {
		t.Error("the form lacks the digest, or a button")
	}
	p.Post(webtest.GrantPath(a), webtest.Keeping(a, "2", "2", "1")).Redirects("/approvals/" + string(a.ID))
	p.Get("/approvals/"+string(a.ID)).Says(".flash", "Pre-approved", "still waiting")
	if got := w.Approval(a.ID); got.Status() != models.StatusPending {
		t.Errorf("the request is %s", got.Status())
	}
	g := w.Grants()[0]
	if g.Fixed != `{"cwd":"/src"}` || g.MaxUses != 2 || g.ExpiresAt.Sub(g.CreatedAt).Hours() != 2 {
		t.Errorf("made %+v", g)
	}
	through := w.Bash("make test", "/src")
	if through.Cause != models.CauseGrant {
		t.Fatalf("the next call is %s", through.Status())
	}
	p.Get("/grants").Is(http.StatusOK).Says("#grants", "Bash", "deployer", `"/src"`, "1 of 2", "active").SaysNot("#grants", "No pre-approvals yet")
	p.Get("/grants", webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#grants", "1 of 2")
	one := p.Get("/grants/"+string(g.ID)).Is(http.StatusOK).Says("#grant-detail", "command", "owner@example.com", "1 of 2", "make test")
	if one.Doc.Find(`#grant-detail a[href="/approvals/`+string(through.ID)+`"]`).Length() != 1 || one.Doc.Find(`a[href="/approvals/`+string(a.ID)+`"]`).Length() != 1 {
		t.Error("the call, or the request that it was made on, is not linked")
	}
	p.Get("/grants/"+string(g.ID), webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#grant-detail", "1 of 2")

	revoke, ok := p.Get("/grants").Doc.Find("#grants form").Attr("action")
	if !ok {
		t.Fatal("nothing revokes")
	}
	for range 2 { // twice is harmless
		p.Post(revoke, nil).Redirects("/grants/" + string(g.ID))
	}
	p.Get("/grants/"+string(g.ID)).Says(".flash", "Revoked").Says("#grant-detail", "revoked", "by owner@example.com")
	if p.Get("/grants").Is(http.StatusOK).Doc.Find("#grants form").Length() != 0 {
		t.Error("what has ended can be revoked")
	}
	if next := w.Bash("make lint", "/src"); next.Status() != models.StatusPending {
		t.Errorf("after that a call is %s", next.Cause)
	}
}

func TestAllowAndApproveThisOne(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Bash("make", "/src")
	form := webtest.Keeping(a, "1", "5", "0", "1")
	form.Set("approve", "1")
	p.Post(webtest.GrantPath(a), form).Redirects("/approvals/" + string(a.ID))
	p.Get("/approvals/"+string(a.ID)).Says(".flash", "you approved this one")
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved || got.Cause != models.CauseReviewer || got.Vote == nil || got.Vote.UserName != webtest.OwnerEmail {
		t.Errorf("it is %s by %s", got.Status(), got.Cause)
	}
	// A form that is shown once it was approved has no such button, and what was
	// sent all the same tells what stands.
	if p.Get(webtest.GrantPath(a)).Is(http.StatusOK).Doc.Find("#grant-approve").Length() != 0 {
		t.Error("what is settled can be approved")
	}
	form["keep"] = []string{"0"}
	p.Post(webtest.GrantPath(a), form).Redirects("/approvals/" + string(a.ID))
	p.Get("/approvals/"+string(a.ID)).Says(".flash", "Somebody else decided this one")
	if n := len(w.Grants()); n != 2 {
		t.Errorf("%d grants were made", n)
	}
}

func TestI15APreviewMakesNothing(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for _, cwd := range []string{"/src", "/etc", "/src"} {
		w.Bash("make", cwd)
	}
	a := w.Bash("make test", "/src")
	before := storetest.Dump(t, w.Store)
	query := func(keep ...string) string {
		return webtest.GrantPath(a) + "?" + webtest.Keeping(a, "3", "4", keep...).Encode()
	}
	p.Get(query("1")).Is(http.StatusOK).Says("#grant-reach", "covered 2 of the last 3 calls")
	p.Get(query("0", "1")).Is(http.StatusOK).Says("#grant-reach", "covered 0 of the last 3 calls")
	all := p.Get(query()).Is(http.StatusOK).Says("#grant-reach", "covered 3 of the last 3 calls").Says(".grant-anything", "any call of this tool", "“command”", "“cwd”")
	if all.Value("#grant-hours") != "3" || all.Value("#grant-uses") != "4" || all.Doc.Find("[name=keep][checked]").Length() != 0 {
		t.Error("the form is not filled in as it was sent")
	}
	p.Get(query("1"), webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#grant-reach", "2 of the last 3")
	p.Get(query("x")).Is(http.StatusOK).Says("#fixed-error", "chosen from the arguments of the input")
	if storetest.Dump(t, w.Store) != before {
		t.Error("looking changed something")
	}
	if len(w.Grants()) != 0 {
		t.Error("looking made a grant")
	}
}

func TestWhatIsWrongWithAGrantStandsAtItsField(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"grant_max_hours":5,"grant_max_uses":7,"rules":[{"name":"wire","tools":["wire"],"effect":"require","risk":"critical"},{"name":"deploy","tools":["deploy"],"effect":"require","risk":"high"}]}`)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Bash("make", "/src")
	for _, c := range []struct {
		name   string
		form   url.Values
		status int
		at     string
		says   string
	}{
		{"no hours", webtest.Keeping(a, "", "1", "0"), 422, "#grant-hours-error", "from 1 to 5"},
		{"hours in words", webtest.Keeping(a, "two", "1", "0"), 422, "#grant-hours-error", "from 1 to 5"},
		{"too many hours", webtest.Keeping(a, "6", "1", "0"), 422, "#grant-hours-error", "from 1 to 5"},
		{"no uses", webtest.Keeping(a, "1", "0", "0"), 422, "#grant-uses-error", "from 1 to 7"},
		{"too many uses", webtest.Keeping(a, "1", "8", "0"), 422, "#grant-uses-error", "from 1 to 7"},
		{"a place that is none", webtest.Keeping(a, "1", "1", "7"), 422, "#fixed-error", "chosen from the arguments of the input"},
		{"no digest", url.Values{"sent": {"1"}, "hours": {"1"}, "uses": {"1"}}, 422, "#grant .flash", "digest"},
		{"another digest", url.Values{"sent": {"1"}, "hours": {"1"}, "uses": {"1"}, "digest": {strings.Repeat("0", 64)}}, 409, "#grant .flash", "digest differs"},
	} {
		got := p.Post(webtest.GrantPath(a), c.form)
		if got.Status != c.status || !strings.Contains(got.Text(c.at), c.says) {
			t.Errorf("%s: %d with %q at %s, want %d", c.name, got.Status, got.Text(c.at), c.at, c.status)
		}
		if got.Value("#grant-hours") != c.form.Get("hours") || got.Doc.Find("[name=keep][checked]").Length() != len(c.form["keep"])%7 && c.name != "a place that is none" {
			t.Errorf("%s: the form is not filled in as it was", c.name)
		}
	}
	if len(w.Grants()) != 0 {
		t.Fatal("a grant was made")
	}
	p.Post(webtest.GrantPath(a), webtest.Keeping(a, "1", "1", "0")).Is(http.StatusSeeOther)
	p.Post(webtest.GrantPath(a), webtest.Keeping(a, "1", "1", "0")).Is(http.StatusConflict).Says("#grant .flash", "active already")

	wire := w.Ask(func(in *models.AskInput) { in.ToolName = "wire" })
	p.Get(webtest.GrantPath(wire)).Is(http.StatusOK).Says("#grant", "critical risk are always decided one by one")
	p.Post(webtest.GrantPath(wire), webtest.Keeping(wire, "1", "1")).Is(http.StatusUnprocessableEntity).Says("#grant", "critical risk")
	asked := w.Ask(webtest.Question)
	p.Get(webtest.GrantPath(asked)).Is(http.StatusOK).Says("#grant", "Only tool calls")
	if p.Get(webtest.GrantPath(asked)).Doc.Find("#grant form").Length() != 0 {
		t.Error("a question has a form")
	}
	folded := w.Ask(func(in *models.AskInput) {
		in.ToolName, in.Input = "deploy", fmt.Appendf(nil, `{"script":%q}`, strings.Repeat("make all\n", 2000))
	})
	p.Get(webtest.GrantPath(folded)).Is(http.StatusOK).Says("#grant", "Open them on its page first")
	p.Post(webtest.GrantPath(folded), webtest.Keeping(folded, "1", "1", "0")).Is(http.StatusUnprocessableEntity).Says("#grant", "collapsed sections")

	w.ApplyPolicy(`{"grants_enabled":false}`)
	p.Get(webtest.GrantPath(a)).Is(http.StatusOK).Says("#grant", "Pre-approvals are off")
	p.Get("/grants").Says("main", "Pre-approvals are off", "None of them takes effect")
	p.Post(webtest.GrantPath(a), webtest.Keeping(a, "1", "1")).Is(http.StatusForbidden)
	if len(w.Grants()) != 1 {
		t.Error("a grant was made")
	}
}

func TestI4WhoMakesAndSeesGrantsOnThePages(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules":[{"name":"sh","tools":["Bash"],"effect":"require","reviewers":["stranger@example.com"]}]}`)
	a := w.Bash("make", "/src")
	owner, routed, admin := w.SignIn(webtest.OwnerEmail), w.SignIn(webtest.StrangerEmail), w.SignIn("admin@example.com")
	owner.Post(webtest.GrantPath(a), webtest.Keeping(a, "1", "5", "0")).Is(http.StatusSeeOther)
	one := "/grants/" + string(w.Grants()[0].ID)
	nobody := string(models.NewID[models.GrantID]())
	before := storetest.Dump(t, w.Store)
	for _, c := range []struct {
		method, path           string
		owner, routed, anAdmin int
	}{
		{"GET", webtest.GrantPath(a), 200, 403, 200},
		{"POST", webtest.GrantPath(a), 422, 403, 422},
		{"GET", "/grants", 200, 200, 200},
		{"GET", "/grants?after=x", 422, 422, 422},
		{"GET", one, 200, 404, 200},
		{"GET", one + "?after=x", 422, 422, 422},
		{"GET", "/grants/" + nobody, 404, 404, 404},
		{"GET", "/grants/x", 404, 404, 404},
		{"GET", one + "/revoke", 303, 303, 303},
		{"POST", "/grants/" + nobody + "/revoke", 404, 404, 404},
		{"POST", "/grants/x/revoke", 404, 404, 404},
		{"GET", "/approvals/" + nobody + "/grant", 404, 404, 404},
		{"GET", "/approvals/x/grant", 404, 404, 404},
		{"POST", "/approvals/x/grant", 404, 404, 404},
	} {
		for who, want := range map[*webtest.Person]int{owner: c.owner, routed: c.routed, admin: c.anAdmin} {
			if got := who.Send(c.method, c.path, url.Values{}); got.Status != want {
				t.Errorf("%s %s: %d, want %d", c.method, c.path, got.Status, want)
			}
		}
	}
	routed.Post(one+"/revoke", nil).Is(http.StatusNotFound)
	routed.Get("/grants").SaysNot("main", "Bash")
	for _, path := range []string{webtest.GrantPath(a), one + "/revoke"} {
		for _, token := range []string{"Bearer " + w.Token, "Basic " + w.Token} {
			if got := w.Visitor().Send("POST", path, webtest.Keeping(a, "1", "1"), webtest.Header{"Authorization", token}, webtest.JSON); got.Status != http.StatusUnauthorized {
				t.Errorf("POST %s with an agent's token: %d", path, got.Status)
			}
		}
	}
	if storetest.Dump(t, w.Store) != before {
		t.Error("something was changed")
	}
	admin.Post(one+"/revoke", nil).Redirects(one)
}

func TestGrantsArePaged(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for i := range 60 {
		w.Clock.Step(1)
		a := w.Ask(func(in *models.AskInput) { in.ToolName = fmt.Sprint("tool-", i) })
		p.Post(webtest.GrantPath(a), webtest.Keeping(a, "24", "50", "0")).Is(http.StatusSeeOther)
	}
	first := p.Get("/grants").Is(http.StatusOK).Says("#grants tbody tr:first-child", "tool-59")
	second := p.Get(first.Doc.Find("#grants a[rel=next]").AttrOr("href", "/nowhere")).Is(http.StatusOK).Says("#grants tbody tr:last-child", "tool-0")
	if n, m := first.Doc.Find("#grants tbody tr").Length(), second.Doc.Find("#grants tbody tr").Length(); n != 50 || m != 10 {
		t.Errorf("%d and %d rows", n, m)
	}
	if len(first.Body) > 200<<10 {
		t.Errorf("a page of 50 takes %d bytes", len(first.Body))
	}
}
