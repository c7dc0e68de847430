package webhooks

import (
	"slices"
	"strconv"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// The fields of the form of an endpoint that say which events it gets.
const (
	EventsField     = "events" // EventsAll or EventsChosen
	EventsAll       = "all"
	EventsChosen    = "chosen"
	EventTypesField = "types"
	FamiliesField   = "families"
)

// Form keeps the form of an endpoint. The address, which may contain a secret, goes back only with its error, to the
// person who has just typed it.
type Form struct {
	Name   string
	URL    string
	Allow  string   // the host that an admin can allow, so that it works; empty: none
	All    bool     // it gets all events
	Types  []string // or these
	Inputs bool
	Errors map[string]string
}

// FormOf is the form of an endpoint that there is.
func FormOf(w *models.Webhook) Form {
	return Form{Name: w.Name, All: len(w.Types) == 0, Types: w.Types, Inputs: w.Inputs}
}

// FormInput is what the page of the form is made of.
type FormInput struct {
	ID      models.WebhookID // of the one that is changed; empty: one is added
	Label   string           // of its address
	Form    Form
	Hosts   int // that are allowed
	Problem string
}

// FormView is the view model of the form of an endpoint.
type FormView struct {
	Title, Back, BackLabel, URL, Button string
	Problem                             string
	Name, Address                       ui.Field
	All, Inputs                         bool
	Families                            []FamilyChoice
	TypesError                          string
	NoHosts                             bool // none is allowed yet
}

// FamilyChoice are the events of one family, to choose.
type FamilyChoice struct {
	Name, Help string
	All        bool
	Some       bool // chosen, not all
	Types      []EventChoice
}

// EventChoice is one kind of events, to choose.
type EventChoice struct {
	Name, Text string
	Chosen     bool
}

// NewForm makes the page.
func NewForm(in FormInput) FormView {
	f := in.Form
	v := FormView{
		Title: "Add an endpoint", Back: views.WebhooksURL(), BackLabel: "Webhooks", URL: views.WebhooksURL(),
		Button:  "Add endpoint",
		Problem: in.Problem, All: f.All, Inputs: f.Inputs, TypesError: f.Errors["types"], NoHosts: in.Hosts == 0,
		Name: ui.Field{
			Name: "name", Label: "Name", Value: f.Name, Error: f.Errors["name"], Required: true, Autocomplete: "off",
			MaxLength: strconv.Itoa(models.MaxName),
			Help:      "How it is listed here.",
		},
		Address: ui.Field{
			Name: "url", Label: "Address", Type: "url", Value: f.URL, Error: f.Errors["url"], Mend: ui.AllowHost(f.Allow),
			Required: true, Autocomplete: "off", MaxLength: strconv.Itoa(models.MaxTarget), Mono: true, Secret: true,
			Help: "Such as https://hooks.example.com/countersign. It is stored encrypted and never shown again; only its host is.",
		},
	}
	if in.ID != "" {
		v.Title, v.Back, v.BackLabel, v.URL, v.Button = "Change endpoint", views.WebhookURL(in.ID), "Endpoint", views.WebhookURL(in.ID), "Save"
		v.NoHosts = false
		v.Address.Required, v.Address.Optional = false, true
		v.Address.Help = "Leave it empty to keep the one at " + models.RevealName(in.Label) + "."
	}
	for _, family := range eventFamilies() {
		v.Families = append(v.Families, familyChoice(family, f.Types))
	}
	return v
}

func familyChoice(family EventFamily, chosen []string) FamilyChoice {
	out := FamilyChoice{Name: family.Name, Help: strconv.Itoa(len(family.Types)) + " kinds"}
	n := 0
	for _, t := range family.Types {
		one := EventChoice{Name: t.Name, Text: t.Text, Chosen: slices.Contains(chosen, t.Name)}
		if one.Chosen {
			n++
		}
		out.Types = append(out.Types, one)
	}
	if len(out.Types) == 1 {
		out.Help = out.Types[0].Text
	}
	out.All, out.Some = n == len(out.Types), n > 0 && n < len(out.Types)
	return out
}

// TypesOf are the kinds of events that were chosen, singly and by family. A family means the
// kinds that it has now.
func TypesOf(families, types []string) []string {
	var out []string
	for _, t := range models.EventTypes() {
		if slices.Contains(families, t.Family()) || slices.Contains(types, t.Name) {
			out = append(out, t.Name)
		}
	}
	return out
}

// typesInShort names the kinds of events that an endpoint gets: a whole family by its name.
func typesInShort(types []string) []string {
	var out []string
	for _, family := range eventFamilies() {
		one := familyChoice(family, types)
		if one.All {
			out = append(out, family.Name+".*")
			continue
		}
		for _, t := range one.Types {
			if t.Chosen {
				out = append(out, t.Name)
			}
		}
	}
	return out
}
