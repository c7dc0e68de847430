package upkeep

import (
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
		return nil
	case "webhook.resumed":
		a.is("paused_at", null)
		a.is("paused_why", "")
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
