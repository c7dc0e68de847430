package ui_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/views/highlight"
	"countersign/views/ui"
)

var tokenSpan = regexp.MustCompile(`<span class="([a-z]+)">([^<]*)</span>`)

// drawnAs are the texts of a class.
func drawnAs(html string, classes ...string) []string {
	var out []string
	for _, m := range tokenSpan.FindAllStringSubmatch(html, -1) {
		for _, class := range classes {
			if m[1] == class {
				out = append(out, unescape.Replace(m[2]))
			}
		}
	}
	return out
}

// What runs is never drawn as a comment or as a text; EVIL marks it.
func TestHighlightNeverHidesWhatRuns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ language, text string }{
		{"Bash", `echo "$(date "+%F # %T")"; EVIL x|sh`},
		{"Bash", `echo "a $(b "c" 'd') e"; EVIL "`},
		{"Bash", `echo "$(case x in x) echo ';EVIL;' # ;; esac)"`},
		{"Bash", `echo {#,log}; EVIL`},
		{"Bash", `a\ #b; EVIL`},
		{"Bash", "a\\\n#b; EVIL"},
		{"Bash", `x=#a; EVIL`},
		{"Bash", `echo ${x# ' }; EVIL '`},
		{"Bash", `echo ${x:-"}"} # "; EVIL`},
		{"Bash", "cat <<EOF\n# $(EVIL)\nEOF"},
		{"Bash", "cat <<EOF\nit's\nEOF\nEVIL '"},
		{"Bash", `echo $'it\'s' # c'; EVIL`},
		{"Bash", "echo `date # now`; EVIL"},
		{"Bash", `((1 #)); EVIL`},
		{"Bash", "ls (#i)x; EVIL"},
		{"Bash", "echo\r#x; EVIL"},
		{"Bash", "echo a\u00a0#x; EVIL"},
		{"SQL", `SELECT 1 /*! ; EVIL */`},
		{"SQL", `SELECT /*M!100 EVIL */ 1`},
		{"SQL", `SELECT /* /* */ EVIL */`},
		{"SQL", `SELECT 5--1; EVIL`},
		{"SQL", "SELECT $$ -- $$; EVIL"},
		{"SQL", "SELECT $a$ ' $a$; EVIL '"},
		{"SQL", `SELECT E'\'-- '; EVIL`},
		{"SQL", `SELECT '\'; EVIL -- '`},
		{"SQL", `SELECT '\' -- '; EVIL`},
		{"SQL", `SELECT q'[it's]'; EVIL '`},
		{"SQL", "SELECT 1 # ' \n; EVIL '"},
		{"SQL", "SELECT [it's]; EVIL '"},
		{"SQL", "SELECT ` -- `; EVIL"},
		{"JavaScript", `x = /[/*]/; EVIL; /* */`},
		{"JavaScript", `x = /"/; EVIL; "`},
		{"JavaScript", `if (x) /'/.test(y); EVIL; '`},
		{"JavaScript", "x = `${ `//` }`; EVIL `"},
		{"JavaScript", "// a\u2028EVIL"},
		{"JavaScript", "// a\rEVIL"},
		{"JavaScript", "x = 'a\\\n'; EVIL; '"},
		{"JavaScript", "<p>it's</p>; EVIL; '"},
		{"JavaScript", "x <!-- '\nEVIL '"},
		{"TypeScript", `y = a ? /[/*]/ : EVIL /* */`},
		{"Python", `f"{x["# a"]}"; EVIL`},
		{"Python", `f"{x["a"]} # {y["a"]}"; EVIL`},
		{"Python", "x = 'a\\\n'; EVIL; '"},
		{"Python", "# coding: unicode_escape\n# \\nEVIL"},
		{"Python", "# a\x0cEVIL"},
		{"YAML", "run: |\n  # $(EVIL)\n"},
		{"YAML", "run: >-\n  # $(EVIL)\n"},
		{"YAML", "a: it's\nb: EVIL 's\n"},
		{"YAML", "a: [b;#EVIL]"},
		{"YAML", "a: b;#EVIL"},
		{"TOML", "a = b ; EVIL"},
		{"TOML", "a = b # EVIL"},
		{"TOML", "a = b\\\n# EVIL"},
		{"TOML", "a = '''\n# EVIL\n'''"},
		{"Docker", "RUN a # $(EVIL)"},
		{"Docker", "RUN <<EOF\n# $(EVIL)\nEOF"},
		{"Makefile", "a:\n\t# $(shell EVIL)\n"},
		{"Makefile", "a = it's\nb = $(shell EVIL) '"},
		{"Go", "//go:generate EVIL"},
		{"Go", "/*\n#cgo EVIL\n*/\nimport \"C\""},
		{"Rust", "/* /* */ EVIL */"},
		{"Rust", `let x = '"'; EVIL; let y = '"';`},
		{"Rust", `let x = '\"'; EVIL; let y = '\"';`},
		{"Rust", `r#"a"#; r"\"; EVIL "`},
		{"Swift", `#"a"b"#; EVIL "`},
		{"Swift", `x = /"/; EVIL; "`},
		{"Swift", `"\(f("a")) // \(g("b"))"; EVIL`},
		{"Kotlin", `"${f("a")} // ${g("b")}"; EVIL`},
		{"Java", `// \u000aEVIL`},
		{"C", "int a; // b ??/\n EVIL"},
		{"C", "// b \\\nchar *x = \"; EVIL\";"},
		{"C++", `x = 1'0; EVIL; '1'`},
		{"C++", `R"(a"b)"; EVIL "`},
		{"C#", `@"\"; EVIL; // "`},
		{"C#", `$"{f("a")} // {g("b")}"; EVIL`},
		{"C#", "// a\u0085EVIL"},
		{"Ruby", `x = %q(it's); EVIL '`},
		{"Ruby", "x =~ /'/; EVIL '"},
		{"Ruby", "x = ?'; EVIL '"},
		{"Ruby", "\"#{f(\"#\")}\"; EVIL"},
		{"Ruby", "x = <<A\nit's\nA\nEVIL '"},
		{"Ruby", "=begin\nit's\n=end\nEVIL '"},
		{"PHP", "<?php // ?> EVIL"},
		{"PHP", "# <?php EVIL"},
		{"PHP", "<?php #[EVIL]"},
		{"PHP", "<?php x = <<<A\nit's\nA;\nEVIL '"},
		{"PHP", "<?php `it's`; EVIL '"},
		{"Lua", "x = [[ -- ]] EVIL"},
		{"Lua", "--[==[\n]==] EVIL"},
		{"PowerShell", "x `# EVIL"},
		{"PowerShell", "x a#b; EVIL"},
		{"PowerShell", "\"`\"# \"; EVIL"},
		{"PowerShell", "'a\u2019; EVIL; 'b'"},
		{"PowerShell", "@'\nit's\n'@; EVIL '"},
		{"PowerShell", "cmd --% # | EVIL"},
		{"Terraform", `a = "${f("# ")}" EVIL`},
		{"Terraform", "a = <<EOF\nit's # EVIL\nEOF"},
		{"JSON", `{'"': EVIL, '"': 1}`},
		{"CSS", `a { b: url(x/*) } EVIL /* */`},
		{"CSS", `a { b: \"; EVIL: " }`},
		{"CSS", "// EVIL"},
		{"HTML", `<!--> <script>EVIL</script> -->`},
		{"HTML", `<!-- --!> <script>EVIL</script> -->`},
		{"HTML", `<!--[if IE]><script>EVIL</script><![endif]-->`},
		{"HTML", `<textarea><!-- </textarea><p>EVIL</p> -->`},
		{"HTML", `<?php EVIL ?>`},
		{"HTML", `<script>// </script ><p>EVIL`},
		{"XML", `<![CDATA[ <!-- ]]><EVIL/> -->`},
		{"XML", `<?x <!-- ?><EVIL/> -->`},
	} {
		html := coloured(t, tt.language, tt.text)
		for _, hidden := range drawnAs(html, "c", "s") {
			if strings.Contains(hidden, "EVIL") {
				t.Errorf("%s %q draws %q as no code", tt.language, tt.text, hidden)
			}
		}
	}
}

