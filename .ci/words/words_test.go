package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// Texts for people use no banned word (banned.go), wherever they are.
func TestNoBannedWords(t *testing.T) {
	t.Parallel()
	texts, err := collect(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings(texts) {
		t.Errorf("%s", f)
	}
	count := map[kind]int{}
	for _, x := range texts {
		count[x.Kind]++
	}
	for kind, least := range map[kind]int{
		kindPage: 1000, kindNotice: 50, kindError: 700, kindHelp: 100, kindOutput: 150, kindAPI: 400,
		kindWord: 500, kindGuide: 150, kindPaste: 10, kindScript: 50, kindLog: 20,
	} {
		if count[kind] < least {
			t.Errorf("%s: only %d texts are found: its sources are not read", kind, count[kind])
		}
	}
}

// A banned word is found in each kind of source, with its line, and under the kind that it is.
func TestPlantedWordsAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, source string
		line         int
		kind         kind
	}{
		"text of a page":             {"views/pages/a.templ", "package pages\n\ntempl A() {\n\t<p>\n\t\tThe clock stands already.\n\t</p>\n}\n", 5, kindPage},
		"text across an element":     {"views/pages/a.templ", "package pages\n\ntempl A() {\n\t<p>It goes <b>ahead</b> now.</p>\n}\n", 4, kindPage},
		"text across lines":          {"views/pages/a.templ", "package pages\n\ntempl A() {\n\t<p>\n\t\tIt goes\n\t\tahead now.\n\t</p>\n}\n", 5, kindPage},
		"number before per cent":     {"views/pages/a.templ", "package pages\n\ntempl A(n string) {\n\t<p>{ n } % are used</p>\n}\n", 4, kindPage},
		"text under a condition":     {"views/pages/a.templ", "package pages\n\ntempl A(a bool) {\n\tif a {\n\t\t<p>x</p>\n\t} else {\n\t\tTake it back\n\t}\n}\n", 7, kindPage},
		"attribute":                  {"views/pages/a.templ", "package pages\n\ntempl A() {\n\t<input\n\t\tplaceholder=\"Your verdict, please\"\n\t/>\n}\n", 5, kindPage},
		"attribute that is Go":       {"views/pages/a.templ", "package pages\n\ntempl A(n string) {\n\t<a title={ n + \" stands here\" }>x</a>\n}\n", 4, kindPage},
		"argument of a component":    {"views/pages/a.templ", "package pages\n\ntempl A() {\n\t@B(\"Your verdict, please\") {\n\t\t<p>x</p>\n\t}\n}\n", 4, kindPage},
		"literal in an expression":   {"views/pages/a.templ", "package pages\n\ntempl A(n int) {\n\t<p>{ f(\"%d %% used\", n) } { \"It began anew.\" }</p>\n}\n", 4, kindPage},
		"Go of a template":           {"views/pages/a.templ", "package pages\n\nfunc a() string {\n\treturn \"It began anew.\"\n}\n\ntempl A() {\n\t<p>x</p>\n}\n", 4, kindPage},
		"view model":                 {"views/pages/a.go", "package pages\n\nconst a = \"It began anew.\"\n", 3, kindPage},
		"one word with a capital":    {"views/pages/a.go", "package pages\n\nconst a = \"Grants\"\n", 3, kindPage},
		"notice":                     {"handlers/web/a.go", "package web\n\nconst a = \"It began anew.\"\n", 3, kindNotice},
		"error":                      {"models/store/a.go", "package store\n\nvar a = models.Errorf(models.CodeConflict, \"No budget stands.\")\n", 3, kindError},
		"error that is a struct":     {"models/store/a.go", "package store\n\nvar a = &models.Error{\n\tText: \"No budget stands.\",\n}\n", 4, kindError},
		"error in parts":             {"models/store/a.go", "package store\n\nvar a = errors.New(\"It goes \" +\n\t\"ahead.\")\n", 3, kindError},
		"help":                       {"cmd/a.go", "package cmd\n\nvar a = cobra.Command{\n\tShort: \"Print what stands\",\n}\n", 4, kindHelp},
		"help of a flag":             {"cmd/a.go", "package cmd\n\nfunc a() { c.Flags().StringVar(&x, \"x\", \"\", \"the policy that stands\") }\n", 3, kindHelp},
		"output":                     {"cmd/a.go", "package cmd\n\nfunc a() { fmt.Fprintln(w, \"it began anew\") }\n", 3, kindOutput},
		"second line of one literal": {"cmd/a.go", "package cmd\n\nconst a = `one line\nit began anew`\n", 4, kindOutput},
		"e-mail":                     {"workers/mail/a.go", "package mail\n\nconst a = \"It began anew.\"\n", 3, kindMessage},
		"documentation of a member":  {"handlers/api/wire/a.go", "package wire\n\ntype A struct {\n\tB string `json:\"b\" doc:\"The verdict, if any\"`\n}\n", 4, kindAPI},
		"words of a model":           {"models/a.go", "package models\n\nvar a = map[string]string{\"x\": \"It began anew.\"}\n", 3, kindWord},
		"guide":                      {"models/policy/guide.md", "# One\n\nIt goes\nahead.\n", 3, kindGuide},
		"cell of a guide":            {"models/policy/guide.md", "| a | b |\n| --- | --- |\n| it | stands |\n", 3, kindGuide},
		"lines to paste":             {"views/pages/connect/snippets/a.sh", "#!/bin/sh\n# The call goes ahead.\nrun\n", 2, kindPaste},
		"script":                     {"static/js/a.js", "const a = 1\nshow('It began anew.')\n", 2, kindScript},
		"template of a script":       {"static/js/a.js", "const a = 1\nshow(`${a} % are used`)\n", 2, kindScript},
		"log":                        {"workers/a.go", "package workers\n\nfunc a() { log.Warn(\"it began anew\", \"error\", err) }\n", 3, kindLog},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := findings(planted(t, c.file, c.source))
			if len(found) != 1 || found[0].File != c.file || found[0].Line != c.line || found[0].Kind != c.kind {
				t.Errorf("found %v, want one at line %d of kind %q", found, c.line, c.kind)
			}
		})
	}
}

