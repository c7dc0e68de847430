package people

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/account"
	"countersign/views/ui"
)

// GroupsInput is what the page of groups is made of.
type GroupsInput struct {
	Groups []models.Group
	Form   GroupForm
}

// GroupForm keeps the form if a group could not be added or changed.
type GroupForm struct {
	Name, Note, Email string
	Errors            map[string]string
}

// Groups is the view model of the page of groups.
type Groups struct {
	Rows []GroupRow
	Form GroupForm
}

// GroupRow is one group of the list.
type GroupRow struct {
	Name, Note, Members, URL string
	Added                    views.Moment
}

// NewGroups makes the page as of now.
func NewGroups(in GroupsInput, now time.Time) Groups {
	v := Groups{Form: in.Form}
	for i := range in.Groups {
		g := &in.Groups[i]
		v.Rows = append(v.Rows,
			GroupRow{
				Name: g.Name, Note: g.Note, Members: views.Count(g.Members), URL: views.GroupURL(g.Name),
				Added: views.Ago(g.CreatedAt, now),
			})
	}
	return v
}

// GroupInput is what the page of one group is made of.
type GroupInput struct {
	Group    models.Group
	Members  []models.User
	Others   []models.User // who may sign in and is not in it
	Rules    []string      // and templates of the active policy that name it, in words
	Form     GroupForm
	Problem  string // why the act was refused
	Channels account.ChannelsInput
}

// Group is the view model of the page of one group.
type Group struct {
	Name      string
	Reviewer  string // as rules name it
	Members   []MemberRow
	Rules     []string
	RulesText string
	Note      ui.Field
	Email     ui.Field
	Problem   string
	Removable bool
	Removes   string // what removing it does
	Channels  account.Channels
}

// MemberRow is one person in a group.
type MemberRow struct {
	Name, Email string
	Disabled    bool
	LeaveURL    string
}

// NewGroup makes the page of one group as of now.
func NewGroup(in GroupInput, now time.Time) Group {
	in.Channels.Group = in.Group.Name
	v := Group{
		Name: in.Group.Name, Reviewer: models.GroupReviewer(in.Group.Name), Rules: in.Rules, Problem: in.Problem,
		Removable: len(in.Rules) == 0,
		Note: ui.Field{
			Name: "note", Label: "What it is for", Value: in.Group.Note, Optional: true, MaxLength: "500",
			Error: in.Form.Errors["note"],
		},
		Email: ui.Field{
			Name: "email", Label: "E-mail", Value: in.Form.Email, Required: true, Autocomplete: "off", MaxLength: "200",
			Error: in.Form.Errors["email"],
			Help:  "The group's pending requests appear in their inbox at once.",
		},
	}
	if in.Form.Errors["note"] != "" {
		v.Note.Value = in.Form.Note
	}
	v.Channels = account.NewChannels(in.Channels, now)
	v.RulesText = "The active policy does not name it."
	if len(in.Rules) > 0 {
		v.RulesText = "The active policy names it in:"
	}
	v.Removes = "Its members are removed from it. Requests that nobody else may approve are rejected. The name can be used again."
	for i := range in.Members {
		m := &in.Members[i]
		v.Members = append(v.Members,
			MemberRow{Name: m.Name, Email: m.Email, Disabled: !m.Enabled(), LeaveURL: views.LeaveGroupURL(in.Group.Name, m.ID)})
	}
	for i := range in.Others {
		v.Email.List = append(v.Email.List, in.Others[i].Email)
	}
	return v
}
