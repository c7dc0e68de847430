package gallery

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views/pages"
)

func groupsStates() []State {
	list := func(name, note string, in pages.GroupsInput) State {
		return State{Page: "groups", Name: name, Note: note, Component: pages.GroupsPage(Frame("Groups", "/people"), pages.NewGroups(in, Now))}
	}
	one := func(name, note string, in pages.GroupInput) State {
		return State{Page: "group", Name: name, Note: note, Component: pages.GroupPage(Frame(in.Group.Name, "/people"), pages.NewGroup(in, Now))}
	}
	made := Now.Add(-30 * 24 * time.Hour)
	finance := models.Group{Name: "finance", Note: "Who answers for payments.", CreatedAt: made, Members: 3}
	long := models.Group{Name: strings.Repeat("long", 15), Note: strings.Repeat("unbroken", 60), CreatedAt: made, Members: models.MaxMembers}
	var members []models.User
	for _, p := range PeopleInput().People {
		members = append(members, p.User)
	}
	wrong := pages.GroupForm{Name: "Finance", Note: "Pays.", Errors: map[string]string{"name": models.GroupNameWanted}}
	return []State{
		list(Usual, "Two groups, one with names as long as they may be", pages.GroupsInput{Groups: []models.Group{finance, long}}),
		list("empty", "None yet", pages.GroupsInput{}),
		list("wrong", "A name that is none; what was typed stays", pages.GroupsInput{Groups: []models.Group{finance}, Form: wrong}),
		one(Usual, "Three members, one disabled; a rule names it", pages.GroupInput{Group: finance, Members: members, Channels: GroupChannelsInput(), Rules: []string{"the rule “payments over 100”"}}),
		one("empty", "Nobody is in it, and no rule names it", pages.GroupInput{Group: models.Group{Name: "board"}, Others: members[:2]}),
		one("wrong", "Somebody who may not sign in; and what cannot be done", pages.GroupInput{
			Group: long, Members: members[:1], Rules: []string{"the rule “payments”", "the template “" + strings.Repeat("name", 60) + "”"}, Problem: "The group has 200 members, and may have no more.",
			Form: pages.GroupForm{Email: "gone@example.org", Errors: map[string]string{"email": "must be the e-mail of a person who may sign in"}},
		}),
	}
}

// GroupChannelsInput is one channel of a group.
func GroupChannelsInput() pages.ChannelsInput {
	in := ChannelsInput()
	in.Channels = in.Channels[2:3]
	return in
}
