package ui_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"countersign/models"
	"countersign/views/ui"
)

// both gives back the two sides of a diff.
func both(d *ui.Diff) (before, after string) {
	var a, b strings.Builder
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if l.Sign != '+' {
				a.WriteString(strings.TrimRight(l.Text, "\n") + "\n")
			}
			if l.Sign != '-' {
				b.WriteString(strings.TrimRight(l.Text, "\n") + "\n")
			}
		}
	}
	return a.String(), b.String()
}

func signs(d *ui.Diff) string {
	var b strings.Builder
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			b.WriteByte(l.Sign)
		}
	}
	return b.String()
}

func TestDiffOfTwoTexts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, before, after, count, signs string }{
		{"a changed line", "a\nb\nc", "a\nx\nc", "+1 −1", " -+ "},
		{"a new text", "", "a\nb\n", "+2 −0", "++"},
		{"nothing is left", "a\nb", "", "+0 −2", "--"},
		{"no change", "a\nb", "a\nb", "+0 −0", "  "},
		{"nothing", "", "", "+0 −0", ""},
		{"lines that follow have no say in the last line feed", "a\nb", "a\nb\nc", "+1 −0", "  +"},
		{"a last line feed that goes", "a\nb\n", "a\nb", "+1 −1", " -+"},
		{"a space", "a ", "a", "+1 −1", "-+"},
		{"carriage returns", "a\r\n", "a\n", "+1 −1", "-+"},
	} {
		b := ui.DiffOf("x", tt.before, tt.after)
		if got := b.Diff.Count(); got != tt.count || signs(b.Diff) != tt.signs {
			t.Errorf("%s: %s %q", tt.name, got, signs(b.Diff))
		}
		html := draw(t, ui.BlockView(b))
		if tt.count == "+0 −0" && tt.before == "" && !strings.Contains(html, "no changes") {
			t.Errorf("%s: that nothing changes is not said", tt.name)
		}
		if strings.Contains(tt.name, "that goes") && strings.Count(html, "no newline at the end") != 1 {
			t.Errorf("%s: it is not said", tt.name)
		}
	}
}

// What is shown is what was given, whatever is in it.
func TestDiffLosesNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "\n", "\n", "<b>", "\u202E", " ", "ä", "xyz", "\xff"}
	text := func() string {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 300 {
		before, after := text(), text()
		d := ui.NewDiff("Go", [2]string{before, after})
		if count, ok := models.CountLines([2]string{before, after}); !ok || count != (models.LineCount{Added: d.Added, Removed: d.Removed}) {
			t.Fatalf("%q → %q: counted %s, made %s", before, after, count, d.Count())
		}
		gotBefore, gotAfter := both(d)
		end := func(s string) string {
			if s == "" {
				return ""
			}
			return strings.TrimSuffix(s, "\n") + "\n"
		}
		trailing := func(s string) string { return strings.TrimRight(s, "\n") }
		if trailing(gotBefore) != trailing(end(before)) || trailing(gotAfter) != trailing(end(after)) {
			t.Fatalf("%q → %q became %q → %q", before, after, gotBefore, gotAfter)
		}
		html := draw(t, ui.BlockView(ui.Block{Code: ui.Code{Label: "x", Opened: true}, Diff: d}))
		if !utf8.ValidString(html) || strings.Contains(html, "\u202E") || strings.Contains(html, "<b>") {
			t.Fatalf("I13: hostile text came through: %q", html)
		}
	}
}

func TestDiffMarksChangedWords(t *testing.T) {
	t.Parallel()
	html := draw(t, ui.BlockView(ui.DiffOf("x", "return int(x)", "return int(math.Round(x))")))
	if !strings.Contains(html, "math.Round</mark>") {
		t.Errorf("what came is not marked: %s", html)
	}
	html = draw(t, ui.BlockView(ui.DiffOf("x", "one thing", "quite another")))
	if strings.Contains(html, "<mark>") {
		t.Errorf("lines with nothing in common are marked: %s", html)
	}
	if !strings.Contains(html, `<del class="dl" data-old="1"><span class="ds">−</span>`) || !strings.Contains(html, `<ins class="dl"><span class="ds" data-new="1">+</span>`) {
		t.Errorf("signs are missing: %s", html)
	}
}

