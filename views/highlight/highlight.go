package highlight

import (
	"context"
	"embed"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// Limits of colouring; above them, source is shown without colour.
const (
	MaxBytes = 64 << 10 // bytes
	// The library's own lexers try many patterns at every word: a tenth of a second
	// takes some of them no further.
	maxPatterns = 8 << 10
	patternTime = 250 * time.Millisecond
)

// definitions are those of the library's lexers that are wanted; all of them
// would be 4 MB of binary, and read at every start.
//
//go:embed lexers/*.xml
var definitions embed.FS

// lexers finds a lexer by the name of its language: our own where there is one,
// which reads a text once from its beginning to its end, or the library's.
var lexers = sync.OnceValue(func() *chroma.LexerRegistry {
	reg := chroma.NewLexerRegistry()
	files, err := definitions.ReadDir("lexers")
	if err != nil {
		panic(err) // the embedded folder is there, or it would not have been built
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".xml") {
			reg.Register(chroma.MustNewXMLLexer(definitions, "lexers/"+f.Name()))
		}
	}
	for i := range lexicons() {
		reg.Register(&scanner{lexicon: &lexicons()[i]})
	}
	return reg
})

// languages are by the ending of a file's name, or its whole name.
var languages = sync.OnceValue(func() map[string]string {
	out := map[string]string{
		"html": "HTML", "htm": "HTML", "xhtml": "HTML", "xml": "XML", "svg": "XML", "xsd": "XML", "plist": "XML",
		"diff": "Diff", "patch": "Diff",
	}
	for _, l := range lexicons() {
		for suffix := range strings.FieldsSeq(l.files) {
			out[suffix] = l.name
		}
	}
	return out
})

// LanguageOf is the language that a file's name tells, empty if none is known.
func LanguageOf(file string) string {
	if i := strings.LastIndexAny(file, `/\`); i >= 0 {
		file = file[i+1:]
	}
	if len(file) > 255 {
		return ""
	}
	file = strings.ToLower(file)
	if name, ok := languages()[file]; ok {
		return name
	}
	return languages()[strings.TrimPrefix(path.Ext(file), ".")]
}

// Colour divides text into spans by their role in the language. Text that is too long, in no language that is known, or
// takes too long to read stays plain.
func Colour(ctx context.Context, language, text string) []Span {
	plain := []Span{{Text: text}}
	if language == "" || len(text) > MaxBytes {
		return plain
	}
	lexer := lexers().Get(language)
	if lexer == nil {
		return plain
	}
	if _, ours := lexer.(*scanner); !ours {
		if len(text) > maxPatterns {
			return plain
		}
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, patternTime)
		defer done()
	}
	spans, ok := tokens(ctx, lexer, text)
	if !ok {
		return plain
	}
	if _, ours := lexer.(*scanner); !ours {
		return sureMarkup(text, spans)
	}
	return spans
}

// tokens reads the text with a lexer; false if the lexer gave up, took too long,
// or gave back another text than it got.
func tokens(ctx context.Context, lexer chroma.Lexer, text string) (spans []Span, ok bool) {
	defer func() {
		if recover() != nil { // the library's way to say that a pattern failed
			spans, ok = nil, false
		}
	}()
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil, false
	}
	at := 0
	for token := next(); token != chroma.EOF; token = next() {
		value := token.Value
		if at+len(value) == len(text)+1 { // some lexers add a last line feed
			value = strings.TrimSuffix(value, "\n")
		}
		if !strings.HasPrefix(text[at:], value) || ctx.Err() != nil {
			return nil, false
		}
		class := classOf(token.Type)
		if n := len(spans); n > 0 && spans[n-1].Class == class {
			start := at - len(spans[n-1].Text)
			spans[n-1].Text = text[start : at+len(value)]
		} else if value != "" {
			spans = append(spans, Span{text[at : at+len(value)], class})
		}
		at += len(value)
	}
	return spans, at == len(text)
}

// keptTokens are the kinds of words that keep a class of their own.
var keptTokens = map[chroma.TokenType]bool{
	chroma.NameFunction: true, chroma.NameTag: true, chroma.NameAttribute: true, chroma.NameVariable: true,
	chroma.NameDecorator: true, chroma.NameBuiltin: true,
	chroma.GenericDeleted: true, chroma.GenericInserted: true, chroma.GenericHeading: true, chroma.GenericSubheading: true,
	chroma.GenericStrong: true,
}

// classOf is the class of a token: the library's short name of its kind, or of the kind above it, and nothing for
// tokens without colour.
func classOf(t chroma.TokenType) string {
	switch {
	case keptTokens[t]:
		return chroma.StandardTypes[t]
	case t == chroma.KeywordType:
		return chroma.StandardTypes[chroma.NameBuiltin]
	case t.InCategory(chroma.Keyword):
		return chroma.StandardTypes[chroma.Keyword]
	case t == chroma.CommentPreproc: // instructions, and programs in a page
		return ""
	case t.InCategory(chroma.Comment):
		return chroma.StandardTypes[chroma.Comment]
	case t.InSubCategory(chroma.LiteralString):
		return chroma.StandardTypes[chroma.LiteralString]
	case t.InSubCategory(chroma.LiteralNumber):
		return chroma.StandardTypes[chroma.LiteralNumber]
	}
	return ""
}
