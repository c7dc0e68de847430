package headline

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// SQL is what a database would be given.
type SQL struct {
	drawn
	Text       string
	Database   string         // empty: not said
	Parameters jsontext.Value // as sent; nil: none
}

func readSQL(members map[string]jsontext.Value) (Headline, bool) {
	f := newFields(members)
	s := &SQL{Database: f.maybe("database", "db", "schema")}
	var named string
	s.Text, named = f.text("sql", "query", "statement")
	s.Parameters, _ = f.ofKind("[{", "params", "parameters", "args")
	f.number("timeout", "timeout_ms")
	all, ok := f.all()
	if !ok || strings.TrimSpace(s.Text) == "" {
		return Headline{}, false
	}
	s.drawn = all
	h := Headline{Known: s}
	h.sql(s.Text)
	if h.Hidden = all; !h.partly {
		h.Hidden = without(all, named)
	}
	h.given(s)
	h.told()
	return h, true
}

// mostOfParameters is how long parameters may be that are shown, in characters.
const mostOfParameters = 60

// given says on which database SQL would be run, and with what in place of its marks: before
// the statement, whose end is the agent's.
func (h *Headline) given(s *SQL) {
	verb := h.Lead
	claimed := !strings.HasPrefix(verb, "Run ")
	if claimed {
		h.Lead = ""
	}
	if s.Database != "" {
		where, cut := place(s.Database)
		h.adds("on "+where, "database", "db", "schema")
		h.Cut = h.Cut || cut
	}
	if n := parts(s.Parameters); n > 0 {
		words, sent := "with "+counted(n, "parameter"), compact(string(s.Parameters))
		if utf8.RuneCountInString(sent) > mostOfParameters {
			h.adds(words)
		} else {
			h.adds(words+" "+sent, "params", "parameters", "args")
		}
	}
	if !claimed {
		return
	}
	if h.Lead = strings.TrimSpace(h.Lead); h.Lead != "" {
		verb = strings.ToUpper(h.Lead[:1]) + h.Lead[1:] + ": " + verb
	}
	h.Lead = verb
}

// parts is how many values a list or an object has.
func parts(raw jsontext.Value) int {
	if list, ok := valuesOf(raw); ok {
		return len(list)
	}
	return len(readInput(string(raw)).members)
}

// simpleSQL are statements that begin with their verb and the plain name of a table.
var simpleSQL = regexp.MustCompile(`(?i)^(delete from|update|insert into|drop table|truncate table|truncate|alter table) ([a-z_][a-z0-9_.]*)( |$|\()`)

// sqlVerbs are the beginnings of simpleSQL as they are said.
var sqlVerbs = map[string]string{
	"delete from": "Delete from", "update": "Update", "insert into": "Insert into", "drop table": "Drop table",
	"truncate table": "Truncate table", "truncate": "Truncate", "alter table": "Alter table",
}

// sql says what a database would be given. Only one statement that all databases read alike
// gets its verb, and is shown from there on as it was sent; of several the most harmful is named.
func (h *Headline) sql(text string) {
	statements, sure := readStatements(text)
	several := len(statements) > 1
	if several && slices.ContainsFunc(statements, func(s statement) bool { return !s.flows() }) {
		several, sure = false, false
	}
	room := MaxText // more than one may be seen only by its beginning and its end
	if perhapsMore := strings.Contains(strings.TrimRight(text, "; \t\r\n"), ";"); !sure && perhapsMore {
		h.Lead, room = "Run SQL (perhaps several statements):", shortScript
	} else {
		h.Lead = "Run SQL:"
	}
	h.Rest = text
	switch {
	case several:
		h.statements(statements)
	case sure && len(statements) == 1:
		h.statement(statements[0])
	default:
		h.suspects(text, room)
	}
}

// statements are several.
func (h *Headline) statements(all []statement) {
	parts, texts := make([]part, len(all)), make([]string, len(all))
	for i, s := range all {
		parts[i], texts[i] = part{s.text, s.harm()}, s.text
	}
	h.Lead, h.Rest = "Run SQL ("+counted(len(all), "statement")+"):", strings.Join(texts, "; ")
	if utf8.RuneCountInString(h.Rest) > shortScript && !equals(parts) {
		h.names(parts, worst(parts))
	}
}

// harm is what a statement may do.
func (s statement) harm() harm {
	switch verb := s.words[0]; verb {
	case "drop", "truncate", "shutdown", "purge":
		return destroys
	case "delete", "update":
		if !slices.Contains(s.words, "where") {
			return empties
		}
		return changes
	case "select", "values", "show", "explain", "commit", "savepoint", "rollback", "analyze":
		return shows
	case "insert", "create", "comment", "replace", "upsert", "merge", "reindex", "vacuum":
		return changes
	case "alter", "grant", "revoke", "rename", "kill":
		return reaches
	}
	return unclear
}

func (h *Headline) statement(s statement) {
	h.Lead, h.Rest = "Run SQL:", s.text
	m := simpleSQL.FindStringSubmatch(s.text)
	if m == nil || s.verbs != 1 || strings.EqualFold(m[2], "only") || strings.EqualFold(m[2], "table") || !s.flows() {
		return
	}
	verb := strings.ToLower(m[1])
	if rest := s.text[len(m[1])+1:]; verb != "update" || slices.Contains(s.words, "set") {
		h.Lead, h.Rest = sqlVerbs[verb], rest
	}
}
