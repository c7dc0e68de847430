package headline

import "slices"

// clauses are words that may come behind the first of a statement, by that one. All others are
// names or values.
var clauses = map[string][]string{
	"delete":   {"from", "limit", "order", "returning", "where"},
	"update":   {"from", "limit", "order", "returning", "set", "where"},
	"insert":   {"default", "into", "returning", "values"},
	"drop":     {"if", "table"},
	"truncate": {"table"},
	"alter":    {"add", "column", "default", "if", "table"},
	"select":   {"as", "from", "group", "having", "limit", "offset", "order", "where"},
}

var (
	// joints are the words between values.
	joints = []string{"and", "between", "by", "exists", "in", "is", "like", "not", "or"}
	// several may be there more than once.
	several = append(slices.Clone(joints), "as", "default")
	// phrases are words that follow another one with no value between.
	phrases = []string{
		"add column", "alter table", "column if", "default values", "delete from", "drop table", "group by", "if exists", "if not", "insert into", "is not",
		"not between", "not exists", "not in", "not like", "order by", "table if", "truncate table",
	}
	// closing are words that need no value behind them.
	closing = map[string][]string{
		"delete": {"asc", "desc"}, "update": {"asc", "desc"}, "select": {"asc", "desc"}, "drop": {"cascade", "restrict"}, "truncate": {"cascade", "restrict"},
		"insert": {"values"},
		"alter":  {"bigint", "boolean", "date", "int", "integer", "null", "numeric", "real", "smallint", "text", "timestamp", "timestamptz", "uuid", "varchar"},
	}
)

// flows reports whether the signs of a statement hang together: a value follows only a sign or
// a word that asks for one. Databases need nothing between two statements, and have more of
// them than any list; a word that follows a value may begin one.
func (s statement) flows() bool {
	if len(s.signs) == 0 {
		return false
	}
	f := flow{verb: s.signs[0], last: s.signs[0], seen: map[string]bool{}}
	_, known := clauses[f.verb]
	for i := 1; known && i < len(s.signs); i++ {
		next := ""
		if i+1 < len(s.signs) {
			next = s.signs[i+1]
		}
		if !f.takes(s.signs[i], next) {
			return false
		}
		f.last = s.signs[i]
	}
	return known
}

// flow is a statement that is being followed.
type flow struct {
	verb, last string
	value      bool // a value, a name or what closes a clause was last
	seen       map[string]bool
}

// takes goes on with a sign; false: another statement may begin there.
func (f *flow) takes(sign, next string) bool {
	had := f.value
	switch {
	case isWord(sign[0]):
		return f.word(sign)
	case sign == "'" || sign == "?":
		f.value = true
		return !had
	case sign == ")":
		f.value = true
	case sign == ".": // in a number, or behind a name: a number may end with it
		f.value = false
		return next != "" && isDigit(next[0]) || had && (f.last == "'" || isWord(f.last[0]) && !isDigit(f.last[0]))
	case sign == "*": // all columns, or a product
		f.value = !had
	case sign == "!":
		f.value = false
		return next == "="
	case sign == ":" || sign == "@": // a parameter; behind a value only ::
		f.value = false
		return !had || sign == ":" && next == ":"
	default:
		f.value = false
	}
	return true
}

func (f *flow) word(word string) bool {
	had := f.value
	switch {
	case f.last == ".": // a column, whatever it is called
		f.value = true
		return !had
	case slices.Contains(phrases, f.last+" "+word):
		f.value = word == "values"
	case slices.Contains(closing[f.verb], word):
		f.value = true
		return had || f.last == "not"
	case (f.last == "limit" || f.last == "offset") && !isDigit(word[0]):
		return false
	case !slices.Contains(clauses[f.verb], word) && !slices.Contains(joints, word):
		f.value = true
		return !had
	case word == "not" || word == "exists":
		f.value = false
		return word == "not" || !had
	default:
		f.value = false
		if !had || word == "if" || word == "by" {
			return false
		}
	}
	again := f.seen[word] && !slices.Contains(several, word)
	f.seen[word] = true
	return !again
}
