package upkeep

// actingColumns are those of the tables that say who acts for others, and who is asked later.
var actingColumns = map[string]map[string]column{
	"substitutes": {
		"id":            {byEntry, keptID},
		"user_id":       {byEntry, keptID},
		"substitute_id": {byEntry, keptID},
		"asked_at":      {proof: byEntry},
		"asked_by":      {byEntry, keptID},
		"accepted_at":   {proof: byEntry},
		"accepted_by":   {byEntry, keptID},
		"removed_at":    {proof: byEntry},
	},
	"handovers": {
		"id":            {byEntry, keptID},
		"response_id":   {byEntry, keptID},
		"from_user":     {byEntry, keptID},
		"to_user":       {byEntry, keptID},
		"note":          {byDigest, markText},
		"at":            {proof: byEntry},
		"taken_back_at": {proof: byEntry},
	},
	"escalations": {
		"*":           {proof: "not: when further people are asked, as the frozen rule of the request says"},
		"response_id": {removal: keptID},
	},
}
