package upkeep

import (
	"fmt"
	"strconv"
	"time"

	"countersign/models"
	"countersign/models/db"
)

func openedCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	a, err := c.createdRow(e, "conversations", string(e.ConversationID), true)
	if a == nil || err != nil {
		return err
	}
	a.is("owner_id", string(e.OwnerID))
	a.is("standing", boolText(d.Standing))
	a.is("created_at", fileTime(e.At))
	a.is("status", string(models.ConversationRunning))
	a.is("energy_budget", null)
	a.is("paused_at", null)
	a.is("archived_at", null)
	if d.Agent == "" {
		c.uncovered(oldOpened)
		return nil
	}
	a.is("agent_id", d.Agent)
	a.is("on_reject", d.OnReject)
	if d.ChosenBy != nil {
		a.is("on_reject_by", *d.ChosenBy)
	}
	a.text("run_id", d.Run)
	a.text("parent_run_id", d.Parent)
	a.text("title", d.Title)
	return nil
}

// conversationCheck compares a conversation with an entry that changed one thing.
func conversationCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	a, err := c.createdRow(e, "conversations", string(e.ConversationID), false)
	if a == nil || err != nil {
		return err
	}
	switch e.Action {
	case "conversation.status":
		a.is("status", unquoted(d.New))
	case "conversation.renamed":
		a.text("title", d.Title)
	case "conversation.described":
		a.text("title", d.Title)
		a.is("on_reject", d.OnReject)
		if d.ChosenBy != nil {
			a.is("on_reject_by", *d.ChosenBy)
		}
		if d.Parent != "" {
			a.text("parent_run_id", d.Parent)
		}
	case "conversation.paused":
		a.is("paused_at", fileTime(e.At))
	case "conversation.resumed":
		a.is("paused_at", null)
	case "conversation.archived":
		a.is("archived_at", fileTime(e.At))
	case "conversation.unarchived":
		a.is("archived_at", null)
	}
	return nil
}

// unquoted is a JSON string or number as a row has it; null for null.
func unquoted(raw []byte) string {
	switch s := string(raw); {
	case s == "null" || s == "":
		return null
	case s[0] == '"':
		return s[1 : len(s)-1]
	default:
		return s
	}
}

// budgetCheck compares a change of a budget and the budget that it made.
func budgetCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	a, err := c.createdRow(e, "conversations", string(e.ConversationID), false)
	if err != nil {
		return err
	}
	if a != nil {
		a.is("energy_budget", unquoted(d.New))
	}
	where, args := "conversation_id = ? AND at = ? AND new = ?", []any{string(e.ConversationID), fileTime(e.At), unquoted(d.New)}
	if d.Sequence != nil {
		where, args = "conversation_id = ? AND sequence = ?", []any{string(e.ConversationID), *d.Sequence}
	} else {
		c.uncovered(oldBudget)
	}
	step, err := c.lookUp("budget_steps", where, args...)
	if err != nil {
		return err
	}
	if !step.found {
		c.fault("budget_steps", string(e.ConversationID), "", e.Seq, "the row is missing")
		return nil
	}
	id := shownID(e.ConversationID, step.text("sequence"))
	c.name("budget_steps", id)
	c.report.Checked["budget_steps"]++
	b := c.compare(e, "budget_steps", id, step)
	b.is("at", fileTime(e.At))
	b.is("actor_kind", string(e.ActorKind))
	b.is("actor_id", e.ActorID)
	b.is("actor_name", e.ActorName)
	b.is("old", unquoted(d.Old))
	b.is("new", unquoted(d.New))
	b.is("response_id", orNullOf(d.Response))
	b.text("reason", d.Reason)
	return nil
}

func messageCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	a, err := c.createdRow(e, "messages", d.Message, true)
	if a == nil || err != nil {
		return err
	}
	a.is("conversation_id", string(e.ConversationID))
	if d.Sequence != nil {
		a.is("sequence", strconv.FormatInt(*d.Sequence, 10))
	}
	a.is("author_kind", string(e.ActorKind))
	a.is("author_id", e.ActorID)
	a.is("author_name", e.ActorName)
	a.is("created_at", fileTime(e.At))
	a.text("content", d.Digest)
	if d.Response != nil {
		a.is("response_id", *d.Response)
	}
	return nil
}

// What is only reported.
const (
	reportedCalls = "responses: only reported by an agent"
	reportedSaid  = "messages: only reported by an agent"
)

