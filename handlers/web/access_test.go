package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers"
	"countersign/handlers/web/webtest"
	"countersign/models"
)

func TestEveryRouteButTheOpenOnesNeedsASignIn(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a, token := w.Ask(), w.OwnToken()
	for _, route := range w.Behind() {
		path := w.Filled(route, a, token)
		if path == "/events" {
			w.Visitor().Get(path, webtest.Header{"Accept", "text/html, text/event-stream"}).Is(http.StatusUnauthorized)
			continue
		}
		got := w.Visitor().Send(route.Method, path, url.Values{"verdict": {"approve"}})
		if got.Status != http.StatusSeeOther || !strings.HasPrefix(got.Header.Get("Location"), "/signin") {
			t.Errorf("%s %s signed out: %d to %q", route.Method, path, got.Status, got.Header.Get("Location"))
		}
		if got := w.Visitor().Send(route.Method, path, nil, webtest.JSON); got.Status != http.StatusUnauthorized || got.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s signed out, JSON: %d %s", route.Method, path, got.Status, got.Header.Get("Content-Type"))
		}
		got = w.Visitor().Send(route.Method, path, nil, webtest.HTMX, webtest.Header{"HX-Current-URL", w.URL + "/audit?x=1"})
		if got.Status != http.StatusUnauthorized || got.Header.Get("HX-Redirect") != "/signin?next=%2Faudit%3Fx%3D1" {
			t.Errorf("%s %s signed out, htmx: %d to %q", route.Method, path, got.Status, got.Header.Get("HX-Redirect"))
		}
	}
	if got := w.Approval(a.ID); got.Status() != models.StatusPending {
		t.Errorf("somebody decided: %s", got.Status())
	}
}

func TestI4NoTokenEverAuthenticatesOnAPage(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a, token := w.Ask(), w.OwnToken()
	head, err := w.Store.Ledger.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range w.Behind() {
		path := w.Filled(route, a, token)
		for _, value := range []string{"Bearer " + w.Token, "Basic " + w.Token} {
			form := url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "scope": {"agent"}, "agent": {"another"}}
			got := w.Visitor().Send(route.Method, path, form, webtest.Header{"Authorization", value}, webtest.Header{"Cookie", "countersign=" + w.Token}, webtest.JSON)
			if got.Status != http.StatusUnauthorized {
				t.Errorf("%s %s with %.6s: %d, want 401", route.Method, path, value, got.Status)
			}
		}
	}
	if after, err := w.Store.Ledger.Head(t.Context()); err != nil || after.Seq != head.Seq {
		t.Errorf("the ledger went from %d to %d (%v)", head.Seq, after.Seq, err)
	}
}

