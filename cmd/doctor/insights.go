package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/config"
	"countersign/cmd/data"
	"countersign/models/store"
)

// behind is how long after its end a day is summed at the latest, where a server runs.
const behind = 24 * time.Hour

const remedyInsights = "countersign doctor --fix insights"

// insights compares the sums that people look back on with the requests.
func (d *doctor) insights(ctx context.Context) diagnosis {
	switch c, err := d.folder.Insights(ctx); {
	case err != nil:
		return fail("see the database's check", "%v", err)
	case len(c.Wrong) > 0:
		return fail(remedyInsights, "the sums of %s say another number of requests than there are", daysOf(c.Wrong))
	case c.Until.IsZero():
		return passed("no day is summed yet")
	case d.now.Sub(c.Until) > 24*time.Hour+behind:
		return warn("a running server sums them; its log may say why it does not", "days are summed until %s only", c.Until.Format(time.DateTime))
	case c.Stale > 0:
		return passed("days are summed until %s; %d days and months are to be summed again", c.Until.Format(time.DateTime), c.Stale)
	default:
		return passed("days are summed until %s", c.Until.Format(time.DateTime))
	}
}

func daysOf(days []time.Time) string {
	names := make([]string, 0, len(days))
	for i, day := range days {
		if i == 10 {
			names = append(names, fmt.Sprintf("%d more", len(days)-i))
			break
		}
		names = append(names, day.Format("2006-01-02 15:04"))
	}
	return listed(names)
}

// fixInsights sums all days again, and says whether they were right.
func fixInsights(c *cobra.Command, cfg config.Config) error {
	return data.Use(c, cfg, func(s *store.Store) error {
		p, err := s.CurrentPolicy(c.Context())
		if err != nil {
			return err
		}
		differ, n, err := s.Insights.Rebuild(c.Context(), p.Program.Zone())
		switch {
		case err != nil:
		case len(differ) == 0:
			_, err = fmt.Fprintf(c.OutOrStdout(), "%d sums were made again. Those that there were are the same.\n", n)
		default:
			_, err = fmt.Fprintf(c.OutOrStdout(), "%d sums were made again. Those that begin at %s were wrong.\n", n, daysOf(differ))
		}
		return err
	})
}
