package upkeep

import "countersign/models"

// handedCheck compares a hand-over with the entry that made it or took it back.
func handedCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "approval.handed_over"
	a, err := c.createdRow(e, "handovers", d.HandOver, makes)
	if a == nil || err != nil {
		return err
	}
	if !makes {
		a.is("taken_back_at", fileTime(e.At))
		return nil
	}
	a.is("response_id", string(e.ResponseID))
	a.is("from_user", e.ActorID)
	a.is("to_user", d.To)
	a.is("at", fileTime(e.At))
	a.is("taken_back_at", null)
	a.text("note", d.HandOverNote)
	return nil
}

// substituteCheck compares who may act for whom with an entry that asked for it, accepted it
// or ended it.
func substituteCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "substitute.asked"
	a, err := c.createdRow(e, "substitutes", d.Substitute, makes)
	if a == nil || err != nil {
		return err
	}
	by := ""
	if e.ActorKind == models.ActorUser {
		by = e.ActorID
	}
	switch e.Action {
	case "substitute.asked":
		a.is("user_id", d.UserID)
		a.is("substitute_id", d.SubstituteID)
		a.is("asked_at", fileTime(e.At))
		a.is("asked_by", by)
		a.is("accepted_at", null)
		a.is("accepted_by", "")
		a.is("removed_at", null)
	case "substitute.accepted":
		a.is("accepted_at", fileTime(e.At))
		a.is("accepted_by", by)
	case "substitute.removed":
		a.is("removed_at", fileTime(e.At))
	}
	return nil
}

// absenceCheck compares an absence with an entry that planned, began or ended it.
func absenceCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "absence.planned"
	a, err := c.createdRow(e, "absences", d.Absence, makes)
	if a == nil || err != nil {
		return err
	}
	switch e.Action {
	case "absence.planned":
		by := ""
		if e.ActorKind == models.ActorUser {
			by = e.ActorID
		}
		a.is("user_id", d.UserID)
		a.is("from_at", fileTime(d.FromAt))
		a.is("until_at", fileTime(d.UntilAt))
		a.is("substitute_id", d.SubstituteID)
		a.is("created_at", fileTime(e.At))
		a.is("created_by", by)
		a.is("began_at", null)
		a.is("ended_at", null)
	case "absence.begun":
		a.is("began_at", fileTime(e.At))
	case "absence.ended":
		a.is("ended_at", fileTime(e.At))
	}
	return nil
}
