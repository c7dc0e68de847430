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
)

// Row is one line of the ledger in words.
type Row struct {
	Seq     string
	At      views.Moment
	Actor   string
	Kind    string
	Action  string // in words
	Outcome string
	URL     string // of the request it is about
	Label   string
	Behalf  string // for whom the actor voted; empty: in their own right
	Details []Detail
}

// Detail is one member of an entry's data, as stored.
type Detail struct{ Name, Value string }

// isKey reports whether the name is one that the program gives: short, and of letters that
// cannot look like others.
func (d Detail) isKey() bool {
	return len(d.Name) <= 60 && strings.TrimLeft(d.Name, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && d.Name != ""
}

func auditRowOf(e *models.Entry) Row {
	row := Row{
		Seq: views.Number(e.Seq), Actor: e.ActorName, Kind: actorWord(e.ActorKind), Action: actionWords(e.Action),
	}
	if at, err := time.Parse(time.RFC3339Nano, e.At); err == nil {
		row.At = views.Stamp(at)
	}
	if e.ResponseID != "" {
		row.URL = views.ApprovalURL(e.ResponseID)
		row.Label = "request " + words.Tail(string(e.ResponseID))
	} else if e.ConversationID != "" {
		row.URL = views.ConversationURL(e.ConversationID)
		row.Label = "conversation " + words.Tail(string(e.ConversationID))
	}
	row.Details = details(e.Data)
	row.Outcome = outcomeOf(row.Details)
	for _, d := range row.Details {
		if d.Name == "on_behalf_name" {
			row.Behalf = d.Value
		}
	}
	return row
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
func outcomeOf(all []Detail) string {
	values := make(map[string]string, len(all))
	for _, d := range all {
		values[d.Name] = d.Value
	}
	outcome := cmp.Or(values["status"], values["verdict"])
	if changed := values["new"]; outcome == "" && changed != "" {
		outcome = changed
		if old := values["old"]; old != "" && old != "null" {
			outcome = old + " → " + changed
		}
	}
	if cause := values["cause"]; cause != "" && cause != outcome {
		outcome = strings.TrimPrefix(outcome+", "+cause, ", ")
	}
	return outcome
}
