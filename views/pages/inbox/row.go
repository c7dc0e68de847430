package inbox

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/requests"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// Row is one request in the list, or one that has just left it.
type Row struct {
	ID           string
	URL          string // the list with this request beside it
	PageURL      string // the page of the request
	Desk         string // the list with this request beside it, for its forms
	Current      bool   // it is beside the list
	Tool         string
	Kind         string // what it is called instead of the tool: a question, a proposal
	Summary      string // its headline
	Says         headline.Headline
	stopURL      string // where the reader may stop its agent; empty: nowhere
	input        string // what it would run, to tell calls apart
	Agent        string
	Origin       inputs.Origin
	Conversation string
	FilterURL    string // the inbox of this conversation
	Risk         ui.Word
	Asked        views.Moment
	Left         views.Moment
	Paused       bool   // its clock is paused
	Hidden       bool   // what it says has characters that are not seen, here or where it is cut
	Odd          bool   // it is drawn as more than its letters, here or where it is cut
	Rank         string // the place of its risk from the highest; empty: it has none
	Fold         string // what rows have in common that may be folded; empty: it is always shown

	Pick      string // what a tick sends: id and digest; empty: it is being decided, or not by the reader
	Send      string // whose verdict is on its way, revealed; empty: no one's
	Held      string // whose approval waits for its undo window, revealed
	Until     views.Moment
	UndoURL   string       // takes the approval back; empty: it is not the reader's
	Refusal   string       // whose decision was taken back, and by whom, revealed; empty: none was
	Asks      string       // who waits for an answer, revealed; empty: no one
	Escalated views.Moment // when its agent asked for more attention
	Others    bool         // only others may approve it
	Must      string       // who must approve, revealed, where the reader may not; empty: the reader may
	Behalf    string       // for whom the reader decides; empty: in their own right
	BehalfID  string
	ReaskOf   string       // leads to the earlier rejection; empty: there is none
	Twin      *inputs.Twin // that was approved before
	Same      int          // how many identical requests of the list wait as well

	Gone string // what became of it, revealed; empty: it still waits
}

// inboxRows are the requests, and among them those that have left.
func inboxRows(in Input, now time.Time) []Row {
	type placed struct {
		row Row
		a   *models.Approval
	}
	rows := make([]placed, 0, len(in.Rows)+len(in.Gone))
	waiting := make([]*models.Approval, len(in.Rows))
	for i := range in.Rows {
		waiting[i] = &in.Rows[i].Approval
	}
	same := duplicates(waiting)
	for _, a := range waiting {
		row := NewRow(a, in, now)
		if twin, ok := in.Twins[a.ID]; ok && a.HeldUntil == nil {
			row.Twin = inputs.NewTwin(a, twin, now)
		}
		row.Same = same[a.ID]
		row.from(in.Origins[a.ID])
		rows = append(rows, placed{row, a})
	}
	slices.SortStableFunc(rows, func(a, b placed) int { return order(a.row.Others) - order(b.row.Others) })
	for i := range in.Gone {
		a := &in.Gone[i]
		gone := placed{newGoneRow(a, in, now), a}
		at := slices.IndexFunc(rows, func(p placed) bool { return p.row.Others || compareInbox(p.a, a, in.Place.Order) > 0 })
		if at < 0 {
			at = len(rows)
		}
		rows = slices.Insert(rows, at, gone)
	}
	out := make([]Row, 0, len(rows))
	for _, p := range rows {
		out = append(out, p.row)
	}
	return out
}

// others is the line above the rows that only others may approve.
const others = "Waits for others"

// order has what the reader may approve come first.
func order(others bool) int {
	if others {
		return 1
	}
	return 0
}

// compareInbox orders two requests as the list does.
func compareInbox(a, b *models.Approval, order string) int {
	first := 0
	switch order {
	case orderByAge:
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	case orderByRisk:
		first = cmp.Compare(a.Risk.Rank(), b.Risk.Rank())
	}
	return cmp.Or(first, a.ApprovalTimeoutAt.Compare(b.ApprovalTimeoutAt), cmp.Compare(a.ID, b.ID))
}

// Next is what a reader goes on with after a request, in the order in which the list is drawn: of those that wait for a
// verdict of the reader's, else of anybody's, the first one behind it, else the first; empty: none waits.
func Next(in Input, after models.ResponseID, now time.Time) models.ResponseID {
	rows := drawn(foldRows(inboxRows(in, now)))
	at := slices.IndexFunc(rows, func(row Row) bool { return row.ID == string(after) })
	waits := func(row Row) bool { return row.Pick != "" && row.Asks == "" && row.ID != string(after) }
	mine := func(row Row) bool { return waits(row) && !row.Others }
	for _, is := range []func(Row) bool{mine, waits} {
		for _, some := range [][]Row{rows[at+1:], rows} {
			if n := slices.IndexFunc(some, is); n >= 0 {
				return models.ResponseID(some[n].ID)
			}
		}
	}
	return ""
}

