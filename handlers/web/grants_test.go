package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

func grantPath(a *models.Approval) string { return "/approvals/" + string(a.ID) + "/grant" }

// keeping is what a browser sends of the form with these places ticked.
func keeping(a *models.Approval, hours, uses string, keep ...string) url.Values {
	return url.Values{"sent": {"1"}, "digest": {a.Digest}, "hours": {hours}, "uses": {uses}, "keep": keep}
}

func (w *world) grants() []models.Grant {
	w.tb.Helper()
	list, err := w.store.Grants(w.tb.Context(), w.admin, "", 0)
	if err != nil {
		w.tb.Fatal(err)
	}
	return list.Items
}

func (w *world) bash(command, cwd string) *models.Approval {
	w.tb.Helper()
	return w.ask(func(in *models.AskInput) { in.Input = fmt.Appendf(nil, `{"command":%q,"cwd":%q}`, command, cwd) })
}

func TestAGrantIsMadeUsedListedAndRevokedWithoutScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	p.get("/grants").is(http.StatusOK).says("main", "No pre-approvals yet").says("nav", "Pre-approvals")
	a := w.bash("make", "/src")
	form := p.get(grantPath(a)).is(http.StatusOK).says("#grant-form", "command", `"make"`, "cwd", `"/src"`).says("#grant-reach", "no earlier call")
	if n := form.doc.Find("#grant-form [name=keep][checked]").Length(); n != 2 {
		t.Errorf("%d members are ticked at first", n)
	}
	if form.value("#grant-form [name=digest]") != a.Digest || form.doc.Find("#grant-form #grant-approve").Length() != 1 {
		t.Error("the form lacks the digest, or a button")
	}
	p.post(grantPath(a), keeping(a, "2", "2", "1")).redirects("/approvals/" + string(a.ID))
	p.get("/approvals/"+string(a.ID)).says(".flash", "Pre-approved", "still waiting")
	if got := w.stands(a.ID); got.Status() != models.StatusPending {
		t.Errorf("the request is %s", got.Status())
	}
	g := w.grants()[0]
	if g.Fixed != `{"cwd":"/src"}` || g.MaxUses != 2 || g.ExpiresAt.Sub(g.CreatedAt).Hours() != 2 {
		t.Errorf("made %+v", g)
	}
	through := w.bash("make test", "/src")
	if through.Cause != models.CauseGrant {
		t.Fatalf("the next call is %s", through.Status())
	}
	p.get("/grants").is(http.StatusOK).says("#grants", "Bash", "deployer", `"/src"`, "1 of 2", "active").saysNot("#grants", "No pre-approvals yet")
	p.get("/grants", htmx).is(http.StatusOK).isFragment().says("#grants", "1 of 2")
	one := p.get("/grants/"+string(g.ID)).is(http.StatusOK).says("#grant-detail", "command", "owner@example.com", "1 of 2", "make test")
	if one.doc.Find(`#grant-detail a[href="/approvals/`+string(through.ID)+`"]`).Length() != 1 || one.doc.Find(`a[href="/approvals/`+string(a.ID)+`"]`).Length() != 1 {
		t.Error("the call, or the request that it was made on, is not linked")
	}
	p.get("/grants/"+string(g.ID), htmx).is(http.StatusOK).isFragment().says("#grant-detail", "1 of 2")

	revoke, ok := p.get("/grants").doc.Find("#grants form").Attr("action")
	if !ok {
		t.Fatal("nothing revokes")
	}
	for range 2 { // twice is harmless
		p.post(revoke, nil).redirects("/grants/" + string(g.ID))
	}
	p.get("/grants/"+string(g.ID)).says(".flash", "Revoked").says("#grant-detail", "revoked", "by owner@example.com")
	if p.get("/grants").is(http.StatusOK).doc.Find("#grants form").Length() != 0 {
		t.Error("what has ended can be revoked")
	}
	if next := w.bash("make lint", "/src"); next.Status() != models.StatusPending {
		t.Errorf("after that a call is %s", next.Cause)
	}
}

func TestAllowAndApproveThisOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	a := w.bash("make", "/src")
	form := keeping(a, "1", "5", "0", "1")
	form.Set("approve", "1")
	p.post(grantPath(a), form).redirects("/approvals/" + string(a.ID))
	p.get("/approvals/"+string(a.ID)).says(".flash", "you approved this one")
	if got := w.stands(a.ID); got.Status() != models.StatusApproved || got.Cause != models.CauseReviewer || got.Vote == nil || got.Vote.UserName != ownerEmail {
		t.Errorf("it is %s by %s", got.Status(), got.Cause)
	}
	// A form that is shown once it was approved has no such button, and what was
	// sent all the same tells what stands.
	if p.get(grantPath(a)).is(http.StatusOK).doc.Find("#grant-approve").Length() != 0 {
		t.Error("what is settled can be approved")
	}
	form["keep"] = []string{"0"}
	p.post(grantPath(a), form).redirects("/approvals/" + string(a.ID))
	p.get("/approvals/"+string(a.ID)).says(".flash", "Somebody else decided this one")
	if n := len(w.grants()); n != 2 {
		t.Errorf("%d grants were made", n)
	}
}

func TestI15APreviewMakesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	for _, cwd := range []string{"/src", "/etc", "/src"} {
		w.bash("make", cwd)
	}
	a := w.bash("make test", "/src")
	before := storetest.Dump(t, w.store)
	query := func(keep ...string) string { return grantPath(a) + "?" + keeping(a, "3", "4", keep...).Encode() }
	p.get(query("1")).is(http.StatusOK).says("#grant-reach", "covered 2 of the last 3 calls")
	p.get(query("0", "1")).is(http.StatusOK).says("#grant-reach", "covered 0 of the last 3 calls")
	all := p.get(query()).is(http.StatusOK).says("#grant-reach", "covered 3 of the last 3 calls").says(".grant-anything", "any call of this tool", "“command”", "“cwd”")
	if all.value("#grant-hours") != "3" || all.value("#grant-uses") != "4" || all.doc.Find("[name=keep][checked]").Length() != 0 {
		t.Error("the form is not filled in as it was sent")
	}
	p.get(query("1"), htmx).is(http.StatusOK).isFragment().says("#grant-reach", "2 of the last 3")
	p.get(query("x")).is(http.StatusOK).says("#fixed-error", "chosen from the arguments of the input")
	if storetest.Dump(t, w.store) != before {
		t.Error("looking changed something")
	}
	if len(w.grants()) != 0 {
		t.Error("looking made a grant")
	}
}

