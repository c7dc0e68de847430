package cmd

import (
	"context"
	"time"
)

// retentionLate is how long after the policy's days contents may still be there: a
// server looks each hour, and works in small steps.
const retentionLate = 24 * time.Hour

// retention reports whether the policy's retention_days is kept to.
func (d *doctor) retention(ctx context.Context) diagnosis {
	_, doc, err := d.policyDocument(ctx)
	if err != nil {
		return diagnosis{Result: checkSkipped, Text: "needs the policy"}
	}
	if have, want, err := d.folder.Schema(ctx); err != nil || have != want {
		return diagnosis{Result: checkSkipped, Text: "needs the migrations"}
	}
	if doc.RetentionDays == 0 {
		return passed("off: contents stay until `countersign purge` removes them")
	}
	late, err := d.folder.Unpurged(ctx, d.now.AddDate(0, 0, -doc.RetentionDays).Add(-retentionLate))
	switch {
	case err != nil:
		return fail("see the database's check", "%v", err)
	case late > 0:
		return warn("let the server run, which removes them within an hour, or run `countersign purge`; if they stay, look for \"retention\" in its log",
			"retention_days is %d, and %d requests that were over before still have their contents", doc.RetentionDays, late)
	}
	return passed("contents are removed %d days after they are over", doc.RetentionDays)
}
