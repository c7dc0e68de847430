package ui_test

import (
	"strings"
	"testing"

	"countersign/views/ui"
)

const unified = `diff --git a/x.go b/x.go
index 1..2 100644
--- a/x.go
+++ b/x.go
@@ -10,3 +10,4 @@ func f() int {
 	if a {
-		return 1
+		return 2
+	}

new file mode 100755
--- /dev/null
+++ b/y
@@ -0,0 +1 @@
+y
\ No newline at end of file
`

func TestPatches(t *testing.T) {
	t.Parallel()
	loose := "*** Begin Patch\n*** Update File: a.py\n@@ def f():\n-    pass\n+    return 1\n*** Add File: b\n+hello\n*** End Patch\n"
	for _, tt := range []struct{ name, text, count, language string }{
		// A hunk may begin within a comment or a text, so it has no language.
		{"unified", unified, "+3 −1", ""},
		{"as coding agents write them", loose, "+2 −1", ""},
		{"without its files' names", "@@ -1 +1 @@\n-a\n+b\n", "+1 −1", ""},
		{"text before it", "Please apply:\n@@ -1 +1 @@\n-a\n+b\n", "+1 −1", ""},
	} {
		d, ok := ui.NewPatch(tt.text)
		if !ok || d.Count() != tt.count || d.Language != tt.language {
			t.Errorf("%s: %v %+v", tt.name, ok, d)
			continue
		}
		html := draw(t, ui.BlockView(ui.Block{Code: ui.Code{Opened: true}, Diff: d}))
		if tt.name == "unified" && !strings.Contains(html, `<mark>2</mark>`) {
			t.Errorf("what came is not marked in %s", html)
		}
		text := unescape.Replace(anyTag.ReplaceAllString(html, ""))
		for line := range strings.Lines(tt.text) {
			if line = strings.TrimSpace(strings.TrimLeft(strings.TrimRight(line, "\n"), "+-")); !strings.HasPrefix(line, `\`) && !strings.Contains(text, line) {
				t.Errorf("%s: %q is left out of %q", tt.name, line, text)
			}
		}
	}
	d, _ := ui.NewPatch(unified)
	if l := d.Hunks[0].Lines[1]; l.Old != 11 || l.New != 0 || l.Sign != '-' {
		t.Errorf("%+v", l)
	}
	for name, text := range map[string]string{
		"nothing":              "",
		"no patch":             "a\nb\n",
		"too few lines":        "@@ -1,2 +1 @@\n-a\n+b\n",
		"too many lines":       "@@ -1 +1 @@\n-a\n-c\n+b\n",
		"no sign":              "@@ -1 +1 @@\n-a\nb\n",
		"nothing is changed":   "@@ -1 +1 @@\n a\n",
		"loose without a sign": "*** Begin Patch\n*** Add File: x\nhello\n*** End Patch\n",
		"numbers too large":    "@@ -9999999999 +1 @@\n-a\n+b\n",
		"too long":             "@@ -1 +1 @@\n-a\n+" + strings.Repeat("b", ui.MaxDiff) + "\n",
	} {
		if d, ok := ui.NewPatch(text); ok {
			t.Errorf("%s: is read as %+v", name, d)
		}
	}
}

// I13: titles of hunks come from outside too.
func TestPatchesEscapeI13(t *testing.T) {
	t.Parallel()
	d, ok := ui.NewPatch("<b>\u202E\n@@ -1 +1 @@ \u2066<i>\n-a\u200B\n+b\n")
	if !ok {
		t.Fatal("it is a patch")
	}
	if html := draw(t, ui.BlockView(ui.Block{Diff: d})); strings.ContainsAny(html, "\u202E\u2066\u200B") || strings.Contains(html, "<b>") || strings.Contains(html, "<i>") {
		t.Errorf("hostile text came through: %s", html)
	}
}

func FuzzPatch(f *testing.F) {
	f.Add(unified)
	f.Fuzz(func(t *testing.T, text string) {
		if d, ok := ui.NewPatch(text); ok {
			draw(t, ui.BlockView(ui.Block{Diff: d}))
		}
	})
}