func TestPagesByRole(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a, hook := w.Ask(), string(models.NewID[models.WebhookID]())
	people := map[string]*webtest.Person{
		"owner": w.SignIn(webtest.OwnerEmail), "stranger": w.SignIn(webtest.StrangerEmail), "admin": w.SignIn("admin@example.com"),
	}
	for _, c := range []struct {
		method, path           string
		owner, stranger, admin int
	}{
		{"GET", "/", 200, 200, 200},
		{"GET", "/approvals/" + string(a.ID), 200, 404, 200},
		{"GET", "/approvals/" + string(models.NewID[models.ResponseID]()), 404, 404, 404},
		{"GET", "/approvals/nonsense", 404, 404, 404},
		{"GET", "/agents", 200, 200, 200},
		{"GET", "/go", 200, 200, 200},
		{"GET", "/go?q=" + strings.Repeat("x", 201), 422, 422, 422},
		{"GET", "/agents/all", 403, 403, 200},
		{"GET", "/agents/" + w.Agent.ID, 200, 404, 200},
		{"GET", "/agents/nonsense", 404, 404, 404},
		{"GET", "/agents/all?what=people&q=x&after=zzz", 403, 403, 200},
		{"GET", "/connect", 200, 200, 200},
		{"GET", "/connect?agent=" + w.Agent.ID, 200, 404, 404},
		{"GET", "/connect/received?agent=" + w.Agent.ID, 303, 404, 404},
		{"POST", "/connect", 422, 422, 422},
		{"GET", "/audit", 200, 200, 200},
		{"GET", "/policy", 200, 200, 200},
		{"GET", "/policy/settings", 200, 200, 200},
		{"GET", "/policy/templates", 403, 403, 200},
		{"GET", "/policy/versions", 403, 403, 200},
		{"GET", "/policy/guide", 200, 200, 200},
		{"GET", "/policy/json", 403, 403, 200},
		{"GET", "/policy/review", 403, 403, 200},
		{"GET", "/policy/rules/new", 403, 403, 200},
		{"GET", "/policy/rules/9", 403, 403, 404},
		{"GET", "/policy/templates/new", 403, 403, 200},
		{"GET", "/policy/templates/9", 403, 403, 404},
		{"GET", "/policy/try", 403, 403, 200},
		{"GET", "/policy/replay", 403, 403, 200},
		{"GET", "/policy/replay/export?format=csv", 403, 403, 404},
		{"POST", "/agents/stops/nonsense/lift", 422, 422, 422},
		{"GET", "/policy/versions/1", 403, 403, 200},
		{"GET", "/policy/versions/99", 403, 403, 404},
		{"GET", "/policy/versions/x", 403, 403, 404},
		{"GET", "/account/password", 200, 200, 200},
		{"GET", "/account/sessions", 200, 200, 200},
		{"GET", "/account/sessions?before=x", 422, 422, 422},
		{"POST", "/account/sessions/" + string(models.NewID[models.SessionID]()) + "/end", 404, 404, 404},
		{"POST", "/account/sessions/nonsense/end", 404, 404, 404},
		{"GET", "/account/notifications", 200, 200, 200},
		{"POST", "/account/notifications", 422, 422, 422},
		{"GET", "/account/notifications/channels", 303, 303, 303},
		{"POST", "/account/notifications/channels", 422, 422, 422},
		{"POST", "/account/notifications/channels/nonsense/remove", 404, 404, 404},
		{"POST", "/account/notifications/channels/" + string(models.NewID[models.ChannelID]()) + "/test", 404, 404, 404},
		{"POST", "/people/groups/none/channels", 403, 403, 404},
		{"POST", "/people/groups/none/channels/nonsense/verify", 403, 403, 404},
		{"GET", "/system/notifications", 403, 403, 200},
		{"POST", "/system/notifications/hosts", 403, 403, 422},
		{"POST", "/system/notifications/hosts/remove", 403, 403, 303},
		{"GET", "/docs/webhooks", 200, 200, 200},
		{"GET", "/system/webhooks", 403, 403, 200},
		{"POST", "/system/webhooks", 403, 403, 422},
		{"GET", "/system/webhooks/new", 403, 403, 200},
		{"GET", "/system/webhooks/nonsense", 403, 403, 404},
		{"GET", "/system/webhooks/" + hook, 403, 403, 404},
		{"POST", "/system/webhooks/" + hook, 403, 403, 404},
		{"GET", "/system/webhooks/" + hook + "/change", 403, 403, 404},
		{"GET", "/system/webhooks/" + hook + "/replay?seq=1", 403, 403, 404},
		{"GET", "/system/webhooks/" + hook + "/rotate", 403, 403, 303},
		{"GET", "/system/webhooks/nonsense/rotate", 403, 403, 404},
		{"POST", "/system/webhooks/" + hook + "/replay", 403, 403, 404},
		{"POST", "/system/webhooks/" + hook + "/test", 403, 403, 404},
		{"POST", "/system/webhooks/" + hook + "/pause", 403, 403, 404},
		{"POST", "/system/webhooks/" + hook + "/resume", 403, 403, 404},
		{"POST", "/system/webhooks/" + hook + "/retry", 403, 403, 404},
		{"POST", "/system/webhooks/" + hook + "/retire", 403, 403, 404},
		{"POST", "/system/webhooks/" + hook + "/skip", 403, 403, 422},
		{"POST", "/system/webhooks/" + hook + "/rotate", 403, 403, 404},
		{"POST", "/system/webhooks/" + hook + "/remove", 403, 403, 404},
		{"POST", "/approvals/" + string(a.ID) + "/look", 204, 404, 204},
		{"GET", "/people", 403, 403, 200},
		{"GET", "/people/invites", 403, 403, 303},
		{"POST", "/people/invites", 403, 403, 422},
		{"POST", "/people/invites/nonsense/withdraw", 403, 403, 404},
		{"GET", "/people/groups", 403, 403, 200},
		{"POST", "/people/groups", 403, 403, 422},
		{"GET", "/people/groups/none", 403, 403, 404},
		{"POST", "/people/groups/none", 403, 403, 404},
		{"GET", "/people/groups/none/members", 403, 403, 303},
		{"POST", "/people/groups/none/members", 403, 403, 404},
		{"POST", "/people/groups/none/members/nonsense/remove", 403, 403, 404},
		{"GET", "/people/groups/none/remove", 403, 403, 303},
		{"POST", "/people/groups/none/remove", 403, 403, 404},
		{"POST", "/people/nonsense/role", 403, 403, 404},
		{"POST", "/people/" + string(models.NewID[models.UserID]()) + "/disable", 403, 403, 404},
		{"POST", "/people/" + w.Owner.ID + "/role", 403, 403, 422},
		{"GET", "/audit/all", 403, 403, 200},
		{"GET", "/audit/all?who=nobody@example.com", 403, 403, 422},
		{"GET", "/audit/all?before=x", 403, 403, 404},
		{"GET", "/audit/entries/1", 403, 403, 200},
		{"GET", "/audit/entries/99999", 403, 403, 404},
		{"GET", "/audit/entries/x", 403, 403, 404},
		{"GET", "/audit/chain", 403, 403, 303},
		{"GET", "/system", 403, 403, 200},
		{"GET", "/upstreams", 403, 403, 200},
		{"POST", "/upstreams", 403, 403, 422},
		{"POST", "/upstreams/nonsense/key", 403, 403, 404},
		{"POST", "/upstreams/" + string(models.NewID[models.UpstreamID]()) + "/key", 403, 403, 422},
		{"POST", "/upstreams/" + string(models.NewID[models.UpstreamID]()) + "/enable", 403, 403, 404},
		{"POST", "/upstreams/" + string(models.NewID[models.UpstreamID]()) + "/disable", 403, 403, 404},
		{"GET", "/join?key=x", 404, 404, 404},
		{"GET", "/sw.js", 200, 200, 200},
		{"GET", "/offline", 200, 200, 200},
		{"GET", "/signin", 303, 303, 303},
		{"GET", "/setup?key=x", 404, 404, 404},
		{"GET", "/nowhere", 404, 404, 404},
		{"GET", "/?conversation=nonsense", 422, 422, 422},
		{"GET", "/?after=nonsense", 422, 422, 422},
		{"POST", "/policy", 403, 403, 409},
		{"POST", "/policy/settings", 403, 403, 409},
		{"POST", "/policy/templates", 403, 403, 409},
		{"POST", "/policy/versions", 403, 403, 409},
		{"POST", "/policy/json", 403, 403, 409},
		{"POST", "/policy/review", 403, 403, 409},
		{"POST", "/policy/rules/new", 403, 403, 409},
		{"POST", "/policy/templates/new", 403, 403, 409},
		{"POST", "/policy/versions/99/restore", 403, 403, 404},
		{"POST", "/audit", 405, 405, 405},
		{"POST", "/approvals/" + string(a.ID) + "/decide", 422, 404, 422},
		{"POST", "/approvals/" + string(a.ID) + "/hand-over", 422, 404, 422},
		{"GET", "/approvals/" + string(a.ID) + "/hand-over", 303, 303, 303},
		{"POST", "/approvals/nonsense/hand-over", 404, 404, 404},
		{"POST", "/approvals/" + string(a.ID) + "/hand-over/nonsense/take-back", 404, 404, 404},
		{"POST", "/approvals/" + string(a.ID) + "/hand-over/" + string(models.NewID[models.HandOverID]()) + "/take-back", 404, 404, 404},
		{"POST", "/agents/tokens/" + string(w.OwnToken()) + "/revoke", 303, 404, 303},
		{"POST", "/agents/tokens/nonsense/revoke", 404, 404, 404},
		{"GET", "/conversations", 200, 200, 200},
		{"GET", "/conversations/" + string(a.ConversationID) + "/budget", 200, 404, 200},
		{"POST", "/conversations/" + string(a.ConversationID) + "/budget", 422, 404, 422},
		{"GET", "/conversations/nonsense/budget", 404, 404, 404},
		{"GET", "/conversations/new", 200, 200, 200},
		{"POST", "/conversations", 422, 422, 422},
		{"GET", "/conversations/" + string(a.ConversationID), 200, 404, 200},
		{"GET", "/conversations/" + string(a.ConversationID) + "/draft", 303, 404, 303},
		{"POST", "/conversations/" + string(a.ConversationID) + "/say", 422, 404, 422},
		{"POST", "/conversations/" + string(a.ConversationID) + "/steer", 422, 404, 422},
		{"POST", "/conversations/" + string(a.ConversationID) + "/rename", 303, 404, 303},
		{"POST", "/conversations/" + string(a.ConversationID) + "/decide/" + string(a.ID), 422, 404, 422},
		{"POST", "/conversations/" + string(a.ConversationID) + "/decide/nonsense", 404, 404, 404},
		{"GET", "/conversations/" + string(a.ConversationID) + "/calls/" + string(a.ID), 200, 404, 200},
		{"GET", "/conversations/" + string(a.ConversationID) + "/calls/nonsense", 404, 404, 404},
		{"GET", "/conversations/" + string(a.ConversationID) + "/calls/" + string(models.NewID[models.ResponseID]()), 404, 404, 404},
		{"GET", "/conversations/" + string(a.ConversationID) + "/calls/" + string(a.ID) + "/close", 303, 404, 303},
		{"POST", "/conversations/" + string(a.ConversationID) + "/calls/" + string(models.NewID[models.ResponseID]()) + "/close", 404, 404, 404},
	} {
		for name, want := range map[string]int{"owner": c.owner, "stranger": c.stranger, "admin": c.admin} {
			got := people[name].Send(c.method, c.path, url.Values{})
			if got.Status != want {
				t.Errorf("%s %s as %s: %d, want %d", c.method, c.path, name, got.Status, want)
			}
			if got.Status >= 400 && got.Doc.Find("main h1").Length() != 1 {
				t.Errorf("%s %s as %s: no page with a heading: %s", c.method, c.path, name, got.Body)
			}
		}
	}
}

