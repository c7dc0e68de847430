package upkeep

import "countersign/models"

// stopCheck compares a stop with the entry that made it or that ended it. A stop that an entry
// made and no entry ended must be there, in force.
func stopCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "agents.stopped"
	a, err := c.createdRow(e, "stops", d.Stop, makes)
	if a == nil || err != nil {
		return err
	}
	by := ""
	if e.ActorKind == models.ActorUser {
		by = e.ActorID
	}
	note := "lifted_note"
	if makes {
		note = "note"
	}
	if d.NoteText != nil {
		a.text(note, *d.NoteText)
	}
	a.is("agent_id", d.Agent)
	if makes {
		a.is("at", fileTime(e.At))
		a.is("by_id", by)
		a.is("by_name", e.ActorName)
		a.is("lifted_at", null)
		a.is("lifted_id", "")
		a.is("lifted_name", "")
		a.is("lifted_note", "")
		return nil
	}
	a.is("lifted_at", fileTime(e.At))
	a.is("lifted_id", by)
	a.is("lifted_name", e.ActorName)
	return nil
}
