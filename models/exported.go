package models

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// VisibleJSON writes the invisible characters of a JSON text as escapes of JSON: a terminal or an editor shows them,
// and a parser reads the same. Such characters occur within strings only.
func VisibleJSON(text string) string {
	segments, found := Reveal(text, true)
	if !found.Any() {
		return text
	}
	var b strings.Builder
	for _, seg := range segments {
		if !seg.Escape {
			b.WriteString(seg.Text)
			text = text[len(seg.Text):]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		if r < 0x7f || r == '⟨' {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// HarmlessCell is untrusted text as a cell of a table in a file: what would not be
// seen is escaped, and what a spreadsheet would run as a formula is text to it.
func HarmlessCell(s string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " "))
	if strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + RevealString(s, false)
	}
	return RevealString(s, false)
}