func TestAnotherHostIsRefused(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/signin", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("a foreign Host: %d, want 421", resp.StatusCode)
	}
}

func TestFormsFromOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a, token := w.Ask(), w.OwnToken()
	owner, admin := w.SignIn(webtest.OwnerEmail), w.SignIn(webtest.AdminEmail) // whose rights don't refuse it
	routes := append(w.Behind(), handlers.Route{Method: "POST", Path: "/signin"}, handlers.Route{Method: "POST", Path: "/setup"})
	for _, route := range routes {
		if route.Method != http.MethodPost {
			continue
		}
		path := w.Filled(route, a, token)
		form := url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "email": {webtest.OwnerEmail}, "password": {"wrong password"}}
		for _, h := range [][]webtest.Header{
			{{"Sec-Fetch-Site", "cross-site"}},
			{{"Sec-Fetch-Site", "same-site"}},
			{{"Origin", "https://evil.example"}},
			{{"Origin", "null"}},
		} {
			for _, who := range []*webtest.Person{owner, admin} {
				got := who.Post(path, form, h...)
				if got.Status != http.StatusForbidden || len(got.Cookies) > 0 {
					t.Errorf("POST %s with %v: %d, want 403", path, h, got.Status)
				}
			}
		}
	}
	if got := w.Approval(a.ID); got.Status() != models.StatusPending {
		t.Errorf("a foreign form decided: %s", got.Status())
	}
	owner.Post("/approvals/"+string(a.ID)+"/decide", url.Values{"verdict": {"reject"}}, webtest.Header{"Sec-Fetch-Site", "same-origin"}).Is(http.StatusSeeOther)
}

