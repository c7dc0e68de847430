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
		"asked": strings.Replace(asksIn, "r.number > ? AND r.number <= ?", "r.number > 1 AND r.number <= 2", 1), "asked later": laterAsks, "latest votes": latestVotes, "ended": endsIn, "let through": letThrough, "votes": endVotes, "notes": endNotes, "edits": endEdits, "unseen": endUnseen,
		"waiting": strings.Replace(numbered, "?", "'[]'", 1), "energy": strings.ReplaceAll(spentByResponses, "?", "1"), "turns": spentByTurns, "last": strings.Replace(lastOfDay, "?", "1", 1),
		"newest": strings.Replace(newestOf, "?", "'day'", 1), "outdated": outdatedOne, "first": firstOfAll, "day before": strings.Replace(thatEnds, "span = ?", "span = 'day'", 1), "days": daysIn,
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

// A day begins with its first moment, also where clocks skip midnight, and days follow each other without a gap.
func TestDaysFollowEachOther(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Africa/Cairo", "America/Asuncion", "Asia/Beirut", "Europe/Berlin", "Pacific/Apia", "Australia/Lord_Howe", "UTC"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		at := midnight(time.Date(2010, 1, 1, 12, 0, 0, 0, zone), zone, 0)
		for end := at.AddDate(17, 0, 0); at.Before(end); {
			next := midnight(at, zone, 1)
			if long := next.Sub(at); long < 22*time.Hour || long >= longestDay || next.In(zone).Day() == at.In(zone).Day() || next.Truncate(quarter) != next {
				t.Fatalf("%s: from %s until %s", name, at.In(zone), next.In(zone))
			}
			if m := monthOf(at, zone); at.Before(m.begin) || !at.Before(m.end) || m.end.Sub(m.begin) >= longestMonth {
				t.Fatalf("%s: the month of %s is from %s until %s", name, at, m.begin, m.end)
			}
			at = next
		}
	}
}
