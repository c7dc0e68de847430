package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// What a page offers is not refused: every button of every form that a role can reach is
// pressed, with what the form holds. What is wrong with a field is said at it (422), and that
// is no refusal; nor is a form that another press has overtaken.
func TestNoActIsOfferedThatIsRefused(t *testing.T) {
	t.Parallel()
	for role, email := range map[string]string{
		"admin": webtest.AdminEmail, "owner": webtest.OwnerEmail, "stranger": webtest.StrangerEmail, "auditor": webtest.AuditorEmail, "policy editor": webtest.EditorEmail,
		"signer": "ann@example.com", "reader": "eve@example.com", "who breaks glass": "dee@example.com",
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			w := webtest.Offering(t)
			signing(w)
			p := w.SignIn(email)
			var paths []string
			p.Walk(func(path string, _ *webtest.Page) { paths = append(paths, path) })
			pressed := map[string]bool{}
			for _, path := range paths {
				for {
					at := p.Get(path)
					if at.Status == http.StatusSeeOther && strings.HasPrefix(at.Header.Get("Location"), "/signin") {
						again, err := w.Store.People.UserByEmail(t.Context(), models.Operator("test"), email) // who pressed what disables them
						storetest.Must(t, err)
						storetest.Must(t, w.Store.People.EnableUser(t.Context(), models.Operator("test"), again.ID))
						p = w.SignIn(email)
						at = p.Get(path)
					}
					o, values, ok := nextOffer(at, path, pressed)
					if !ok {
						break
					}
					if got := p.Post(o.Action, values); got.Status == http.StatusForbidden || got.Status == http.StatusConflict || got.Status == http.StatusNotFound || got.Status >= 500 {
						t.Errorf("%s offers %s %s=%s, and that is answered with %d: %.300s", path, o.Action, o.Button, o.Value, got.Status, strings.Join(strings.Fields(got.Text("main")), " "))
					}
				}
			}
			if (role == "signer" || role == "reader") && !slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, "/approvals/") }) {
				t.Error("no request was found")
			}
			if len(pressed) < 10 && role != "auditor" || len(pressed) < 4 { // what is theirs: tokens, views, sessions, checking the chain
				t.Errorf("only %d acts were found", len(pressed))
			}
		})
	}
}

// signing adds payments to a world that several people sign, one of them with an edit that was signed.
func signing(w *webtest.World) {
	w.TB.Helper()
	for _, name := range []string{"ann", "bo", "eve", "dee"} {
		storetest.Reviewer(w.TB, w.Store, name+"@example.com")
	}
	w.ApplyPolicy(`{"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require","approvals":[{"from":["ann@example.com","bo@example.com"],"count":2}],
 "break_glass":["dee@example.com"],"readers":["eve@example.com"]}]}`)
	w.Ask(webtest.Payment)
	edited := w.Ask(webtest.Payment)
	bo, at := w.SignIn("bo@example.com"), webtest.PageOf(edited)
	form := bo.Get(at).Form("form.verdict", "#approve")
	form.Set("verdict", "approve_edited")
	form.Set("input", `{"amount":"1.00","currency":"EUR","to":"Bo himself"}`)
	bo.Post(at+"/decide", form).Redirects(at)
}

// nextOffer is an act of a page that was not pressed yet, of its kind.
func nextOffer(at *webtest.Page, path string, pressed map[string]bool) (webtest.Offer, url.Values, bool) {
	for o, values := range at.Offers() {
		k := webtest.PageKind(path) + " " + webtest.PageKind(o.Action) + " " + o.Button + "=" + webtest.AnyID.ReplaceAllString(o.Value, ":id")
		if pressed[k] || slices.Contains(webtest.EndsAll, o.Action) {
			continue
		}
		pressed[k] = true
		return o, values, true
	}
	return webtest.Offer{}, nil, false
}
