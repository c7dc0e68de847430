package nav

import (
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// GoInput is what a text has found.
type GoInput struct {
	Text          string
	Viewer        views.Viewer
	Agents        []FoundAgent
	Conversations []models.ConversationView
	Requests      []models.Brief
	Cut           bool   // not all requests were looked at
	Error         string // why nothing was looked for
}

// FoundAgent is an agent that was found by its name.
type FoundAgent struct {
	ID                models.AgentID
	Name, Owner       string
	Disabled, Pending bool
}

// Go is the view model of where a text leads.
type Go struct {
	Text   string
	Groups []GoGroup
	Says   string // how many were found
	Error  string
}

// GoGroup are the results of one kind.
type GoGroup struct {
	ID, Title string
	Rows      []GoRow
}

// GoRow leads to one page.
type GoRow struct {
	ID, URL, Icon string
	Page          string // its name, where that is ours
	Headline      string // what a request would do, cut where it is made
	Claim         string // what it is called by others
	Searches      string // the text that the page it leads to looks for
	Of            string // the agent, or the owner
	Note          string
	Status        ui.Word
}

// How much of a claim and of a name a row shows: the whole is one step away.
const (
	goClaim = 120
	goName  = 40
)

// NewGo makes what a text has found.
func NewGo(in GoInput) Go {
	v := Go{Text: in.Text, Error: in.Error}
	if in.Error != "" {
		v.Says = in.Error
		return v
	}
	v.add("pages", "Pages", goPages(in))
	v.add("agents", "Agents", goAgents(in))
	v.add("conversations", "Conversations", goConversations(in))
	v.add("requests", "Requests", goRequests(in))
	found := 0
	for _, g := range v.Groups {
		found += len(g.Rows)
	}
	switch found {
	case 0:
		v.Says = "Nothing found"
	case 1:
		v.Says = "1 result"
	default:
		v.Says = views.Number(int64(found)) + " results"
	}
	if in.Cut {
		v.Says += " – only the latest requests were searched"
	}
	if in.Text != "" {
		v.add("searches", "Search", []GoRow{
			{URL: views.InboxPlace{Text: in.Text}.URL(), Icon: "search", Page: "Search the inbox for", Searches: in.Text},
			{URL: views.HistoryPlace{Text: in.Text}.URL(), Icon: "search", Page: "Search the history for", Searches: in.Text},
		})
	}
	return v
}

// add numbers the rows of a group, if there are any.
func (v *Go) add(id, title string, rows []GoRow) {
	if len(rows) == 0 {
		return
	}
	for i := range rows {
		rows[i].ID = "go-" + id + "-" + views.Number(int64(i+1))
	}
	v.Groups = append(v.Groups, GoGroup{ID: "go-" + id, Title: title, Rows: rows})
}

func goPages(in GoInput) []GoRow {
	var out []GoRow
	for _, d := range views.Destinations(in.Viewer) {
		if d.Matches(in.Text) {
			out = append(out, GoRow{URL: d.URL, Icon: d.Icon, Page: d.Label})
		}
	}
	return out
}

// goAgents lead to the pending requests of an agent, or else to its decided ones.
func goAgents(in GoInput) []GoRow {
	var out []GoRow
	for _, a := range in.Agents {
		row := GoRow{URL: views.HistoryPlace{Agent: a.ID}.URL(), Icon: "key-round", Claim: a.Name, Note: "history"}
		if a.Pending {
			row.URL, row.Note = views.InboxPlace{Agent: a.ID}.URL(), "pending requests"
		}
		if in.Viewer.Admin {
			row.Of = a.Owner
		}
		if a.Disabled {
			row.Status = ui.Word{Text: "disabled", Tone: views.ToneNeutral}
		}
		out = append(out, row)
	}
	return out
}

func goConversations(in GoInput) []GoRow {
	var out []GoRow
	for i := range in.Conversations {
		c := &in.Conversations[i]
		row := GoRow{
			URL: views.ConversationURL(c.ID), Icon: "messages-square", Claim: words.ConversationName(c), Of: c.AgentName,
			Status: ui.ConversationWord(c.Status),
		}
		if words.ConversationTitle(c) == "" && !c.Standing {
			row.Claim += " " + words.Tail(string(c.ID)) // or one looked like the other
		}
		out = append(out, row)
	}
	return out
}

func goRequests(in GoInput) []GoRow {
	var out []GoRow
	for i := range in.Requests {
		a := &in.Requests[i].Approval
		row := GoRow{
			URL: views.ApprovalURL(a.ID), Icon: "inbox", Headline: words.Summary(&a.Response), Of: a.AgentName,
			Note: words.KindTitle(a.Kind), Status: ui.StatusWord(a.Status(), a.Cause),
		}
		if a.Vote != nil && a.Vote.Verdict == models.VerdictAnswer && a.Status() == models.StatusApproved {
			row.Status.Text = "answered"
		}
		out = append(out, row)
	}
	return out
}