// responses looks for responses that no entry began.
func (c *rowCheck) responses() error {
	rows, err := c.dbtx.QueryContext(c.ctx, `SELECT number, id, reported_at IS NOT NULL, approval_status IS NULL AND cause = '' FROM responses ORDER BY number`)
	if err != nil {
		return fmt.Errorf("read responses: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		var id string
		var reported, open bool
		if err := rows.Scan(&number, &id, &reported, &open); err != nil {
			return fmt.Errorf("read responses: %w", err)
		}
		switch {
		case c.marked(number):
		case reported && (open || c.isNamed(settledOnly, id)):
			c.uncovered(reportedCalls)
			if err := c.reportedCall(id); err != nil {
				return err
			}
		default:
			c.fault("responses", id, "", 0, "no entry of the ledger names this row")
		}
	}
	return rows.Err()
}

// reportedCall recomputes the digest of a call that was only reported.
func (c *rowCheck) reportedCall(id string) error {
	r, err := c.lookUp("responses", "id = ?", id)
	if err != nil || !r.found {
		return err
	}
	kind := models.Kind(r.text("kind"))
	if _, cut := r.get("input_bytes"); cut || kind != models.KindToolCall || c.isNamed(removedFrom("responses"), id) {
		return nil
	}
	canonical, err := models.Canonical(kind, r.text("tool_name"), []byte(r.text("tool_input_json")))
	if err != nil || models.Digest(canonical) != r.text("digest") {
		c.fault("responses", id, "tool_input_json", 0, "the content does not give the digest of its row")
	}
	return nil
}

// unnamed looks for rows of other tables that no entry made.
func (c *rowCheck) unnamed() error {
	for _, t := range []struct{ table, id, agents string }{
		{"votes", "id", "FALSE"},
		{"users", "id", "FALSE"},
		{"tokens", "id", "FALSE"},
		{"agents", "id", "FALSE"},
		{"stops", "id", "FALSE"},
		{"policies", "version", "FALSE"},
		{"grants", "id", "FALSE"},
		{"upstreams", "id", "FALSE"},
		{"invites", "id", "FALSE"},
		{"groups", "id", "FALSE"},
		{"channels", "id", "FALSE"},
		{"webhooks", "id", "FALSE"},
		{"webhook_skipped", "id", "FALSE"},
		{"notification_settings", "user_id", "FALSE"},
		{"notification_hosts", "host", "FALSE"},
		{"group_members", "id", "FALSE"},
		{"substitutes", "id", "FALSE"},
		{"absences", "id", "FALSE"},
		{"handovers", "id", "FALSE"},
		{"web_sessions", "id", "FALSE"},
		{"conversations", "id", "FALSE"},
		{"notes", "id", "FALSE"},
		{"budget_steps", "conversation_id || ' ' || sequence", "FALSE"},
		{"messages", "id", "author_kind = 'agent'"},
	} {
		if err := c.unnamedIn(t.table, `SELECT `+t.id+`, `+t.agents+` FROM `+t.table); err != nil {
			return fmt.Errorf("read %s: %w", t.table, err)
		}
	}
	// An allowance of nothing allows nothing; the rejection that it stands for has its entry.
	return c.unnamedIn("agent_allowances", `SELECT agent_id || ' ' || response_id, FALSE FROM agent_allowances WHERE energy > 0`)
}

// allowanceCheck compares what an agent may spend besides with the entry of its
// approval.
func allowanceCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	if d.AgentID == nil || d.Response == nil {
		return nil
	}
	id := *d.AgentID + " " + *d.Response
	c.report.Checked["agent_allowances"]++
	c.name("agent_allowances", id)
	row, err := c.lookUp("agent_allowances", "agent_id = ? AND response_id = ?", *d.AgentID, *d.Response)
	if err != nil {
		return err
	}
	if !row.found {
		c.fault("agent_allowances", id, "", e.Seq, "the row is missing")
		return nil
	}
	a := c.compare(e, "agent_allowances", id, row)
	a.is("energy", strconv.FormatInt(d.Energy, 10))
	until, err := time.Parse(db.TimeFormat, d.Ends)
	if err != nil {
		return fmt.Errorf("read entry %d: %w", e.Seq, err)
	}
	a.is("until", strconv.FormatInt(until.Unix()/60, 10))
	return nil
}

func (c *rowCheck) unnamedIn(table, query string) error {
	rows, err := c.dbtx.QueryContext(c.ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var claim bool
		if err := rows.Scan(&id, &claim); err != nil {
			return err
		}
		switch {
		case c.isNamed(table, id):
		case claim:
			c.uncovered(reportedSaid)
		default:
			c.fault(table, id, "", 0, "no entry of the ledger names this row")
		}
	}
	return rows.Err()
}
