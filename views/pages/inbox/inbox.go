package inbox

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/lists"
	"countersign/views/pages/people"
	"countersign/views/pages/requests"
)

// Input is what the inbox is made of.
type Input struct {
	// Place is what the list shows; Place.Open is the request beside it.
	Place views.InboxPlace
	Rows  []models.Brief // in the order of the place
	// Rights are what the reader may do with them.
	Rights map[models.ResponseID]models.Right
	// Origins say where they come from.
	Origins map[models.ResponseID]models.Origin
	// ReaskOf names the earlier rejection, of requests that an agent repeats.
	ReaskOf map[models.ResponseID]models.ResponseID
	// Aside are requests in lines of their own above the list.
	Aside models.Aside
	Admin bool // the reader may stop any agent
	// Twins are earlier approvals of the same input as a request of Rows.
	Twins map[models.ResponseID]models.Twin
	// AsOf tells answers apart by when they were read: START-NUMBER. Empty: not told.
	AsOf string
	// Count is how many pass the filters, and Waiting how many wait for the reader
	// in all; counting stops at models.StatsCap. Capped: there may be more.
	Count, Waiting int
	Cap            bool
	// Next is the key of the next page, empty on the last one.
	Next string
	// ScanCount is after how many rows the search ended early; 0: it did not.
	ScanCount int
	// Reads says that something waits that the reader sees and is not asked about.
	Reads bool
	// Reader is who looks: whose own verdicts may be taken back.
	Reader models.Voter
	// Away are absences that run and concern the reader; of the whole page.
	Away []models.Absence
	// Broken is how many decisions broke glass that the reader may acknowledge.
	Broken int
	// Gone are requests that have just left the list; each leaves a line where it
	// stood.
	Gone []models.Approval
	// Send is how many of them the reader has approved, and may still undo: they
	// are not part of Count.
	Send int
	// Done is the request that was just decided; nil: none was.
	Done *models.Approval
	// Said is what became of the request that was just decided, in words; empty:
	// none was.
	Said string
	// ConversationTitle is that of the conversation that is filtered by, a claim.
	ConversationTitle string
	// Agents are the reader's own, to choose from.
	Agents []models.Agent
	// Errors are the errors of the filters, by field.
	Errors map[string]string

	// Card is the request beside the list; nil: none is.
	Card *requests.Approval
	// Explicit says that the address names it; where there is room for one of the
	// two, it is shown and not the list.
	Explicit bool
	// Missing says that the address names one that is not there.
	Missing bool

	// Newcomer says that no request has ever come for the reader.
	Newcomer bool
	// Today are the requests that the reader decided since Midnight, latest first, of an inbox that is empty; TodayCap:
	// there may be more.
	Today    []models.Brief
	TodayCap bool
	Midnight time.Time // in the reader's zone, or UTC

	// BaseURL is the server's public address, for the example of an empty inbox.
	BaseURL string
	// FreshToken is the secret of a token that was made just now, shown once.
	FreshToken string
	FreshAgent string
}

// Inbox is the view model of the reader's pending requests.
type Inbox struct {
	Rows    []Row
	Entries []Entry // the same, with groups
	Count   int     // for the navigation: all that wait
	Shown   string
	Said    string
	Done    *DecisionNotice
	Empty   *lists.Empty
	Clear   *Clear // of an inbox in which all is done
	Aside   []AsideLine
	Filter  Filter
	Query   string // of the place, for forms that lead back to it
	ListURL string // where the list refetches itself
	Apart   bool   // the list goes along with another fragment
	AsOf    string // see Input

	NextURL   string
	NextLabel string
	FirstURL  string // back to the first page, when this is not it
	CutNote   string // how far was searched; empty: all was

	Detail Detail
	Away   []people.AwayNote // who is away, if that concerns the reader; on the whole page only
	Broken string            // how many decisions broke glass that the reader may acknowledge; empty: none did
}

