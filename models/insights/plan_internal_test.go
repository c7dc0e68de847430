package insights

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/figures"
)

// Each query walks an index, whatever the rows are.
func TestSumsAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	at := time.Unix(0, 0).UTC()
	for name, query := range map[string]string{
		"asked": askedIn, "ended": endsIn, "let through": letThrough, "votes": endVotes, "notes": endNotes, "edits": endEdits, "unseen": endUnseen,
		"waiting": strings.Replace(numbered, "?", "'[]'", 1), "energy": strings.ReplaceAll(spentByResponses, "?", "1"), "turns": spentByTurns, "last": strings.Replace(lastOfDay, "?", "1", 1),
		"newest": newestDay, "outdated": outdatedOne, "first": firstOfAll, "day before": dayThatEnds, "days": daysIn,
		"sums":  strings.NewReplacer("span = ?", "span = 'day'", "begins_at IN ?", "begins_at IN (?, ?)", "about IN ?", "about IN ('', 'tool:x')").Replace(storedSums),
		"stale": strings.Replace(outdate, "span = ?", "span = 'day'", 1), "away": strings.Replace(takeAway, "span = ?", "span = 'day'", 1),
	} {
		args := make([]any, strings.Count(query, "?"))
		for i := range args {
			args[i] = at
		}
		for line := range strings.SplitSeq(dbtest.Plan(t, d, query, args...), "\n") {
			table := strings.Contains(line, "SCAN ") && !strings.Contains(line, "SCAN jn") && !strings.Contains(line, "CONSTANT ROW")
			if table && !strings.Contains(query, "LIMIT 1") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

func TestFirstLinesAreGrouped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", " \n": "", "No.\nBecause": "No.", "  No. \r\nx": "No.", strings.Repeat("é", 300): strings.Repeat("é", 250) + "…"} {
		if got := firstLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := changedMembers([]byte(`{"a":1,"b":{"c":[1]},"d":"x"}`), []byte(`{"b":{"c":[2]},"a":1,"e":null}`)); strings.Join(got, " ") != "b d e" {
		t.Errorf("changed: %q", got)
	}
	if got := changedMembers([]byte(`[1]`), []byte(`{}`)); strings.Join(got, " ") != "input" || figures.ToolKey(models.KindQuestion, "") != "(question)" {
		t.Errorf("changed: %q", got)
	}
}
