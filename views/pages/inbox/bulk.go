package inbox

import (
	"cmp"
	"strconv"
	"time"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

const (
	// MaxBulk is how many requests are decided at once at most.
	MaxBulk = 100
	// BulkUnasked is how many are decided without showing them once more.
	BulkUnasked = 5
)

// BulkInput is what the confirmation of one verdict on several requests, and its
// outcome, are made of.
type BulkInput struct {
	Verdict models.Verdict
	Reason  string
	Place   views.InboxPlace // where the inbox goes on
	Reader  models.UserID
	Items   []BulkItem // in the order they were ticked
	Ask     bool       // nothing was decided yet: it asks whether to
	Undo    bool       // the approvals were to be undone
	Problem string     // why nothing was looked at; empty: it was
	// ReasonError is the error of the reason: then it asks too.
	ReasonError string
	// TickError says that nothing was ticked.
	TickError string
}

// BulkItem is one request that was ticked in the list.
type BulkItem struct {
	ID       models.ResponseID
	Digest   string           // as shown
	Behalf   models.UserID    // for whom the verdict was shown to count; empty: in their own right
	Right    models.Right     // of the reader, of one that waits
	Approval *models.Approval // as it is now; nil for what the reader does not see
	Twin     *models.Twin
	ReaskOf  models.ResponseID
	LeftOut  []string // why it is left out until it was opened
	Opened   bool     // the reader has opened it in a confirmation
	Ticks    bool     // in the confirmation
	Done     bool     // the verdict was taken
	Late     bool     // it was settled otherwise
	Refusal  string   // why it was not; empty: it was, or will be
}

// pick is what a tick of it sends: for whom it is decided is as shown now, where it is asked
// once more.
func (item *BulkItem) pick() string {
	pick := string(item.ID) + " " + item.Digest
	if item.Right.OnBehalf != nil {
		pick += " " + string(item.Right.OnBehalf.ID)
	}
	return pick
}

// Open counts those that can be decided.
func (in *BulkInput) Open() int {
	n := 0
	for i := range in.Items {
		if in.Items[i].Refusal == "" {
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
	Undo        *BulkUndo
	UndoNote    string // why some, or all, can't be undone
}

// BulkUndo takes all that is held back at once.
type BulkUndo struct {
	Text  string
	IDs   []string
	Until views.Moment // of the last
}

// BulkRow is one of them.
type BulkRow struct {
	ID           string
	Row          string // what the question sends on of each: id and digest
	Pick         string // its tick, the same; empty: it can't be ticked
	Ticks        bool
	OpenID       string // of the button that opens it; empty: it need not be, or is open
	Why          []string
	URL          string
	Tool, Kind   string
	Summary      string
	Short        string // the same with less of its telling part
	Agent        string
	Conversation string
	Risk         ui.Word
	Word         ui.Word // its state
	Text         string  // what became of the verdict
	Behalf       string  // for whom it is decided; empty: in the reader's own right

	Warnings    []inputs.Warning
	Twin        *inputs.Twin
	Reask       string
	Same        string
	Description string
	Source      *ui.Code
}

// NewBulk makes the page as of now.
func NewBulk(in BulkInput, now time.Time) Bulk {
	v := Bulk{
		Problem: in.Problem, Ask: in.Ask, Verdict: string(in.Verdict), Reason: in.Reason, ReasonError: in.ReasonError,
		Desk: in.Place.Query(), BackURL: in.Place.URL(),
	}
	if in.TickError != "" {
		v.Problem = in.TickError
	}
	var rows []*models.Approval
	for i := range in.Items {
		if a := in.Items[i].Approval; a != nil && in.Items[i].Refusal == "" {
			rows = append(rows, a)
		}
	}
	same := inputs.IdenticalRequests(rows)
	done, leftOut, refusal := 0, 0, 0
	for i := range in.Items {
		item := &in.Items[i]
		if item.Done {
			done++
		}
		switch {
		case item.Refusal != "":
			refusal++
		case len(item.LeftOut) > 0 && !item.Opened:
			leftOut++
		}
		row := newBulkRow(item, &in, now)
		if other := same[item.ID]; other != "" && in.Ask {
			row.Same = views.ApprovalURL(other)
		}
		v.Rows = append(v.Rows, row)
	}
	verb, past := "Approve", "Approved"
	if in.Verdict == models.VerdictReject {
		verb, past = "Reject", "Rejected"
	}
	if in.Undo {
		past = "Undone"
	}
	switch {
	case in.Problem != "":
		v.Title = "Nothing was decided"
	case in.Ask:
		v.Title, v.Button = verb+" "+requestCount(in.Open())+"?", verb+" selected"
		if leftOut+refusal > 0 {
			v.Title = verb + " which of " + requestCount(len(in.Items)) + "?"
		}
		v.Lead = "Nothing is decided yet."
		if leftOut > 0 {
			v.Lead += " " + requestsOf(leftOut, "request is", "requests are") + " not selected: open each one, then select it."
		}
		if refusal > 0 {
			v.Lead += " " + requestsOf(refusal, "request", "requests") + " can't be decided here."
		}
	default:
		v.Title = past + " " + views.Number(int64(done)) + " of " + views.Number(int64(len(in.Items)))
		v.undo(&in, done, now)
	}
	return v
}

// undo offers one button for all decisions that are still held, and names the others.
func (v *Bulk) undo(in *BulkInput, done int, now time.Time) {
	if in.Undo || done == 0 {
		return
	}
	var last time.Time
	ids := []string{}
	for i := range in.Items {
		a := in.Items[i].Approval
		if !in.Items[i].Done || a.HeldUntil == nil || a.Vote == nil || a.Vote.UndoUntil == nil ||
			!now.Before(*a.Vote.UndoUntil) {
			continue
		}
		ids = append(ids, string(a.ID))
		if a.Vote.UndoUntil.After(last) {
			last = *a.Vote.UndoUntil
		}
	}
	if len(ids) > 0 {
		v.Undo = &BulkUndo{
			Text: "Approved " + strconv.Itoa(len(ids)) + " – sends in", IDs: ids, Until: views.Seconds(last, now),
		}
	}
	switch sent := done - len(ids); {
	case sent == 0:
	case in.Verdict == models.VerdictReject:
		v.UndoNote = "Rejections are sent at once and can't be undone."
	default:
		v.UndoNote = requestsOf(sent, "approval was", "approvals were") + " sent at once and can't be undone."
	}
}

func newBulkRow(item *BulkItem, in *BulkInput, now time.Time) BulkRow {
	row := BulkRow{ID: string(item.ID), URL: views.ApprovalURL(item.ID), Text: item.Refusal}
	if in.Ask {
		row.Row = item.pick()
	}
	if item.Refusal == "" && in.Ask {
		row.Why = item.LeftOut
		if len(item.LeftOut) == 0 || item.Opened {
			row.Pick, row.Ticks = row.Row, item.Ticks
		}
	}
	a := item.Approval
	if a == nil {
		row.Kind = "A request"
		return row
	}
	r := a.At(now)
	row.Tool, row.Kind, row.Summary, row.Agent, row.Conversation = a.ToolName, words.KindTitle(a.Kind), words.Summary(r), a.AgentName, words.ConversationLabel(a)
	row.Short = headline.Shown(r).Short(words.TitleLength)
	row.Risk, row.Word = ui.RiskWord(a.Risk), ui.StatusWord(r.Status(), r.Cause)
	if in.Ask && r.Status() == models.StatusPending {
		row.marks(item, now)
		if item.Right.OnBehalf != nil {
			row.Behalf = item.Right.OnBehalf.Name
		}
	}
	switch {
	case item.Late:
		row.Text = outcomeBy(a, in.Reader, now) + ". " + item.Refusal
	case item.Done && in.Undo:
		row.Text = "Waiting for a decision again."
	case item.Done && a.HeldUntil != nil && a.Vote != nil && a.Vote.UndoUntil != nil:
		row.Word = ui.StatusWord(models.StatusApproved, models.CauseReviewer)
		row.Text = "Approved by you, not sent yet."
	case item.Done:
		row.Text = outcomeBy(a, in.Reader, now) + "."
	}
	return row
}

// marks are all that its card would warn of, and its source once it is opened.
func (row *BulkRow) marks(item *BulkItem, now time.Time) {
	a := item.Approval
	input := inputs.New(&a.Response, inputs.Folding{})
	row.Warnings = inputs.Warnings(a, "", input)
	if item.Twin != nil {
		row.Twin = inputs.NewTwin(a, *item.Twin, now)
	}
	if item.ReaskOf != "" {
		row.Reask = views.ApprovalURL(item.ReaskOf)
	}
	if len(row.Why) == 0 {
		return
	}
	if !item.Opened {
		row.OpenID = string(item.ID)
		return
	}
	source := input.Whole
	source.ID, source.Opened, source.OpenURL = "source-"+row.ID, true, ""
	row.Source, row.Description = &source, a.Description
}

// labelText names the request of a row in words.
func (row BulkRow) labelText() string {
	return cmp.Or(models.RevealString(row.Short, false), row.Kind)
}

func (row BulkRow) pickLabel() string { return "Select “" + row.labelText() + "”" }

// goOnVariant makes going on the plain button beside the one that undoes.
func (v Bulk) goOnVariant() string {
	if v.Undo != nil {
		return "outline"
	}
	return "primary"
}

// requests counts them in words: "1 request", "12 requests".
func requestCount(n int) string { return requestsOf(n, "request", "requests") }

func requestsOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return views.Number(int64(n)) + " " + many
}
