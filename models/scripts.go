package models

import (
	"slices"
	"strings"
	"unicode"
)

// mixableScripts are scripts that one word may mix: those of Japanese, Chinese and
// Korean, beside Latin (the highly restrictive level of UTS #39).
var mixableScripts = [...][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Bopomofo"},
	{"Latin", "Han", "Hangul"},
}

// frequent scripts are looked for first.
var frequent = [...]string{
	"Latin", "Cyrillic", "Greek", "Han", "Hiragana", "Katakana", "Hangul", "Arabic", "Hebrew", "Armenian", "Thai",
	"Devanagari", "Georgian", "Cherokee",
}

// scriptOf is the script that a character belongs to, empty for those of all
// scripts: digits, signs, marks.
func scriptOf(r rune) string {
	if r < 0x80 {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return "Latin"
		}
		return ""
	}
	if !unicode.IsLetter(r) {
		return ""
	}
	for _, name := range frequent {
		if unicode.Is(unicode.Scripts[name], r) {
			return name
		}
	}
	for name, table := range unicode.Scripts {
		if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
			return name
		}
	}
	return ""
}

// MixedScripts reports whether a name mixes scripts as no language does, and
// which: within a word ("аpple" with a Cyrillic а), or by a word that looks like
// one of its other words' script and is none ("сору me"). Names in several
// languages, and what Japanese, Chinese and Korean mix, are none. One script alone
// has letters that look like others of its own ("Nordlıcht" without a dot).
func MixedScripts(s string) (scripts []string, mix bool) {
	if isASCII(s) {
		return nil, false
	}
	var words [][]string
	latin, looksLatin := false, ""
	s = units.Replace(s)
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		found := scriptsOf(word)
		words = append(words, found)
		latin = latin || slices.Equal(found, []string{"Latin"})
		if script, as := imitates(word, found); as != "" && len(word) > 2 {
			looksLatin = script
		}
	}
	for _, found := range words {
		if !mayMix(found) {
			return found, true
		}
	}
	switch {
	case latin && looksLatin == "Latin":
		return []string{"Latin"}, true
	case latin && looksLatin != "":
		return []string{looksLatin, "Latin"}, true
	}
	return nil, false
}

// ScriptNote says in words what MixedScripts finds, to be put behind a name; empty
// if it finds nothing.
func ScriptNote(s string) string {
	scripts, mix := MixedScripts(s)
	switch {
	case !mix:
		return ""
	case len(scripts) == 1:
		return "has letters that look like others"
	}
	return "mixes " + strings.Join(scripts, " and ")
}

// units are Greek letters that appear beside Latin ones in units and formulas, and look like none of them.
var units = strings.NewReplacer("μ", "", "Ω", "", "Δ", "", "π", "", "λ", "", "Σ", "", "θ", "", "φ", "")

// scriptsOf are the scripts of a word's letters, sorted.
func scriptsOf(word string) []string {
	var out []string
	for _, r := range word {
		if name := scriptOf(r); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func mayMix(scripts []string) bool {
	if len(scripts) < 2 {
		return true
	}
	return slices.ContainsFunc(mixableScripts[:], func(set []string) bool {
		return !slices.ContainsFunc(scripts, func(name string) bool { return !slices.Contains(set, name) })
	})
}

// likeASCII are letters that look like letters of ASCII in most typefaces: each
// is followed by what it looks like.
const likeASCII = "аaеeоoрpсcуyхxѕsіiїiјjԁdԛqԝwһhҽeӏlԍgѵvьbүy" +
	"АAВBЕEЅSІIЈJКKМMНHОOРPСCТTХXУYҮYԌGԜWӀI" +
	"αaγyιiνvοoρpσoυuΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" +
	"օoսuոnտsցgհhզqյjքpѡwɑaɡgıiʟlᴄcᴏoᴠvᴡwᴢzꜱsǀlǁlǂ=ǃ!"

var lookalikes = func() map[rune]rune {
	out := map[rune]rune{}
	letters := []rune(likeASCII)
	for i := 0; i+1 < len(letters); i += 2 {
		if letters[i+1] < 0x80 {
			out[letters[i]] = letters[i+1]
		}
	}
	return out
}()

// imitates returns what a word in one script beyond ASCII would be read as, if
// all of its letters look like ASCII.
func imitates(word string, scripts []string) (script, as string) {
	if isASCII(word) || len(scripts) != 1 {
		return "", ""
	}
	var b strings.Builder
	for _, r := range word {
		if like, ok := lookalikes[r]; ok {
			r = like
		} else if r >= 0x80 {
			return "", ""
		}
		b.WriteRune(r)
	}
	return scripts[0], b.String()
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}
