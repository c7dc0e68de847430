package proof

import (
	"maps"
	"slices"
	"strings"

	"countersign/models/db"
)

// table says which columns of a table are not proved, and what becomes of its texts. A column that it does not name is
// proved.
type table struct {
	key string // the columns by which entries name its rows; empty: id

	not     reasons // columns, "*" for all: not proved, and why
	follows reasons // columns, "*" for all: not proved by an entry, but looked at otherwise, and where
	only    string  // SQL over the row r: which rows are proved; empty: all
	vanish  string  // why a row may be gone without an entry; empty: it may not

	more map[string]string // columns that other tables hold: SQL over the row r

	removed map[mark]string   // text columns that a purge removes
	kept    map[reason]string // text columns that it keeps
}

type (
	reason  string
	reasons map[reason]string // lists of columns
	mark    string
)

// Why columns are not proved.
const (
	reported = "what an agent reports is its claim; the ledger has one digest for each report"
	bookkeep = "bookkeeping that decides nothing"
	shortcut = "a cache of what entries say, for lists"
)

// Why a purge keeps a text.
const (
	anID      reason = "an id"
	aName     reason = "a name"
	aDigest   reason = "a digest"
	ourWord   reason = "one of our own words, an outcome or a state"
	ruleWords reason = "words of the policy"
	whoMay    reason = "who may sign in, decide or ask"
	aSetting  reason = "a setting"
	ofNow     reason = "the state of now, overwritten by the next"
	ofSums    reason = "sums, which a removal makes again without what it removes"
	theMark   reason = "the mark itself"
)

// The forms in which the mark of a removal takes the place of a text.
const (
	markText    mark = "text"    // the mark
	markObject  mark = "object"  // {"removed": the mark}
	markList    mark = "list"    // [the mark]
	markOptions mark = "options" // [{"name": the mark}]
	markTurn    mark = "turn"    // {"content": the mark, "read": as it was}
)

// marks are these forms as SQL over the mark ?1.
var marks = map[mark]string{
	markText:    `?1`,
	markObject:  db.JSONObject(`'removed'`, `?1`),
	markList:    db.JSONArray(`?1`),
	markOptions: db.JSONArray(db.JSONObject(`'name'`, `?1`)),
	markTurn:    db.JSONObject(`'content'`, `?1`, `'read'`, db.JSONMember(`said`, `read`)),
}

// Content is a column whose text a purge removes, and what it puts there: SQL over the mark ?1.
type Content struct{ Name, Mark string }

// Contents are the columns of a table whose text a purge removes, in the order of their names.
func Contents(name string) (out []Content) {
	for form, columns := range tables[name].removed {
		for column := range strings.FieldsSeq(columns) {
			out = append(out, Content{column, marks[form]})
		}
	}
	slices.SortFunc(out, func(a, b Content) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Tables are the names of all tables that the declaration knows.
func Tables() []string { return slices.Sorted(maps.Keys(tables)) }

// Named are the columns that the declaration names of a table.
func Named(name string) (out []string) {
	t := tables[name]
	for _, of := range [...]reasons{t.not, t.follows} {
		for _, columns := range of {
			if columns != "*" {
				out = append(out, strings.Fields(columns)...)
			}
		}
	}
	for _, columns := range t.removed {
		out = append(out, strings.Fields(columns)...)
	}
	for _, columns := range t.kept {
		out = append(out, strings.Fields(columns)...)
	}
	return append(out, strings.Fields(t.key)...)
}

// Text says what becomes of a text column in a purge; empty: the declaration does not say.
func Text(name, column string) string {
	t := tables[name]
	for form, columns := range t.removed {
		if has(columns, column) {
			return "removed: " + string(form)
		}
	}
	for why, columns := range t.kept {
		if has(columns, column) {
			return "kept: " + string(why)
		}
	}
	return ""
}

// Unproved is why a column is not proved by entries; empty: it is. followed is whether it is
// looked at otherwise.
func Unproved(name, column string) (why string, follow bool) {
	t := tables[name]
	for why, columns := range t.follows {
		if columns == "*" || has(columns, column) {
			return string(why), true
		}
	}
	for why, columns := range t.not {
		if columns == "*" || has(columns, column) {
			return string(why), false
		}
	}
	return "", false
}

func has(columns, column string) bool { return slices.Contains(strings.Fields(columns), column) }

func (t *table) keys() []string {
	if t.key == "" {
		return []string{"id"}
	}
	return strings.Fields(t.key)
}
