package requests

import (
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// BehalfField is the field of a form that decides which says for whom its page said that the verdict counts, by id;
// left out: for no one.
const BehalfField = "behalf"

// Acting is what the page of a request says of people who act for others on it.
type Acting struct {
	OnBehalf   string // for whom the reader decides; empty: in their own right
	OnBehalfID string
	Own        bool // they may reject in their own right
	Asked      string
	Receipt    []ReceivedFrom
	HandOvers  []HandedOver
	HandOver   *HandOverForm
	Next       *NextAsked
	Unanswered *Unanswered
}

// ReceivedFrom is from whom the reader has a request.
type ReceivedFrom struct {
	Key   string // differs for each way that it came
	From  string
	Until views.Moment // of their absence; zero: it was handed over
	At    views.Moment // when it was
	Note  string
}

// HandedOver is a current hand-over.
type HandedOver struct {
	ID      string
	From    string // empty: the reader
	To      string
	At      views.Moment
	Note    string
	BackURL string // takes it back; empty: it is not the reader's
}

// HandOverForm hands a request to somebody else as well.
type HandOverForm struct {
	ID     string // another one after each hand-over: a browser keeps what fields of one id hold
	URL    string
	People []ui.Choice
}

// NextAsked is whom a rule asks next.
type NextAsked struct {
	Who    []string
	At     views.Moment
	Paused bool // a question stops the clock
}

// Unanswered says who could have answered a request that expired.
type Unanswered struct {
	Lead   string
	People []UnansweredBy
}

// UnansweredBy is one of them.
type UnansweredBy struct {
	Name  string
	Group bool
	Told  []ToldBy
	Seen  views.Moment
}

// ToldBy is how somebody was told.
type ToldBy struct {
	How string
	At  views.Moment
}

func newActing(v *Approval, in Input, now time.Time) Acting {
	out := Acting{Own: in.Substitution.Own}
	if !v.Pending {
		out.Unanswered = newUnanswered(in.Unanswered)
		return out
	}
	if behalf := in.Substitution.OnBehalf; behalf != nil {
		out.OnBehalf, out.OnBehalfID = behalf.Name, string(behalf.ID)
	}
	out.Asked = askedBy(in)
	for i := range in.Substitution.Delegations {
		c := &in.Substitution.Delegations[i]
		from := ReceivedFrom{From: c.From.Name}
		switch {
		case c.HandOver != nil:
			from.Key = "handover-" + string(c.HandOver.ID)
			from.At, from.Note = views.Ago(c.HandOver.At, now), c.HandOver.Note
		case c.Absence != nil:
			from.Key = "away-" + string(c.From.ID)
			from.Until = views.Exact(c.Absence.UntilAt)
		}
		out.Receipt = append(out.Receipt, from)
	}
	for i := range in.Substitution.HandOvers {
		if in.Substitution.HandOvers[i].ToUser == in.Reader.ID {
			continue // it is among what came to them
		}
		out.HandOvers = append(out.HandOvers, newHandedOver(v, in, &in.Substitution.HandOvers[i], now))
	}
	if len(in.HandOverTo) > 0 && v.Held == "" && in.MayDecide() {
		out.HandOver = &HandOverForm{
			ID: "hand-over-form-" + strconv.Itoa(len(out.HandOvers)), URL: views.HandOverURL(v.ID),
			People: handOverChoices(in.HandOverTo),
		}
	}
	if next := in.Substitution.NextStep; next != nil && v.Held == "" {
		out.Next = &NextAsked{At: views.Exact(next.DueAt), Paused: next.PausedAt != nil}
		for _, who := range in.Substitution.NextTo.Asked() {
			name := who.Email
			if who.Group != "" {
				name = "group " + who.Group
			}
			out.Next.Who = append(out.Next.Who, name)
		}
	}
	return out
}

// state changes when a reader must look again: for whom they decide, and who has it.
func (v Acting) state() []string {
	var out []string
	if v.OnBehalfID != "" {
		out = append(out, "for "+v.OnBehalfID)
	}
	for _, c := range v.Receipt {
		out = append(out, c.Key)
	}
	for _, h := range v.HandOvers {
		out = append(out, h.ID)
	}
	return out
}

// askedBy says that the rule asks the reader, where they do not own the agent and have it not
// only from others.
func askedBy(in Input) string {
	who := in.Approval.Approvers()
	if in.Reader.ID == in.Approval.OwnerID || !who.Asks(in.Reader) {
		return ""
	}
	for _, a := range who.Asked() {
		if one := (models.Approvers{Named: []models.Approver{a}}); !one.Asks(in.Reader) {
			continue
		}
		by := ""
		if a.Group != "" {
			by = " as a member of " + models.RevealString(a.Group, false)
		}
		if a.Step > 0 {
			return "The rule asked you" + by + " because nobody had decided after " +
				views.Duration(time.Duration(a.After)*time.Minute) + "."
		}
		return "The rule asks you" + by + "."
	}
	return ""
}

func newHandedOver(v *Approval, in Input, h *models.HandOver, now time.Time) HandedOver {
	out := HandedOver{
		ID: v.Anchor("handover-" + string(h.ID)), From: h.FromName, To: h.ToName, At: views.Ago(h.At, now), Note: h.Note,
	}
	if h.FromUser == in.Reader.ID {
		out.From = ""
		if v.Held == "" {
			out.BackURL = views.TakeBackHandOverURL(v.ID, h.ID)
		}
	}
	return out
}

// handOverChoices are people to choose from. Their names are their own: the e-mail tells apart
// who has chosen the same.
func handOverChoices(people []models.PersonRef) []ui.Choice {
	out := []ui.Choice{{Value: "", Label: "Choose a person"}}
	for _, p := range people {
		out = append(out,
			ui.Choice{
				Value: string(p.ID), Label: models.RevealString(p.Name, false) + " (" + models.RevealString(p.Email, false) + ")",
			})
	}
	return out
}

func newUnanswered(u *models.Unanswered) *Unanswered {
	if u == nil {
		return nil
	}
	out := &Unanswered{}
	told := 0
	for i := range u.People {
		p := &u.People[i]
		one := UnansweredBy{Name: p.Name, Group: p.Group}
		if p.SeenAt != nil {
			one.Seen = views.Exact(*p.SeenAt)
		}
		for _, by := range p.Told {
			one.Told = append(one.Told, ToldBy{How: toldHow(by), At: views.Exact(by.At)})
			if !by.Failed {
				told++
			}
		}
		out.People = append(out.People, one)
	}
	switch {
	case !u.Seen() && told == 0:
		out.Lead = "Nobody is recorded as having seen this request, and nobody was told of it by a notification."
	case !u.Seen():
		out.Lead = "Nobody is recorded as having seen this request."
	case told == 0:
		out.Lead = "Nobody was told of this request by a notification."
	}
	return out
}

func toldHow(by models.ToldBy) string {
	text := "told by " + channelWord(by.Kind)
	switch {
	case by.Failed:
		text = "could not be told by " + channelWord(by.Kind)
	case by.Among:
		text += ", as one of many"
	}
	return text
}

// channelWord is words.ChannelName within a sentence.
func channelWord(kind models.ChannelKind) string {
	switch kind {
	case models.ChannelEmail, models.ChannelWebhook:
		return strings.ToLower(words.ChannelName(kind))
	case models.ChannelWebPush:
		return "a browser notification"
	case models.ChannelNtfy, models.ChannelSlack:
	}
	return words.ChannelName(kind)
}
