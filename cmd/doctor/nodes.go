package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"countersign/cmd/terminal"
)

// longestLag is how late a server may hear of what another did: this much is promised where a notice is lost.
const longestLag = 2 * time.Second

// nodes looks at the servers on the database: whether each can write, and hears of the others.
func (d *doctor) nodes(ctx context.Context) diagnosis {
	all, err := d.folder.Nodes(ctx, d.now)
	if err != nil {
		return fail("see the database's check", "%v", err)
	}
	if len(all) == 0 {
		return passed("no server runs")
	}
	var lines, remedies []string
	for i := range all {
		n := &all[i]
		line := fmt.Sprintf("%s (%s), since %s, last commit %s", terminal.Plain(n.Name), terminal.Plain(n.Version),
			n.StartedAt.UTC().Format(time.DateTime), n.SeenAt.UTC().Format(time.DateTime))
		if len(n.Leases) > 0 {
			line += ", does " + terminal.Plain(strings.Join(n.Leases, ", "))
		}
		lag := time.Duration(n.LagMS) * time.Millisecond
		switch {
		case n.Silent(d.now):
			line += ": not seen since"
			remedies = append(remedies, "start "+terminal.Plain(n.Name)+" again if it is not meant to be gone; its log may say why it ended")
		case lag > longestLag:
			line += fmt.Sprintf(": heard of another server's change %s late", lag)
			remedies = append(remedies, "look at the connection of "+terminal.Plain(n.Name)+" to the database")
		}
		lines = append(lines, line)
	}
	if len(remedies) > 0 {
		return warn(strings.Join(remedies, "; "), "%s", strings.Join(lines, "\n"))
	}
	return passed("%s", strings.Join(lines, "\n"))
}