// duplicates is how many other requests of one agent have the same digest, of each that is not alone.
func duplicates(rows []*models.Approval) map[models.ResponseID]int {
	type call struct {
		agent  models.AgentID
		digest string
	}
	same, count := inputs.IdenticalRequests(rows), map[call]int{}
	out := make(map[models.ResponseID]int, len(same))
	for _, a := range rows {
		if same[a.ID] != "" {
			count[call{a.AgentID, a.Digest}]++
		}
	}
	for _, a := range rows {
		if same[a.ID] != "" {
			out[a.ID] = count[call{a.AgentID, a.Digest}] - 1
		}
	}
	return out
}

// NewRow makes the row of one request.
func NewRow(a *models.Approval, in Input, now time.Time) Row {
	row, asked := newBareRow(a, in), words.AskedAt(&a.Response)
	row.Asked, row.Left = views.Ago(asked, now), views.Remaining(a.ApprovalTimeoutAt, asked, now)
	if a.HeldUntil == nil {
		row.Pick = string(a.ID) + " " + a.Digest
	}
	if a.EscalatedAt != nil {
		row.Escalated = views.Ago(*a.EscalatedAt, now)
	}
	if reask, ok := in.ReaskOf[a.ID]; ok {
		row.ReaskOf = views.ApprovalURL(reask)
	}
	row.held(a, in, now)
	row.rights(a, in.Rights[a.ID])
	row.stopURL = in.stopURL(a.AgentID, a.OwnerID)
	row.foldsWith(a)
	if a.OpenNote != nil {
		row.Asks, row.Paused = "Question", a.PausedLeft != nil
		if a.Note != nil {
			row.Asks = "Question from " + models.RevealString(a.Note.AuthorName, false)
		}
	}
	return row
}

// newBareRow says of a request what stays true when it leaves the list.
func newBareRow(a *models.Approval, in Input) Row {
	says := headline.Shown(&a.Response)
	row := Row{
		ID:           string(a.ID),
		URL:          in.Place.At(a.ID).URL(),
		Desk:         in.Place.At(a.ID).Query(),
		PageURL:      views.ApprovalURL(a.ID),
		Current:      a.ID == in.Place.Open,
		Tool:         a.ToolName,
		Kind:         words.KindTitle(a.Kind),
		Summary:      says.Text(),
		Says:         says,
		input:        a.Digest,
		Agent:        a.AgentName,
		Conversation: words.ConversationLabel(a),
		FilterURL:    views.InboxPlace{Conversation: a.ConversationID}.URL(),
	}
	if a.Risk != models.RiskMedium &&
		(a.Kind == models.KindToolCall || a.Risk.NeedsDigest() && a.Kind != models.KindQuestion) {
		row.Risk = ui.RiskWord(a.Risk)
	}
	if a.Kind != models.KindQuestion {
		row.Rank = strconv.Itoa(a.Risk.Rank())
	}
	row.Hidden, row.Odd = says.Unseen, says.Odd
	for _, text := range []string{row.Agent, row.Tool, says.Text()} {
		row.Hidden = row.Hidden || inputs.Findings(text).Any()
		row.Odd = row.Odd || models.IsOdd(text)
	}
	return row
}

// rights says who must approve, where the reader may not, and for whom they decide.
func (row *Row) rights(a *models.Approval, right models.Right) {
	if row.Others = !right.MayApprove; a.HeldUntil != nil {
		return
	}
	if !right.MayDecide() {
		row.Pick = ""
	}
	if row.Others {
		who := a.Approvers()
		row.Must = models.RevealString(cmp.Or(right.Progress, who.Must(), "Only others may decide it"), false)
	}
	if right.OnBehalf != nil {
		row.Behalf, row.BehalfID = right.OnBehalf.Name, string(right.OnBehalf.ID)
		row.Pick += " " + row.BehalfID
	}
}

// held says whose approval waits until it can no longer be taken back.
func (row *Row) held(a *models.Approval, in Input, now time.Time) {
	switch {
	case a.HeldUntil == nil:
	case a.Vote != nil && a.Vote.UndoUntil != nil:
		row.Held, row.Until, row.Left = "Approved by "+words.ByWhom(a.Vote), views.Seconds(*a.Vote.UndoUntil, now), views.Moment{}
		if a.Vote.UserID == in.Reader.ID {
			row.Held, row.UndoURL = "Approved by you", views.UndoURL(a.ID)
		}
	case a.UpstreamID == nil:
		row.Held, row.Until, row.Left = "Approved", views.Seconds(*a.HeldUntil, now), views.Moment{}
	}
}

