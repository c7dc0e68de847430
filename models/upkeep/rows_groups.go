package upkeep

import (
	"fmt"
	"slices"
	"strconv"
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
	routed = slices.DeleteFunc(slices.Clone(routed), func(user string) bool { return slices.Contains(d.Gone, user) || user == d.Joined })
	if d.Joined != "" {
		routed = append(routed, d.Joined)
		slices.Sort(routed)
	}
	if e.Action == "approval.escalated_by_rule" {
		routed = append(routed, d.Reviewers...)
		slices.Sort(routed)
		routed = slices.Compact(routed)
	}
	for _, user := range d.Gone {
		c.left[[2]string{user, id}] = struct{}{}
	}
	c.compare(e, "responses", id, r).routedTo(routed, with.routed)
	return nil
}

// steppedCheck compares a request with an entry of further people whom its rule asks.
func steppedCheck(c *rowCheck, e *models.Entry, d *entryData, with *entryRows) error {
	if with.response.found {
		c.compare(e, "responses", string(e.ResponseID), with.response).is("escalation", strconv.FormatInt(d.Step, 10))
	}
	return routedCheck(c, e, d, with)
}

// strayReaders are the entries that a person reads of a request that was not routed to them.
const strayReaders = `SELECT k.reader_id, k.seq, coalesce(l.response_id, '') FROM ledger_readers k LEFT JOIN ledger l ON l.seq = k.seq
 WHERE NOT EXISTS (SELECT 1 FROM reviewers v WHERE v.user_id = k.reader_id AND v.response_id = l.response_id)`

// readers looks for people who read entries without having been asked. Who has left a group
// keeps the entries of when they were in it; what they tell of the request is hidden.
func (c *rowCheck) readers() error {
	rows, err := c.dbtx.QueryContext(c.ctx, strayReaders)
	if err != nil {
		return fmt.Errorf("read readers: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var reader, seq, response string
		if err := rows.Scan(&reader, &seq, &response); err != nil {
			return fmt.Errorf("read readers: %w", err)
		}
		if _, left := c.left[[2]string{reader, response}]; !left {
			c.fault("ledger_readers", reader+" "+seq, "", 0, "this person was not asked about the entry's request")
		}
	}
	return rows.Err()
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
