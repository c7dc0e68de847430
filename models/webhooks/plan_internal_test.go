package webhooks

import (
	"strings"
	"testing"
	"time"

	"countersign/models/db/dbtest"
)

// No query reads a whole table, but that of the endpoints, which are few.
func TestWebhooksAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	d, now := dbtest.Open(t), time.Unix(0, 0)
	for name, q := range map[string]struct {
		text string
		args []any
	}{
		"in use":              {inUse, nil},
		"any":                 {anyInUse, nil},
		"at sending":          {atSending, []any{"w", 1}},
		"answers":             {lastAnswers, []any{"w", 20}},
		"answers so far":      {answersSoFar, []any{"w"}},
		"counted":             {countedAnswer, []any{1, "w"}},
		"blocked":             {blocksOf, []any{"w"}},
		"blocks":              {allBlocks, []any{"w"}},
		"waiting":             {waiting, []any{"w"}},
		"block at":            {blockAt, []any{"w", 1}},
		"drop blocks":         {dropBlocks, []any{"w", 1}},
		"free a stream":       {freeStream, []any{"w", "s"}},
		"dead letters":        {dead, []any{"w", "", 51}},
		"more dead letters":   {dead, []any{"w", "x", 51}},
		"cursor":              {keepCursor, []any{1, now, "w", 1}},
		"pause":               {pauseWebhook, []any{now, "failing", "", "w"}},
		"removed since":       {removedSince, []any{1}},
		"owner":               {nameOfUser, []any{"u"}},
		"head":                {headNow, nil},
		"head of the entries": {headOfEntries, nil},
	} {
		plan := dbtest.Plan(t, d, q.text, q.args...)
		for line := range strings.SplitSeq(plan, "\n") {
			if strings.HasPrefix(line, "SCAN ") && !strings.HasPrefix(line, "SCAN webhooks USING INDEX webhooks_in_use") {
				t.Errorf("%s: %s\n%s", name, line, plan)
			}
			if strings.HasSuffix(name, "dead letters") && strings.Contains(line, "TEMP B-TREE") {
				t.Errorf("%s are sorted for each page:\n%s", name, plan)
			}
		}
	}
}
