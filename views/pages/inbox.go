package pages

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// InboxInput is what the inbox is made of.
type InboxInput struct {
	Rows []models.Approval // soonest deadline first
	// Origins say where they come from.
	Origins map[models.ResponseID]models.Origin
	// Count is how many wait for the reader in all; counting stops at
	// models.StatsCap.
	Count int
	// Next is the key of the next page, empty on the last one.
	Next string
	// After is the key that this page began behind, empty on the first one.
	After string
	// Conversation filters, if set; its title is a quoted claim.
	Conversation      models.ConversationID
	ConversationTitle string
	// BaseURL is the server's public address, for the example of an empty inbox.
	BaseURL string
	// FreshToken is the secret of a token that was made just now, shown once.
	FreshToken string
	FreshAgent string
}

// Inbox is the view model of what waits for the reader.
type Inbox struct {
	Rows       []InboxRow
	Count      int
	Shown      string
	NextURL    string
	NextLabel  string
	FirstURL   string // back to the first page, when this is not it
	ListURL    string // where the list refetches itself
	Filtered   bool
	FilterName string
	Teach      *Teach
}

// InboxRow is one request in the list.
type InboxRow struct {
	ID           string
	URL          string
	Tool         string
	Kind         string // what it is called instead of the tool: a question, a proposal
	Summary      string
	Agent        string
	Origin       Origin
	Told         string // whose verdict is on its way, revealed; empty: nobody's
	Conversation string
	FilterURL    string // the inbox of this conversation
	Risk         ui.Word
	Asked        views.Moment
	Left         views.Moment
}

// Teach is the example that an empty inbox shows.
type Teach struct {
	Command string
	Secret  string
	Agent   string
	Export  string
}

// NewInbox makes the inbox as of now.
func NewInbox(in InboxInput, now time.Time) Inbox {
	v := Inbox{
		Count:    in.Count,
		ListURL:  views.InboxPageURL(in.Conversation, in.After),
		Filtered: in.Conversation != "",
	}
	for i := range in.Rows {
		row := newInboxRow(&in.Rows[i], now)
		row.from(in.Origins[in.Rows[i].ID])
		v.Rows = append(v.Rows, row)
	}
	if in.Conversation != "" {
		v.FilterName = in.ConversationTitle
		if v.FilterName == "" {
			v.FilterName = string(in.Conversation)
		}
	}
	if in.Next != "" {
		v.NextURL = views.InboxPageURL(in.Conversation, in.Next)
		v.NextLabel = "Next " + views.Number(int64(len(in.Rows)))
	}
	if in.After != "" {
		v.FirstURL = views.InboxPageURL(in.Conversation, "")
	}
	v.Shown = views.Count(in.Count) + " waiting"
	if in.FreshToken != "" || len(in.Rows) == 0 && in.After == "" && in.Conversation == "" {
		v.Teach = newTeach(in)
	}
	return v
}

func newInboxRow(a *models.Approval, now time.Time) InboxRow {
	asked := askedAt(&a.Response)
	row := InboxRow{
		ID:           string(a.ID),
		URL:          views.ApprovalURL(a.ID),
		Tool:         a.ToolName,
		Kind:         kindTitle(a.Kind),
		Summary:      summary(&a.Response),
		Agent:        a.AgentName,
		Conversation: ConversationLabel(a),
		FilterURL:    views.InboxPageURL(a.ConversationID, ""),
		Asked:        views.Ago(asked, now),
		Left:         views.Left(a.ApprovalTimeoutAt, asked, now),
	}
	if a.Kind == models.KindToolCall || a.Risk.NeedsDigest() && a.Kind != models.KindQuestion {
		row.Risk = ui.RiskWord(a.Risk)
	}
	return row
}

// from says where the request comes from.
func (row *InboxRow) from(o models.Origin) {
	row.Origin = newOrigin(o, row.Agent)
	if o.Told != nil {
		row.Told = tellingText(o)
	}
}

// ConversationLabel is what a conversation is called: its title, or the name that
// the agent gave its run; empty for the agent's standing one. Both are claims.
func ConversationLabel(a *models.Approval) string {
	if a.ConversationTitle == "" && a.RunID != nil {
		return *a.RunID
	}
	return a.ConversationTitle
}

func askedAt(r *models.Response) time.Time {
	if r.ApprovalRequestedAt != nil {
		return *r.ApprovalRequestedAt
	}
	return r.CreatedAt
}

func newTeach(in InboxInput) *Teach {
	t := &Teach{Secret: in.FreshToken, Agent: in.FreshAgent}
	if in.FreshToken != "" {
		t.Export = "export TOKEN=" + in.FreshToken
	}
	t.Command = `curl -sS "` + in.BaseURL + `/v1/approvals?wait=50s" \
  -H "Authorization: Bearer $TOKEN" \
  -H "Content-Type: application/json" \
  -d '{"toolUseId": "first-1", "toolName": "Bash",
       "input": {"command": "echo hello"},
       "description": "My first request"}'`
	return t
}

// label names the agent of the fresh token.
func (t Teach) label() string {
	return FreshToken{Scope: models.ScopeAgent, Name: t.Agent}.label()
}
