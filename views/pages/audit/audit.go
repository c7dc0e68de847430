package audit

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// Row is one entry of the ledger in words, with what its reader may see of the request that it is about.
type Row struct {
	Seq    string
	At     views.Moment
	Kind   string // of who acted
	Actor  string
	Behalf string // for whom the actor voted; empty: in their own right
	Act    string // follows the name; the whole sentence where the system acted
	Target string // a name that follows the act
	Rest   string // what follows that
	Person bool   // a person acted
	System bool   // the system did
	Named  bool   // the actor's name comes before the act

	Status  ui.Word // what became of a request
	Glass   bool    // by a decision that broke glass
	How     string  // and why, where no person decided
	Change  string  // in place of both: from which value to which
	Outcome string  // either, as stored

	ID          string // of the request or conversation, whole
	URL, Label  string // of it
	Object      string // what else it is about, by name
	Tool        string
	RequestKind string // in place of a tool
	Summary     string
	Agent       string
	Hidden      bool   // the reader may no longer see the request
	Reason      string // its first line
	Ticks       string // items of the checklist

	Details []Detail

	Group []Row // requests that this stop cancelled

	who            [3]string      // of the actor: kind, id and name
	isStop, byStop bool           // it is the entry of a stop, or of a request that one cancelled
	stopOf         models.AgentID // whom it stopped; empty: all agents

	// Links that narrow the list, and the page of the entry; empty: none.
	WhoURL, ConversationURL, EntryURL string
	Conversation                      string
}

// Detail is one member of an entry's data, as stored.
type Detail struct{ Name, Value string }

// isKey reports whether the name is one that the program gives: short, and of letters that
// cannot look like others.
func (d Detail) isKey() bool {
	return len(d.Name) <= 60 && strings.TrimLeft(d.Name, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && d.Name != ""
}

// entryColumns head a list of entries.
var entryColumns = []ui.Column{
	ui.TimeColumn("Time"),
	{Label: "What happened", Width: "sentence"},
	{Label: "About"},
	{Label: "Outcome", Width: "end"},
	{Label: "Reason", Width: "reason"},
}

// NewRow puts an entry into words for its reader: nothing of a request, nor a link to it, where the reader may not see
// it.
func NewRow(e *models.TrailEntry, reader models.Actor) Row {
	row := rowOf(&e.Entry)
	row.Hidden, row.Reason = e.Hidden, firstLine(e.Reason)
	if a := e.Request; a != nil {
		row.Tool, row.Summary, row.Agent = a.ToolName, words.Summary(&a.Response), a.AgentName
		row.Ticks = strings.Join(a.ItemsOf(models.TickedIn(&e.Entry)), "; ")
		if a.Kind != models.KindToolCall {
			row.RequestKind = a.Kind.Word()
		}
		return row
	}
	if e.ResponseID != "" || !reader.Admin && e.OwnerID != reader.UserID() {
		row.URL, row.Label = "", ""
	}
	return row
}

// rowOf is an entry in words, without its request.
func rowOf(e *models.Entry) Row {
	data := details(e.Data)
	values := make(map[string]string, len(data))
	for _, d := range data {
		values[d.Name] = d.Value
	}
	row := Row{
		Seq: views.Number(e.Seq), Actor: e.ActorName, Kind: actorWord(e.ActorKind), Act: act(e, values),
		Person: e.ActorKind == models.ActorUser, System: e.ActorKind == models.ActorSystem,
		Named: e.ActorKind != models.ActorSystem && e.ActorKind != models.ActorOperator,
		ID:    cmp.Or(string(e.ResponseID), string(e.ConversationID)), Details: data, Outcome: outcomeOf(values),
		who:    [3]string{string(e.ActorKind), e.ActorID, e.ActorName},
		isStop: e.Action == "agents.stopped", stopOf: models.AgentID(values["agent"]),
		byStop: e.Action == "approval.cancelled" && values["cause"] == string(models.CauseStopped),
		Glass:  values["broke_glass"] != "" || e.Action == "approval.acknowledged",
		Behalf: values["on_behalf_name"], Object: cmp.Or(values["name"], values["host"], values["email"]),
	}
	if at, err := time.Parse(time.RFC3339Nano, e.At); err == nil {
		row.At = views.Stamp(at)
	}
	if e.ResponseID != "" {
		row.URL = views.ApprovalURL(e.ResponseID)
		row.Label = "request " + words.Tail(string(e.ResponseID))
		row.Status, row.How = statusOf(values)
	} else if e.ConversationID != "" {
		row.URL = views.ConversationURL(e.ConversationID)
		row.Label = "conversation " + words.Tail(string(e.ConversationID))
	}
	if row.Status.Text == "" && values["status"] != string(models.StatusPending) {
		row.Change = row.Outcome
	}
	return row
}

// statusOf is what an entry says about the end of a request: nothing while it waits, or of a status that is not known
// here.
func statusOf(data map[string]string) (word ui.Word, how string) {
	status, cause := models.Status(data["status"]), models.Cause(data["cause"])
	switch {
	case status == "let_through":
		status = models.StatusNone
	case !status.Final():
		return ui.Word{}, ""
	}
	if cause != models.CauseReviewer {
		how = cause.Short()
	}
	return ui.StatusWord(status, cause), how
}

func actorWord(k models.ActorKind) string {
	switch k {
	case models.ActorUser:
		return "person"
	case models.ActorAgent:
		return "agent"
	case models.ActorSystem:
		return "system"
	case models.ActorOperator:
		return "command line"
	}
	return string(k)
}

// actionWords turns the name of an action, such as "token.revoked", into words.
func actionWords(action string) string {
	return strings.NewReplacer(".", " ", "_", " ").Replace(action)
}

// firstLine is the first line of a text, and a sign where there are more.
func firstLine(s string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	first = strings.TrimRight(first, "\r")
	if strings.TrimSpace(rest) != "" {
		first += " …"
	}
	return first
}

// details lists an entry's data by name; a value that is not a text is shown as JSON.
func details(data string) []Detail {
	members, ok := words.Object([]byte(data))
	if !ok {
		if data == "" || data == "null" {
			return nil
		}
		return []Detail{{Name: "data", Value: data}}
	}
	out := make([]Detail, 0, len(members))
	for name, raw := range members {
		out = append(out, Detail{Name: name, Value: text(raw)})
	}
	slices.SortFunc(out, func(a, b Detail) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func text(raw json.RawMessage) string {
	if s, ok := words.Text(raw); ok {
		return s
	}
	if o, ok := words.Object(raw); ok && len(o) == 2 && o["old"] != nil && o["new"] != nil {
		return text(o["old"]) + " → " + text(o["new"])
	}
	return string(raw)
}

// outcomeOf picks what an entry says about the end of a request: its status, or
// the verdict that has not led to one, and the cause; of a change, from what to
// what.
func outcomeOf(data map[string]string) string {
	outcome := cmp.Or(data["status"], data["verdict"])
	if changed := data["new"]; outcome == "" && changed != "" {
		outcome = changed
		if old := data["old"]; old != "" && old != "null" {
			outcome = old + " → " + changed
		}
	}
	if cause := data["cause"]; cause != "" && cause != outcome {
		outcome = strings.TrimPrefix(outcome+", "+cause, ", ")
	}
	return outcome
}
