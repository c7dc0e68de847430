package headline

import (
	"regexp"
	"slices"
	"strings"
)

// statement is one of SQL.
type statement struct {
	text  string   // with white space outside of texts joined
	words []string // outside of texts, in lower case
	verbs int      // how many of its words may begin a statement, but VALUES
	signs []string // its words in lower case, "'" for a text, and all other signs
}

var (
	// beginners may begin a statement. There are databases that need nothing between two.
	beginners = []string{
		"alter", "analyze", "attach", "call", "comment", "commit", "copy", "create", "delete", "detach", "do", "drop", "exec", "execute", "explain", "grant",
		"handler", "insert", "kill", "load", "lock", "merge", "optimize", "perform", "pragma", "prepare", "print", "purge", "refresh", "reindex", "rename", "replace",
		"reset", "restore", "revoke", "rollback", "savepoint", "select", "show", "shutdown", "truncate", "unlock", "update", "upsert", "use", "vacuum", "values",
		"waitfor", "with",
	}
	// blocks hold statements, or are no statements but words to the program that reads them.
	blocks = []string{"begin", "declare", "delimiter", "do", "function", "go", "loop", "procedure", "trigger", "while"}
)

// readStatements divides SQL at its semicolons. It is not clear where databases read the text
// differently: comments, texts with backslashes or in other marks than ' and ", blocks, and
// words that may begin another statement without a semicolon.
func readStatements(text string) (out []statement, sure bool) {
	s := sqlScan{text: text}
	for s.at < len(text) {
		if !s.next() {
			return nil, false
		}
	}
	s.end()
	for _, st := range s.out {
		if !st.clear() {
			return nil, false
		}
	}
	return s.out, true
}

// clear reports whether it is one statement for all databases. Below another one, SELECT and
// VALUES begin none that does anything.
func (s statement) clear() bool {
	if len(s.words) == 0 || !slices.Contains(beginners, s.words[0]) {
		return false
	}
	for i, w := range s.words {
		if slices.Contains(blocks, w) || i > 0 && w != "select" && w != "values" && w != "replace" && slices.Contains(beginners, w) {
			return false
		}
	}
	return true
}

// sqlScan is SQL that is being read.
type sqlScan struct {
	text string
	at   int
	b    strings.Builder
	now  statement
	out  []statement
}

// next takes in one sign, word or text; false: not all databases read it alike.
func (s *sqlScan) next() bool {
	switch c := s.text[s.at]; {
	case c == ';':
		s.end()
		s.at++
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		s.at++
		if s.b.Len() > 0 && s.at < len(s.text) && !strings.HasSuffix(s.b.String(), " ") {
			s.b.WriteByte(' ')
		}
	case isWord(c):
		return s.word()
	case c == '\'' || c == '"':
		return s.quoted(c)
	case c == '-' || c == '/':
		if strings.HasPrefix(s.text[s.at:], "--") || strings.HasPrefix(s.text[s.at:], "/*") {
			return false
		}
		s.sign(c)
	case strings.IndexByte("()*,.=<>+%!?:@|&", c) >= 0:
		s.sign(c)
	default: // $ [ ] { } ` # \ ~ ^, control characters and all beyond ASCII
		return false
	}
	return true
}

func (s *sqlScan) sign(c byte) {
	s.now.signs = append(s.now.signs, string(c))
	s.put(1)
}

func (s *sqlScan) put(n int) {
	s.b.WriteString(s.text[s.at : s.at+n])
	s.at += n
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// number is how all databases write one that has letters. Of others some end the number where
// the letters begin.
var number = regexp.MustCompile(`^([0-9]+(e[0-9]+)?|0x[0-9a-f]+)$`)

// word takes in a word; false: it may be two.
func (s *sqlScan) word() bool {
	n := 0
	for s.at+n < len(s.text) && isWord(s.text[s.at+n]) {
		n++
	}
	word := strings.ToLower(s.text[s.at : s.at+n])
	// A column or a function of that name is no beginning.
	column, after := s.column(), s.text[s.at+n:]
	if isDigit(word[0]) && !number.MatchString(word) || !column && strings.HasSuffix(s.b.String(), ".") && !isDigit(word[0]) {
		return false
	}
	s.now.signs = append(s.now.signs, word)
	if !column && (word != "replace" || !strings.HasPrefix(after, "(")) {
		s.now.words = append(s.now.words, word)
		if word != "values" && slices.Contains(beginners, word) {
			s.now.verbs++
		}
	}
	s.put(n)
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// column reports whether what comes belongs to a name and a full stop before it, not to a
// number.
func (s *sqlScan) column() bool {
	last := len(s.now.signs) - 1
	if last < 1 || s.now.signs[last] != "." || !strings.HasSuffix(s.b.String(), ".") {
		return false
	}
	before := s.now.signs[last-1]
	return before == "'" || isWord(before[0]) && !isDigit(before[0])
}

// quoted takes in a text in quotation marks, which are doubled in it. Letters before it and
// backslashes in it mean different things to different databases.
func (s *sqlScan) quoted(mark byte) bool {
	if s.at > 0 && (isWord(s.text[s.at-1]) || s.text[s.at-1] == '&') {
		return false
	}
	for i := s.at + 1; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			return false
		case mark:
			if i+1 < len(s.text) && s.text[i+1] == mark {
				i++
				continue
			}
			s.now.signs = append(s.now.signs, "'")
			s.put(i + 1 - s.at)
			return true
		}
	}
	return false
}

// end takes the statement that was read; an empty one is none.
func (s *sqlScan) end() {
	if s.now.text = strings.TrimSpace(s.b.String()); s.now.text != "" {
		s.out = append(s.out, s.now)
	}
	s.b.Reset()
	s.now = statement{}
}
