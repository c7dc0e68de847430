package static

import (
	"regexp"
	"strings"
	"testing"
)

func TestRulesThatMatchNothingAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, css, want string }{
		{"a rule of an unused class", ".btn{a:b}.tabs{a:b}.field{c:d}", ".btn{a:b}.field{c:d}"},
		{"below one", ".tabs>.btn,main .tabs:hover{a:b}", ""},
		{"beside one that is used", ".tabs,.btn{a:b}", ".tabs,.btn{a:b}"},
		{"a longer name", ".tabs-like{a:b}.my-tabs{a:b}", ".tabs-like{a:b}.my-tabs{a:b}"},
		{"not one, or one of several", ".btn:not(.tabs){a:b}:is(.tabs,.btn){a:b}", ".btn:not(.tabs){a:b}:is(.tabs,.btn){a:b}"},
		{"in groups", "@layer components{@media (width>1px){.tabs{a:b}}.btn{a:b}}", "@layer components{.btn{a:b}}"},
		{"braces and points in text", `.btn{content:"}.tabs{"}.tabs:after{content:"}"}.field{a:b}`, `.btn{content:"}.tabs{"}.field{a:b}`},
		{"what holds no rules", "@layer a,b;@layer c{}@property --x{a:b}@keyframes tabs{0%{a:b}}", "@layer a,b;@layer c{}@property --x{a:b}@keyframes tabs{0%{a:b}}"},
		{"a comment before", "/*! free .tabs */.btn{a:b}", "/*! free .tabs */.btn{a:b}"},
		{"rules within a rule", ".btn{&:hover{a:b}.tabs &{a:b}}", ".btn{&:hover{a:b}.tabs &{a:b}}"},
		{"what is cut off", ".btn{a:b", ".btn{a:b"},
	} {
		if got := withoutUnused(c.css); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTheComponentLibraryIsCutWhereItIsUnused(t *testing.T) {
	t.Parallel()
	whole := string(embedded(sheets[0]))
	cut := withoutUnused(whole)
	for _, kept := range []string{"tailwindcss", ".btn{", "@layer theme{", "@layer base{", "@property --tw-shadow{", ".table{"} {
		if strings.Count(cut, kept) != strings.Count(whole, kept) {
			t.Errorf("%s: %d of %d are left", kept, strings.Count(cut, kept), strings.Count(whole, kept))
		}
	}
	if strings.Count(cut, "{") != strings.Count(cut, "}") {
		t.Error("a brace is lost")
	}
	for _, name := range Unused {
		if !strings.Contains(whole, "."+name) {
			t.Errorf("%s is not of the library", name)
		}
	}
	t.Logf("%d of %d bytes; all sheets have %d, packed", len(cut), len(whole), len(compress(joinedSheets(sheets))))
	if len(cut) > len(whole)*2/3 {
		t.Errorf("%d of %d bytes are left", len(cut), len(whole))
	}
}

// A rule with :has() for whatever element has a browser style the whole page again at each change of it: one such rule
// took 15 ms each time.
func TestNoRuleWithHasIsForAnyElement(t *testing.T) {
	t.Parallel()
	commented := regexp.MustCompile(`(?s)/\*.*?\*/`)
	var walk func(sheet, css string)
	read := 0
	walk = func(sheet, css string) {
		for css != "" {
			head, block, rest, _ := statement(css)
			css = rest
			selector := strings.TrimSpace(head)
			if grouping.MatchString(selector) {
				walk(sheet, block)
				continue
			}
			read++
			if !strings.Contains(selector, ":has(") {
				continue
			}
			for _, plain := range plainSelectors(selector) {
				plain = strings.TrimSpace(plain)
				subject := plain[strings.LastIndexAny(plain, " >+~")+1:]
				if strings.HasPrefix(subject, "*") || strings.HasPrefix(subject, ":not") {
					t.Errorf("%s: %s: name a class or an element, or set an attribute where the page is made", sheet, selector)
				}
			}
		}
	}
	for _, sheet := range sheets[1:] {
		walk(sheet, commented.ReplaceAllString(string(embedded(sheet)), ""))
	}
	if read < 500 {
		t.Errorf("only %d rules were read", read)
	}
}
