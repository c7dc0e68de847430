package doctor

import (
	"context"
	"fmt"
	"time"
)

// retentionLate is how long after the policy's days contents may still be there: a
// server looks each hour, and works in small steps.
const retentionLate = 24 * time.Hour

// retention reports whether the policy's retention_days is kept to.
func (d *doctor) retention(ctx context.Context) diagnosis {
	now, err := d.folder.Retention(ctx, d.now)
	if err != nil {
		return diagnosis{Result: checkSkipped, Text: "needs the policy"}
	}
	soon := ""
	if !now.Begins.IsZero() {
		soon = fmt.Sprintf("; from %s on %d days after they end", now.Begins.UTC().Format("2006-01-02 15:04Z"), now.Next)
	}
	if now.Days == 0 && soon != "" {
		return passed("contents stay now%s", soon)
	}
	if now.Days == 0 {
		return passed("off: contents stay until `countersign purge` removes them")
	}
	late, err := d.folder.Unpurged(ctx, d.now.AddDate(0, 0, -now.Days).Add(-retentionLate))
	switch {
	case err != nil:
		return fail("see the database's check", "%v", err)
	case late > 0:
		return warn("let the server run, which removes them within an hour, or run `countersign purge`; if they stay, look for \"retention\" in its log",
			"retention_days is %d, and %d requests that were over before still have their contents", now.Days, late)
	}
	return passed("contents are removed %d days after they end%s", now.Days, soon)
}
