package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A rule is a word that texts for people do not use, and what they say instead.
type rule struct {
	pattern string
	advice  string
}

// rules are the banned words of the project's plain English. A space in a pattern is any
// white space, and case does not matter.
var rules = []rule{
	{`\bstands?\b|\bstood\b`, "say what is true: is active, applies, appears"},
	{`\bholds\b`, "say contains, keeps, has, or applies"},
	{`\bwhy (it was |it is )?held\b`, "say why it needs approval, or why it was allowed"},
	{`\bby itself\b`, "say alone, automatically, or without asking"},
	{`\banew\b`, "say again"},
	{`\bof its own\b`, "say its own, or separate"},
	{`\b(goes|went|gone) ahead\b`, "say was approved, was allowed, runs"},
	{`\bas it is\b`, "say unchanged, or leave it out"},
	{`\bwhat is no\b`, "name the thing that is wrong"},
	{`\btold to\b`, "say sent to, or shown to"},
	{`\bverdicts?\b`, "say decision"},
	{`\bwithdr(aw|aws|ew|awn|awing|awal|awals)\b`, "say undo for one's own approval, cancel for a request"},
	{`\b(un)?fold(s|ed|ing)?\b`, "say section, or group"},
	{`\bturns?\b`, "say message, or step"},
	{`\bgrants?\b`, "say pre-approval"},
	{`[\d…] %(\W|$)|%[dvs] %%`, "no space before the per cent sign"},

	// The phrases of "now" in the table of words.md.
	{`\bsaid why\b`, "say agent's reason"},
	{`\bagainst the last\b`, "name it: the call Ann approved 3 min ago"},
	{`\bjudged by\b`, "say the version they arrived under"},
	{`\bwhich is a no\b|\bis a no\b`, "say expires and must not run, or is rejected"},
	{`\bin my own words\b`, "say Other"},
	{`\bnot told\b`, "say not sent"},
	{`\btake it back\b|\btaken back\b`, "say Undo"},
	{`\blaid out\b`, "say Preview"},
	{`\bas asked\b`, "say unchanged, or as requested"},
	{`\banother sum\b`, "say a different amount"},
	{`\bno answer came\b`, "say Connection lost"},
	{`\bno open session\b`, "say Your session expired"},
	{`\bdecided by (itself|themselves)\b`, "say can't be bulk-approved"},
	{`\bas far as may be\b`, "say Max"},
	{`\bor minutes more\b`, "say Custom minutes"},
	{`\bask back\b`, "say Ask a question"},
	{`\bnobody in time\b`, "say no decision in time"},
	{`\bat another place\b`, "say elsewhere"},
	{`\btakes? away\b|\btaken away\b`, "say Subtract, or Remove"},
	{`\bmay allow further calls\b`, "say can pre-approve similar calls"},
	{`\bat the desk\b`, "say Reviewer settings, or in the inbox"},
	{`\bby program\b`, "say via API"},
	{`\bas it says\b`, "say Agent's, or Details"},
	{`\bfor your eyes\b`, "say or you don't have access"},
	{`\boutside of any run\b`, "say single requests"},
}

// allowed are phrases in which a banned word is the right one, each with its reason.
var allowed = []struct{ pattern, reason string }{
	{`^verdict checked$`, "columns of votes"},
	{`\bturn(s|ed|ing)? (it |them |this )?(on|off|into)\b`, "the verb, not a message"},
	{`\bwithdrawn by\b`, "the reason of a cancelled request: stored with each, and known by these words"},
	{`\bfull function grant group\b`, "keywords of SQL"},
	{`\bto grant a different\b`, "the verb, of a budget"},
}

type compiled struct {
	rule
	is *regexp.Regexp
}

var bans, pardons = func() (bans []compiled, pardons []*regexp.Regexp) {
	for _, r := range rules {
		bans = append(bans, compiled{r, words(r.pattern)})
	}
	for _, a := range allowed {
		pardons = append(pardons, words(a.pattern))
	}
	return bans, pardons
}()

func words(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.ReplaceAll(pattern, " ", `\s+`))
}

// A finding is a banned word in a text.
type finding struct {
	text
	Word, Advice string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %q: %s\n\t%s", f.File, f.Line, f.Word, f.Advice, spaces.ReplaceAllString(f.Text, " "))
}

// findings are the banned words of texts. Code within a text is not read.
func findings(texts []text) (out []finding) {
	for _, t := range texts {
		said := blank(t.Text, inCode)
		for _, p := range pardons {
			said = blank(said, p)
		}
		for _, b := range bans {
			if at := b.is.FindStringIndex(said); at != nil {
				found := finding{t, said[at[0]:at[1]], b.advice}
				found.Line += strings.Count(said[:at[0]], "\n")
				out = append(out, found)
			}
		}
	}
	return out
}

// blank puts spaces in place of what matches, so that lines and words around it stay where they are.
func blank(s string, of *regexp.Regexp) string {
	return of.ReplaceAllStringFunc(s, func(found string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' '
		}, found)
	})
}