func TestHeadIsAnsweredLikeGet(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for path, want := range map[string]int{"/": 200, "/signin": 303, "/nowhere": 404, "/events": 405, "/agents": 200} {
		if got := p.Send(http.MethodHead, path, nil); got.Status != want || got.Body != "" {
			t.Errorf("HEAD %s: %d with %d bytes, want %d", path, got.Status, len(got.Body), want)
		}
	}
}

func TestWhatBreaksHereIsToldWithoutDetails(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	p.Get("/").Is(http.StatusOK)
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	got := p.Get("/")
	if got.Status != http.StatusInternalServerError && got.Status != http.StatusServiceUnavailable {
		t.Fatalf("status %d", got.Status)
	}
	got.Says("main", "Something went wrong", got.Header.Get("X-Request-Id")).SaysNot("body", "sql", "database", "closed")
	fragment := p.Get("/", webtest.HTMX)
	if fragment.Status != got.Status || fragment.Header.Get("HX-Reswap") != "none" {
		t.Errorf("a fragment: %d, HX-Reswap %q", fragment.Status, fragment.Header.Get("HX-Reswap"))
	}
	problem := p.Get("/", webtest.JSON)
	if problem.Header.Get("Content-Type") != "application/problem+json" || strings.Contains(problem.Body, "sql") {
		t.Errorf("JSON: %s", problem.Body)
	}
}
