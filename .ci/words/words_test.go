package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestTreeIsClean(t *testing.T) {
	t.Parallel()
	found, err := findings(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Errorf("%s", f)
	}
}

// Each rule finds the phrase for which it is there, and each phrase is found where its rule applies.
func TestRulesFindPlantedWords(t *testing.T) {
	t.Parallel()
	planted := []struct {
		where  place
		source string
		words  []string
	}{
		{texts, "const a = \"X x %s.\"\n", []string{
			"stands", "stood", "holds", "why it was held", "by itself", "anew", "of its own", "went ahead", "as it is", "told to",
			"verdict", "withdraw", "folded", "turn", "grants", "84 % of", "%d %% of", "said why", "against the last", "judged by", "is a no",
			"in my own words", "not told", "take it back", "laid out", "as asked", "another sum", "no answer came",
			"no open session", "decided by itself", "as far as may be", "or minutes more", "ask back", "nobody in time",
			"at another place", "taken away", "may allow further calls", "at the desk", "by program", "as it says",
			"for your eyes", "outside of any run", "what is no", "whoever",
		}},
		{comments, "// A row %s here.\nconst a = 1\n", []string{
			"by itself", "anew", "goes ahead", "what was", "whoever", "would else", "of whom", "stands", "is told", "nobody", "passes over",
		}},
		{names, "func %s() {}\n", []string{
			"judged", "standing", "taken", "sooner", "ahead", "unsaid", "left", "begun", "course", "rests", "alone", "told", "looked", "given",
			"shut", "went", "happening",
		}},
		{variables, "var %s int\n", []string{"lastUsed", "waiting"}},
	}
	hit := map[string]bool{}
	for _, p := range planted {
		for _, word := range p.words {
			found := plant(t, "cmd/a.go", "package cmd\n\n"+strings.Replace(p.source, "%s", word, 1))
			if len(found) == 0 || found[0].where != min(p.where, names) {
				t.Errorf("%q is not found: %v", word, found)
			}
			for _, f := range found {
				hit[f.advice] = true
			}
		}
	}
	for _, r := range rules {
		if r.advice != "" && !hit[r.advice] {
			t.Errorf("%q: no planted word is found by this rule", r.is)
		}
	}
}

// Words are found in every language, with their line.
func TestWordsAreFoundInEachPlace(t *testing.T) {
	t.Parallel()
	page := func(markup string) string {
		return "package pages\n\nfunc a() {\n\ttempl_7745c5c3_Err = templruntime.WriteString(templ_7745c5c3_Buffer, 1, \"" + markup + "\")\n}\n"
	}
	for name, c := range map[string]struct {
		file, source string
		line         int
	}{
		"text of a page":             {"views/pages/a_templ.go", page("<p>The clock stands already.</p>"), 4},
		"text across an element":     {"views/pages/a_templ.go", page("<p>It goes <b>ahead</b> now.</p>"), 4},
		"number before per cent":     {"views/pages/a_templ.go", page(" % are used</p>"), 4},
		"attribute":                  {"views/pages/a_templ.go", page("<input class=\\\"turn\\\" placeholder=\\\"Your verdict\\\"> text"), 4},
		"comment of a template":      {"views/pages/a.templ", "package pages\n\n// It is anew.\ntempl A() {\n}\n", 3},
		"one word with a capital":    {"views/pages/a.go", "package pages\n\nconst a = \"Grants\"\n", 3},
		"error that is a struct":     {"models/store/a.go", "package store\n\nvar a = &models.Error{\n\tText: \"No budget stands.\",\n}\n", 4},
		"help of a flag":             {"cmd/a.go", "package cmd\n\nfunc a() { c.Flags().StringVar(&x, \"x\", \"\", \"the policy that stands\") }\n", 3},
		"second line of one literal": {"cmd/a.go", "package cmd\n\nconst a = `one line\nit began anew`\n", 4},
		"documentation of a member":  {"handlers/api/wire/a.go", "package wire\n\ntype A struct {\n\tB string `json:\"b\" doc:\"The verdict, if any\"`\n}\n", 4},
		"guide":                      {"models/policy/guide.md", "# One\n\nIt goes\nahead.\n", 3},
		"cell of a guide":            {"models/policy/guide.md", "| a | b |\n| --- | --- |\n| it | stands |\n", 3},
		"lines to paste":             {"views/pages/connect/snippets/a.sh", "#!/bin/sh\n# The call goes ahead.\nrun\n", 2},
		"script":                     {"static/js/a.js", "const a = 1\nshow('It began anew.')\n", 2},
		"template of a script":       {"static/js/a.js", "const a = 1\nshow(`${a} % are used`)\n", 2},
		"comment of a script":        {"static/js/a.js", "const a = 1 // it's here\n// anew\n", 2},
		"comment across lines":       {"cmd/a.go", "package cmd\n\n// It works by\n// itself.\nconst a = 1\n", 3},
		"field":                      {"cmd/a.go", "package cmd\n\ntype a struct {\n\tb, waiting int\n}\n", 4},
		"parameter":                  {"cmd/a.go", "package cmd\n\nfunc a(moved int) {}\n", 3},
		"variable of a loop":         {"cmd/a.go", "package cmd\n\nfunc a() {\n\tfor _, used := range b {\n\t}\n}\n", 4},
		"variable of a function":     {"cmd/a.go", "package cmd\n\nfunc a() {\n\tb, ended := c()\n}\n", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if found := plant(t, c.file, c.source); len(found) != 1 || found[0].line != c.line {
				t.Errorf("found %v, want one at line %d", found, c.line)
			}
		})
	}
}

