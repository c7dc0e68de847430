package headline

import (
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
	var name string
	s.Text, name = f.text("sql", "query", "statement")
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
		h.Hidden = without(all, name)
	}
	h.leadWithDatabase(s)
	h.endLead()
	return h, true
}

// mostOfParameters is how long parameters may be that are shown, in characters.
const mostOfParameters = 60

// leadWithDatabase says on which database SQL would be run, and with what in place of its marks: before
// the statement, whose end is the agent's.
func (h *Headline) leadWithDatabase(s *SQL) {
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
}

// parts is how many values a list or an object has.
func parts(raw jsontext.Value) int {
	if list, ok := valuesOf(raw); ok {
		return len(list)
	}
	return len(readInput(string(raw)).members)
}

// sql says what a database would be given, as it was sent: its verb and its table come first.
// Whether a semicolon ends a statement depends on the database, and so does what needs none.
func (h *Headline) sql(text string) {
	h.Lead, h.Rest = "Run SQL:", text
	room := MaxText
	if n := semicolons(text); n > 1 { // more than one may be seen only by its beginning and its end
		h.Lead, room = "Run SQL (perhaps "+counted(n, "statement")+"):", shortScript
	}
	h.suspects(text, room)
}

// semicolons counts the parts between semicolons, also in quotation marks and comments.
func semicolons(text string) (n int) {
	for part := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(part) != "" {
			n++
		}
	}
	return n
}
