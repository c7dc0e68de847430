package upkeep

// actingColumns are those of the tables that say who is asked, now or later, and who acts for others.
var actingColumns = map[string]map[string]column{
	"reviewers": {
		"user_id":     {byEntry, keptID},
		"response_id": {byEntry, keptID},
		"tool_use_id": {shortcut, keptID},
		"settled_at":  {proof: shortcut},
		"for_others":  {proof: shortcut},
		"number":      {proof: shortcut},
	},
	"deciders": {
		"user_id":     {byDeriv, keptID},
		"deadline":    {proof: byDeriv},
		"response_id": {byDeriv, keptID},
	},
	"absences": {
		"id":            {byEntry, keptID},
		"user_id":       {byEntry, keptID},
		"from_at":       {proof: byEntry},
		"until_at":      {proof: byEntry},
		"substitute_id": {byEntry, keptID},
		"created_at":    {proof: byEntry},
		"created_by":    {byEntry, keptID},
		"began_at":      {proof: byEntry},
		"ended_at":      {proof: byEntry},
	},
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