func TestWhatIsWrongWithAGrantStandsAtItsField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"grant_max_hours":5,"grant_max_uses":7,"rules":[{"name":"wire","tools":["wire"],"effect":"require","risk":"critical"},{"name":"deploy","tools":["deploy"],"effect":"require","risk":"high"}]}`)
	p := w.signedIn(ownerEmail)
	a := w.bash("make", "/src")
	for _, c := range []struct {
		name   string
		form   url.Values
		status int
		at     string
		says   string
	}{
		{"no hours", keeping(a, "", "1", "0"), 422, "#grant-hours-error", "from 1 to 5"},
		{"hours in words", keeping(a, "two", "1", "0"), 422, "#grant-hours-error", "from 1 to 5"},
		{"too many hours", keeping(a, "6", "1", "0"), 422, "#grant-hours-error", "from 1 to 5"},
		{"no uses", keeping(a, "1", "0", "0"), 422, "#grant-uses-error", "from 1 to 7"},
		{"too many uses", keeping(a, "1", "8", "0"), 422, "#grant-uses-error", "from 1 to 7"},
		{"a place that is none", keeping(a, "1", "1", "7"), 422, "#fixed-error", "chosen from the arguments of the input"},
		{"no digest", url.Values{"sent": {"1"}, "hours": {"1"}, "uses": {"1"}}, 422, "#grant .flash", "digest"},
		{"another digest", url.Values{"sent": {"1"}, "hours": {"1"}, "uses": {"1"}, "digest": {strings.Repeat("0", 64)}}, 409, "#grant .flash", "digest differs"},
	} {
		got := p.post(grantPath(a), c.form)
		if got.status != c.status || !strings.Contains(got.text(c.at), c.says) {
			t.Errorf("%s: %d with %q at %s, want %d", c.name, got.status, got.text(c.at), c.at, c.status)
		}
		if got.value("#grant-hours") != c.form.Get("hours") || got.doc.Find("[name=keep][checked]").Length() != len(c.form["keep"])%7 && c.name != "a place that is none" {
			t.Errorf("%s: the form is not filled in as it was", c.name)
		}
	}
	if len(w.grants()) != 0 {
		t.Fatal("a grant was made")
	}
	p.post(grantPath(a), keeping(a, "1", "1", "0")).is(http.StatusSeeOther)
	p.post(grantPath(a), keeping(a, "1", "1", "0")).is(http.StatusConflict).says("#grant .flash", "active already")

	wire := w.ask(func(in *models.AskInput) { in.ToolName = "wire" })
	p.get(grantPath(wire)).is(http.StatusOK).says("#grant", "critical risk are always decided one by one")
	p.post(grantPath(wire), keeping(wire, "1", "1")).is(http.StatusUnprocessableEntity).says("#grant", "critical risk")
	asked := w.ask(question)
	p.get(grantPath(asked)).is(http.StatusOK).says("#grant", "Only tool calls")
	if p.get(grantPath(asked)).doc.Find("#grant form").Length() != 0 {
		t.Error("a question has a form")
	}
	folded := w.ask(func(in *models.AskInput) {
		in.ToolName, in.Input = "deploy", fmt.Appendf(nil, `{"script":%q}`, strings.Repeat("make all\n", 2000))
	})
	p.get(grantPath(folded)).is(http.StatusOK).says("#grant", "Open them on its page first")
	p.post(grantPath(folded), keeping(folded, "1", "1", "0")).is(http.StatusUnprocessableEntity).says("#grant", "collapsed sections")

	w.applyPolicy(`{"grants_enabled":false}`)
	p.get(grantPath(a)).is(http.StatusOK).says("#grant", "Pre-approvals are off")
	p.get("/grants").says("main", "Pre-approvals are off", "None of them takes effect")
	p.post(grantPath(a), keeping(a, "1", "1")).is(http.StatusForbidden)
	if len(w.grants()) != 1 {
		t.Error("a grant was made")
	}
}

func TestI4WhoMakesAndSeesGrantsOnThePages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"rules":[{"name":"sh","tools":["Bash"],"effect":"require","reviewers":["stranger@example.com"]}]}`)
	a := w.bash("make", "/src")
	owner, routed, admin := w.signedIn(ownerEmail), w.signedIn(strangerEmail), w.signedIn("admin@example.com")
	owner.post(grantPath(a), keeping(a, "1", "5", "0")).is(http.StatusSeeOther)
	one := "/grants/" + string(w.grants()[0].ID)
	nobody := string(models.NewID[models.GrantID]())
	before := storetest.Dump(t, w.store)
	for _, c := range []struct {
		method, path           string
		owner, routed, anAdmin int
	}{
		{"GET", grantPath(a), 200, 403, 200},
		{"POST", grantPath(a), 422, 403, 422},
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
		for who, want := range map[*person]int{owner: c.owner, routed: c.routed, admin: c.anAdmin} {
			if got := who.send(c.method, c.path, url.Values{}); got.status != want {
				t.Errorf("%s %s: %d, want %d", c.method, c.path, got.status, want)
			}
		}
	}
	routed.post(one+"/revoke", nil).is(http.StatusNotFound)
	routed.get("/grants").saysNot("main", "Bash")
	for _, path := range []string{grantPath(a), one + "/revoke"} {
		for _, token := range []string{"Bearer " + w.token, "Basic " + w.token} {
			if got := w.visitor().send("POST", path, keeping(a, "1", "1"), header{"Authorization", token}, json); got.status != http.StatusUnauthorized {
				t.Errorf("POST %s with an agent's token: %d", path, got.status)
			}
		}
	}
	if storetest.Dump(t, w.store) != before {
		t.Error("something was changed")
	}
	admin.post(one+"/revoke", nil).redirects(one)
}

func TestGrantsArePaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	for i := range 60 {
		w.clock.Step(1)
		a := w.ask(func(in *models.AskInput) { in.ToolName = fmt.Sprint("tool-", i) })
		p.post(grantPath(a), keeping(a, "24", "50", "0")).is(http.StatusSeeOther)
	}
	first := p.get("/grants").is(http.StatusOK).says("#grants tbody tr:first-child", "tool-59")
	second := p.get(first.doc.Find("#grants a[rel=next]").AttrOr("href", "/nowhere")).is(http.StatusOK).says("#grants tbody tr:last-child", "tool-0")
	if n, m := first.doc.Find("#grants tbody tr").Length(), second.doc.Find("#grants tbody tr").Length(); n != 50 || m != 10 {
		t.Errorf("%d and %d rows", n, m)
	}
	if len(first.body) > 200<<10 {
		t.Errorf("a page of 50 takes %d bytes", len(first.body))
	}
}
