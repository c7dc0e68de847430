package doctor

import (
	"context"
	"strings"
)

// energy adds up what conversations have spent against their budgets.
func (d *doctor) energy(ctx context.Context) diagnosis {
	switch f, err := d.folder.Energy(ctx); {
	case err != nil:
		return fail("see the database's check", "%v", err)
	case len(f.Sums) > 0:
		return fail("budgets count what the conversations say: keep this file as evidence, and compare with a backup",
			"what these conversations have spent does not match their responses and model calls: %s", listed(f.Sums))
	case len(f.Orphans) > 0:
		return warn("write into these conversations: their next run frees it",
			"energy is reserved for runs that are not under way: %s", listed(f.Orphans))
	case len(f.Windows) > 0:
		return fail("keep this file as evidence, and compare with a backup",
			"what these agents have spent does not match the minutes of their window: %s", listed(f.Windows))
	default:
		return passed("adds up in all conversations (%d)", f.Conversations)
	}
}

func listed[T ~string](ids []T) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(id))
	}
	return b.String()
}
