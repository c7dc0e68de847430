package people_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// An admin makes a group by form, names it in a rule, and its members decide: what each
// person reads follows who is in it.
func TestAGroupIsMadeNamedAndDecides(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	storetest.Reviewer(t, w.Store, "bo@example.com")
	admin, bo := w.SignIn(webtest.AdminEmail), w.SignIn("bo@example.com")

	admin.Get("/people").Is(http.StatusOK).Says("main", "Groups")
	form := admin.Get("/people/groups").Is(http.StatusOK).Says("main", "No groups yet").Form("form:has(#add-group)", "")
	form.Set("name", "Finance Team")
	form.Set("note", "Pays.")
	wrong := admin.Post("/people/groups", form).Is(http.StatusUnprocessableEntity).Says("#name-error", "lower-case letters")
	if wrong.Value("#name") != "Finance Team" || wrong.Value("#note") != "Pays." {
		t.Error("what was typed is lost")
	}
	form.Set("name", "finance")
	admin.Post("/people/groups", form).Redirects("/people/groups/finance")
	admin.Post("/people/groups", form).Is(http.StatusConflict).Says("#name-error", "already a group")
	page := admin.Get("/people/groups/finance").Is(http.StatusOK).Says("main", "No members yet", "group:finance", "The active policy does not name it")
	if page.Doc.Find("#email-list option[value='bo@example.com']").Length() != 1 {
		t.Error("people are not offered to pick from")
	}

	w.ApplyPolicy(`{"rules": [{"name": "payments", "tools": ["pay"], "effect": "require", "reviewers": ["group:finance", "` + webtest.AdminEmail + `"], "reviewers_only": true}]}`)
	a := w.Ask(func(in *models.AskInput) { in.ToolName, in.Input = "pay", []byte(`{"amount":5}`) })
	bo.Get("/approvals/" + string(a.ID)).Is(http.StatusNotFound)

	admin.Post("/people/groups/finance/members", url.Values{"email": {"nobody@example.com"}}).Is(http.StatusUnprocessableEntity).Says("#email-error", "may sign in")
	admin.Post("/people/groups/finance/members", url.Values{"email": {"Bo@example.com"}}).Redirects("/people/groups/finance")
	admin.Get("/people/groups/finance").Says(".flash", "Added to the group").Says("table", "bo@example.com").Says("#group-rules", "payments").SaysNot("main", "Remove group")
	admin.Get("/people/groups").Says("table", "finance", "Pays.", "1")

	bo.Get("/").Is(http.StatusOK).Says("main", "pay")
	bo.Get("/policy").Is(http.StatusOK).Says("main", "payments")
	seen := bo.Get("/approvals/"+string(a.ID)).Is(http.StatusOK).Says("main", "Only admin@example.com or finance can approve").SaysNot("main", "You can't approve")
	if seen.Doc.Find("button[value='approve']").Length() == 0 {
		t.Error("a member has no button to approve")
	}
	owner := w.SignIn(webtest.OwnerEmail)
	owner.Get("/approvals/"+string(a.ID)).Is(http.StatusOK).Says("main", "You can't approve this request. Only admin@example.com or finance can approve.")

	admin.Post("/people/groups/finance/remove", nil).Is(http.StatusConflict).Says(".flash", "rule “payments”")
	leave := admin.Get("/people/groups/finance").Doc.Find("form[action$='/remove']").AttrOr("action", "")
	if !strings.Contains(leave, "/members/") {
		t.Fatalf("the page takes nobody out: %q", leave)
	}
	admin.Post(leave, nil).Redirects("/people/groups/finance")
	bo.Get("/approvals/" + string(a.ID)).Is(http.StatusNotFound)
	bo.Get("/").Is(http.StatusOK).SaysNot("main", "pay")
	admin.Post(leave, nil).Is(http.StatusNotFound)

	w.ApplyPolicy(`{}`)
	admin.Post("/people/groups/finance", url.Values{"note": {"Pays\u202E."}}).Is(http.StatusUnprocessableEntity).Says("#note-error", "invisible characters")
	admin.Post("/people/groups/finance", url.Values{"note": {"Pays for all."}}).Redirects("/people/groups/finance")
	admin.Post("/people/groups/finance/remove", nil).Redirects("/people/groups")
	admin.Get("/people/groups").Says(".flash", "removed").Says("main", "No groups yet")
	admin.Get("/people/groups/finance").Is(http.StatusNotFound)
	admin.Get("/audit").Is(http.StatusOK).Says("main", "finance")
}

// The rule's form offers groups, and says what is wrong with one that there is not.
func TestARuleNamesAGroupByForm(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	storetest.Must(t, w.Store.People.AddGroup(t.Context(), w.Admin, "finance", ""))
	admin := w.SignIn(webtest.AdminEmail)
	page := admin.Get("/policy/rules/new").Is(http.StatusOK)
	if page.Doc.Find("#people option[value='group:finance']").Length() != 1 {
		t.Error("the group is not offered")
	}
	form := page.Form("form:has(#keep-rule)", "#keep-rule")
	form.Set("name", "payments")
	form.Set("tools", "pay")
	form["reviewers"] = []string{"group:Finance"}
	admin.Post("/policy/rules/new", form).Is(http.StatusUnprocessableEntity).Says("#reviewers-error", "such as group:finance")
}
