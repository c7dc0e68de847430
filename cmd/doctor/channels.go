package doctor

import (
	"context"
	"fmt"
	"strings"

	"countersign/cmd/data"
)

// channels reports whether it can be read where notifications go. It sends none.
func (d *doctor) channels(ctx context.Context) diagnosis {
	lost, all, err := d.folder.LockedChannels(ctx)
	if err != nil {
		return fail("see the database's check", "%v", err)
	}
	if len(lost) > 0 {
		lines := make([]string, len(lost))
		for i, c := range lost {
			lines[i] = fmt.Sprintf("%s, of %s", c.Label, c.Owner)
		}
		return fail(data.AddChannelAgain, "nothing is sent by these channels, whose targets cannot be opened: %s\n%s",
			lost[0].Why, strings.Join(lines, "\n"))
	}
	if all == 0 {
		return passed("none")
	}
	return passed("%d, and their targets can be opened", all)
}
