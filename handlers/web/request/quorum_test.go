package request_test

import (
	"maps"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// TestThreePeopleSignByForms: in order, edited in the middle, taken back and given again, and released. Each page says
// who has signed, what one's own signature does, and why one can't.
func TestThreePeopleSignByForms(t *testing.T) {
	t.Parallel()
	w := webtest.SignersWorld(t)
	a := w.Ask(webtest.Payment)
	at := "/approvals/" + string(a.ID)
	ann, bo, dee, owner := w.SignIn("ann@example.com"), w.SignIn("bo@example.com"), w.SignIn("dee@example.com"), w.SignIn(webtest.OwnerEmail)
	sign := func(who *webtest.Person) {
		t.Helper()
		who.Post(at+"/decide", who.Get(at).Is(200).Form("form.verdict", "#approve")).Redirects(at)
	}
	dee.Get(at).Is(404)
	owner.Get(at).Is(200).Says(".must-approve", "0 of 3 signed; waiting for 2 of finance.").
		Says(".decide-bar", "You are not one of those who sign it. You can reject it.").
		Says(".signatures", "2 of finance", "Can sign: ann@example.com, bo@example.com, cy@example.com", "1 of oncall – not asked yet")
	ann.Get(at).Says("#approve", "Approve (1 of 3)")
	sign(ann)
	ann.Get(at).Says(".must-approve", "1 of 3 signed: ann@example.com").Says(".decide-bar", "You signed it.", "Undo my signature")
	ann.Get("/?whose=me").Is(200).Says("#inbox", "Nothing for you to approve")
	ann.Get("/?whose=signed").Is(200).Says("#row-"+string(a.ID), "1 of 3 signed; waiting for 1 of finance")
	bo.Get("/?whose=signed").Is(200).Says("#inbox", "Nothing waits for other signatures")
	bo.Get("/?whose=me").Is(200).Says("#inbox", "Pay 9999.00 EUR")
	bo.Get(at).Says("#approve", "Approve (2 of 3)")
	edited := bo.Get(at).Form("form.verdict", "#approve")
	edited.Set("verdict", "approve_edited")
	edited.Set("input", `{"amount":"1.00","currency":"EUR","to":"Bo himself"}`)
	bo.Post(at+"/decide", edited).Redirects(at)
	ann.Get(at).Is(200).Says(".decide-bar", "bo@example.com has edited it since", "signatures count for the edit").
		Says(".proposed", "approved an edit.", "1.00", "Approve this edit (2 of 3)")
	// A page from before the edit signs nothing.
	ann.Post(at+"/decide", url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).Is(409)
	bo.Post(at+"/undo", url.Values{}).Redirects(at)
	ann.Get(at).SaysNot("main", "approved an edit")
	bo.Post(at+"/decide", edited).Redirects(at)
	ann.Post(at+"/decide", ann.Get(at).Form(".proposed form", "")).Redirects(at)
	dee.Get(at).Is(200).Says(".proposed", "Approve this edit and run (3 of 3)").Says(".signatures", "2 of finance – complete")
	dee.Post(at+"/decide", dee.Get(at).Form(".proposed form", "")).Redirects(at)
	got := w.Approval(a.ID)
	if got.Status() != models.StatusApproved || got.Vote.Input == nil {
		t.Fatalf("%+v", got.Response)
	}
	owner.Get(at).Is(200).Says(".outcome", "Signed by", "ann@example.com", "bo@example.com", "dee@example.com")
	for _, format := range []string{"csv", "jsonl"} {
		body := w.SignIn(storetest.AdminEmail).Get("/history/export?format=" + format).Is(200).Body
		for _, who := range []string{"ann@example.com", "bo@example.com", "dee@example.com"} {
			if !strings.Contains(body, who) {
				t.Errorf("the %s export has no %s: %s", format, who, body)
			}
		}
	}
}

// TestASignedEditIsEditedFurther from its page: what was typed counts, also back to what was asked; mistakes come back
// filled in at their field, and the button of the edit itself sends nothing else.
func TestASignedEditIsEditedFurther(t *testing.T) {
	t.Parallel()
	w := webtest.SignersWorld(t)
	a := w.Ask(webtest.Payment)
	at := "/approvals/" + string(a.ID)
	ann, bo, cy := w.SignIn("ann@example.com"), w.SignIn("bo@example.com"), w.SignIn("cy@example.com")
	edited := ann.Get(at).Is(200).Form("form.verdict", "#approve")
	edited.Set("verdict", "approve_edited")
	edited.Set("input", `{"amount":"1.00","currency":"EUR","to":"Bo himself"}`)
	ann.Post(at+"/decide", edited).Redirects(at)
	button := func(p *webtest.Page) string {
		t.Helper()
		id, ok := p.Is(200).Doc.Find(".proposed [name=edits_further]").Attr("id")
		if !ok {
			t.Fatalf("the edit has no editor: %s", p.Text("main"))
		}
		return "#" + id
	}
	page := bo.Get(at)
	further := page.Form(".proposed form", button(page))
	if text := further.Get("further"); !strings.Contains(text, "Bo himself") {
		t.Fatalf("the editor begins with %q", text)
	}
	further.Set("further", `{"amount":`)
	bo.Post(at+"/decide", further).Is(422).Says(".proposed details[open] textarea", `{"amount":`).Says(".proposed .field-error", "JSON")
	further.Set("further", `{"amount":"2.00","currency":"EUR","to":"Bo & Co"}`)
	plain := maps.Clone(further)
	plain.Del("edits_further")
	bo.Post(at+"/decide", plain).Is(422).Says(".proposed details[open] textarea", "Bo & Co").Says(".proposed .field-error", "press Approve as edited")
	bo.Post(at+"/decide", further).Redirects(at)
	ann.Get(at).Is(200).Says(".decide-bar", "bo@example.com has edited it since").Says(".proposed", "2.00", "Approve this edit (2 of 3)")

	// Back to the input as it was asked: an edit of the edit.
	page = cy.Get(at)
	back := page.Form(".proposed form", button(page))
	back.Set("further", a.ToolInputJSON)
	cy.Post(at+"/decide", back).Redirects(at)
	bo.Get(at).Is(200).SaysNot("main", "approved an edit").Says("#approve", "Approve (2 of 3)").Says(".must-approve", "1 of 3 signed: cy@example.com")
}

// TestTheDeskSaysWhatCanNotBeSigned, before anybody tries.
func TestTheDeskSaysWhatCanNotBeSigned(t *testing.T) {
	t.Parallel()
	w := webtest.SignersWorld(t)
	a := w.Ask(webtest.Payment)
	for _, email := range []string{"cy@example.com", "dee@example.com"} {
		users, err := w.Store.People.Users(t.Context(), storetest.Operator())
		storetest.Must(t, err)
		for _, u := range users {
			if u.Email == email {
				storetest.Must(t, storetest.Err(w.Store.People.DisableUser(t.Context(), storetest.Operator(), u.ID)))
			}
		}
	}
	admin := w.SignIn(storetest.AdminEmail)
	admin.Get("/approvals/"+string(a.ID)).Is(200).Says(".signatures", "Not enough people are left", "Can't: cy@example.com (disabled), dee@example.com (disabled)").
		Says(".must-approve", "Not enough people are left who could sign it")
}

// TestTheOwnerSeesThatTheyCanNotBeAlone, who has signed, and that anybody else's approval runs it.
func TestTheOwnerSeesThatTheyCanNotBeAlone(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require","self_approval":"not_alone"}]}`)
	a := w.Ask(webtest.Payment)
	at := "/approvals/" + string(a.ID)
	owner, admin := w.SignIn(webtest.OwnerEmail), w.SignIn(storetest.AdminEmail)
	owner.Get(at).Is(200).Says("#approve", "Approve (1 of 2)").Says(".must-approve", "0 of 1 signed; waiting for an approval.")
	admin.Get(at).Says("#approve", "Approve and run (1 of 1)")
	owner.Post(at+"/decide", owner.Get(at).Form("form.verdict", "#approve")).Redirects(at)
	owner.Get("/").Says("#inbox", "1 of 2 signed; waiting for somebody who does not own the agent")
	admin.Get(at).Says(".must-approve", "1 of 2 signed: "+webtest.OwnerEmail).Says(".signatures", "not the agent's owner alone – 1 signed", webtest.OwnerEmail).
		Says("#approve", "Approve and run (2 of 2)")
	admin.Post(at+"/decide", admin.Get(at).Form("form.verdict", "#approve")).Redirects(at)
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved {
		t.Errorf("it is %s", got.Status())
	}
}

// TestASignedEditOfHighRiskIsConfirmed, as any approval there: the edit that is signed is what is confirmed and runs.
func TestASignedEditOfHighRiskIsConfirmed(t *testing.T) {
	t.Parallel()
	w := webtest.SignersWorld(t)
	w.ApplyPolicy(strings.Replace(webtest.StagedPays, `"effect":"require"`, `"effect":"require","risk":"high"`, 1))
	a := w.Ask(webtest.Payment)
	at := "/approvals/" + string(a.ID)
	sign := func(who *webtest.Person, form url.Values) {
		t.Helper()
		asked := who.Post(at+"/decide", form).Is(200)
		who.Post(at+"/decide", asked.Form("#confirm", "#confirm-approve")).Redirects(at)
	}
	ann, bo := w.SignIn("ann@example.com"), w.SignIn("bo@example.com")
	edited := ann.Get(at).Is(200).Form("form.verdict", "#approve")
	edited.Set("verdict", "approve_edited")
	edited.Set("input", `{"amount":"1.00","currency":"EUR","to":"Bo himself"}`)
	sign(ann, edited)
	sign(bo, bo.Get(at).Is(200).Form(".proposed form", ""))
	bo.Get(at).Says(".must-approve", "2 of 3 signed: ann@example.com, bo@example.com; waiting for 1 of oncall.")
}

// TestGlassIsBrokenByAForm: who may break it sees the request and what that means; a reason that is too short comes
// back filled in; the confirmation says that it is alone. Page, inbox, history and audit say so until another person
// acknowledges it.
func TestGlassIsBrokenByAForm(t *testing.T) {
	t.Parallel()
	w := webtest.SignersWorld(t)
	storetest.Reviewer(t, w.Store, "eve@example.com")
	w.ApplyPolicy(strings.Replace(webtest.StagedPays, `"effect":"require"`, `"effect":"require","risk":"high","break_glass":["eve@example.com"]`, 1))
	a := w.Ask(webtest.Payment)
	at := "/approvals/" + string(a.ID)
	eve, ann, admin := w.SignIn("eve@example.com"), w.SignIn("ann@example.com"), w.SignIn(storetest.AdminEmail)
	ann.Get(at).Is(200).SaysNot("main", "Break glass")
	eve.Get("/").Is(200).SaysNot("#inbox", "Pay 9999.00 EUR") // it is nothing to do for them
	eve.Get("/go?q="+string(a.ID)).Is(200).Says("main", "Pay 9999.00 EUR")
	page := eve.Get(at).Is(200).Says(".glass", "Break glass", "In an emergency you can decide this alone", "Approve alone").SaysNot("main", "Reject alone")
	form := page.Form(".glass form", "#glass-approve")
	form.Set("reason", "too short")
	eve.Post(at+"/decide", form).Is(422).Says(".glass[open] .field-error", "at least 20 letters").Says("#glass-reason", "too short")
	const why = "The plant stops at noon, and nobody of finance answers."
	form.Set("reason", why)
	asked := eve.Post(at+"/decide", form).Is(200).Says("#confirm", "alone, without the signatures of the others")
	eve.Post(at+"/decide", asked.Form("#confirm", "#confirm-approve")).Redirects(at)
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved || !got.Vote.BrokeGlass() {
		t.Fatalf("%+v", got)
	}
	for who, may := range map[*webtest.Person]bool{eve: false, ann: true, admin: true} {
		who.Get(at).Is(200).Says(".broken-note", "eve@example.com decided this alone, without ann@example.com, bo@example.com, cy@example.com, dee@example.com", map[bool]string{true: "acknowledge it on Audit", false: "One of them, or an admin, must acknowledge it."}[may])
		who.Get("/history").Is(200).Says(".past", "break glass")
		audit := who.Get("/audit").Is(200).Says("#broken", "eve@example.com approved it", why)
		if inbox := who.Get("/").Is(200); may {
			inbox.Says(".broken-note", "One decision broke glass.")
			audit.Says("#broken", "Acknowledge")
		} else {
			inbox.SaysNot("main", "broke glass")
			audit.Says("#broken", "Another person must acknowledge it.")
		}
	}
	if body := admin.Get("/history/export?format=csv").Is(200).Body; !strings.Contains(body, "eve@example.com (broke glass)") {
		t.Errorf("the export says %s", body)
	}
	admin.Get("/audit/all").Is(200).Says("#broken", why).Says("table", "broke glass, and decided to approve", "break glass")
	w.SignIn("bo@example.com").Get("/audit").Says("#broken", why)
	w.SignIn(webtest.StrangerEmail).Get("/audit").Is(200).SaysNot("main", "break glass")
	found := ann.Get("/audit").Form("#broken form", "")
	long := strings.Repeat("x", models.MaxReason+1)
	found.Set("remark", long)
	ann.Post("/audit/acknowledge", found).Is(422).Says("#broken .field-error", "at most 4000").Says("#broken textarea", long)
	found.Set("remark", "It was right.")
	eve.Post("/audit/acknowledge", found).Is(403)
	w.SignIn(webtest.StrangerEmail).Post("/audit/acknowledge", found).Is(404)
	ann.Post("/audit/acknowledge", found).Redirects("/audit")
	ann.Get("/audit").Is(200).Says("main", "acknowledged a decision that broke glass").SaysNot("main", "Another person must")
	ann.Get("/").SaysNot("main", "broke glass")
	admin.Get(at).Says(".broken-note", "Acknowledged by ann@example.com", "It was right.")
	admin.Post("/audit/acknowledge", found).Redirects("/audit")
	admin.Get("/audit").Says("main", "Somebody has acknowledged it already.")
}
