package audit

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/lists"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// LedgerInput is what the page of everybody's audit is made of.
type LedgerInput struct {
	Entries      []models.TrailEntry // one page, newest first
	Next         int64               // the key of the next page; 0: that was all
	StoppedEarly bool                // reading stopped early: the filters together are rare
	Before       int64               // the key this page began with
	Filter       views.LedgerFilter
	Person       models.UserID     // whom the filter names, if it is a person
	Errors       map[string]string // of the filter, by field
	Actions      []string          // that the ledger holds
	People       []models.User     // to choose from
	Agents       []models.Agent    // to choose from
	Head         models.Head
	Chain        ChainState
	Zone         *time.Location // in which the reader's days begin
	Saved        lists.Saved
	Broken       BrokenInput
}

// ChainState is the state of the check of the whole chain.
type ChainState struct {
	Runs     bool
	Read, Of int64     // while it runs
	Ended    time.Time // zero: not checked since the server started
	Took     time.Duration
	Head     models.Head // the end of the checked entries
	Fault    string      // empty: the chain is intact
	Broken   bool        // the fault is in the chain, and not in reading it
}

// Ledger is the view model of everybody's audit.
type Ledger struct {
	Rows              []Row
	Broken            Broken
	Filter            views.LedgerFilter
	Errors            map[string]string
	Actions           []ui.Choice
	Who               []ui.Choice // people and agents; empty: they are too many for a list
	WhoValue          string      // the id of the person whom the filter names
	WhoList           []string    // e-mails, where Who is empty
	Bar               ui.FilterBar
	Head              string
	Chain             Chain
	FirstURL, NextURL string
	NextLabel         string
	Note              string
	TrailURL          string // of the person whom the filter names
}

// Chain is the state of the check of the chain, in words.
type Chain struct {
	Runs     bool
	Progress string
	Word     ui.Word
	At       views.Moment
	Text     string
}

// NewLedger makes the page as of now.
func NewLedger(in LedgerInput, now time.Time) Ledger {
	v := Ledger{
		Broken: NewBroken(in.Broken, now),
		Filter: in.Filter, Errors: in.Errors, Head: in.Head.String(), Chain: NewChain(in.Chain, now),
		Actions: []ui.Choice{{Value: "", Label: "any"}}, NextLabel: "Older entries",
	}
	known := in.Filter.Action == ""
	for _, action := range in.Actions {
		known = known || action == in.Filter.Action
		v.Actions = append(v.Actions, ui.Choice{Value: action, Label: actionWords(action)})
	}
	if !known {
		v.Actions = append(v.Actions, ui.Choice{Value: in.Filter.Action, Label: models.RevealString(in.Filter.Action, false)})
	}
	v.chooseWho(in)
	v.Bar = ledgerBar(in.Filter, v)
	v.Bar.Shortcuts = lists.SpanLinks(now, in.Zone, views.LedgerURL(in.Filter, 0), func(s lists.Span) string {
		place := in.Filter
		place.From, place.Until, place.Zone = s.From, s.After, lists.ZoneName(in.Zone)
		return views.LedgerURL(place, 0)
	})
	v.Bar.ShortcutZone = in.Zone.String()
	v.Bar.Saved = in.Saved.Bar()
	if in.Person != "" {
		v.TrailURL = views.PersonAuditURL(in.Person)
	}
	if in.Before > 0 {
		v.FirstURL = views.LedgerURL(in.Filter, 0)
	}
	if in.Next > 0 {
		v.NextURL = views.LedgerURL(in.Filter, in.Next)
	}
	if in.StoppedEarly {
		v.Note = "Searched back to entry " + views.Number(in.Next) +
			". Few entries match all the filters; there may be more before it."
		v.NextLabel = "Search further back"
	}
	for i := range in.Entries {
		v.Rows = append(v.Rows, ledgerRow(&in.Entries[i], in.Filter))
	}
	v.Rows = foldStops(v.Rows, in.Agents)
	return v
}

// chooseWho fills the picker of people and agents. An address may name a person by e-mail.
func (v *Ledger) chooseWho(in LedgerInput) {
	v.WhoValue = cmp.Or(string(in.Person), in.Filter.Who)
	if len(in.People)+len(in.Agents) > lists.MostChoices {
		for i := range in.People {
			if len(v.WhoList) < lists.MostChoices {
				v.WhoList = append(v.WhoList, in.People[i].Email)
			}
		}
		return
	}
	var people, agents []ui.Choice
	for i := range in.People {
		people = append(people,
			ui.Choice{Value: string(in.People[i].ID), Label: models.RevealString(in.People[i].Name, false)})
	}
	for i := range in.Agents {
		agents = append(agents,
			ui.Choice{Value: string(in.Agents[i].ID), Label: "agent " + models.RevealString(in.Agents[i].Name, false)})
	}
	v.Who = slices.Concat([]ui.Choice{{Label: "anybody"}}, lists.InOrder(people), lists.InOrder(agents))
	if !slices.ContainsFunc(v.Who, func(c ui.Choice) bool { return c.Value == v.WhoValue }) {
		v.Who = append(v.Who, ui.Choice{Value: v.WhoValue, Label: models.RevealString(v.WhoValue, false)})
	}
}

