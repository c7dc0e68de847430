package main

import (
	"errors"
	"strings"
	"unicode"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

func isLetter(r rune) bool { return unicode.IsLetter(r) }

// readScript reads the string literals of a script that are texts. Literals joined by +
// are read one by one.
func readScript(name, source string) ([]text, error) {
	return readTokens(name, source, kindScript, func(t chroma.TokenType) bool { return t.InSubCategory(chroma.LiteralString) })
}

// readPaste reads the comments and literals of lines that people paste into their own programs.
func readPaste(name, source string) ([]text, error) {
	return readTokens(name, source, kindPaste, func(t chroma.TokenType) bool {
		return t.InCategory(chroma.Comment) || t.InSubCategory(chroma.LiteralString)
	})
}

// readTokens reads what a lexer of the file's language takes for a kind of token; tokens in a row are one text.
func readTokens(name, source string, kind kind, wanted func(chroma.TokenType) bool) (out []text, err error) {
	lexer := lexers.Match(strings.TrimSuffix(name, ".txt"))
	if lexer == nil {
		return nil, errors.New("no lexer knows this language")
	}
	tokens, err := lexer.Tokenise(nil, source)
	if err != nil {
		return nil, err
	}
	line, began, code := 1, 0, false
	var said strings.Builder
	end := func() {
		if s := strings.Trim(said.String(), "\"'`/#* \n"); isPhrase(s) || kind == kindScript && isLabel(s) {
			out = append(out, text{Kind: kind, File: name, Line: began, Text: s})
		}
		said.Reset()
	}
	for _, t := range tokens.Tokens() {
		switch {
		case t.Type == chroma.LiteralStringInterpol:
			if code = t.Value == "${"; code {
				said.WriteString("…")
			}
		case code: // between ${ and } of a template
		case wanted(t.Type) && t.Type != chroma.LiteralStringRegex:
			if said.Len() == 0 {
				began = line
			}
			said.WriteString(t.Value)
		default:
			end()
		}
		line += strings.Count(t.Value, "\n")
	}
	end()
	return out, nil
}
