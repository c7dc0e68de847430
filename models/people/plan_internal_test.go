package people

import (
	"strings"
	"testing"
	"time"

	"countersign/models/db/dbtest"
)

func TestPeopleAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	d, now := dbtest.Open(t), time.Unix(0, 0)
	for name, q := range map[string]struct {
		text string
		args []any
	}{
		"people":     {peopleQuery, []any{now, now, 9, now, now, "", 51}},
		"devices":    {deviceQuery, []any{"u", "~", now, now, 51}},
		"invitation": {openInvite, []any{"h", now}},
		"members":    {membersOfGroup, []any{"g"}},
		"agents":     {everyonesAgents, []any{"~", "x", "x", "x", "x", 51}},
		"tokens":     {everyonesTokens, []any{"~", "x", "x", "x", "x", 51}},
		"of agents":  {tokensOfAgents, []any{`["a"]`}},
		"own":        {ownAgents, []any{"u", "a", 51}},
		"one agent":  {oneAgent, []any{"a", "u", false}},
		"its tokens": {tokensOfAgent, []any{"a", 20}},
		"groups of":  {groupsOfUser, []any{"u"}},
		"views":      {savedViews, []any{"u", "history"}},
	} {
		plan := dbtest.Plan(t, d, q.text, q.args...)
		for line := range strings.SplitSeq(plan, "\n") {
			// The people of one installation are few, and walked in order; other tables grow.
			if strings.HasPrefix(line, "SCAN ") && !strings.HasPrefix(line, "SCAN u") && !strings.Contains(line, "subquery") && !strings.HasPrefix(line, "SCAN (") && line != "SCAN CONSTANT ROW" && !strings.HasPrefix(line, "SCAN json_each") {
				t.Errorf("%s: %s\n%s", name, line, plan)
			}
		}
	}
}