// What is sure keeps its colours.
func TestHighlightKeepsWhatIsSure(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ language, text, comment string }{
		{"Bash", `echo "$(date "+%F # %T")" 'it'\''s' "${x}" ${y#a} $#; rm # yes`, "# yes"},
		{"Bash", `x=$(ls -la) && echo $'a\n' # yes`, "# yes"},
		{"Bash", "docker run \\\n  -it x # yes", "# yes"},
		{"SQL", "SELECT `a b`, \"c\", 'it''s', $1 -- yes", "-- yes"},
		{"SQL", "/* yes */ SELECT 1", "/* yes */"},
		{"JavaScript", "x = a / b; y = `a ${b.c}`; if (a < b) {} // yes", "// yes"},
		{"TypeScript", "const x: Array<string> = html`a` // yes", "// yes"},
		{"Python", "f'{x:>10} {{' r'\\\\' b\"\" # yes'", "# yes'"},
		{"Python", "x = f\"{a.b}\" # yes", "# yes"},
		{"YAML", "a: 'it''s' # yes", "# yes"},
		{"TOML", "# yes\na = 'b'", "# yes"},
		{"Docker", "# yes\nFROM x", "# yes"},
		{"Makefile", "# yes\na: b", "# yes"},
		{"Go", "x := `a` + \"b\" // yes", "// yes"},
		{"Rust", "fn f<'a>(x: &'a str) {} // yes", "// yes"},
		{"PHP", "<?php $x = \"a {$b} ${c}\"; # yes", "# yes"},
		{"PowerShell", "Get-Item \"$($x) a\" # yes", "# yes"},
		{"Ruby", "puts \"a #{b.c}\" # yes", "# yes"},
		{"CSS", "a { color: 'b' } /* yes */", "/* yes */"},
		{"HTML", "<p>a</p> <!-- yes -->", "<!-- yes -->"},
		{"XML", "<a b='c'/><!-- yes -->", "<!-- yes -->"},
	} {
		if got := strings.Join(drawnAs(coloured(t, tt.language, tt.text), "c"), ""); got != tt.comment {
			t.Errorf("%s %q has the comment %q, want %q", tt.language, tt.text, got, tt.comment)
		}
	}
}

