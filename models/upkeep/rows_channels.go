package upkeep

import "countersign/models"

// channelCheck compares a channel with an entry that made, verified, disabled or removed it.
func channelCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "channel.added"
	a, err := c.createdRow(e, "channels", d.Channel, makes)
	if a == nil || err != nil {
		return err
	}
	switch e.Action {
	case "channel.verified":
		a.is("verified_at", fileTime(e.At))
	case "channel.disabled":
		a.is("disabled_at", fileTime(e.At))
	case "channel.removed":
		a.is("removed_at", fileTime(e.At))
		a.is("target_sealed", null)
	default:
		a.is("user_id", string(e.OwnerID))
		a.is("group_id", d.Group)
		a.is("kind", d.Kind)
		a.is("created_at", fileTime(e.At))
		a.is("disabled_at", null)
		a.is("removed_at", null)
		if !models.ChannelKind(d.Kind).NeedsCode() {
			a.is("verified_at", fileTime(e.At))
		} else {
			a.is("verified_at", null)
		}
		if d.Label != nil {
			a.text("label", *d.Label)
		}
		a.secret("target_sealed", d.Target)
	}
	return nil
}
