package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"countersign/models"
	"countersign/models/upkeep"
)

const addChannelAgain = "copy " + models.KeyFile + " from the data folder that it was made in, or have the channels removed and added again"

// channels reports whether it can be read where notifications go. It sends none.
func (d *doctor) channels(ctx context.Context) diagnosis {
	if have, want, err := d.folder.Schema(ctx); err != nil || have != want {
		return diagnosis{Result: checkSkipped, Text: "needs the migrations"}
	}
	locked, all, err := d.folder.LockedChannels(ctx)
	if err != nil {
		return fail("see the database's check", "%v", err)
	}
	if len(locked) > 0 {
		lines := make([]string, len(locked))
		for i, c := range locked {
			lines[i] = fmt.Sprintf("%s, of %s", c.Label, c.Owner)
		}
		return fail(addChannelAgain, "nothing is sent by these channels, whose targets cannot be opened: %s\n%s", locked[0].Why, strings.Join(lines, "\n"))
	}
	if all == 0 {
		return passed("none")
	}
	return passed("%d, and their targets can be opened", all)
}

// tellLockedChannels says which channels of a folder that was restored can't be used there.
func tellLockedChannels(c *cobra.Command, dir string) error {
	folder, err := upkeep.Inspect(c.Context(), dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	locked, _, err := folder.LockedChannels(c.Context())
	if len(locked) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "the targets of %d channels of notifications cannot be opened here; %s\n", len(locked), addChannelAgain)
	}
	return err
}