// New makes the inbox as of now.
func New(in Input, now time.Time) Inbox {
	list := in.Place.At("")
	v := Inbox{
		Count: in.Waiting, Said: in.Said, ListURL: list.URL(), Query: list.Query(), AsOf: in.AsOf,
		Rows: inboxRows(in, now), Filter: newInboxFilter(in),
	}
	if !in.Place.Filtered() {
		v.Count = in.Count
	}
	v.Entries, v.Aside = foldRows(v.Rows), asideLines(in, now)
	v.Rows = drawn(v.Entries)
	v.pages(in)
	v.tally(in)
	v.Detail, v.Done, v.Away = newInboxDetail(in), newDecisionNotice(in, now), people.NewAwayNotes(in.Away, in.Reader.ID)
	switch {
	case in.Broken == 1:
		v.Broken = "One decision broke glass."
	case in.Broken > 1:
		v.Broken = views.Count(in.Broken) + " decisions broke glass."
	}
	return v
}

// pages leads to the rows that are not on this page.
func (v *Inbox) pages(in Input) {
	place := in.Place.At("")
	if in.Next != "" {
		place.After = in.Next
		v.NextURL, v.NextLabel = place.URL(), "Next "+views.Number(int64(max(len(in.Rows), 1)))
		if in.ScanCount > 0 {
			v.NextLabel = "Search further"
			v.CutNote = "Searched the " + views.Number(int64(in.ScanCount)) + " " + soonest(in.Place.Order) + "."
		}
	}
	if in.Place.After != "" {
		place.After = ""
		v.FirstURL = place.URL()
	}
}

// soonest names the first row of an order.
func soonest(order string) string {
	switch order {
	case orderByAge:
		return "oldest requests"
	case orderByRisk:
		return "requests with the highest risk"
	}
	return "requests with the soonest deadlines"
}

// tally says how many there are, and never more than was counted.
func (v *Inbox) tally(in Input) {
	count := views.Count(in.Count)
	if in.Cap && in.Count < models.StatsCap {
		count += "+"
	}
	filtered := in.Place.Filtered()
	v.Shown = count + " waiting"
	if filtered {
		v.Shown = count + " match · " + views.Count(in.Waiting) + " waiting in total"
	}
	if in.Send > 0 {
		v.Shown += " · " + views.Count(in.Send) + " sending"
	}
	if len(in.Rows) > 0 {
		return
	}
	if !in.Aside.Empty() && in.Place.After == "" {
		v.Empty = &lists.Empty{Title: "Nothing else is waiting for you", Text: "What is above is all."}
		return
	}
	v.Empty = &lists.Empty{
		Title: "Nothing is waiting for you",
		Text:  "Requests from your agents, and those that rules send to you, appear here, soonest deadline first.",
	}
	switch {
	case len(in.Errors) > 0:
		v.Shown, v.Empty = "", &lists.Empty{
			Title: "Check the filters", Text: "Correct the marked fields above, or clear the filters.",
		}
	case in.ScanCount > 0:
		v.Empty = &lists.Empty{
			Title: "Nothing found so far",
			Text:  "None of the requests searched so far match. Search further, or clear the filters.",
		}
	case in.Place.After != "":
		v.Empty = &lists.Empty{Title: "End of the list", Text: "Go back to the start to see what is waiting now."}
	case in.Place == (views.InboxPlace{Whose: views.WhoseForMe, Order: in.Place.Order, Open: in.Place.Open}) && in.Waiting > 0:
		v.Empty = &lists.Empty{Title: "Nothing for you to approve", Text: "What is waiting is for others. See it under All."}
	case in.Place == (views.InboxPlace{Whose: views.WhoseWaits, Order: in.Place.Order, Open: in.Place.Open}):
		v.Empty = &lists.Empty{Title: "Nothing waits for other signatures", Text: "What you have signed, and others must yet, appears here."}
	case in.Place == (views.InboxPlace{Whose: views.WhoseTogether, Order: in.Place.Order, Open: in.Place.Open}):
		v.Empty = &lists.Empty{Title: "Nothing waits together", Text: "Requests of low risk that come while everybody is busy appear here, if their rules say so."}
	case in.Place == (views.InboxPlace{Whose: views.WhoseReads, Order: in.Place.Order, Open: in.Place.Open}):
		v.Empty = &lists.Empty{Title: "Nothing to read", Text: "Requests that a rule lets you see, and that others decide, appear here while they wait."}
	case filtered:
		v.Empty = &lists.Empty{
			Title: "No matches", Text: "New requests that match appear here. Clear the filters to see all requests.",
		}
	case !in.Newcomer:
		v.Empty, v.Clear = &lists.Empty{Title: "All clear", Text: "Nothing is waiting for you."}, newClear(in)
	}
}