// newGoneRow is a request that has left the list, as it stood, and what became of it.
func newGoneRow(a *models.Approval, in Input, now time.Time) Row {
	row := newBareRow(a, in)
	row.Gone = outcomeBy(a, in.Reader.ID, now)
	row.foldsWith(a)
	return row
}

// outcomeBy says in a few words what became of a request, and through whom:
// "Approved by you". Names are revealed.
func outcomeBy(a *models.Approval, reader models.UserID, now time.Time) string {
	r := a.At(now)
	word := ui.StatusWord(r.Status(), r.Cause).Text
	if a.Vote != nil && a.Vote.Verdict == models.VerdictAnswer {
		word = "answered"
	}
	switch {
	case r.Cause != models.CauseReviewer || a.Vote == nil:
		return words.Capitalize(word)
	case a.Vote.UserID == reader:
		if word = words.Capitalize(word) + " by you"; a.Vote.BehalfName != "" {
			word += words.BehalfWords + words.VoterName(a.Vote.BehalfName)
		}
		return word
	}
	return words.Capitalize(word) + " by " + words.ByWhom(a.Vote)
}

// from says where the request comes from.
func (row *Row) from(o models.Origin) {
	row.Origin = inputs.NewOrigin(o, row.Agent)
	if o.Delivery != nil {
		row.Send = inputs.TellingText(o)
	} else {
		row.Refusal = requests.RefusedMark(o)
	}
}

// signal is something about a request that its headline does not say. The request beside the list says more.
type signal struct {
	Text  string       // revealed
	At    views.Moment // follows Text; zero: none does
	Warns bool
}

// signals are what makes the row unlike others, warnings first.
func (row Row) signals() []signal {
	var out []signal
	add := func(is bool, s signal) {
		if is {
			out = append(out, s)
		}
	}
	toLeft := models.HasRightToLeft(row.Tool + row.Agent + row.Summary)
	add(row.Hidden, signal{Text: "Hidden characters", Warns: true})
	add(toLeft, signal{Text: models.RightToLeftNote, Warns: true})
	add(row.Odd && !row.Hidden && !toLeft, signal{Text: "Mixed or look-alike letters", Warns: true})
	add(row.Refusal != "", signal{Text: row.Refusal, Warns: true})
	add(row.Send != "", signal{Text: row.Send, Warns: true})
	add(row.ReaskOf != "", signal{Text: "Rejected before", Warns: true})
	if row.Twin != nil && row.Twin.Warns {
		add(true, signal{Text: "Same as", At: row.Twin.At, Warns: true})
	}
	add(!row.Escalated.IsZero(), signal{Text: "Escalated", At: row.Escalated})
	add(row.Asks != "", signal{Text: row.Asks + ": waits for an answer"})
	add(row.Behalf != "", signal{Text: "For " + models.RevealString(row.Behalf, false)})
	add(row.Must != "", signal{Text: row.Must})
	add(row.Same > 0, signal{Text: requestsOf(row.Same, "duplicate", "duplicates")})
	return out
}

// warn reports whether one of the signals warns.
func warn(signals []signal) bool {
	return slices.ContainsFunc(signals, func(s signal) bool { return s.Warns })
}

// special reports whether the row has a signal other than that it is asked for twice, or who must approve it.
func (row Row) special() bool {
	row.Same, row.Must = 0, ""
	return len(row.signals()) > 0
}

// pickLabel names the tick of a row.
func (row Row) pickLabel() string {
	return "Select “" + models.RevealString(row.Says.Short(words.TitleLength), false) + "”"
}

// Decided says in one line what became of a request that was just decided:
// "Approved by you: “Run: rm -rf build/” from release-bot." Untrusted text is revealed.
func Decided(a *models.Approval, reader models.UserID, now time.Time) string {
	what := ": “" + models.RevealString(headline.Shown(&a.Response).Short(words.TitleLength), false) + "” from " +
		models.RevealString(a.AgentName, false)
	if a.HeldUntil != nil && a.Vote != nil && a.Vote.UndoUntil != nil {
		return "Approved by you" + what + ". You can undo it until it is sent."
	}
	if a.Status() == models.StatusPending {
		if a.HeldUntil != nil {
			return "Your decision is being sent" + what + "."
		}
		return "Waiting again" + what + "."
	}
	return outcomeBy(a, reader, now) + what + "."
}
