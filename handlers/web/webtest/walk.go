package webtest

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// EveryPage gets every kind of page there is.
func EveryPage(w *World) map[string]*Page {
	a, q := w.Ask(), w.Ask(Question)
	done := w.Ask()
	admin, owner := w.SignIn("admin@example.com"), w.SignIn(OwnerEmail)
	owner.Post(DecideOf(done), map[string][]string{"verdict": {"reject"}, "reason": {"<b>no</b>"}})
	form := admin.Get("/policy/settings").Form("#policy-form", "#review")
	form.Set("default_timeout_minutes", "9")
	admin.Post("/policy/settings", form).Redirects("/policy/review")
	talk := w.Conversation(50)
	w.Respond(talk, models.KindReply, "# A **reply**", 1)
	w.Proposes(talk, "May I?", 100)
	plan, wish := w.Proposes(w.Conversation(10), "<b>May</b> **I**?", 100), w.BudgetRequest(w.Conversation(10), 50)
	runs, other := w.runPages()
	out := map[string]*Page{}
	for _, p := range []*Page{
		owner.Get("/conversations"), admin.Get("/conversations?status=asleep"), owner.Get(BudgetPath(talk)),
		owner.Post(BudgetPath(talk), nil),
		owner.Get(PageOf(plan)), owner.Get(PageOf(wish)), owner.Get(ConversationPath(runs)), owner.Get(callPath(w, runs)),
		owner.Get(PageOf(other)),
		owner.Get("/conversations/new"), owner.Get(ConversationPath(talk)), owner.Post(ConversationPath(talk)+"/say", nil),
		owner.Get(ConversationPath(a.ConversationID)),
		w.Visitor().Get("/signin"), w.Visitor().Get("/nowhere"), owner.Get("/"), w.SignIn(StrangerEmail).Get("/"),
		owner.Post("/inbox/token", nil), owner.Get(PageOf(a)), owner.Get(PageOf(q)), owner.Get(PageOf(done)),
		owner.Get("/agents"), owner.Get("/audit"), owner.Get("/policy"), admin.Get("/policy"), admin.Get("/policy/settings"), admin.Get("/policy/templates"), admin.Get("/policy/versions"), admin.Get("/policy/review"),
		admin.Get("/policy/json"), admin.Get("/policy/rules/new"), admin.Post("/policy/json", nil),
		admin.Get("/policy/versions/1"), owner.Get("/account/password"), owner.Get("/policy/versions/1"),
		owner.Get("/account/sessions"), admin.Get("/people"),
		admin.Post("/people/invites", map[string][]string{"email": {"new@example.com"}, "role": {"reviewer"}}),
		admin.Get("/audit/all"), admin.Get("/audit/entries/1"), admin.Get("/system"),
		admin.Get("/upstreams"), admin.Post("/upstreams", map[string][]string{"base_url": {"ftp://x"}}),
	} {
		out[p.Asked] = p
	}
	return out
}

// runPages are a run with everything that there is, and a request of another
// system.
func (w *World) runPages() (models.ConversationID, *models.Approval) {
	w.TB.Helper()
	o := NewOutside(w.TB, w)
	id := w.Run(models.RunInput{RunID: "every"}, Ten()...)
	w.Report(id, Gave("u1", "<b>one</b>"))
	o.Take(models.OutsideItem{CallID: "c", RunID: "every", Name: "Bash", Arguments: []byte(`{"command":"another"}`)})
	list, err := w.Store.Requests.Approvals(w.TB.Context(), w.Owner, requests.ListQuery{Conversation: id, Limit: 10})
	if err != nil || len(list.Items) != 1 {
		w.TB.Fatalf("%d requests, %v", len(list.Items), err)
	}
	return id, &list.Items[0]
}

// Offer is one button of one form, as a page offers it.
type Offer struct{ Action, Button, Value string }

