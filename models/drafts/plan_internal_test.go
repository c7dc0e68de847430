package drafts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/models/db"
	"countersign/models/db/dbtest"
)

// A replay walks the calls from the newest down by their key, and looks up what belongs to
// each.
func TestAReplayWalksByKey(t *testing.T) {
	t.Parallel()
	plan := dbtest.Plan(t, dbtest.Open(t), fmt.Sprintf(selectCalls, `r.tool_input_json`), 9, 9)
	if !strings.Contains(plan, "SEARCH r USING INTEGER PRIMARY KEY (rowid<?)") || strings.Contains(plan, "SCAN") || strings.Contains(plan, "B-TREE") {
		t.Error(plan)
	}
}

// Samples are found by their places in the index, above those that are too old, and read by their keys.
func TestSamplesAreFoundByIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for query, want := range map[string]string{
		newestOfTool: "responses_tool (agent_id=? AND tool_name=? AND rowid>?)", selectSamples: "SEARCH r USING INTEGER PRIMARY KEY (rowid=?)",
	} {
		args := []any{"", "", 9, 9}
		if query == selectSamples {
			args = []any{"[9]"}
		}
		if plan := dbtest.Plan(t, d, query, args...); !strings.Contains(plan, want) || strings.Contains(plan, "B-TREE") || strings.Contains(plan, "SCAN r") {
			t.Errorf("%s\n%s", query, plan)
		}
	}
}

// The calls of rules are counted over the newest requests, from the newest down by their key.
func TestRecentCallsWalkByKey(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for _, query := range []string{callsOfRules, firstBefore} {
		args := []any{0}[:strings.Count(query, "?")]
		if plan := dbtest.Plan(t, d, query, args...); !strings.Contains(plan, "SCAN responses") || strings.Contains(plan, "ORDER BY") {
			t.Errorf("%s\n%s", query, plan)
		}
	}
}

// However many calls there were, tools are found by their place in the index.
func TestToolsAreFoundByIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for query, want := range map[string]string{
		nextToolOf: "responses_tool (agent_id=? AND tool_name>?)", lastOfTool: "responses_tool (agent_id=? AND tool_name=?)",
	} {
		if plan := dbtest.Plan(t, d, query, "", ""); !strings.Contains(plan, want) || strings.Contains(plan, "B-TREE") {
			t.Errorf("%s\n%s", query, plan)
		}
	}
}

// Suggestions read calls from the newest down by their key, and what was refused before by its index.
func TestSuggestionsAreReadByIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for query, want := range map[string]string{
		outcomesBelow: "SEARCH r USING INTEGER PRIMARY KEY (rowid<?)", rejectionsOf: "responses_rejected_tool (agent_id=? AND tool_name=? AND number<?)",
	} {
		args := []any{9, 9}
		if query == rejectionsOf {
			args = []any{"", "", 9, 9}
		}
		plan := dbtest.Plan(t, d, query, args...)
		if !strings.Contains(plan, want) || strings.Contains(plan, "SCAN") || strings.Contains(plan, "B-TREE") || !strings.Contains(plan, "notes_response (response_id=?)") {
			t.Errorf("%s\n%s", query, plan)
		}
	}
}

// Of dismissed suggestions the newest are kept.
func TestOldDismissalsAreForgotten(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	var left []string
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		for i, key := range []string{"a", "b", "c", "d"} {
			if err := tx.Gorm().Exec(addDismissed, key, "no", "", "", at.Add(time.Duration(i)*time.Second)).Error; err != nil {
				return err
			}
		}
		if err := tx.Gorm().Exec(forgetDismissed, 2).Error; err != nil {
			return err
		}
		return tx.Gorm().Raw(`SELECT key FROM dismissed_suggestions ORDER BY key`).Scan(&left).Error
	})
	if err != nil || strings.Join(left, "") != "cd" {
		t.Errorf("%v %v", left, err)
	}
}
