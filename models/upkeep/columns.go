package upkeep

import (
	"slices"
	"strings"
)

// column is what becomes of a column of the database: how it is proven, and, where it
// holds text, whether a purge removes it. A test fails for a column that is not here.
type column struct{ proof, removal string }

// How a column is proven. What begins with "not:" is not, and why.
const (
	byEntry  = "entry"      // the entry spells the value out, or is about it
	byDigest = "digest"     // the entry holds a digest of it
	byRow    = "row_digest" // it is in the digest over the rest of the row
	byDeriv  = "derived"    // it follows from other rows that are proven
	reported = "not: what an agent reports is its claim; the ledger has one digest for each report"
	bookkeep = "not: bookkeeping that decides nothing"
	shortcut = "not: a cache of what entries say, for lists"
)

// What a purge does with a text: the form in which its mark stands there, or why it is
// kept.
const (
	keptID      = "kept: an id"
	keptName    = "kept: a name"
	keptDigest  = "kept: a digest"
	keptWord    = "kept: one of our own words, an outcome or a state"
	keptRule    = "kept: words of the policy"
	keptWho     = "kept: who may sign in, decide or ask"
	keptSetting = "kept: a setting"
	keptNow     = "kept: the state of now, overwritten by the next"
	keptMark    = "kept: the mark itself"

	markText    = "text"    // the mark
	markObject  = "object"  // {"removed": the mark}
	markList    = "list"    // [the mark]
	markOptions = "options" // [{"name": the mark}]
	markTurn    = "turn"    // {"content": the mark, "read": as it was}
)

// proven are the columns of a table that the check reads, in a fixed order.
func proven(table string) []string {
	var out []string
	for name, c := range columns[table] {
		if c.proof != "" && !strings.HasPrefix(c.proof, "not:") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// RowColumns says of each column, by table, how it is proven.
func RowColumns() map[string]map[string]string {
	return each(func(c column) string { return c.proof })
}

// TextColumns says of each text column, by table, whether a purge removes it, or why it is
// kept.
func TextColumns() map[string]map[string]string {
	return each(func(c column) string { return c.removal })
}

// each is what says something of each column, by table.
func each(says func(column) string) map[string]map[string]string {
	out := make(map[string]map[string]string, len(columns))
	for table, of := range columns {
		out[table] = map[string]string{}
		for name, c := range of {
			if text := says(c); text != "" {
				out[table][name] = text
			}
		}
	}
	return out
}