// AnyID finds ids and numbers in an address.
var AnyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|[0-9]+`)

// PageKind is what several pages or acts have in common: all but what they are about.
func PageKind(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return AnyID.ReplaceAllString(path, ":id")
}

// Offers are the buttons of a page that post, with what a browser would send.
func (p *Page) Offers() map[Offer]url.Values {
	p.TB.Helper()
	out := map[Offer]url.Values{}
	p.Doc.Find("main form[method=post], header form[method=post]").Each(func(_ int, form *goquery.Selection) {
		const mark = "data-tested"
		form.SetAttr(mark, "")
		defer form.RemoveAttr(mark)
		buttons := form.Find("button[type=submit]:not([disabled])").AddSelection(p.Doc.Find("button[type=submit]:not([disabled])").FilterFunction(func(_ int, b *goquery.Selection) bool {
			return b.AttrOr("form", "") != "" && b.AttrOr("form", "") == form.AttrOr("id", "")
		}))
		buttons.Each(func(_ int, b *goquery.Selection) {
			o := Offer{b.AttrOr("formaction", form.AttrOr("action", "")), b.AttrOr("name", ""), b.AttrOr("value", "")}
			values := p.Form("form["+mark+"]", "")
			if o.Button != "" {
				values.Set(o.Button, o.Value)
			}
			out[o] = values
		})
	})
	return out
}

// linked are the pages here to which a page leads.
func (p *Page) linked() []string {
	var out []string
	p.Doc.Find("a[href^='/']").Each(func(_ int, a *goquery.Selection) {
		path, _, _ := strings.Cut(a.AttrOr("href", ""), "#")
		if !strings.HasPrefix(path, "/docs") && !strings.Contains(path, "/export") && !slices.Contains(out, path) {
			out = append(out, path)
		}
	})
	return out
}

// Walk gets every kind of page that somebody can reach by links, at most three of a kind.
func (p *Person) Walk(visit func(path string, at *Page)) {
	p.World.TB.Helper()
	const each = 3
	queue, seen, kinds := []string{"/"}, map[string]bool{"/": true}, map[string]int{}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		at := p.Get(path)
		if at.Status != http.StatusOK {
			if at.Status >= 400 && at.Status != http.StatusNotFound {
				p.World.TB.Errorf("a link leads to %s: %d", path, at.Status)
			}
			continue
		}
		for _, next := range at.linked() {
			if k := PageKind(next); !seen[next] && kinds[k] < each {
				seen[next] = true
				kinds[k]++
				queue = append(queue, next)
			}
		}
		visit(path, at)
	}
}

// The people of Offering besides those of every world.
const (
	AuditorEmail = "auditor@example.com"
	EditorEmail  = "editor@example.com"
)

// Offering is a world in which there is something of everything.
func Offering(t *testing.T) *World {
	t.Helper()
	w := New(t)
	EveryPage(w)
	stranger, err := w.Store.People.UserByEmail(t.Context(), w.Admin, StrangerEmail)
	storetest.Must(t, err)
	second := storetest.Reviewer(t, w.Store, "second@example.com")
	storetest.Must(t, w.Store.People.SetRole(t.Context(), w.Admin, second.UserID(), models.RoleAdmin))
	for _, pair := range [][2]models.UserID{
		{w.Owner.UserID(), w.Admin.UserID()}, {w.Owner.UserID(), stranger.ID}, {w.Admin.UserID(), w.Owner.UserID()},
	} {
		storetest.Must(t, storetest.Err(w.Store.AskSubstitute(t.Context(), w.Admin, pair[0], pair[1])))
	}
	for email, role := range map[string]models.Role{AuditorEmail: models.RoleAuditor, EditorEmail: models.RolePolicyEditor} {
		storetest.User(t, w.Store, email, role)
	}
	editor := w.SignIn(EditorEmail)
	draft := editor.Get("/policy/settings").Form("#policy-form", "#review")
	draft.Set("default_timeout_minutes", "8")
	editor.Post("/policy/settings", draft).Redirects("/policy/review")
	propose := editor.Get("/policy/review").Form("form:has(#propose)", "#propose")
	propose.Set("note", "longer")
	editor.Post("/policy/review", propose).Redirects("/policy/proposal")
	held := w.Ask()
	w.Decides(held, true, "")
	w.SignIn(AdminEmail).AllowHost("hooks.example.com")
	return w
}

// EndsAll are acts after which the role that the test walks with is gone.
var EndsAll = []string{"/signout"}
