package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A text is something that a person may read. What is put in at run time is an ellipsis
// or a verb of fmt in it; the text of a page runs on through links and emphasis.
type text struct {
	Kind kind
	File string
	Line int
	Text string
}

// A kind of text says where people meet it.
type kind int

const (
	kindPage kind = iota
	kindNotice
	kindError
	kindHelp
	kindOutput
	kindMessage
	kindAPI
	kindWord
	kindGuide
	kindPaste
	kindScript
	kindLog
)

func (k kind) String() string {
	return [...]string{
		kindPage:    "Pages",
		kindNotice:  "Flashes and notices of the pages' handlers",
		kindError:   "Errors",
		kindHelp:    "Help of the command line",
		kindOutput:  "Output of the command line",
		kindMessage: "E-mail and notifications",
		kindAPI:     "Documentation of the API",
		kindWord:    "Words of models, protocols and workers",
		kindGuide:   "Guides",
		kindPaste:   "Lines to paste",
		kindScript:  "Scripts of the pages",
		kindLog:     "Log",
	}[k]
}

// What texts are looked for in: all sources but tests, what only tests use, generated
// code, other people's code, and the fixtures of the gallery, which are agents' words.
var (
	tops    = []string{"cmd", "handlers", "models", "static/js", "views", "workers"}
	without = []string{"testdata", "vendor", "gallery", "storetest", "dbtest", "llmtest", "upstreamtest", "pagestest"}
)

var spaces = regexp.MustCompile(`\s+`)

// collect reads the texts of a tree of sources, in the order of files and lines.
func collect(tree fs.FS) ([]text, error) {
	var out []text
	for _, top := range tops {
		if _, err := fs.Stat(tree, top); err != nil {
			continue
		}
		err := fs.WalkDir(tree, top, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if slices.Contains(without, d.Name()) {
					return fs.SkipDir
				}
				return nil
			}
			texts, err := read(tree, name)
			out = append(out, texts...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b text) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out, nil
}

// read gives a file to the parser of its language; a file in a language that has no texts gives none.
func read(tree fs.FS, name string) ([]text, error) {
	var parse func(name, source string) ([]text, error)
	switch paste := strings.HasPrefix(name, "views/pages/connect/snippets/"); {
	case strings.HasSuffix(name, "_test.go"), strings.HasSuffix(name, "_templ.go"):
		return nil, nil
	case paste:
		parse = readPaste
	case path.Ext(name) == ".go":
		parse = readGo
	case path.Ext(name) == ".templ":
		parse = readTemplate
	case path.Ext(name) == ".js":
		parse = readScript
	case path.Ext(name) == ".md":
		parse = readGuide
	default:
		return nil, nil
	}
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	texts, err := parse(name, string(source))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return texts, nil
}

var (
	// Verbs of fmt, code within a text and names in capitals are no words.
	verb   = regexp.MustCompile(`%[-+# 0]*[\d.*]*[a-zA-Z]`)
	inCode = regexp.MustCompile("`[^`\n]*`")
	// Two words in a row make a text; a capital makes one of a single word.
	phrase  = regexp.MustCompile(`\pL['’\pL]*[,;:.!?)"”’…]*\s+["“(…–]*\s*\pL`)
	capital = regexp.MustCompile(`^\p{Lu}\p{Ll}+[.…:?!]?$`)
	// SQL is known by its words in capitals, and a list of classes by a dash and by having only names.
	statement = regexp.MustCompile(`\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|JOIN|ORDER BY|GROUP BY|PRAGMA|VALUES|CREATE|VACUUM|IS NULL|IS NOT NULL|BEGIN IMMEDIATE|ASC|DESC|LIMIT|EXISTS|UNION ALL|CASE|WHEN|AS|IN|INDEXED BY)\b|\bAND \w+[ .]?[=<>]|[a-z]_?id = |^\(?[a-z]\.[a-z_]+,? |^[a-z]+ [a-z]…$`)
	classes   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*( [a-z0-9:]+(-[a-z0-9]+)+)+$|^[a-z0-9]+(-[a-z0-9]+)+( [a-z0-9-]+)+$`)
)

// isPhrase reports whether a literal of a source is a text by its form: two words at
// least, and not SQL, markup, JSON or a list of classes.
func isPhrase(s string) bool {
	s = strings.TrimSpace(s)
	bare := verb.ReplaceAllString(inCode.ReplaceAllString(s, "…"), "…")
	switch {
	case !phrase.MatchString(bare), statement.MatchString(s), classes.MatchString(s):
		return false
	}
	return !strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "[") && !strings.HasPrefix(s, "<")
}

// isLabel reports whether a literal is a single word as a person reads it on a button or in a table.
func isLabel(s string) bool { return capital.MatchString(strings.TrimSpace(s)) }
