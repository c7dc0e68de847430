package headline

import (
	"slices"
	"strings"
	"unicode"

	"countersign/models"
)

const (
	maxWord = 200 // characters of one plain word
	maxName = 40  // of a name of several words
)

// isPlain reports whether a text is one word that needs no quotation marks: Latin letters,
// digits and what names of files, hosts and accounts have.
func isPlain(s string) bool {
	return s != "" && len(s) <= maxWord && strings.IndexFunc(s, func(r rune) bool {
		return !isLetter(r) && (r < '0' || r > '9') && !strings.ContainsRune("_./:@%+=~-", r)
	}) < 0
}

// isLetter reports whether a letter is one of Latin's own, not one that only looks like one.
// The clicks at U+01C0 look like signs.
func isLetter(r rune) bool {
	return r < 0x250 && unicode.Is(unicode.Latin, r) && (r < '\u01c0' || r > '\u01c3')
}

// word is a text as one word: quoted if it is not plain.
func word(s string) string {
	if isPlain(s) {
		return s
	}
	return quote(s)
}

// abbreviations may end a name with their full stop.
var abbreviations = []string{
	"b.v.", "bros.", "co.", "corp.", "e.v.", "inc.", "jr.", "ltd.", "n.v.", "s.a.", "s.r.l.", "sr.",
}

// joining are words with which a name goes on as a sentence of ours would.
var joiners = []string{"account", "by", "for", "from", "not", "to"}

// isSentence reports whether a name may be read as words of ours.
func isSentence(s string) bool {
	words := strings.Fields(strings.ToLower(s))
	if len(words) == 0 || strings.ContainsAny(s, ":") || strings.Contains(s, ". ") || strings.Contains(s, " -") ||
		strings.Contains(s, "- ") {
		return true
	}
	if last := words[len(words)-1]; strings.HasSuffix(last, ".") && !slices.Contains(abbreviations, last) {
		return true
	}
	return hasDecision(s) ||
		len(words) > 1 && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(joiners, w) })
}

// name is the name of somebody or something: quoted unless it is plain, or a few words of
// letters that are no sentence.
func name(s string) string {
	if isSentence(s) {
		return quote(s)
	}
	words := strings.Split(s, " ")
	letters := len(s) <= maxName && len(words) <= 4 && !slices.ContainsFunc(words, func(w string) bool {
		return w == "" ||
			strings.ContainsFunc(w, func(r rune) bool { return !isLetter(r) && !strings.ContainsRune(".&'-", r) })
	})
	if letters {
		return s
	}
	return word(s)
}

// quote puts a text between quotation marks that it cannot end.
func quote(s string) string {
	return `"` + quoter.Replace(s) + `"`
}

var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// middle cuts a text in the middle to at most that many characters, and says how many it
// leaves out there.
func middle(s string, most int) (string, bool) {
	p := parted{begin: s}.within(most)
	return p.String(), p.gap > 0
}

// beginning is at most that many characters of a text whose end is not known.
func beginning(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most])
	}
	return s + "…"
}

// counted is a number of things: "1 line", "1,200 lines".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return models.Number(int64(n)) + " " + what + "s"
}

// countLines is how many lines a text has.
func countLines(s string) string {
	return counted(strings.Count(strings.TrimSuffix(s, "\n"), "\n")+1, "line")
}
