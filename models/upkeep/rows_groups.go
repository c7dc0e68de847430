package upkeep

import (
	"slices"
	"strings"

	"countersign/models"
)

// groupCheck compares a group with an entry that made, changed or removed it.
func groupCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "group.added"
	a, err := c.createdRow(e, "groups", d.Group, makes)
	if a == nil || err != nil {
		return err
	}
	if d.NoteText != nil {
		a.text("note", *d.NoteText)
	}
	switch e.Action {
	case "group.added":
		a.is("name", d.Name)
		a.is("created_at", fileTime(e.At))
		a.is("removed_at", null)
	case "group.removed":
		a.is("removed_at", fileTime(e.At))
	}
	return nil
}

// memberCheck compares who is in a group with an entry of their joining or leaving it.
func memberCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "group.joined"
	a, err := c.createdRow(e, "group_members", d.Member, makes)
	if a == nil || err != nil {
		return err
	}
	if !makes {
		a.is("left_at", fileTime(e.At))
		return nil
	}
	a.is("group_id", d.Group)
	a.is("user_id", d.UserID)
	a.is("joined_at", fileTime(e.At))
	a.is("left_at", null)
	return nil
}

// routedCheck compares to whom a request is routed with an entry of somebody who joined a
// group that it waits for, or left one.
func routedCheck(c *rowCheck, e *models.Entry, d *entryData, with *entryRows) error {
	r, id := with.response, string(e.ResponseID)
	if !r.found {
		c.fault("responses", id, "", e.Seq, "the row is missing")
		return nil
	}
	routed, differs := c.routing[id]
	if !differs {
		routed = strings.Fields(with.routed)
	}
	routed = slices.DeleteFunc(slices.Clone(routed), func(user string) bool { return user == d.Gone || user == d.Joined })
	if d.Joined != "" {
		routed = append(routed, d.Joined)
		slices.Sort(routed)
	}
	c.compare(e, "responses", id, r).routedTo(routed, with.routed)
	return nil
}

// routedTo compares to whom a request is routed.
func (a *comparison) routedTo(want []string, have string) {
	as := strings.Join(want, " ")
	if as == have {
		delete(a.routing, a.key.id)
	} else {
		a.routing[a.key.id] = want
	}
	a.proves("reviewers", as, have)
}
