package requests

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/outcomes"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// Card is what the card of a request offers beside the request itself. The zero value offers nothing, as for a request
// among others.
type Card struct {
	Pane bool   // it is beside the inbox's list
	Desk string // where in the inbox that is: the query of its address

	OpenFirst    string // says what to open before approving; empty: nothing
	OpenFirstURL string // leads to that part
	Undo         *Undo
	UndoFor      string // how long an approval can be taken back; empty: not at all

	Presets  []Preset
	Fields   []FieldEditor
	AskBack  *AskBack
	Extend   *Extend
	Cancel   string // where withdrawing is sent; empty: it is not offered
	GrantURL string
	Thread   Thread

	PolicyNow string       // what the policy would say by now, if it has changed
	Twin      *inputs.Twin // that was approved before
	// Duplicates wait for the very same.
	Duplicates []Duplicate
	Before     *EarlierCalls
	Reask      *Reask
	Compared   []Comparison
	Batch      *BatchFact
	Result     *ui.Code
	NextURL    string
	NextLabel  string
}

// Undo is an approval that the reader may still take back.
type Undo struct {
	URL   string
	Left  views.Moment
	Until string // for scripts
}

// Preset is a reason to reject that the rule offers.
type Preset struct {
	ID, Text string
	Chosen   bool
}

// OverText says who did what with a request that its reader can't decide any more;
// empty: they can.
func (v Approval) OverText() string {
	switch {
	case v.Pending && v.decides():
		return ""
	case v.Undo != nil:
		return "You approved this."
	case v.Held != "":
		return v.Held
	case v.Outcome == nil:
		return "Only others can decide this now."
	case v.Outcome.By != "":
		return words.Capitalize(v.settledWord()) + "."
	}
	return words.Capitalize(v.Outcome.Word.Text) + ". " + v.Outcome.CauseText
}

// afterURL is where somebody goes on after a request that is over.
func (v Approval) afterURL() string {
	if v.NextURL != "" {
		return v.NextURL
	}
	return views.InboxURL()
}

// AskBack is the form of a question to the agent and its owner.
type AskBack struct {
	URL   string
	Means string // what it does to the clock
}

// Extend is the form that moves the deadline.
type Extend struct {
	URL     string
	Choices []ExtendChoice
	Most    string // how far it may be moved, in words
}

// ExtendChoice is a length that may be added.
type ExtendChoice struct {
	Minutes string
	Label   string
}

// LastChoice is the value of the choice that adds as much as may be.
const LastChoice = "most"

// state changes when a reader must look again: with the outcome, the content, a verdict on its way, the deadline, the
// notes, and a possible duplicate.
func (v Approval) state(r *models.Response) string {
	parts := []string{
		string(r.Status()), r.Digest, v.Held, r.ApprovalTimeoutAt.UTC().Format(time.RFC3339),
		strconv.Itoa(len(v.Thread.Notes)), v.OpenFirst + v.proposedState() + v.Signatures.state(),
	}
	parts = append(parts, v.Substitution.state()...)
	if v.Twin != nil && v.Twin.Warns {
		parts = append(parts, v.Twin.URL)
	}
	if n := len(v.Withdrawn); n > 0 {
		parts = append(parts, "withdrawn:"+strconv.Itoa(n))
	}
	return strings.Join(parts, " ")
}

func (v *Approval) card(in Input, now time.Time) {
	v.Pane, v.Desk = (in.Pane || in.Desk != "") && !in.OwnPage, in.Desk
	if in.Next != nil {
		v.NextURL, v.NextLabel = views.ApprovalURL(in.Next.ID), headline.Shown(&in.Next.Response).Short(words.TitleLength)
	}
	if in.Result != nil {
		v.Result = resultOf(in)
	}
	a := &in.Approval
	v.requireOpening(in)
	v.Presets = rejectPresets(in.Around, in.Form, v.IDs)
	v.Fields = newFieldEditors(*v, in)
	if in.Around == nil {
		return
	}
	around := in.Around
	v.around(in, now)
	if !v.Pending {
		return
	}
	if vote := a.Vote; a.HeldUntil != nil && vote != nil && vote.UserID == in.Reader.ID && vote.UndoUntil != nil &&
		now.Before(*vote.UndoUntil) {
		v.Undo = &Undo{
			URL: views.UndoURL(v.ID), Left: views.Seconds(*vote.UndoUntil, now),
			Until: vote.UndoUntil.UTC().Format(time.RFC3339Nano),
		}
	}
	if in.Sees && !in.Watches && !v.Outside {
		v.Cancel = views.CancelURL(v.ID)
	}
	if v.Held != "" || v.Outside || !in.MayDecide() {
		return
	}
	if around.UndoFor > 0 {
		v.UndoFor = views.Duration(around.UndoFor)
	}
	v.AskBack = newAskBack(a, around.MaxPause, now)
	v.Extend = newExtend(a, around.MaxTimeout, now)
	if in.Sees && v.NoApprove == "" && in.Substitution.OnBehalf == nil && around.GrantsEnabled &&
		a.Kind == models.KindToolCall && !a.DecidedAlone() && !a.DrawnInPart() {
		v.GrantURL = views.NewGrantURL(v.ID)
	}
}

