package upkeep

import (
	"strconv"

	"github.com/go-json-experiment/json"

	"countersign/models"
)

// webhookCheck compares an endpoint with an entry that made, changed, paused, resumed or removed
// it.
func webhookCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "webhook.added"
	a, err := c.createdRow(e, "webhooks", d.Webhook, makes)
	if a == nil || err != nil {
		return err
	}
	switch e.Action {
	case "webhook.paused":
		a.is("paused_at", fileTime(e.At))
		a.is("paused_why", d.Why)
		by := e.ActorName
		if models.WebhookPause(d.Why) != models.PausedByPerson {
			by = "" // the worker
		}
		a.is("paused_by", by)
		return nil
	case "webhook.resumed":
		a.is("paused_at", null)
		a.is("paused_why", "")
		a.is("paused_by", "")
		return nil
	case "webhook.removed":
		a.is("removed_at", fileTime(e.At))
		a.is("target_sealed", null)
		return nil
	}
	if makes {
		a.is("owner_id", string(e.OwnerID))
		a.is("created_at", fileTime(e.At))
		a.is("paused_at", null)
		a.is("paused_why", "")
		a.is("paused_by", "")
		a.is("removed_at", null)
	}
	types, err := json.Marshal(append([]string{}, d.Types...))
	if err != nil {
		return err
	}
	a.is("name", d.Name)
	a.is("types", string(types))
	a.is("inputs", boolText(d.Inputs))
	if d.Label != nil {
		a.text("label", *d.Label)
	}
	a.secret("target_sealed", d.Target)
	return nil
}

// skipCheck compares a dead letter with the entry of the event that was given up. An endpoint's
// are removed with it.
func skipCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	const table = "webhook_skipped"
	row, err := c.lookUp(table, "id = ?", d.Skip)
	if err != nil {
		return err
	}
	c.name(table, d.Skip)
	c.report.Checked[table]++
	if !row.found {
		of, err := c.lookUp("webhooks", "id = ?", d.Webhook)
		if err != nil || !of.found {
			return err
		}
		if _, removed := of.get("removed_at"); !removed {
			c.fault(table, d.Skip, "", e.Seq, "the row is missing")
		}
		return nil
	}
	a, by := c.compare(e, table, d.Skip, row), ""
	if e.ActorKind == models.ActorUser {
		by = e.ActorID
	}
	a.is("webhook_id", d.Webhook)
	a.is("seq", strconv.FormatInt(d.Seq, 10))
	a.is("type", d.Type)
	a.is("at", fileTime(e.At))
	a.is("by_id", by)
	a.is("by_name", e.ActorName)
	a.is("class", d.Class)
	a.is("status", strconv.FormatInt(d.HTTPStatus, 10))
	a.text("reason", d.Reason)
	return nil
}