// What no person reads as a text is left alone, whatever words are in it.
func TestCodeIsNotText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, source string }{
		"name of a member":        {"handlers/api/wire/a.go", "package wire\n\ntype A struct {\n\tV string `json:\"verdict\"`\n}\n"},
		"route":                   {"handlers/web/a.go", "package web\n\nconst a = \"/approvals/:id/withdraw\"\n"},
		"SQL":                     {"models/store/a.go", "package store\n\nconst a = \"SELECT turn FROM turns WHERE verdict = ?\"\n"},
		"condition of a query":    {"models/store/a.go", "package store\n\nvar a = db.Where(\"verdict is not null\")\n"},
		"key of the log":          {"workers/a.go", "package workers\n\nfunc a() { log.Warn(\"it failed\", \"turn\", n) }\n"},
		"code within a text":      {"cmd/a.go", "package cmd\n\nconst a = \"see `stands anew` for it\"\n"},
		"code of a page":          {"views/pages/a.templ", "package pages\n\ntempl A() {\n\t<p>See <code>what stands</code> there.</p>\n}\n"},
		"class":                   {"views/pages/a.templ", "package pages\n\ntempl A() {\n\t<p class=\"fold verdict-fold grant\">x</p>\n}\n"},
		"comment":                 {"cmd/a.go", "package cmd\n\n// It began anew.\nconst a = 1\n"},
		"comment of a script":     {"static/js/a.js", "// It began anew.\nconst a = /turns and turns/\n"},
		"code of a guide":         {"models/policy/guide.md", "See `what stands`.\n\n```json\n{\"note\": \"it stands\"}\n```\n"},
		"what is compared":        {"models/a.go", "package models\n\nvar a = b == \"it stands\"\n"},
		"test":                    {"models/a_test.go", "package models\n\nconst a = \"It began anew.\"\n"},
		"generated code":          {"views/pages/a_templ.go", "package pages\n\nconst a = \"It began anew.\"\n"},
		"phrase that is pardoned": {"cmd/a.go", "package cmd\n\nconst a = \"turn it off, then turned on; withdrawn by Ada\"\n"},
		"word within a word":      {"cmd/a.go", "package cmd\n\nconst a = \"nobody understands or upholds a return by grants_enabled\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if found := findings(planted(t, c.file, c.source)); len(found) != 0 {
				t.Errorf("found %v", found)
			}
		})
	}
}

// Each rule finds the phrase of the project's word list for which it is there.
func TestRulesFindTheWordList(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Said why, as reported", "Why held: rule", "it went ahead 3 times", "Against the last that ran", "Policy v9 stands by now", "v2 holds.",
		"the version they were judged by", "it expires, which is a no", "Told to the agent", "in my own words", "not told yet", "Take it back",
		"Laid out; here", "As asked; more", "another sum", "No answer came", "there is no open session", "This request is decided by itself", "as far as may be",
		"Or minutes more", "Ask back", "nobody in time", "at another place", "Take away", "may allow further calls", "At the desk", "For deciding by program",
		"as it says here", "not for your eyes", "Requests outside of any run", "84 % are used", "what is no id", "of its own", "as it is now", "anew",
		"a verdict", "withdraw it", "a fold", "one turn", "a grant", "the clock stood",
	} {
		if len(findings([]text{{Text: said}})) == 0 {
			t.Errorf("%q is not found", said)
		}
	}
	for _, said := range []string{"84% used", "It was pre-approved.", "Approved 3 times", "Undo", "Your session expired."} {
		if found := findings([]text{{Text: said}}); len(found) != 0 {
			t.Errorf("%q is banned: %v", said, found)
		}
	}
}

// The list has each text once, under its kind.
func TestListGroupsByKind(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	list(&out, planted(t, "cmd/a.go", "package cmd\n\nvar a = cobra.Command{Short: \"Print the policy\"}\n\nconst b = \"all is well\"\n"))
	want := "\n== Help of the command line\ncmd/a.go:3: Print the policy\n\n== Output of the command line\ncmd/a.go:5: all is well\n\n2 texts\n"
	if out.String() != want {
		t.Errorf("the list is\n%s\nwant\n%s", out.String(), want)
	}
}

// A source that cannot be parsed is an error that names the file, never an empty list.
func TestBrokenSourceIsAnError(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"cmd/a.go", "views/pages/a.templ", "views/pages/connect/snippets/a.unknown"} {
		_, err := collect(fstest.MapFS{name: {Data: []byte("package a\n\ntempl A( {\n")}})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func planted(t *testing.T, name, source string) []text {
	t.Helper()
	texts, err := collect(fstest.MapFS{name: {Data: []byte(source)}})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
