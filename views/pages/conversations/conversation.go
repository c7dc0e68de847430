package conversations

import (
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inbox"
	"countersign/views/pages/requests"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// HistoryPage is how many entries of a history are on one page.
const HistoryPage = 50

// Input is what the page of one conversation is made of.
type Input struct {
	Conversation models.ConversationView
	History      models.History
	// Before is the sequence that follows the page; 0: it is the end.
	Before int64
	// Waiting are the requests of the conversation that wait, newest first.
	Waiting []models.Approval
	// Budget is the panel of the conversation's budget; nil: a line says it.
	Budget templ.Component
	// Parent is the run that started this one, Children those that it started.
	Parent   *models.RunLink
	Children []models.RunLink
	Draft    *Draft
	Say      SayForm
	Rename   RenameForm
	Around   HistoryAround
}

// HistoryAround is what entries are drawn with besides themselves.
type HistoryAround struct {
	// Decided is the decision that was sent about one request, and its result.
	Decided *FailedDecision
	// Run has the facts about the calls and where requests come from.
	Run RunAround
	// Shares say what energy was spent on, where a budget request waits.
	Shares []models.EnergyShare
}

// Draft is what the built-in agent is writing: nothing of it is stored.
type Draft struct{ Text, Model string }

// RenameForm is the title as sent, with its error.
type RenameForm struct {
	Title string
	Error string
}

// FailedDecision is a decision that was refused, with its request.
type FailedDecision struct {
	ID   models.ResponseID
	Late models.Verdict
	Form requests.DecideForm
}

// Conversation is the view model of one conversation.
type Conversation struct {
	Name       string // of the whole page
	Head       Head
	Trouble    string // a message that was sent and refused; its place is TroubleAt
	TroubleAt  string
	Budget     templ.Component
	BudgetLine string
	Facts      Facts

	Entries  []HistoryEntry
	Begins   bool   // the history's beginning is on this page
	Earlier  string // the page before
	Later    string // the page that holds all of the next entries
	AtEnd    bool   // new entries are shown here
	AfterURL string
	Topic    string
	EndURL   string
	Empty    bool

	Elsewhere []inbox.Row // pending requests that are not on this page
	Draft     DraftView
	Composer  Composer
}

// Head says what the conversation is and steers it.
type Head struct {
	Title, NoTitle       string // one of the two
	Status               ui.Word
	Marks                []ui.Word
	Agent, Owner         string
	BuiltIn              bool
	MayPause, MayResume  bool
	MayStop              bool
	Archived             bool
	State                string
	URL, Topic           string
	SteerURL, RenameURL  string
	Rename               RenameForm
	Kept                 bool
	Began, Active        views.Moment
	PausedAt, ArchivedAt views.Moment
}

// Facts say what the conversation belongs to.
type Facts struct {
	RunID, ParentRunID string
	InboxURL           string
	Pending            int
	Parent             *RunLink
	Children           []RunLink
	AfterRejection     AfterRejection
}

func (f Facts) any() bool {
	return f.RunID != "" || f.ParentRunID != "" || f.Parent != nil || len(f.Children) > 0 || f.AfterRejection.URL != ""
}

// DraftView is where the draft is shown; it refetches itself.
type DraftView struct {
	URL, Topic  string
	Text, Model string
	Agent       string
}

// New makes the page of one conversation as of now.
func New(in Input, now time.Time) Conversation {
	c := &in.Conversation
	v := Conversation{
		Name:   words.ConversationName(c),
		Head:   NewHead(c, in.Rename, now),
		Budget: in.Budget, BudgetLine: budgetLine(c.Budget()),
		Facts: Facts{
			RunID: words.Deref(c.RunID), ParentRunID: words.Deref(c.ParentRunID),
			InboxURL: views.InboxPageURL(c.ID, ""), Pending: c.Pending,
		},
		Begins: in.History.Before == 0, AtEnd: in.Before == 0,
		AfterURL: views.ConversationAfterURL(c.ID, in.History.After), Topic: views.ConversationTopic(c.ID),
		EndURL: views.ConversationEndURL(c.ID),
		Draft:  NewDraft(c, in.Draft), Composer: NewComposer(c, in.Say),
	}
	if !v.Begins {
		v.Earlier = views.ConversationPageURL(c.ID, in.History.Before) + "#end"
	}
	shown := map[models.ResponseID]bool{}
	for i := range in.History.Entries {
		if r := in.History.Entries[i].Response; r != nil {
			shown[r.ID] = true
		}
	}
	v.Entries = NewHistoryEntries(c, in.History.Entries, in.Around, now)
	v.Facts.family(in)
	v.Facts.AfterRejection = newAfterRejection(c)
	if later := in.History.After + HistoryPage + 1; !v.AtEnd && later < c.NextSequence {
		v.Later = views.ConversationPageURL(c.ID, later)
	}
	v.Empty = len(v.Entries) == 0
	v.trouble(in)
	for i := range in.Waiting {
		if a := &in.Waiting[i]; !shown[a.ID] {
			v.Elsewhere = append(v.Elsewhere, inbox.NewRow(a, inbox.Input{}, now))
		}
	}
	return v
}

// trouble says at the top of the page that something was not taken, for the page
// may open far from where it is said.
func (v *Conversation) trouble(in Input) {
	switch {
	case in.Around.Decided != nil:
		for i := range in.History.Entries {
			if r := in.History.Entries[i].Response; r != nil && r.ID == in.Around.Decided.ID {
				v.Trouble, v.TroubleAt = "Your decision on #"+strconv.FormatInt(r.Sequence,
					10)+" was not saved.", "#"+entryID(r.Sequence)
			}
		}
	case len(in.Say.Errors) > 0:
		v.Trouble, v.TroubleAt = "Your message was not sent. It is still in the form.", "#composer"
	}
}

// NewHead makes the head alone, for its own refetch.
func NewHead(c *models.ConversationView, rename RenameForm, now time.Time) Head {
	ended := c.Status == models.ConversationCompleted || c.Status == models.ConversationFailed
	h := Head{
		Title: words.ConversationTitle(c), Agent: c.AgentName, Owner: c.OwnerName, BuiltIn: c.BuiltIn,
		Status:   ui.ConversationWord(c.Status),
		MayPause: c.PausedAt == nil && !ended, MayResume: c.PausedAt != nil, MayStop: !ended, Archived: c.ArchivedAt != nil,
		URL: views.ConversationPartURL(c.ID, "head"), Topic: views.ConversationTopic(c.ID),
		SteerURL: views.SteerURL(c.ID), RenameURL: views.RenameURL(c.ID), Rename: rename, Kept: rename.Error != "",
		Began: views.Ago(c.CreatedAt, now), Active: views.Ago(c.UpdatedAt, now),
		PausedAt: views.AgoOf(c.PausedAt, now), ArchivedAt: views.AgoOf(c.ArchivedAt, now),
	}
	if h.Title == "" {
		h.NoTitle = words.ConversationName(c)
	}
	if !h.Kept {
		h.Rename.Title = withoutHidden(c.Title)
	}
	if c.PausedAt != nil {
		h.Marks = append(h.Marks, ui.Word{Text: "paused", Tone: views.ToneWarn, Icon: "pause"})
	}
	if c.ArchivedAt != nil {
		h.Marks = append(h.Marks, ui.Word{Text: "archived", Tone: views.ToneNeutral})
	}
	marks := make([]string, 0, len(h.Marks))
	for _, m := range h.Marks {
		marks = append(marks, m.Text)
	}
	h.State = string(c.Status) + " " + strings.Join(marks, " ") + " " + models.Digest([]byte(c.Title))
	return h
}

// withoutHidden leaves out characters that a field to be edited would hide.
func withoutHidden(s string) string {
	segments, found := models.Reveal(s, false)
	if !found.Any() {
		return s
	}
	var b strings.Builder
	for _, seg := range segments {
		if !seg.Escape {
			b.WriteString(seg.Text)
		}
	}
	return b.String()
}

// NewDraft makes the draft alone, for its own refetch; nil: nothing is written.
func NewDraft(c *models.ConversationView, d *Draft) DraftView {
	v := DraftView{URL: views.ConversationDraftURL(c.ID), Topic: views.DraftTopic(c.ID), Agent: c.AgentName}
	if d != nil {
		v.Text, v.Model = d.Text, d.Model
	}
	return v
}

// budgetLine says in one line how much is spent and left.
func budgetLine(b models.Budget) string {
	if b.Total == nil {
		return views.Number(b.Used) + " energy spent, no limit"
	}
	line := views.Number(b.Used) + " of " + views.Number(*b.Total) + " energy spent"
	if b.Reserved > 0 {
		line += ", " + views.Number(b.Reserved) + " reserved"
	}
	return line + ", " + views.Number(*b.Remaining()) + " left"
}
