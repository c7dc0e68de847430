package views_test

import (
	"strings"
	"testing"

	"countersign/static"
	"countersign/views"
)

func TestAdminURLs(t *testing.T) {
	t.Parallel()
	const id = "01890a5d-ac96-774b-bcce-b302099a8057"
	for _, tt := range []struct{ got, want string }{
		{views.JoinURL("a b&c"), "/join?key=a+b%26c"},
		{views.JoinURL(""), "/join"},
		{views.SessionsPageURL(""), "/account/sessions"},
		{views.SessionsPageURL(id), "/account/sessions?before=" + id},
		{views.EndSessionURL("../x"), "/account/sessions/..%2Fx/end"},
		{views.PeoplePageURL("a+b@example.org"), "/people?after=a%2Bb%40example.org"},
		{views.WithdrawInviteURL(id), "/people/invites/" + id + "/withdraw"},
		{views.PersonURL("../x?y", "role"), "/people/..%2Fx%3Fy/role"},
		{views.LedgerURL(views.LedgerFilter{}, 0), "/audit/all"},
		{views.LedgerURL(views.LedgerFilter{Who: "a@b", From: "2026-11-20 14:30"}, 7), "/audit/all?who=a%40b&from=2026-11-20+14%3A30&before=7"},
		{views.LedgerEntryURL(12), "/audit/entries/12"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
	if (views.LedgerFilter{}).Any() || !(views.LedgerFilter{Until: "x"}).Any() {
		t.Error("a filter does not know whether it narrows")
	}
}

func TestOnlyAdminsAreLedToWhatIsTheirs(t *testing.T) {
	t.Parallel()
	for _, admin := range []bool{true, false} {
		html := draw(t, views.Page{Path: views.SystemURL(), Now: now, Viewer: &views.Viewer{Name: "Ada", Admin: admin}})
		for _, url := range []string{views.PeopleURL(), views.SystemURL()} {
			if got := strings.Contains(html, `href="`+url+`"`); got != admin {
				t.Errorf("admin %v: a link to %s: %v", admin, url, got)
			}
		}
		if !strings.Contains(html, `href="`+views.SessionsURL()+`"`) {
			t.Errorf("admin %v: no link to the own sessions", admin)
		}
	}
	for _, name := range []string{"users", "activity", "monitor"} {
		if static.Icon(name) == "" {
			t.Errorf("icon %q is not vendored", name)
		}
	}
}
