package requests_test

import (
	"regexp"
	"slices"
	"testing"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/storetest"
)

// TestTheTableTakesWhatTheListsHold: each CHECK of responses names the values that
// models lists, so that a new value without its migration fails here and not on the
// first request that has it.
func TestTheTableTakesWhatTheListsHold(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, "PostgreSQL's CHECKs are compared with its own in models/db/postgres")
	table := storetest.Scalar[string](t, storetest.New(t), `SELECT sql FROM sqlite_master WHERE name = 'responses'`)
	for column, list := range map[string][]string{
		"kind": listed(models.Kinds()), "risk": listed(models.Risks()), "approval_status": slices.DeleteFunc(listed(models.Statuses()), isRan), "cause": append(listed(models.Causes()), ""),
	} {
		check := regexp.MustCompile(`CHECK \((` + column + ` = [^)]*)\)`).FindStringSubmatch(table)
		if check == nil {
			t.Errorf("%s has no CHECK", column)
			continue
		}
		var taken []string
		for _, word := range regexp.MustCompile(`'([^']*)'`).FindAllStringSubmatch(check[1], -1) {
			taken = append(taken, word[1])
		}
		slices.Sort(taken)
		slices.Sort(list)
		if !slices.Equal(taken, list) {
			t.Errorf("%s: the table takes %q, models lists %q", column, taken, list)
		}
	}
}

// isRan is the status that the cause says, beside a column that is NULL.
func isRan(status string) bool { return status == string(models.StatusRan) }

func listed[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, value := range list {
		out[i] = string(value)
	}
	return out
}
