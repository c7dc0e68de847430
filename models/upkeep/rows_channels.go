package upkeep

import (
	"countersign/models"
	"countersign/models/people"
)

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

// settingsCheck compares when a person is told with an entry that changed it.
func settingsCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	const table = "notification_settings"
	id := string(e.OwnerID)
	row, err := c.lookUp(table, "user_id = ?", id)
	if err != nil {
		return err
	}
	if !c.isNamed(table, id) {
		c.name(table, id)
		c.report.Checked[table]++
	}
	if !row.found {
		c.fault(table, id, "", e.Seq, "the row is missing")
		return nil
	}
	have := people.SettingsDigest(&models.NotificationSettingsRow{
		UserID: models.UserID(row.text("user_id")), Moments: row.text("moments"), DigestAt: models.ClockTime(row.text("digest_at")),
		QuietFrom: models.ClockTime(row.text("quiet_from")), QuietTo: models.ClockTime(row.text("quiet_to")), Zone: row.text("zone"),
		CriticalBreaksThrough: row.text("critical_breaks_through") != boolText(false),
	})
	c.compare(e, table, id, row).proves("moments", d.Settings, have)
	return nil
}

// hostCheck compares a host that channels may name with an entry that allowed or removed it.
func hostCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	const table = "notification_hosts"
	row, err := c.lookUp(table, "host = ?", d.Host)
	if err != nil {
		return err
	}
	at, by, name := null, null, null
	if e.Action == "notification_host.allowed" {
		if !c.isNamed(table, d.Host) {
			c.name(table, d.Host)
			c.report.Checked[table]++
		}
		at, by, name = fileTime(e.At), "", e.ActorName
		if e.ActorKind == models.ActorUser {
			by = e.ActorID
		}
	}
	a := c.compare(e, table, d.Host, row) // one that is not there has none of the values
	a.is("added_at", at)
	a.is("added_by", by)
	a.is("by_name", name)
	return nil
}
