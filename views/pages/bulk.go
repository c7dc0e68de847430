package pages

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

const (
	// MaxBulk is how many requests are decided at once at most.
	MaxBulk = 100
	// BulkUnasked is how many are decided without showing them once more.
	BulkUnasked = 5
)

// BulkInput is what the page of one verdict on several requests is made of.
type BulkInput struct {
	Verdict models.Verdict
	Reason  string
	Place   views.InboxPlace // where the inbox goes on
	Reader  models.UserID
	Items   []BulkItem // in the order they were ticked
	Ask     bool       // nothing was decided yet: the page asks whether to
	Problem string     // why nothing was looked at; empty: it was
	// ReasonError is what is wrong with the reason: then the page asks too.
	ReasonError string
}

// BulkItem is one request that was ticked.
type BulkItem struct {
	ID       models.ResponseID
	Digest   string           // as shown
	Approval *models.Approval // as it stands now; nil for what the reader does not see
	Done     bool             // the verdict was taken
	Late     bool             // it was settled otherwise
	Refused  string           // why it was not; empty: it was, or will be
}

// Open counts those that can be decided.
func (in *BulkInput) Open() int {
	n := 0
	for i := range in.Items {
		if in.Items[i].Refused == "" {
			n++
		}
	}
	return n
}

// Bulk is the view model of one verdict on several requests.
type Bulk struct {
	Title, Lead string
	Problem     string
	Ask         bool
	Verdict     string
	Button      string
	Reason      string
	ReasonError string
	Rows        []BulkRow
	Desk        string
	BackURL     string
}

// BulkRow is one of them.
type BulkRow struct {
	Pick         string // what the question sends on; empty: it is left out
	URL          string
	Tool, Kind   string
	Summary      string
	Agent        string
	Conversation string
	Risk         ui.Word
	Word         ui.Word // where it stands
	Text         string  // what became of the verdict
	Until        views.Moment
	UndoURL      string
	Desk         string // where taking it back leads
}

// NewBulk makes the page as of now.
func NewBulk(in BulkInput, now time.Time) Bulk {
	v := Bulk{
		Problem: in.Problem, Ask: in.Ask, Verdict: string(in.Verdict), Reason: in.Reason, ReasonError: in.ReasonError, Desk: in.Place.Query(), BackURL: in.Place.URL(),
	}
	done := 0
	for i := range in.Items {
		item := &in.Items[i]
		if item.Done {
			done++
		}
		v.Rows = append(v.Rows, newBulkRow(item, &in, now))
	}
	open := in.Open()
	verb, past := "Approve", "Approved"
	if in.Verdict == models.VerdictReject {
		verb, past = "Reject", "Rejected"
	}
	switch {
	case in.Problem != "":
		v.Title = "Nothing was decided"
	case in.Ask:
		v.Title, v.Button = verb+" "+requests(open)+"?", verb+" "+requests(open)
		v.Lead = "Nothing is decided yet. Look at each once more."
	default:
		v.Title = past + " " + views.Number(int64(done)) + " of " + views.Number(int64(len(in.Items)))
		v.Lead = "Each has its own outcome. Loading this page again decides nothing more."
	}
	return v
}

func newBulkRow(item *BulkItem, in *BulkInput, now time.Time) BulkRow {
	row := BulkRow{URL: views.ApprovalURL(item.ID), Text: item.Refused, Desk: in.Place.At(item.ID).Query()}
	if item.Refused == "" && in.Ask {
		row.Pick = string(item.ID) + " " + item.Digest
	}
	a := item.Approval
	if a == nil {
		row.Kind = "A request"
		return row
	}
	r := a.At(now)
	row.Tool, row.Kind, row.Summary, row.Agent, row.Conversation = a.ToolName, kindTitle(a.Kind), summary(r), a.AgentName, ConversationLabel(a)
	row.Risk, row.Word = ui.RiskWord(a.Risk), ui.StatusWord(r.Status(), r.Cause)
	switch {
	case item.Late:
		row.Text = OutcomeBy(a, in.Reader, now) + ". " + item.Refused
	case item.Done && a.HeldUntil != nil && a.Vote != nil && a.Vote.UndoUntil != nil:
		row.Word, row.Until, row.UndoURL = ui.StatusWord(models.StatusApproved, models.CauseReviewer), views.Left(*a.Vote.UndoUntil, a.Vote.At, now), views.UndoURL(a.ID)
		row.Text = "Approved by you, not told yet:"
	case item.Done:
		row.Text = OutcomeBy(a, in.Reader, now) + "."
	}
	return row
}

// requests counts them in words: "1 request", "12 requests".
func requests(n int) string {
	if n == 1 {
		return "1 request"
	}
	return views.Number(int64(n)) + " requests"
}
