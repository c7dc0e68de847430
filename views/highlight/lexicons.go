package highlight

import (
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// lexicon is what a scanner knows of a language.
type lexicon struct {
	name    string
	aliases []string
	files   string // endings, and whole names in lower case
	words   map[string]chroma.TokenType
	folds   bool // words are in any case
	lines   []string
	block   string       // opener and closer of comments
	place   commentPlace // where comments begin
	blank   bool         // follows the opener of a line's comment
	quotes  []quote

	// What the scanner cannot be sure of.
	doubts   []string // behind one of them, the rest is plain
	refuses  []string // a text that holds one of them is plain
	odd      string   // characters in code that may begin a text or a comment
	literals string   // as odd, where they do not follow a value
	prefixes string   // letters that may precede a text; elsewhere, none may
	doubles  bool     // a quote in a text is written twice
	apart    bool     // a text begins behind a blank or an opening bracket only

	shell      bool // the first word of a command tells what it does
	variables  bool // $x
	keys       bool // the word before a colon is a member's name
	assigns    bool // the word before an equals sign is a member's name
	decorators bool // @x
	dashes     bool // may be within a word
}

// commentPlace is where comments begin.
type commentPlace int

const (
	anyPlace        commentPlace = iota
	behindBlank                  // elsewhere the opener is part of a word
	behindBlankOnly              // elsewhere the scanner cannot tell
	lineStart                    // elsewhere the scanner cannot tell
)

// phpOpen begins a file; the text before one is no program.
const phpOpen = "<?"

// quote is a way to write a text.
type quote struct {
	open, close string
	escapes     bool   // a backslash takes the next character's meaning
	long        bool   // may hold line feeds
	inserts     string // openers of expressions in the text
	names       bool   // holds a name and nothing else
	tag         bool   // may follow a function's name
}

var (
	double  = quote{open: `"`, close: `"`, escapes: true}
	single  = quote{open: `'`, close: `'`, escapes: true}
	bare1   = quote{open: `'`, close: `'`}
	tick    = quote{open: "`", close: "`", escapes: true, long: true, inserts: "${", tag: true}
	long2   = quote{open: `"`, close: `"`, escapes: true, long: true}
	long1   = quote{open: `'`, close: `'`, escapes: true, long: true}
	raw2    = quote{open: `"`, close: `"`, long: true}
	raw1    = quote{open: `'`, close: `'`, long: true}
	block2  = quote{open: `"""`, close: `"""`, escapes: true, long: true}
	verbose = []quote{block2, {open: `'''`, close: `'''`, escapes: true, long: true}, double, single}
)

// words makes a table of keywords and of names that are built in.
func words(keywords, builtin string) map[string]chroma.TokenType {
	out := map[string]chroma.TokenType{}
	for w := range strings.FieldsSeq(builtin) {
		out[w] = chroma.NameBuiltin
	}
	for w := range strings.FieldsSeq(keywords) {
		out[w] = chroma.Keyword
	}
	return out
}

const cWords = "auto break case const continue default do else enum extern for goto if inline register return sizeof static struct switch typedef union volatile while"

// lexicons are the languages that agents write most. Only who shows code needs their
// words.
var lexicons = sync.OnceValue(func() []lexicon {
	return []lexicon{
		{
			name: "Bash", aliases: []string{"sh", "shell", "zsh"}, files: "sh bash zsh ksh bashrc profile envrc", shell: true,
			variables: true, lines: []string{"#"}, place: behindBlank,
			quotes: []quote{{open: `$'`, close: `'`, escapes: true, long: true}, long2, raw1},
			doubts: []string{"`", "<<", "((", "$[", "(#", ")#", "<#", ">#", "\\\n#"},
			words: words("if then elif else fi for while until do done case esac in select function time ! [[ ]]",
				"cd echo eval exec exit export local read return set shift source trap unset alias declare test"),
		},
		{
			name: "PowerShell", aliases: []string{"powershell", "pwsh"}, files: "ps1 psm1", folds: true, variables: true,
			dashes: true, lines: []string{"#"}, block: "<# #>", place: behindBlankOnly, doubles: true,
			quotes: []quote{{open: `"`, close: `"`, long: true, inserts: "$( ${"}, raw1},
			doubts: []string{"`", `@"`, `@'`, "--%", "\u2018", "\u2019", "\u201a", "\u201b", "\u201c", "\u201d", "\u201e"},
			words:  words("if elseif else switch foreach for while do until function param return try catch finally throw break continue in begin process end", ""),
		},
		{
			name: "Go", aliases: []string{"golang"}, files: "go", lines: []string{"//"}, block: "/* */",
			quotes: []quote{double, single, {open: "`", close: "`", long: true}}, doubts: []string{"//go:"},
			refuses: []string{`"C"`},
			words: words("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
				"any bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false nil iota append cap clear close copy delete len make max min new panic print println recover"),
		},
		{
			name: "Python", aliases: []string{"py", "python3"}, files: "py pyi pyw", decorators: true, lines: []string{"#"},
			quotes: verbose, prefixes: "rRbBuUfFtT", doubts: []string{"coding:", "coding="},
			words: words("and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
				"True False None self cls bool bytes dict float int list object set str tuple type enumerate filter isinstance len map open print range sorted super sum zip"),
		},
		{
			name: "JavaScript", aliases: []string{"javascript", "js", "node"}, files: "js mjs cjs jsx", decorators: true,
			lines: []string{"//"}, block: "/* */", quotes: []quote{double, single, tick}, literals: "/<",
			doubts: []string{"<!--", "-->"},
			words:  words("async await break case catch class const continue debugger default delete do else export extends finally for from function get if import in instanceof let new of return set static super switch throw try typeof var void while with yield", "true false null undefined NaN Infinity this console document window Array Boolean Date Error JSON Map Math Number Object Promise RegExp Set String Symbol"),
		},
		{
			name: "TypeScript", aliases: []string{"ts"}, files: "ts tsx mts cts", decorators: true, lines: []string{"//"},
			block: "/* */", quotes: []quote{double, single, tick}, literals: "/<", doubts: []string{"<!--", "-->"},
			words: words("abstract as async await break case catch class const continue declare default delete do else enum export extends finally for from function get if implements import in instanceof interface keyof let namespace new of private protected public readonly return satisfies set static super switch throw try type typeof var void while yield", "any bigint boolean never null number object string symbol true false undefined unknown this console Array Date Error JSON Map Math Object Promise Record Set"),
		},
		{
			name: "JSON", aliases: []string{"json"}, files: "json jsonl ndjson json5 webmanifest", keys: true,
			quotes: []quote{double}, odd: "'/#",
			words: words("true false null", ""),
		},
		{
			name: "YAML", aliases: []string{"yaml"}, files: "yaml yml", keys: true, dashes: true, lines: []string{"#"},
			place: behindBlank, quotes: []quote{double, bare1}, apart: true, doubles: true,
			doubts: []string{" |", " >", "\n|", "\n>", "\t|", "\t>"},
			words:  words("true false null yes no on off", ""),
		},
		{
			name: "TOML", aliases: []string{"toml", "ini", "properties"},
			files: "toml ini cfg conf env properties editorconfig gitconfig", assigns: true, dashes: true, lines: []string{"#"},
			place: lineStart, quotes: []quote{double, bare1}, doubts: []string{`"""`, `'''`, "\\\n", ";"},
			words: words("true false", ""),
		},
		{
			name: "SQL", aliases: []string{"sql"}, files: "sql", folds: true, lines: []string{"--"}, blank: true, block: "/* */",
			quotes: []quote{raw1, raw2, {open: "`", close: "`", names: true}}, doubles: true,
			odd: "#[$", doubts: []string{`\`, "/*!", "/*+", "/*M!"},
			words: words("add all alter and any as asc begin between by cascade case check column commit conflict constraint create cross database default delete desc distinct drop else end exists explain fetch foreign from full function grant group having if in index inner insert intersect into is join key left like limit natural not null offset on or order outer partition primary procedure recursive references replace restrict returning revoke right rollback savepoint select set table temporary then to transaction trigger truncate union unique update using vacuum values view when where window with",
				"bigint blob boolean char date decimal double float int integer json jsonb numeric real serial smallint text timestamp timestamptz uuid varchar avg coalesce count max min sum now true false"),
		},
		{
			name: "C", files: "c h", lines: []string{"//"}, block: "/* */", quotes: []quote{double, single},
			doubts: []string{"??"},
			words:  words(cWords, "bool char double float int long short signed unsigned void size_t true false NULL"),
		},
		{
			name: "C++", aliases: []string{"cpp"}, files: "cc cpp cxx hpp hh hxx", lines: []string{"//"}, block: "/* */",
			quotes: []quote{double, single}, doubts: []string{"??"},
			words: words(cWords+" catch class concept constexpr delete explicit export friend namespace new noexcept operator override private protected public requires template this throw try typename using virtual", "bool char double float int long short signed unsigned void auto size_t string vector map true false nullptr std"),
		},
		{
			name: "C#", aliases: []string{"csharp"}, files: "cs", lines: []string{"//"}, block: "/* */",
			quotes: []quote{double, single}, doubts: []string{`@"`, `$"`, `"""`},
			words: words("abstract as async await base break case catch class const continue default delegate do else enum event explicit extern finally for foreach get if implicit in interface internal is lock namespace new operator out override params private protected public readonly record ref return sealed set static struct switch this throw try typeof using var virtual where while yield", "bool byte char decimal double float int long object short string uint ulong void true false null"),
		},
		{
			name: "Java", files: "java", decorators: true, lines: []string{"//"}, block: "/* */",
			quotes: []quote{block2, double, single}, doubts: []string{`\u`},
			words: words("abstract assert break case catch class const continue default do else enum extends final finally for if implements import instanceof interface native new package private protected public record return static super switch synchronized this throw throws transient try var volatile while yield", "boolean byte char double float int long short void true false null String Object List Map"),
		},
		{
			name: "Kotlin", files: "kt kts", decorators: true, lines: []string{"//"}, block: "/* */",
			quotes: []quote{
				{open: `"""`, close: `"""`, long: true, inserts: "${"},
				{open: `"`, close: `"`, escapes: true, inserts: "${"},
				single,
			},
			words: words("as break by catch class companion const constructor continue data do else enum finally for fun if import in init interface internal is lateinit object open override package private protected public return sealed super suspend this throw try typealias val var when where while", "Any Boolean Double Float Int List Long Map String Unit true false null"),
		},
		{
			name: "Swift", files: "swift", decorators: true, lines: []string{"//"}, block: "/* */", literals: "/",
			quotes: []quote{
				{open: `"""`, close: `"""`, escapes: true, long: true, inserts: `\(`},
				{open: `"`, close: `"`, escapes: true, inserts: `\(`},
			}, doubts: []string{`#"`, "#/"},
			words: words("as async await break case catch class continue default defer do else enum extension fileprivate for func guard if import in init inout internal is let mutating open private protocol public repeat return self some static struct super switch throw throws try typealias var where while", "Any Array Bool Dictionary Double Float Int Optional Set String Void true false nil"),
		},
		{
			name: "Rust", files: "rs", lines: []string{"//"}, block: "/* */", quotes: []quote{long2},
			words: words("as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return self static struct super trait type unsafe use where while", "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Self String Vec Option Some None Result Ok Err Box true false"),
		},
		{
			name: "Ruby", files: "rb gemspec gemfile rakefile", lines: []string{"#"},
			quotes: []quote{{open: `"`, close: `"`, escapes: true, long: true, inserts: "#{"}, long1},
			odd:    "/%`", doubts: []string{"<<", "?#", "$#", "=begin", "__END__"},
			words: words("alias and begin break case class def defined do else elsif end ensure for if in module next not or redo rescue retry return self super then undef unless until when while yield require require_relative", "nil true false puts attr_accessor attr_reader private protected public raise"),
		},
		{
			name: "PHP", files: "php", variables: true, lines: []string{"//", "#"}, block: "/* */",
			quotes: []quote{{open: `"`, close: `"`, escapes: true, long: true, inserts: "{$"}, long1},
			odd:    "`", doubts: []string{"<<<", "?>", "#["}, refuses: []string{phpOpen},
			words: words("abstract and as break case catch class clone const continue declare default do echo else elseif extends final finally fn for foreach function global if implements include instanceof interface match namespace new or print private protected public readonly require require_once return static switch throw trait try use var while yield", "array bool callable float int mixed object string void true false null"),
		},
		{
			name: "Lua", files: "lua", lines: []string{"--"}, doubts: []string{"[[", "[="}, quotes: []quote{double, single},
			words: words("and break do else elseif end for function goto if in local not or repeat return then until while",
				"true false nil print pairs ipairs require self"),
		},
		{
			name: "Terraform", aliases: []string{"hcl"}, files: "tf tfvars hcl", assigns: true, lines: []string{"#", "//"},
			block: "/* */", quotes: []quote{{open: `"`, close: `"`, escapes: true, inserts: "${ %{"}}, doubts: []string{"<<"},
			words: words("resource data variable output module provider terraform locals for_each count depends_on for in if",
				"true false null string number bool list map any"),
		},
		{
			name: "Docker", aliases: []string{"dockerfile"}, files: "dockerfile containerfile", folds: true, variables: true,
			lines: []string{"#"}, place: lineStart, quotes: []quote{double, bare1}, doubts: []string{"<<", "escape"},
			words: words("from as run cmd label maintainer expose env add copy entrypoint volume user workdir arg onbuild stopsignal healthcheck shell", ""),
		},
		{
			name: "Makefile", aliases: []string{"make"}, files: "makefile gnumakefile mk", keys: true, assigns: true,
			variables: true, dashes: true, lines: []string{"#"}, place: lineStart,
			doubts: []string{"\t#", "\\\n", "define", ".RECIPEPREFIX"},
			words:  words("define endef ifdef ifndef ifeq ifneq else endif include export unexport override", ""),
		},
		{
			name: "CSS", aliases: []string{"css", "scss", "less"}, files: "css scss less", keys: true, dashes: true,
			decorators: true, block: "/* */", quotes: []quote{double, single},
			doubts: []string{`\`, "//", "<!--", "-->", "rl(", "RL(", "rL(", "Rl("},
			words:  words("important", ""),
		},
	}
})
