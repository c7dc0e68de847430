package doctor

import (
	"context"
	"fmt"
	"strings"

	"countersign/models/upkeep"
)

// unseen looks for requests that expire without anybody having seen them, and for people who
// hear of nothing.
func (d *doctor) unseen(ctx context.Context) diagnosis {
	var reviewers []string
	if _, doc, err := d.policyDocument(ctx); err == nil {
		reviewers = doc.Named()
	}
	found, err := d.folder.Unseen(ctx, d.now, reviewers)
	if err != nil {
		return fail("see the database's check", "%v", err)
	}
	var faults, remedies []string
	if len(found.Rules) > 0 {
		rules := make([]string, len(found.Rules))
		for i, r := range found.Rules {
			rules[i] = fmt.Sprintf("%s (%d)", r.Rule, r.Expired)
		}
		faults = append(faults,
			fmt.Sprintf("in the last %d days, requests expired that nobody had opened, under these rules: %s", upkeep.UnseenDays,
				strings.Join(rules, ", ")))
		remedies = append(remedies, "add reviewers or escalate to the rules, or let them wait longer")
	}
	if found.Channels && len(found.Deaf) > 0 {
		faults = append(faults, "these people are asked, and no channel tells them: "+strings.Join(found.Deaf, ", "))
		remedies = append(remedies, "ask them to add a channel under Account, Notifications")
	}
	switch {
	case len(faults) > 0:
		return warn(strings.Join(remedies, "; "), "%s", strings.Join(faults, "\n"))
	case !found.Channels:
		return passed("no request expired unseen in the last %d days; nobody has a channel for notifications",
			upkeep.UnseenDays)
	}
	return passed("no request expired unseen in the last %d days; everybody who is asked has a channel", upkeep.UnseenDays)
}
