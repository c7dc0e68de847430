package gallery

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views/pages/account"
	"countersign/views/pages/people"
)

func groupsStates() []State {
	list := func(name, note string, in people.GroupsInput) State {
		return State{
			Page: "groups", Name: name, Note: note,
			Component: people.GroupsPage(Frame("Groups", "/people"), people.NewGroups(in, Now)),
		}
	}
	one := func(name, note string, in people.GroupInput) State {
		return State{
			Page: "group", Name: name, Note: note,
			Component: people.GroupPage(Frame(in.Group.Name, "/people"), people.NewGroup(in, Now)),
		}
	}
	made := Now.Add(-30 * 24 * time.Hour)
	finance := models.Group{Name: "finance", Note: "Who answers for payments.", CreatedAt: made, Members: 3}
	long := models.Group{
		Name: strings.Repeat("long", 15), Note: strings.Repeat("unbroken", 60), CreatedAt: made, Members: models.MaxMembers,
	}
	var members []models.User
	for _, p := range PeopleInput().People {
		members = append(members, p.User)
	}
	wrong := people.GroupForm{Name: "Finance", Note: "Pays.", Errors: map[string]string{"name": models.GroupNameWanted}}
	return []State{
		list(Usual, "Two groups, one with names as long as they may be",
			people.GroupsInput{Groups: []models.Group{finance, long}}),
		list("empty", "None yet", people.GroupsInput{}),
		list("wrong", "A name that is none; what was typed stays",
			people.GroupsInput{Groups: []models.Group{finance}, Form: wrong}),
		one(Usual, "Three members, one disabled; a rule names it",
			people.GroupInput{
				Group: finance, Members: members, Channels: GroupChannelsInput(), Rules: []string{"the rule “payments over 100”"},
			}),
		one("empty", "Nobody is in it, and no rule names it",
			people.GroupInput{Group: models.Group{Name: "board"}, Others: members[:2]}),
		one("wrong", "Somebody who may not sign in; and what cannot be done", people.GroupInput{
			Group: long, Members: members[:1],
			Rules:   []string{"the rule “payments”", "the template “" + strings.Repeat("name", 60) + "”"},
			Problem: "The group has 200 members, and may have no more.",
			Form: people.GroupForm{
				Email: "gone@example.org", Errors: map[string]string{"email": "must be the e-mail of a person who may sign in and decide"},
			},
		}),
	}
}

// GroupChannelsInput is one channel of a group.
func GroupChannelsInput() account.ChannelsInput {
	in := ChannelsInput()
	in.Channels = in.Channels[2:3]
	return in
}
