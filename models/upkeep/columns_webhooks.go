package upkeep

// webhookColumns are those of endpoints that get the events of the ledger.
var webhookColumns = map[string]map[string]column{
	"webhooks": {
		"*":             {proof: bookkeep},
		"id":            {byEntry, keptID},
		"name":          {byEntry, keptName},
		"label":         {byDigest, keptSetting},
		"owner_id":      {byEntry, keptID},
		"types":         {byEntry, keptSetting},
		"inputs":        {proof: byEntry},
		"created_at":    {proof: byEntry},
		"paused_at":     {proof: byEntry},
		"paused_why":    {byEntry, keptWord},
		"removed_at":    {proof: byEntry},
		"target_sealed": {proof: byDigest},
		"paused_by":     {byEntry, keptName},
		"paused_class":  {removal: keptNow},
	},
	"webhook_blocks": {
		"*":               {proof: bookkeep},
		"webhook_id":      {removal: keptID},
		"stream":          {removal: keptID},
		"conversation_id": {removal: keptID},
		"response_id":     {removal: keptID},
		"type":            {removal: keptWord},
		"class":           {removal: keptNow},
	},
	"webhook_skipped": {
		"id":         {byEntry, keptID},
		"webhook_id": {byEntry, keptID},
		"seq":        {proof: byEntry},
		"type":       {byEntry, keptWord},
		"at":         {proof: byEntry},
		"by_id":      {byEntry, keptID},
		"by_name":    {byEntry, keptName},
		"reason":     {byDigest, keptSetting},
		"class":      {byEntry, keptWord},
		"status":     {proof: byEntry},
	},
	"webhook_answers": {
		"*":          {proof: "not: what endpoints answered last, which decides nothing"},
		"webhook_id": {removal: keptID},
		"type":       {removal: keptWord},
		"class":      {removal: keptWord},
	},
}
