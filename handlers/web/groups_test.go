package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// An admin makes a group by form, names it in a rule, and its members decide: what each
// person reads follows who is in it.
func TestAGroupIsMadeNamedAndDecides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.Reviewer(t, w.store, "bo@example.com")
	admin, bo := w.signedIn(adminEmail), w.signedIn("bo@example.com")

	admin.get("/people").is(http.StatusOK).says("main", "Groups")
	form := admin.get("/people/groups").is(http.StatusOK).says("main", "No groups yet").form("form:has(#add-group)", "")
	form.Set("name", "Finance Team")
	form.Set("note", "Pays.")
	wrong := admin.post("/people/groups", form).is(http.StatusUnprocessableEntity).says("#name-error", "lower-case letters")
	if wrong.value("#name") != "Finance Team" || wrong.value("#note") != "Pays." {
		t.Error("what was typed is lost")
	}
	form.Set("name", "finance")
	admin.post("/people/groups", form).redirects("/people/groups/finance")
	admin.post("/people/groups", form).is(http.StatusConflict).says("#name-error", "already a group")
	page := admin.get("/people/groups/finance").is(http.StatusOK).says("main", "No members yet", "group:finance", "The active policy does not name it")
	if page.doc.Find("#email-list option[value='bo@example.com']").Length() != 1 {
		t.Error("people are not offered to pick from")
	}

	w.applyPolicy(`{"rules": [{"name": "payments", "tools": ["pay"], "effect": "require", "reviewers": ["group:finance", "` + adminEmail + `"], "reviewers_only": true}]}`)
	a := w.ask(func(in *models.AskInput) { in.ToolName, in.Input = "pay", []byte(`{"amount":5}`) })
	bo.get("/approvals/" + string(a.ID)).is(http.StatusNotFound)

	admin.post("/people/groups/finance/members", url.Values{"email": {"nobody@example.com"}}).is(http.StatusUnprocessableEntity).says("#email-error", "may sign in")
	admin.post("/people/groups/finance/members", url.Values{"email": {"Bo@example.com"}}).redirects("/people/groups/finance")
	admin.get("/people/groups/finance").says(".flash", "Added to the group").says("table", "bo@example.com").says("#group-rules", "payments").saysNot("main", "Remove group")
	admin.get("/people/groups").says("table", "finance", "Pays.", "1")

	bo.get("/").is(http.StatusOK).says("main", "pay")
	bo.get("/policy").is(http.StatusOK).says("main", "payments")
	seen := bo.get("/approvals/"+string(a.ID)).is(http.StatusOK).says("main", "admin@example.com or somebody in finance must approve").saysNot("main", "You can't approve")
	if seen.doc.Find("button[value='approve']").Length() == 0 {
		t.Error("a member has no button to approve")
	}
	owner := w.signedIn(ownerEmail)
	owner.get("/approvals/"+string(a.ID)).is(http.StatusOK).says("main", "You can't approve this request. admin@example.com or somebody in finance must approve.")

	admin.post("/people/groups/finance/remove", nil).is(http.StatusConflict).says(".flash", "rule “payments”")
	leave := admin.get("/people/groups/finance").doc.Find("form[action$='/remove']").AttrOr("action", "")
	if !strings.Contains(leave, "/members/") {
		t.Fatalf("the page takes nobody out: %q", leave)
	}
	admin.post(leave, nil).redirects("/people/groups/finance")
	bo.get("/approvals/" + string(a.ID)).is(http.StatusNotFound)
	bo.get("/").is(http.StatusOK).saysNot("main", "pay")
	admin.post(leave, nil).is(http.StatusNotFound)

	w.applyPolicy(`{}`)
	admin.post("/people/groups/finance", url.Values{"note": {"Pays\u202E."}}).is(http.StatusUnprocessableEntity).says("#note-error", "invisible characters")
	admin.post("/people/groups/finance", url.Values{"note": {"Pays for all."}}).redirects("/people/groups/finance")
	admin.post("/people/groups/finance/remove", nil).redirects("/people/groups")
	admin.get("/people/groups").says(".flash", "removed").says("main", "No groups yet")
	admin.get("/people/groups/finance").is(http.StatusNotFound)
	admin.get("/audit").is(http.StatusOK).says("main", "finance")
}

// The rule's form offers groups, and says what is wrong with one that there is not.
func TestARuleNamesAGroupByForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.Must(t, w.store.People.AddGroup(t.Context(), w.admin, "finance", ""))
	admin := w.signedIn(adminEmail)
	page := admin.get("/policy/rules/new").is(http.StatusOK)
	if page.doc.Find("#people option[value='group:finance']").Length() != 1 {
		t.Error("the group is not offered")
	}
	form := page.form("form:has(#keep-rule)", "#keep-rule")
	form.Set("name", "payments")
	form.Set("tools", "pay")
	form["reviewers"] = []string{"group:Finance"}
	admin.post("/policy/rules/new", form).is(http.StatusUnprocessableEntity).says("#reviewers-error", "such as group:finance")
}