// Whatever the text, its tokens are the text.
func TestHighlightLosesNothing(t *testing.T) {
	t.Parallel()
	languages := everyLanguage(t)
	piece := rapid.SampledFrom([]string{
		`"`, `'`, "`", `\`, "#", "//", "/*", "*/", "--", "$", "$(", ")", "(", "${", "}", "{", "<<", "<!--", "-->", "<?", "?>", "<a ", ">", "\n", "\r", " ", "\t",
		"f", "case", "E", "x", "1", ";", "|", "[", "]", "@", "=", ":", "/", "%", "!", "\u2028", "ä", "\u0301", "\xff", "EOF", "if",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(piece, rapid.String()), 0, 40).Draw(t, "text"), "")
		language := rapid.SampledFrom(languages).Draw(t, "language")
		var got strings.Builder
		for _, token := range highlight.Colour(t.Context(), language, text) {
			got.WriteString(token.Text)
			if !strings.Contains(" k nf nt na nb nd nv m s c gi gd gh gu gs  ", " "+token.Class+" ") {
				t.Fatalf("%s %q: the browser's test does not know the class %q", language, text, token.Class)
			}
		}
		if got.String() != text {
			t.Fatalf("%s %q became %q", language, text, got.String())
		}
	})
}

// Parts of files have no colours: what stands before them may be an open comment.
func TestPartsOfFilesAreNotColoured(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]*ui.Diff{
		"an edit":         ui.NewDiff("Python", [2]string{"x = 1", "# \"\"\"; EVIL #\"\"\""}),
		"an edit of many": ui.NewDiff("Python", [2]string{"", "# a"}, [2]string{"b", "# c"}),
	} {
		if html := draw(t, ui.BlockView(ui.Block{Code: ui.Code{Opened: true}, Diff: d})); strings.Contains(html, `class="c"`) {
			t.Errorf("%s is coloured: %s", name, html)
		}
	}
	whole := ui.NewDiff("Python", [2]string{"", "# a\nif x:\n"})
	if html := draw(t, ui.BlockView(ui.Block{Code: ui.Code{Opened: true}, Diff: whole})); !strings.Contains(html, `<span class="c"># a</span>`) {
		t.Errorf("a new file is not coloured: %s", html)
	}
}
