package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"countersign/cmd/data"
	"countersign/workers/upstream"
)

// upstreams reports whether the keys of other systems can be used, and how their
// polls went. It asks none of them.
func (d *doctor) upstreams(ctx context.Context) diagnosis {
	all, err := d.folder.Upstreams(ctx)
	if err != nil {
		return fail("see the database's check", "%v", err)
	}
	var noKey, faulty, local, idle []string
	why := ""
	for _, u := range all {
		switch {
		case u.Lock != "":
			noKey, why = append(noKey, u.Name), u.Lock
		case !u.Disabled && upstream.RefusedHost(u.BaseURL, d.cfg.Upstreams.Allow) != "":
			local = append(local,
				fmt.Sprintf("%s: %s is %s", u.Name, u.BaseURL, upstream.RefusedHost(u.BaseURL, d.cfg.Upstreams.Allow)))
		case u.Paused && !u.Disabled:
			idle = append(idle, fmt.Sprintf("%s: %s", u.Name, u.Problem))
		case u.Failures > 0 && !u.Disabled:
			faulty = append(faulty, fmt.Sprintf("%s: %s", u.Name, u.Problem))
		}
	}
	switch {
	case len(noKey) > 0:
		return fail(data.SetKeyAnew, "the keys of these upstreams cannot be opened: %s: %s", strings.Join(noKey, ", "), why)
	case len(local) > 0:
		return warn("if they are meant, name their hosts in --upstream-allow; else disable them: `countersign upstream disable NAME`",
			"new upstreams could not be added at these addresses; those from before still work\n%s",
			strings.Join(slices.Concat(local, idle, faulty), "\n"))
	case len(idle) > 0:
		return warn("give them a key that they accept: `countersign upstream set-key NAME`; or, if theirs works again, `countersign upstream resume NAME`",
			"these refuse their key and are paused: nothing is fetched from them or sent to them\n%s",
			strings.Join(slices.Concat(idle, faulty), "\n"))
	case len(faulty) > 0:
		return warn("look at the address and the key: `countersign upstream list`, `countersign upstream set-key NAME`",
			"the last polls failed\n%s", strings.Join(faulty, "\n"))
	case len(all) == 0:
		return passed("none")
	}
	return passed("%d, and their keys can be opened", len(all))
}
