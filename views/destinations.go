package views

import "strings"

// Destination is a page that people go to by its name.
type Destination struct {
	Label, Icon, URL string
	words            string // other names of it, by which it is found
}

// Destinations are the pages that a viewer may open, those of the navigation first.
func Destinations(v Viewer) []Destination {
	var out []Destination
	for _, place := range (Page{Viewer: &v}).places() {
		out = append(out,
			Destination{strings.TrimSpace(place.label + " " + place.rest), place.icon, place.url, otherNames[place.url]})
	}
	acts, drafts := !v.Auditor, v.Admin || v.PolicyEditor
	for _, one := range []struct {
		Destination

		offered bool
	}{
		{Destination{"Start a conversation", "messages-square", NewConversationURL(), "new run"}, acts},
		{Destination{"Policy guide", "info", PolicyGuideURL(), "help rules members"}, true},
		{Destination{"API reference", "info", DocsURL(), "help docs openapi"}, true},
		{Destination{"Webhook guide", "info", WebhookGuideURL(), "help docs events receive signature"}, true},
		{Destination{"Notifications", "bell", NotificationsURL(), "account e-mail push slack ntfy webhook quiet hours"}, acts},
		{Destination{"Away", "clock", AwayURL(), "absence holiday vacation substitute deputy"}, acts},
		{Destination{"My sessions", "monitor", SessionsURL(), "account devices sign out"}, true},
		{Destination{"Change password", "key-round", PasswordURL(), "account"}, true},
		{Destination{"Groups", "users", GroupsURL(), "teams reviewers"}, v.Oversees()},
		{Destination{"Absences and substitutes", "users", PeopleAwayURL(), "away holiday deputies accept"}, v.Oversees()},
		{Destination{"Audit of everybody", "scroll-text", LedgerURL(LedgerFilter{}, 0), "ledger all entries"}, v.Oversees()},
		{Destination{"Upstreams", "activity", UpstreamsURL(), "other systems"}, v.Oversees()},
		{Destination{"Notifications of the system", "bell", SystemNotificationsURL(), "hosts smtp backlog"}, v.Oversees()},
		{Destination{"Webhooks", "activity", WebhooksURL(), "system events endpoints integrations"}, v.Oversees()},
		{Destination{"Policy as JSON", "sliders-horizontal", PolicyJSONURL(), "edit source"}, drafts},
		{Destination{"Try the policy", "sliders-horizontal", TryPolicyURL(""), "test simulate"}, drafts},
		{Destination{"Replay the policy", "sliders-horizontal", ReplayPolicyURL(), "test past requests"}, drafts},
		{Destination{"Suggested rules", "sliders-horizontal", SuggestionsURL(), "history fewer questions"}, drafts},
	} {
		if one.offered {
			out = append(out, one.Destination)
		}
	}
	return out
}

// otherNames are how the pages of the navigation are called elsewhere.
var otherNames = map[string]string{
	InboxURL(): "requests pending approvals queue", ConversationsURL(): "runs sessions", HistoryURL(): "decided requests",
	GrantsURL(): "pre-approvals allowances", AgentsURL(): "tokens bots stop", ConnectURL("", ""): "install set up token",
	AuditURL(): "trail ledger log", PolicyURL(): "rules settings", PeopleURL(): "users invite reviewers",
	SystemURL(): "version health upkeep", InsightsURL(): "analytics statistics rates figures charts",
}

// Matches reports whether each word of a text begins a word of the destination's names.
func (d Destination) Matches(text string) bool {
	names := strings.Fields(strings.ToLower(d.Label + " " + d.words))
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		found := false
		for _, name := range names {
			found = found || strings.HasPrefix(name, word)
		}
		if !found {
			return false
		}
	}
	return true
}

// destination is the page's own address if it is one of those, else empty.
func (p Page) destination() string {
	if p.Viewer == nil {
		return ""
	}
	for _, d := range Destinations(*p.Viewer) {
		if d.URL == p.Path {
			return d.URL
		}
	}
	return ""
}
