// Command words prints wordings that the project avoids, in texts, comments and names, with what to say instead
// (rules.go): `make words`. Its test fails for each in a folder that is clean already.
package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
)

func main() {
	found, err := findings(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
	for _, f := range found {
		if strings.HasPrefix(f.file, os.Getenv("ONLY")) {
			fmt.Println(f)
		}
	}
}

// A finding is one wording to avoid.
type finding struct {
	where              place
	file, word, advice string
	line               int
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %q: %s", f.file, f.line, f.word, f.advice)
}

var (
	// The product's files, but no tests and what only they use, nor other people's code, nor the gallery's fixtures,
	// which are agents' words.
	product = regexp.MustCompile(`^(cmd|handlers|models|static/js|views|workers)/.*\.(go|templ|js|md|sh|py|mjs|txt)$|^migrations/.*\.sql$`)
	without = regexp.MustCompile(`_test\.go$|/(testdata|vendor|gallery|storetest|dbtest|llmtest|upstreamtest|pagestest)/`)
	// Code within texts and comments, members of formats, and attributes of markup that are not seen or heard.
	code = regexp.MustCompile("(?m)^ *```(?s:.*?)^ *```|`[^`\n]*`|\\b(nolint|go):[^\n]*|<(code|samp|kbd)\\b[^<>]*>[^<]*|" +
		`\b[a-zA-Z]+:"\S*"|\b(data|hx|sse)-[\w-]+(=\\"[^"\\]*)?|\b(action|class|for|form|href|id|name|src|type|value)=\\"[^"\\]*`)
	// A field or variable may have the name of a column, or of a member of a format.
	storedName = regexp.MustCompile("(?m)^ +([a-z_]+) +[A-Z]+|json:\"([A-Za-z_]+)")
	// Sentences run on through these.
	space = regexp.MustCompile(`\\[nt"]|//|/\*|\*/|</?(a|b|bdi|em|i|mark|q|small|span|strong|time|var|wbr)\b[^<>]*>`)
	// Comments and literals of scripts and lines to paste.
	script = regexp.MustCompile("(?m)(//.*$|#.*$|/\\*(?s:.*?)\\*/)|'(?:[^'\\\\\n]|\\\\.)*'|\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`")
	// A literal is a text if it has two words in a row, a word beside a space, or a label. SQL, JSON and lists of
	// classes are none.
	phrase = regexp.MustCompile(`\pL['’\pL]*[,;:.!?)"”’…]*\s+["“(…–]*\s*\pL|\pL[,;:.!?]*\s$|^\s\pL|[a-z%] ?%`)
	label  = regexp.MustCompile(`^\p{Lu}\p{Ll}+[.…:?!]?$`)
	noText = regexp.MustCompile(`\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|JOIN|ORDER BY|GROUP BY|PRAGMA|VALUES|CREATE|` +
		`VACUUM|IS NULL|(?i:is not null)|BEGIN IMMEDIATE|ASC|DESC|LIMIT|EXISTS|UNION ALL|CASE|WHEN|AS|IN|INDEXED BY)\b|` +
		`\bAND \w+[ .]?[=<>]|[a-z]_?id = |^\(?[a-z]\.[a-z_]+,? |^[a-z]+ [a-z]…$|^\s*[{[<]|` +
		`^[a-z0-9]+(-[a-z0-9]+)*( [a-z0-9:]+(-[a-z0-9]+)+)+$|^[a-z0-9]+(-[a-z0-9]+)+( [a-z0-9-]+)+$`)
)

// findings are those of all files of a tree.
func findings(tree fs.FS) (out []finding, err error) {
	var all []source
	stored := map[string]bool{}
	err = fs.WalkDir(tree, ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !product.MatchString(file) || without.MatchString(file) {
			return err
		}
		raw, err := fs.ReadFile(tree, file)
		for _, m := range storedName.FindAllStringSubmatch(string(raw), -1) {
			name := strings.ToLower(strings.ReplaceAll(cmp.Or(m[1], m[2]), "_", ""))
			stored[name], stored[strings.TrimSuffix(name, "at")] = true, true
		}
		all = append(all, source{file, string(raw), stored, &out})
		return err
	})
	for i := range all {
		err = cmp.Or(err, all[i].read())
	}
	return out, err
}

type source struct {
	file, raw string
	stored    map[string]bool // the names of columns and members, in small letters
	out       *[]finding
}

// read finds the words of a file by its language. Of a template it reads comments, and the Go that templ makes of it.
func (s *source) read() error {
	switch ext := path.Ext(s.file); ext {
	case ".go":
		return s.golang()
	case ".md":
		s.check(texts, 0, len(s.raw))
	default:
		for _, m := range script.FindAllStringSubmatchIndex(s.raw, -1) {
			switch comment := m[2] >= 0; {
			case comment && strings.Contains(s.file, "/snippets/"): // lines to paste
				s.check(texts, m[0], m[1])
			case comment:
				s.check(comments, m[0], m[1])
			case ext != ".templ":
				s.literal(m[0]+1, m[1]-1)
			}
		}
	}
	return nil
}

func (s *source) golang() error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, s.file, s.raw, parser.ParseComments)
	if err != nil {
		return err
	}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	for _, group := range file.Comments {
		s.check(comments, at(group.Pos()), at(group.End()))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl: // a method is no object of its file
			s.check(names, at(n.Name.Pos()), at(n.Name.End()))
		case *ast.Ident:
			switch {
			case n.Obj == nil || n.Obj.Pos() != n.Pos():
			case n.Obj.Kind != ast.Var:
				s.check(names, at(n.Pos()), at(n.End()))
			case !s.stored[strings.ToLower(n.Name)]:
				s.check(names|variables, at(n.Pos()), at(n.End()))
			}
		case *ast.BinaryExpr:
			return n.Op != token.EQL && n.Op != token.NEQ // compared, not shown
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				s.literal(at(n.Pos())+1, at(n.End())-1)
			}
		}
		return true
	})
	return nil
}

// literal checks the inside of a literal if it is a text.
func (s *source) literal(from, to int) {
	said := s.raw[from:to]
	markup := strings.HasSuffix(s.file, "_templ.go") && strings.ContainsAny(said, "<>")
	if markup || label.MatchString(said) || phrase.MatchString(said) && !noText.MatchString(said) {
		s.check(texts, from, to)
	}
}

// check finds what the rules of a place avoid in a part of the file.
func (s *source) check(p place, from, to int) {
	part := s.raw[from:to]
	if p == texts || p == comments {
		part = blank(blank(part, code, "~"), space, " ")
	}
	for _, r := range rules {
		switch {
		case r.where&p == 0:
		case r.advice == "":
			part = blank(part, r.is, "~")
		default:
			for _, m := range r.is.FindAllStringIndex(part, -1) {
				line := 1 + strings.Count(s.raw[:from]+part[:m[0]], "\n")
				*s.out = append(*s.out, finding{min(p, names), s.file, part[m[0]:m[1]], r.advice, line})
			}
		}
	}
}

// blank puts something else in place of what matches, but for the ends of lines.
func blank(part string, is *regexp.Regexp, instead string) string {
	return is.ReplaceAllStringFunc(part, func(found string) string {
		return instead + strings.Repeat("\n", strings.Count(found, "\n"))
	})
}
