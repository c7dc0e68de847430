package views_test

import (
	"strings"
	"testing"

	"countersign/static"
	"countersign/views"
)

func TestConversationURLs(t *testing.T) {
	t.Parallel()
	const id = "01890a5d-ac96-774b-bcce-b302099a8057"
	const at = "/conversations/" + id
	for _, tt := range []struct{ got, want string }{
		{views.ConversationsURL(), "/conversations"},
		{views.NewConversationURL(), "/conversations/new"},
		{views.ConversationURL(id), at},
		{views.ConversationURL("../x?y"), "/conversations/..%2Fx%3Fy"},
		{views.ConversationEndURL(id), at + "#end"},
		{views.ConversationPageURL(id, 0), at},
		{views.ConversationPageURL(id, 51), at + "?before=51"},
		{views.ConversationPartURL(id, "head"), at + "?part=head"},
		{views.ConversationAfterURL(id, 7), at + "?part=after&after=7"},
		{views.ConversationEntryURL(id, id), at + "?part=entry&entry=" + id},
		{views.ConversationDraftURL(id), at + "/draft"},
		{views.SayURL(id), at + "/say"},
		{views.ConversationDecideURL(id, "../x"), at + "/decide/..%2Fx"},
		{views.SteerURL(id), at + "/steer"},
		{views.RenameURL(id), at + "/rename"},
		{views.BudgetURL(id), at + "/budget"},
		{views.ConversationTopic(id), "conversation:" + id},
		{views.DraftTopic(id), "draft:" + id},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestAPageHearsOfItsConversation(t *testing.T) {
	t.Parallel()
	const id = "01890a5d-ac96-774b-bcce-b302099a8057"
	html := draw(t, views.Page{Path: views.ConversationURL(id), Now: now, Viewer: &views.Viewer{Name: "Ada"}, Conversation: id})
	for _, want := range []string{`hx-sse:connect="/events?conversation=` + id + `"`, `href="/conversations" aria-current="page"`, static.URL("js/app.js")} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, name := range []string{"messages-square", "pause", "play", "send"} {
		if static.Icon(name) == "" {
			t.Errorf("icon %q is not vendored", name)
		}
	}
}
