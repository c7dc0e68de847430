package conversations

import (
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/outcomes"
	"countersign/views/pages/requests"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// spokenMost is how much of a message is open; the rest opens on a press.
const spokenMost = 4000

// HistoryEntry is one thing of a conversation's history. Which of its parts are
// there depends on what it is.
type HistoryEntry struct {
	ID       string // of the element
	Sequence string
	Kind     string // message, notice, reply, proposal, tool_call, question, budget or step
	At       views.Moment
	Who      string // the registered name, or a person's
	Does     string // what the one who did it did
	URL      string // of the request's own page
	Meta     string // model and energy

	Text, Rest string // of a message: the open part, and the part that opens
	Markdown   string
	Source     ui.Code
	Tool       string
	Summary    string
	Word       ui.Word
	Asked      string // the budget that a proposal would like
	Outcome    *outcomes.Outcome
	Reason     string
	AboutURL   string // of what a message or change was about
	About      string

	Batch  *Batch // set for calls that were queued at once: then it is all there is
	Origin inputs.Origin
	Notes  []inputs.Note

	Notice string             // the text in place of a message
	Ask    *requests.Approval // set while it waits: what a decider reads, and the forms
	AskURL string             // where the entry refetches itself
	Topic  string
}

// overText says who decided the request of the entry, and how; empty: it waits for its reader.
func (v HistoryEntry) overText() string {
	switch {
	case v.Ask != nil:
		return v.Ask.OverText()
	case v.Outcome != nil && v.Outcome.By != "":
		return words.Capitalize(v.Outcome.Word.Text) + " by " + v.Outcome.ByWhom() + "."
	case v.Outcome != nil:
		return words.Capitalize(v.Outcome.Word.Text) + ". " + v.Outcome.CauseText
	}
	return ""
}

// entryID is the id of an entry's element.
func entryID(sequence int64) string { return "entry-" + strconv.FormatInt(sequence, 10) }

// MayBeEarlier reports whether an entry may be on a page before the last one of its conversation's history.
func MayBeEarlier(c *models.Conversation, sequence int64) bool {
	return sequence < c.NextSequence-HistoryPage
}

// EntryURL leads to an entry in its conversation, on its page.
func EntryURL(c *models.Conversation, sequence int64) string {
	before := int64(0)
	if MayBeEarlier(c, sequence) {
		before = sequence + 1
	}
	return views.ConversationPageURL(c.ID, before) + "#" + entryID(sequence)
}

// NewHistoryEntry makes one entry as of now.
func NewHistoryEntry(
	c *models.ConversationView, e *models.HistoryEntry, around HistoryAround, now time.Time,
) HistoryEntry {
	v := HistoryEntry{
		Sequence: strconv.FormatInt(e.Sequence, 10), At: views.Ago(e.At, now), Topic: views.ConversationTopic(c.ID),
	}
	v.ID = entryID(e.Sequence)
	switch {
	case e.Message != nil:
		v.message(e.Message)
	case e.Budget != nil:
		v.step(e.Budget)
	case e.Response != nil:
		v.response(c, e.Response, around, now)
	}
	return v
}

func (v *HistoryEntry) message(m *models.Message) {
	v.Kind, v.Who, v.Does = "message", m.AuthorName, "said"
	switch m.AuthorKind {
	case models.ActorUser:
	case models.ActorAgent: // its word, and no person's
		v.Kind, v.Who = "notice", "User (reported by "+m.AuthorName+")"
	case models.ActorSystem, models.ActorOperator:
		v.Kind, v.Who, v.Does = "notice", "Countersign", "says"
	}
	if v.Notes = inputs.RemovedNotes(m.Removed); m.Removed == nil {
		v.Text, v.Rest = fold(m.Content, spokenMost)
		v.keptCut(m.ContentBytes)
	}
	if m.ResponseID != nil {
		v.AboutURL, v.About = views.ApprovalURL(*m.ResponseID), "with a decision"
	}
}

// keptCut says that of a content of length bytes only the beginning is kept; nil:
// it is whole.
func (v *HistoryEntry) keptCut(length *int64) {
	if length != nil {
		v.Notes = append(v.Notes,
			inputs.Note{Tone: views.ToneNeutral, Text: views.Number(*length) + " bytes long; only the beginning is kept."})
	}
}

func (v *HistoryEntry) step(b *models.BudgetStep) {
	v.Kind, v.Who, v.Reason = "step", b.ActorName, b.Reason
	if b.ActorKind == models.ActorSystem {
		v.Who = "Countersign"
	}
	switch {
	case b.Old == nil:
		v.Does = "set the budget to " + views.Number(b.New)
	case *b.Old == b.New:
		v.Does = "kept the budget at " + views.Number(b.New)
	case *b.Old < b.New:
		v.Does = "raised the budget from " + views.Number(*b.Old) + " to " + views.Number(b.New)
	default:
		v.Does = "lowered the budget from " + views.Number(*b.Old) + " to " + views.Number(b.New)
	}
	if b.ResponseID != nil {
		v.AboutURL, v.About = views.ApprovalURL(*b.ResponseID), "by a decision"
	}
}

func (v *HistoryEntry) response(c *models.ConversationView, a *models.Approval, around HistoryAround, now time.Time) {
	r := a.At(now)
	v.Kind, v.Who, v.URL = string(r.Kind), a.AgentName, views.ApprovalURL(r.ID)
	v.Meta = spent(r)
	if r.Kind != models.KindReply {
		v.Word = ui.StatusWord(r.Status(), r.Cause)
	}
	if r.EnergyBudget != nil && r.Kind == models.KindProposal {
		v.Asked = views.Number(*r.EnergyBudget)
	}
	switch r.Kind {
	case models.KindReply:
		v.Does = "replied"
	case models.KindProposal:
		v.Does = "proposed"
	case models.KindToolCall:
		v.Does, v.Tool = "called", r.ToolName
	case models.KindQuestion:
		v.Does = "asked"
	case models.KindBudget:
		v.Does = "asked for a budget"
		if r.AsksForAllowance() {
			v.Does = "asked for " + words.Thousands(outcomes.AskedSum(r)) + " more energy, for all its conversations"
		} else if sum, err := models.BudgetAsked([]byte(r.ToolInputJSON)); err == nil {
			v.Does += " of " + views.Number(sum)
		}
	}
	origin := around.Run.Origins[a.ID]
	v.Origin = inputs.NewOrigin(origin, a.AgentName)
	if r.Status() == models.StatusPending {
		v.ask(c, a, around, now)
		return
	}
	v.Notes = append(inputs.OriginNotes(origin), inputs.RemovedNotes(r.Removed)...)
	if !r.IsRemoved() {
		v.keptCut(origin.ContentBytes)
	}
	if d := around.Decided; d != nil && d.ID == a.ID {
		v.Notice = lateNotice(a, d.Late, now)
	}
	switch r.Kind {
	case models.KindReply, models.KindProposal:
		if r.IsRemoved() {
			break
		}
		v.Markdown = r.Content
		v.Source = ui.Code{
			ID: v.ID + "-source", Label: "Source, as " + models.RevealString(a.AgentName, false) + " wrote it", Text: r.Content,
		}
	case models.KindQuestion, models.KindBudget:
		if !r.IsRemoved() {
			v.Text, v.Rest = fold(r.Description, spokenMost)
		}
	case models.KindToolCall:
		v.Summary = words.Summary(r)
		if (r.LetThrough() || r.Status() == models.StatusRan) && !r.IsRemoved() && r.Description != "" {
			v.Reason = words.OneLine(r.Description)
		}
	}
	if r.Status() != models.StatusNone {
		v.Outcome = outcomes.New(a, r, now)
		v.Word = v.Outcome.Word // answered is more than approved
	}
}

// ask fills in what a decider reads: the forms of the approval page, with ids of
// their own and leading back here.
func (v *HistoryEntry) ask(c *models.ConversationView, a *models.Approval, around HistoryAround, now time.Time) {
	in := requests.Input{
		Approval: *a, Substitution: models.ActingPage{Right: around.Run.Rights[a.ID]}, Reader: c.Reader,
		Budget: new(c.Budget()),
		Shares: around.Shares, Origin: around.Run.Origins[a.ID], Opened: around.Run.Opened[a.ID], IDs: v.ID + "-",
	}
	if d := around.Decided; d != nil && d.ID == a.ID {
		in.Late, in.Form = d.Late, d.Form
	}
	ask := requests.New(in, now)
	for i := range ask.Blocks {
		ask.Blocks[i].ID, ask.Blocks[i].OpenInto = ask.Anchor(ask.Blocks[i].ID), ""
	}
	for _, c := range [...]*ui.Code{&ask.Whole, &ask.Raw, &ask.Other, &ask.Beside} {
		c.ID, c.OpenInto = ask.Anchor(c.ID), ""
	}
	if ask.Linked != nil && ask.Linked.Input != nil {
		ask.Linked.Input.ID = ask.Anchor(ask.Linked.Input.ID)
	}
	ask.DecideURL = views.ConversationDecideURL(c.ID, a.ID)
	ask.Turns = nil
	v.Ask, v.AskURL = &ask, views.ConversationEntryURL(c.ID, a.ID)
}

// spent is which model wrote a response and what it cost.
func spent(r *models.Response) string {
	var parts []string
	if r.ModelUsed != "" {
		parts = append(parts, models.RevealString(r.ModelUsed, false))
	}
	if r.Energy > 0 {
		parts = append(parts, views.Number(r.Energy)+" energy")
	}
	return strings.Join(parts, " · ")
}

// fold splits a text behind its first most characters.
func fold(s string, most int) (open, rest string) {
	open, length := ui.Cut(s, most)
	if length <= most {
		return s, ""
	}
	return open, s[len(open):]
}

// lateNotice says what the outcome is when a decision came too late for a request.
func lateNotice(a *models.Approval, late models.Verdict, now time.Time) string {
	return requests.New(requests.Input{Approval: *a, Late: late}, now).Notice
}
