package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign/cmd/terminal"
	"countersign/models"
)

// webhookLate is how far behind an endpoint is named.
const webhookLate = 24 * time.Hour

// webhooks reports whether the endpoints can be sent to, and how far they are behind. It sends
// nothing.
func (d *doctor) webhooks(ctx context.Context) diagnosis {
	all, err := d.folder.Webhooks(ctx)
	if err != nil {
		return fail("see the database's check", "%v", err)
	}
	var noSecret, idle, late []string
	why := ""
	for _, h := range all {
		name := terminal.Plain(h.Name) + ", " + terminal.Plain(h.Label)
		if h.Lock != "" {
			noSecret, why = append(noSecret, terminal.Plain(h.Name)), h.Lock
		}
		switch {
		case h.Why == models.PausedFailing:
			idle = append(idle, name+": it is paused, for it refused an event for a day")
		case h.Why == models.PausedGone:
			idle = append(idle, name+": it is paused, for it answered that it is gone")
		case h.Why == "" && !h.OldestAt.IsZero() && d.now.Sub(h.OldestAt) > webhookLate:
			late = append(late,
				fmt.Sprintf("%s: the oldest event that it has not got is of %s", name, h.OldestAt.Format(time.RFC3339)))
		}
	}
	switch {
	case len(noSecret) > 0:
		return fail("copy "+models.KeyFile+" from the data folder that it was made in, or remove these webhooks and add them again",
			"%s",
			strings.Join(slices.Concat([]string{"the addresses of these webhooks cannot be opened: " + strings.Join(noSecret, ", ") + ": " + why}, idle, late), "\n"))
	case len(idle)+len(late) > 0:
		return warn("look at them on System > Webhooks: resume what works again, skip what can't be sent", "%s",
			strings.Join(slices.Concat(idle, late), "\n"))
	case len(all) == 0:
		return passed("none")
	}
	return passed("%d, and none is more than a day behind", len(all))
}
