package doctor

import "context"

// grants compares what grants say to have let through with the calls that name
// them.
func (d *doctor) grants(ctx context.Context) diagnosis {
	switch f, err := d.folder.Grants(ctx); {
	case err != nil:
		return fail("see the database's check", "%v", err)
	case len(f.Uses) > 0:
		return fail("revoke them on the page Pre-approvals, keep this file as evidence, and compare with a backup",
			"the uses of these pre-approvals do not match the calls that they allowed: %s", listed(f.Uses))
	default:
		return passed("uses add up in all pre-approvals (%d)", f.Grants)
	}
}

func (d *doctor) glass(ctx context.Context) diagnosis {
	switch n, err := d.folder.BrokenGlass(ctx); {
	case err != nil:
		return fail("see the database's check", "%v", err)
	case n > 0:
		return warn("acknowledge them on the page Audit", "decisions that broke glass and that nobody else has looked at: %d", n)
	default:
		return passed("no decision that broke glass waits to be acknowledged")
	}
}