// ledgerBar shows what narrows everybody's audit.
func ledgerBar(f views.LedgerFilter, v Ledger) ui.FilterBar {
	b := ui.FilterBar{
		Label: "Filter the ledger", Action: views.LedgerURL(views.LedgerFilter{}, 0), Open: len(v.Errors) > 0,
		Zone: lists.ZoneOfDays(f.Zone, f.From, f.Until), Search: lists.SearchField("Search the audit", f.Text, v.Errors["text"]),
	}
	add := func(name, value, shown string, without func(*views.LedgerFilter)) {
		if value != "" {
			rest := f
			without(&rest)
			b.Chips = append(b.Chips, ui.Chip{Name: name, Value: shown, RemoveURL: views.LedgerURL(rest, 0)})
		}
	}
	add("Who", f.Who, lists.LabelOf(v.Who, v.WhoValue), func(r *views.LedgerFilter) { r.Who = "" })
	add("Action", f.Action, actionWords(f.Action), func(r *views.LedgerFilter) { r.Action = "" })
	add("Conversation", f.Conversation, words.Tail(f.Conversation), func(r *views.LedgerFilter) { r.Conversation = "" })
	add("Text", f.Text, f.Text, func(r *views.LedgerFilter) { r.Text = "" })
	add("From", f.From, lists.DayText(f.From, f.Zone),
		func(r *views.LedgerFilter) { r.From, r.Zone = "", lists.ZoneFor(r.Until, r.Zone) })
	add("Before", f.Until, lists.DayText(f.Until, f.Zone),
		func(r *views.LedgerFilter) { r.Until, r.Zone = "", lists.ZoneFor(r.From, r.Zone) })
	if f.Any() {
		b.ClearURL = b.Action
	}
	return b
}

// ledgerRow is an entry for an admin, who may see all, with what narrows the list to it.
func ledgerRow(e *models.TrailEntry, filter views.LedgerFilter) Row {
	row := NewRow(e, models.Actor{Admin: true})
	row.EntryURL = views.LedgerEntryURL(e.Seq)
	if e.ActorID != "" {
		who := filter
		who.Who = e.ActorID
		row.WhoURL = views.LedgerURL(who, 0)
	}
	if e.ConversationID != "" {
		only := filter
		only.Conversation = string(e.ConversationID)
		row.ConversationURL, row.Conversation = views.LedgerURL(only, 0), "conversation "+words.Tail(string(e.ConversationID))
	}
	return row
}

// NewChain puts a check into words.
func NewChain(s ChainState, now time.Time) Chain {
	c := Chain{Runs: s.Runs}
	switch {
	case s.Runs:
		c.Word = ui.Word{Text: "checking", Tone: views.ToneAccent}
		c.Progress = views.Number(s.Read) + " of " + views.Number(s.Of) + " entries read"
		if s.Of == 0 {
			c.Progress = "starting"
		}
		return c
	case s.Ended.IsZero():
		c.Word = ui.Word{Text: "not checked", Tone: views.ToneNeutral}
		c.Text = "Not checked since the server started."
		return c
	}
	c.At = views.Ago(s.Ended, now)
	switch {
	case s.Broken:
		c.Word, c.Text = ui.Word{Text: "broken", Tone: views.ToneBad, Icon: "octagon-alert"}, s.Fault
	case s.Fault != "":
		c.Word, c.Text = ui.Word{Text: "could not be checked", Tone: views.ToneWarn, Icon: "triangle-alert"}, s.Fault
	default:
		c.Word = ui.Word{Text: "intact", Tone: views.ToneGood, Icon: "check"}
		c.Text = views.Number(s.Head.Seq) + " entries, each linked to the one before; checked in " + tookText(s.Took) + "."
	}
	return c
}

func tookText(d time.Duration) string {
	if d < time.Millisecond {
		return "less than 1 ms"
	}
	if d < time.Second {
		return views.Number(d.Milliseconds()) + " ms"
	}
	return views.Duration(d)
}

// LedgerEntry is the view model of one entry.
type LedgerEntry struct {
	Row
	Stamp            string
	Owner            string
	OwnerURL         string
	Raw              string
	Hash, Prev       string
	Whole, Follows   bool
	BeforeURL, Later string
}

// NewLedgerEntry makes the page of e; before is the hash that the entry before
// it has, newest the number of the last entry.
func NewLedgerEntry(e models.Entry, before []byte, newest int64) LedgerEntry {
	v := LedgerEntry{
		Row: ledgerRow(&models.TrailEntry{Entry: e}, views.LedgerFilter{}), Stamp: e.At, Owner: string(e.OwnerID),
		Hash: hex.EncodeToString(e.Hash), Prev: hex.EncodeToString(e.Prev), Raw: rawEntry(e),
		Follows: bytes.Equal(e.Prev, before),
	}
	again := e
	models.Seal(models.Head{Seq: e.Seq - 1, Hash: e.Prev}, &again)
	v.Whole = bytes.Equal(again.Hash, e.Hash)
	if e.OwnerID != "" {
		v.OwnerURL = views.LedgerURL(views.LedgerFilter{Who: string(e.OwnerID)}, 0)
	}
	if e.Seq > 1 {
		v.BeforeURL = views.LedgerEntryURL(e.Seq - 1)
	}
	if e.Seq < newest {
		v.Later = views.LedgerEntryURL(e.Seq + 1)
	}
	return v
}

// rawEntry is every stored field; data is in it as stored.
func rawEntry(e models.Entry) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		Seq          int64  `json:"seq"`
		At           string `json:"at"`
		ActorKind    string `json:"actor_kind"`
		ActorID      string `json:"actor_id"`
		ActorName    string `json:"actor_name"`
		Action       string `json:"action"`
		Owner        string `json:"owner_id"`
		Conversation string `json:"conversation_id"`
		Response     string `json:"response_id"`
		Data         string `json:"data"`
		Prev         string `json:"prev"`
		Hash         string `json:"hash"`
	}{
		e.Seq, e.At, string(e.ActorKind), e.ActorID, e.ActorName, e.Action, string(e.OwnerID), string(e.ConversationID),
		string(e.ResponseID), e.Data, hex.EncodeToString(e.Prev), hex.EncodeToString(e.Hash),
	})
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(out.String(), "\n")
}