// Code is no text, and a name that a format gives is no choice of the author's.
func TestCodeIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, source string }{
		"name of a member":        {"handlers/api/wire/a.go", "package wire\n\ntype A struct {\n\tApplied string `json:\"applied,omitempty\"`\n}\n"},
		"route":                   {"handlers/web/a.go", "package web\n\nconst a = \"/approvals/:id/withdraw\"\n"},
		"SQL":                     {"models/store/a.go", "package store\n\nconst a = \"SELECT turn FROM turns WHERE verdict = ?\"\n"},
		"condition of a query":    {"models/store/a.go", "package store\n\nvar a = db.Where(\"verdict is not null\")\n"},
		"key of the log":          {"workers/a.go", "package workers\n\nfunc a() { log.Warn(\"it failed\", \"turn\", n) }\n"},
		"code within a text":      {"cmd/a.go", "package cmd\n\nconst a = \"see `stands anew` for it\"\n"},
		"code of a page":          {"views/pages/a_templ.go", "package pages\n\nfunc a() { templruntime.WriteString(b, 1, \"<p>See <code>what stands</code> there.</p>\") }\n"},
		"class":                   {"views/pages/a_templ.go", "package pages\n\nfunc a() { templruntime.WriteString(b, 1, \"<p class=\\\"fold verdict-fold grant\\\">x</p>\") }\n"},
		"what is compared":        {"models/a.go", "package models\n\nvar a = b == \"it stands\"\n"},
		"code of a guide":         {"models/policy/guide.md", "See `what stands`.\n\n```json\n{\"note\": \"it stands\"}\n```\n"},
		"test":                    {"models/a_test.go", "package models\n\nconst a = \"It began anew.\"\n"},
		"phrase that is allowed":  {"cmd/a.go", "package cmd\n\nconst a = \"turn it off, then turned on; withdrawn by Ada\"\n"},
		"word within a word":      {"cmd/a.go", "package cmd\n\nconst a = \"nobody understands or upholds a return by grants_enabled\"\n"},
		"use of a name elsewhere": {"cmd/a.go", "package cmd\n\nvar a = http.StatusProcessing\n"},
		"noun":                    {"cmd/a.go", "package cmd\n\nvar feed, warning, statusPending int\n"},
		"constant":                {"cmd/a.go", "package cmd\n\nconst codeReceived = 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if found := plant(t, c.file, c.source); len(found) != 0 {
				t.Errorf("found %v", found)
			}
		})
	}
}

// A source that cannot be parsed is an error that names the file, never an empty list.
func TestBrokenSourceIsAnError(t *testing.T) {
	t.Parallel()
	_, err := findings(fstest.MapFS{"cmd/a.go": {Data: []byte("package a\n\nfunc {\n")}})
	if err == nil || !strings.Contains(err.Error(), "cmd/a.go") {
		t.Errorf("error %v", err)
	}
}

func plant(t *testing.T, name, source string) []finding {
	t.Helper()
	found, err := findings(fstest.MapFS{name: {Data: []byte(source)}})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
