package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// TestAnAuditorChangesNothing presses every button that an admin, and the owner of what is asked, are offered anywhere,
// and sends a form to every other route, as these two after they have become auditors: but for what is theirs alone, the
// database stays as it is.
func TestAnAuditorChangesNothing(t *testing.T) {
	t.Parallel()
	w := webtest.Offering(t)
	a, token := w.Ask(), w.OwnToken()
	admin, owner := w.SignIn(webtest.AdminEmail), w.SignIn(webtest.OwnerEmail)
	offers := map[webtest.Offer]url.Values{}
	for _, p := range []*webtest.Person{admin, owner} {
		p.Walk(func(_ string, at *webtest.Page) {
			maps.Copy(offers, at.Offers())
		})
	}
	if len(offers) < 100 {
		t.Errorf("only %d acts were found", len(offers))
	}
	for _, one := range []models.Actor{w.Owner, w.Admin} {
		storetest.Must(t, w.Store.People.SetRole(t.Context(), models.Operator("test"), one.UserID(), models.RoleAuditor))
	}
	own := map[string]bool{} // forms whose right lets an auditor send them
	for _, row := range w.Pages.Table() {
		if row.Method == http.MethodPost && slices.Contains([]site.Right{site.Anyone, site.Own, site.Overseer}, row.Right) {
			own[webtest.PageKind(w.Filled(handlers.Route{Method: row.Method, Path: row.Path}, a, token))] = true
		}
	}
	before := storetest.Dump(t, w.Store)
	refused := 0
	for o, values := range offers {
		if own[webtest.PageKind(o.Action)] {
			continue
		}
		for _, p := range []*webtest.Person{admin, owner} {
			if got := p.Post(o.Action, values); got.Status != http.StatusForbidden {
				t.Errorf("%s %s=%s as an auditor: %d", o.Action, o.Button, o.Value, got.Status)
			}
			refused++
		}
	}
	all := url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "role": {"admin"}, "email": {webtest.OwnerEmail}, "step": {"save"}, "base_version": {"1"}, "reason": {"it was looked at by nobody else"}}
	for _, row := range w.Pages.Table() {
		if row.Method != http.MethodPost {
			continue
		}
		path := w.Filled(handlers.Route{Method: row.Method, Path: row.Path}, a, token)
		if !own[webtest.PageKind(path)] {
			if got := admin.Post(path, all); got.Status != http.StatusForbidden {
				t.Errorf("%s as an auditor: %d", path, got.Status)
			}
			refused++
		}
	}
	if after := storetest.Dump(t, w.Store); after != before {
		t.Errorf("an auditor changed what is stored:\n%s\n---\n%s", before, after)
	}
	if refused < 200 {
		t.Errorf("only %d tries", refused)
	}
}

// What is an auditor's alone, they change; the entries are about them.
func TestAnAuditorHasAnAccount(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	who := storetest.User(t, w.Store, webtest.AuditorEmail, models.RoleAuditor)
	p := w.SignIn(webtest.AuditorEmail)
	p.Post("/agents/tokens", url.Values{"scope": {"reviewer"}, "name": {"export"}}).Is(http.StatusOK)
	p.Post("/agents/tokens", url.Values{"scope": {"agent"}, "agent": {"mine"}}).Is(http.StatusUnprocessableEntity)
	p.Post("/agents/tokens", url.Values{"scope": {"admin"}, "name": {"mine"}}).Is(http.StatusForbidden)
	p.Post("/audit/all/views?action=policy", url.Values{"name": {"policy"}}).Redirects("/audit/all?action=policy")
	p.Post("/audit/chain", nil).Redirects("/audit/all")
	p.Post("/account/password", url.Values{"current": {storetest.Password}, "new": {"another long password"}}).Redirects("/")
	trail, err := w.Store.Requests.Trail(t.Context(), w.Admin, requests.TrailQuery{Person: who.UserID(), Limit: 50})
	storetest.Must(t, err)
	var did []string
	for _, e := range trail.Entries {
		if e.ActorID == who.ID {
			did = append(did, e.Action)
			if e.OwnerID != who.UserID() {
				t.Errorf("%s is about %s", e.Action, e.OwnerID)
			}
		}
	}
	slices.Sort(did)
	if want := []string{"session.opened", "token.added", "user.password_changed"}; !slices.Equal(slices.Compact(did), want) {
		t.Errorf("an auditor did %v, want %v", did, want)
	}
}
