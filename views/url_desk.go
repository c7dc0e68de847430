package views

import (
	"net/url"
	"strings"

	"countersign/models"
)

// InboxPlace is where in the inbox a reader is: what the list shows, and which
// request is open beside it. The zero value is all that waits, soonest deadline
// first.
type InboxPlace struct {
	Open         models.ResponseID // shown beside the list; empty: the first
	Conversation models.ConversationID
	Agent        models.AgentID
	Tool         string // exact
	Risk         models.Risk
	Text         string
	Whose        string // WhoseForMe, WhoseWaits, WhoseReads, WhoseTogether, mine, routed; empty: all
	Order        string // age, risk; empty: deadline
	After        string // the key of the page before
}

// WhoseForMe as InboxPlace.Whose leaves out what the reader may not approve.
const WhoseForMe = "me"

// WhoseWaits as InboxPlace.Whose is what the reader has signed, and others must yet.
const WhoseWaits = "signed"

// WhoseReads as InboxPlace.Whose is what the reader sees and is not asked about.
const WhoseReads = "read"

// WhoseTogether as InboxPlace.Whose is what came while everybody was busy and is of low risk.
const WhoseTogether = "together"

// FoldsAside reports whether the list leaves to lines of their own what would hide the rest.
func (p InboxPlace) FoldsAside() bool {
	return (p.Whose == "" || p.Whose == WhoseForMe) && p.Conversation == "" && p.Agent == "" && p.Tool == "" && p.Risk == "" &&
		p.Text == ""
}

// URL is the address of the place.
func (p InboxPlace) URL() string {
	return with("/", "whose", p.Whose, "conversation", string(p.Conversation), "agent", string(p.Agent), "tool", p.Tool,
		"risk", string(p.Risk), "q", p.Text, "order", p.Order, "after", p.After, "open", string(p.Open))
}

// Query is the address's query, for forms that lead back to the place; empty for the zero value.
func (p InboxPlace) Query() string {
	_, query, _ := strings.Cut(p.URL(), "?")
	return query
}

// At is the place with another request open.
func (p InboxPlace) At(open models.ResponseID) InboxPlace {
	p.Open = open
	return p
}

// Filtered reports whether the list leaves something out.
func (p InboxPlace) Filtered() bool {
	return p.Whose != "" || p.Conversation != "" || p.Agent != "" || p.Tool != "" || p.Risk != "" || p.Text != ""
}

// HistoryPlace is where in the history a reader is. The zero value is all that
// the reader may see, newest first.
type HistoryPlace struct {
	Conversation models.ConversationID
	Agent        models.AgentID
	Tool         string
	Risk         models.Risk
	Text         string
	Whose        string // mine, routed; empty: all
	Status       models.Status
	Cause        models.Cause
	By           models.UserID // who decided
	From, To     string        // dates as typed, 2006-01-02
	Zone         string        // of the dates, such as Europe/Berlin; empty: UTC
	After        string
}

// URL is the address of the place.
func (p HistoryPlace) URL() string { return p.at("/history", "") }

// Filtered reports whether the history leaves something out.
func (p HistoryPlace) Filtered() bool {
	p.After = ""
	return p != HistoryPlace{}
}

// Kept is what a saved view has of the place: its filters, as a query, without days and page.
func (p HistoryPlace) Kept() string {
	p.From, p.To, p.Zone, p.After = "", "", "", ""
	return queryOf(p.URL())
}

// ExportURL streams all that the place filters, as csv or jsonl.
func (p HistoryPlace) ExportURL(format string) string {
	p.After = ""
	return p.at("/history/export", format)
}

func (p HistoryPlace) at(path, format string) string {
	return with(path, "format", format, "whose", p.Whose, "conversation", string(p.Conversation), "agent", string(p.Agent),
		"tool", p.Tool,
		"risk", string(p.Risk), "status", string(p.Status), "cause", string(p.Cause), "by", string(p.By), "q", p.Text,
		"from", p.From, "to", p.To, "zone", p.Zone, "after", p.After)
}

// HistoryURL is all that was settled.
func HistoryURL() string { return "/history" }

// BulkURL takes the POST of one verdict on several requests.
func BulkURL() string { return "/approvals/bulk" }

// BulkUndoURL takes the POST that undoes several approvals at once.
func BulkUndoURL() string { return BulkURL() + "/undo" }

// UndoURL takes the POST that takes an approval back.
func UndoURL(id models.ResponseID) string { return ApprovalURL(id) + "/undo" }

// OpenURL takes the POST that unfolds a part of a request.
func OpenURL(id models.ResponseID) string { return ApprovalURL(id) + "/open" }

// AskBackURL takes the POST of a question to the agent and its owner.
func AskBackURL(id models.ResponseID) string { return ApprovalURL(id) + "/ask" }

// NotesURL takes the POST of an owner's answer.
func NotesURL(id models.ResponseID) string { return ApprovalURL(id) + "/notes" }

// ExtendURL takes the POST that moves a deadline.
func ExtendURL(id models.ResponseID) string { return ApprovalURL(id) + "/extend" }

// HandOverURL takes the POST that hands a request to somebody else as well.
func HandOverURL(id models.ResponseID) string { return ApprovalURL(id) + "/hand-over" }

// TakeBackHandOverURL takes the POST that ends a hand-over.
func TakeBackHandOverURL(id models.ResponseID, handOver models.HandOverID) string {
	return HandOverURL(id) + "/" + url.PathEscape(string(handOver)) + "/take-back"
}

// WithdrawDecisionURL takes the POST of an admin that takes back a decision on its
// way to another system.
func WithdrawDecisionURL(id models.ResponseID) string { return ApprovalURL(id) + "/withdraw-decision" }

// CancelURL takes the POST that withdraws a request.
func CancelURL(id models.ResponseID) string { return ApprovalURL(id) + "/cancel" }

// NewGrantURL shows, and takes by POST, the form of a grant made on a request.
func NewGrantURL(id models.ResponseID) string { return ApprovalURL(id) + "/grant" }

// GrantsURL lists grants.
func GrantsURL() string { return "/grants" }

// GrantURL shows one grant with its uses.
func GrantURL(id models.GrantID) string { return "/grants/" + url.PathEscape(string(id)) }

// RevokeGrantURL takes the POST that ends a grant.
func RevokeGrantURL(id models.GrantID) string { return GrantURL(id) + "/revoke" }