// Unchanged lines fold; where they must have been opened, only a POST opens them,
// and then all of it is there.
func TestDiffFolds(t *testing.T) {
	t.Parallel()
	same := ""
	for i := range 30 {
		same += fmt.Sprintf("same %d\n", i)
	}
	b := ui.DiffOf("x", same+"a\n"+same, same+"b\n"+same)
	b.Part = "block-1"
	html := draw(t, ui.BlockView(b))
	if !b.Folds() || strings.Count(html, "<details") != 2 || !strings.Contains(html, "27 unchanged lines") || strings.Count(html, "same 5<") != 2 {
		t.Errorf("not folded on the page: %s", html)
	}
	b.OpenURL = "/approvals/x/open"
	html = draw(t, ui.BlockView(b))
	if strings.Contains(html, "<details") || strings.Contains(html, "same 5<") || !strings.Contains(html, `name="part" value="block-1"`) || !strings.Contains(html, "Show all 62 lines") {
		t.Errorf("not shut: %s", html)
	}
	b.Opened = true
	html = draw(t, ui.BlockView(b))
	if strings.Contains(html, "<details") || strings.Contains(html, "<form") || strings.Count(html, "same 5<") != 2 {
		t.Errorf("not in full: %s", html)
	}
	if long := ui.DiffOf("x", "", strings.Repeat("line\n", 100)); !long.Folds() || !strings.Contains(draw(t, ui.BlockView(long)), "Show all 100 lines") {
		t.Error("a long text does not fold")
	}
	if huge := ui.DiffOf("x", "", strings.Repeat("x", 20_000)); !huge.Folds() || strings.Count(draw(t, ui.BlockView(huge)), "xxxxxxxxxx") != 2000 {
		t.Error("a long line does not fold, or not all of it is there")
	}
}

func TestDiffIsBounded(t *testing.T) {
	t.Parallel()
	half := func(unlike string) string {
		var b strings.Builder
		for i := 0; b.Len() < ui.MaxDiff/2-16; i++ {
			fmt.Fprintf(&b, "%s%d\n", unlike, i)
		}
		return b.String()
	}
	for name, pair := range map[string][2]string{
		"unlike lines":    {half("a"), half("b")},
		"short lines":     {strings.Repeat("a\n", ui.MaxDiff/4), strings.Repeat("b\n", ui.MaxDiff/4)},
		"every other":     {strings.Repeat("a\nb\n", ui.MaxDiff/8), strings.Repeat("b\nc\n", ui.MaxDiff/8)},
		"one long line":   {strings.Repeat("a b ", ui.MaxDiff/8), strings.Repeat("b c ", ui.MaxDiff/8)},
		"long-ish lines":  {strings.Repeat(strings.Repeat("a b ", 200)+"\n", ui.MaxDiff/1800), strings.Repeat(strings.Repeat("b c ", 200)+"\n", ui.MaxDiff/1800)},
		"seven and eight": {strings.Repeat(strings.Repeat("a ", 450)+"\n", 7), strings.Repeat(strings.Repeat("b a ", 225)+"\n", 8)},
	} {
		began := time.Now()
		d := ui.NewDiff("Go", pair)
		if d == nil {
			t.Errorf("%s: not compared", name)
			continue
		}
		draw(t, ui.BlockView(ui.Block{Diff: d}))
		if took := time.Since(began); took > stuck {
			t.Errorf("%s: took %v", name, took)
		}
	}
	if ui.NewDiff("", [2]string{strings.Repeat("a", ui.MaxDiff), "b"}) != nil {
		t.Error("more than the limit is compared")
	}
	if b := ui.DiffOf("x", strings.Repeat("a", ui.MaxDiff), "b"); b.Diff != nil || b.Text != "b" {
		t.Error("above the limit there is no source")
	}
}

func BenchmarkDiff64KiB(b *testing.B) {
	before := strings.Repeat("func (r *reading) next() chroma.Token { return r.at }\n", ui.MaxDiff/2/55)
	after := strings.Replace(before, "r.at", "r.end", 40)
	for b.Loop() {
		ui.NewDiff("Go", [2]string{before, after})
	}
}
