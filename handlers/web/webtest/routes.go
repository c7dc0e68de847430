package webtest

import (
	"net/http"
	"slices"
	"strings"

	"countersign/handlers"
	"countersign/models"
)

// open are the routes that need no sign-in; all others do, by being missing
// here.
var open = []string{
	"GET /static/*", "GET /sw.js", "GET /offline", "GET /setup", "POST /setup", "GET /signin", "POST /signin", "GET /join",
	"POST /join", "GET /docs/webhooks",
}

// Filled puts the parts of a world into a route's path.
func (w *World) Filled(route handlers.Route, a *models.Approval, token models.TokenID) string {
	path := strings.NewReplacer("/conversations/:id", "/conversations/"+string(a.ConversationID), "/decide/:response",
		"/decide/"+string(a.ID), "/calls/:response", "/calls/"+string(a.ID), "/approvals/:id", "/approvals/"+string(a.ID),
		"/tokens/:id", "/tokens/"+string(token),
		"/invites/:id", "/invites/"+string(models.NewID[models.InviteID]()), "/people/:id", "/people/"+w.Owner.ID,
		"/groups/:name/members/:id", "/groups/finance/members/"+w.Owner.ID, "/groups/:name", "/groups/finance",
		"/channels/:id", "/channels/"+string(models.NewID[models.ChannelID]()), ":what", "verify",
		"/account/away/:id", "/account/away/"+string(models.NewID[models.AbsenceID]()), "/people/away/:id",
		"/people/away/"+string(models.NewID[models.AbsenceID]()),
		"/substitutes/:id", "/substitutes/"+string(models.NewID[models.SubstituteID]()),
		"/webhooks/:id", "/webhooks/"+string(models.NewID[models.WebhookID]()), ":act", "retry", ":handover",
		string(models.NewID[models.HandOverID]()),
		"/stops/:id", "/stops/"+string(models.NewID[models.StopID]()), "/grants/:id",
		"/grants/"+string(models.NewID[models.GrantID]()), "/upstreams/:id",
		"/upstreams/"+string(models.NewID[models.UpstreamID]()),
		"/agents/:id", "/agents/"+string(a.AgentID), "/sessions/:id", "/sessions/"+string(models.NewID[models.SessionID]()), ":n", "1").Replace(route.Path)
	if strings.ContainsAny(path, ":*") {
		w.TB.Fatalf("no value for the parameters of %s", route.Path)
	}
	return path
}

// OwnToken is the token of the owner's agent.
func (w *World) OwnToken() models.TokenID {
	w.TB.Helper()
	tokens, err := w.Store.People.Tokens(w.TB.Context(), w.Owner, false)
	if err != nil || len(tokens) == 0 {
		w.TB.Fatalf("tokens: %v, %v", tokens, err)
	}
	return tokens[0].ID
}

// Behind are the routes that need a sign-in, from the router itself.
func (w *World) Behind() []handlers.Route {
	var out []handlers.Route
	for _, r := range w.Pages.Routes() {
		if r.Method != http.MethodGet && r.Method != http.MethodPost {
			continue // echo's own, for unknown addresses
		}
		if !slices.Contains(open, r.Method+" "+r.Path) {
			out = append(out, r)
		}
	}
	if len(out) < 15 {
		w.TB.Fatalf("only %d routes found", len(out))
	}
	return out
}