// requireOpening keeps a request from being approved until all folded parts were opened.
func (v *Approval) requireOpening(in Input) {
	if !v.Pending || !in.MayDecide() || v.Closed != "" || v.NoApprove != "" {
		return
	}
	fold := in.Approval.Unopened(inputs.Folds(&in.Approval.Response, in.Origin.Beside), in.Opened)
	switch len(fold) {
	case 0:
		return
	case 1:
		v.OpenFirst = "Open the collapsed section first"
	default:
		v.OpenFirst = "Open the " + strconv.Itoa(len(fold)) + " collapsed sections first"
	}
	v.OpenFirstURL = "#open-" + v.Anchor(PartAnchor(fold[0]))
}

func rejectPresets(around *models.Around, form DecideForm, ids string) []Preset {
	if around == nil {
		return nil
	}
	out := make([]Preset, 0, len(around.RejectReasons))
	for i, text := range around.RejectReasons {
		text = models.RevealString(text, false) // the reader sees the text that the agent gets
		out = append(out, Preset{ID: ids + "preset-" + strconv.Itoa(i+1), Text: text, Chosen: text == form.Preset})
	}
	return out
}

// ownWords reports whether none of the presets is chosen.
func (v Approval) ownWords() bool {
	for _, p := range v.Presets {
		if p.Chosen {
			return false
		}
	}
	return true
}

func newAskBack(a *models.Approval, most time.Duration, now time.Time) *AskBack {
	ask := &AskBack{URL: views.AskBackURL(a.ID)}
	left := a.ApprovalTimeoutAt.Sub(now)
	switch {
	case a.OpenNote != nil:
		ask.Means = "The timer is already paused. An answer to either question restarts it."
	case !a.HasDeadline():
		ask.Means = "Sent to the agent and its owner. There is no deadline."
	case left >= most:
		ask.Means = "Sent to the agent and its owner. The deadline does not change."
	default:
		ask.Means = "Sent to the agent and its owner. The timer pauses until they answer, for at most " +
			views.Duration(most) +
			". After the answer, " + views.Duration(left) + " will be left. Without an answer, the request expires."
	}
	return ask
}

// extensions are the lengths that are offered.
var extensions = [...]struct {
	length time.Duration
	label  string
}{{15 * time.Minute, "+15 min"}, {time.Hour, "+1 h"}, {4 * time.Hour, "+4 h"}, {24 * time.Hour, "+1 day"}}

// newExtend offers what lies between the deadline and the furthest that it may be
// moved; nil if there is no room.
func newExtend(a *models.Approval, most time.Duration, now time.Time) *Extend {
	room := now.Add(most).Sub(a.ApprovalTimeoutAt)
	if !a.HasDeadline() || a.OpenNote != nil || room < time.Minute {
		return nil
	}
	e := &Extend{URL: views.ExtendURL(a.ID), Most: views.Duration(most)}
	for _, x := range extensions {
		if x.length <= room {
			e.Choices = append(e.Choices, ExtendChoice{Minutes: strconv.Itoa(int(x.length / time.Minute)), Label: x.label})
		}
	}
	e.Choices = append(e.Choices, ExtendChoice{Minutes: LastChoice, Label: "Max (" + e.Most + ")"})
	return e
}

func resultOf(in Input) *ui.Code {
	if !in.Result.Completed || in.Approval.Closed != "" {
		return nil
	}
	label := "Result reported by "
	if in.Result.IsError && !outcomes.Denied(&in.Approval.Response) {
		label = "Error reported by "
	}
	c := &ui.Code{ID: "result", Label: label + models.RevealString(in.Approval.AgentName, false), Text: in.Result.Result}
	if kept := int64(len(in.Result.Result)); in.Result.Bytes > kept {
		c.Size = "the first " + views.Number(kept) + " of " + views.Number(in.Result.Bytes) + " bytes"
	}
	return c
}

// PartAnchor is the id of the element that holds a folded part.
func PartAnchor(part string) string {
	if part == models.PartSource {
		return "whole"
	}
	return part
}

// editWrong reports whether something is wrong with an edit that was sent.
func (v Approval) editWrong() bool {
	for _, f := range v.Fields {
		if f.Error != "" {
			return true
		}
	}
	return v.editable() && v.Form.Errors["input"] != ""
}

// sends are the attributes of a form that posts to url. Where the card is alone, the answer takes its place; without
// script, or among others, the page is loaded again.
func (v Approval) sends(url string) templ.Attributes {
	attributes := templ.Attributes{"method": "post", "action": url}
	if v.IDs == "" {
		attributes["hx-post"], attributes["hx-target"], attributes["hx-swap"] = url, "#approval", "outerMorph"
	}
	return attributes
}

// SelfURL is where the card refetches itself.
func (v Approval) SelfURL() string {
	if !v.Pane {
		return v.URL
	}
	return Input{Desk: v.Desk}.place(v.URL)
}

// BackURL leads to the inbox, to where in it the request was opened.
func (v Approval) BackURL() string {
	if v.Desk == "" {
		return views.InboxURL()
	}
	return views.InboxURL() + "?" + v.Desk
}

// place is an address of the card that says where in the inbox it is.
func (in Input) place(address string) string {
	if in.Desk == "" {
		return address
	}
	return address + "?desk=" + url.QueryEscape(in.Desk)
}

// settledWord tells, to those who do not see the card change, how it ended.
func (v Approval) settledWord() string {
	if v.Outcome == nil {
		return ""
	}
	text := v.Outcome.Word.Text
	if v.Outcome.By != "" {
		return text + " by " + v.Outcome.ByWhom()
	}
	return text
}
