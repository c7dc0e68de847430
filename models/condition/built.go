package condition

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common/operators"
)

// Built is a condition as a form has it: rows that are joined by all or any, some of them in groups that are joined the
// other way. CEL writes it as an expression, and Read reads that back.
//
// It is canonical if each group has a row, one group alone has one row and Any false, and each path is as MemberPath
// writes it.
type Built struct {
	Any    bool // true if any group is; else if all are
	Groups []Group
}

// Group is one row, or several that are joined the other way than groups are.
type Group []Row

// Row compares one subject of a call with values.
type Row struct {
	Subject string // one of Subjects, or the path of a member of the input: input.amount
	Op      Op
	Kind    Kind // as which the subject is read: of those that the operator has
	Values  []string
}

// Op is how a row compares.
type Op string

// The operators.
const (
	Is             Op = "is"
	IsNot          Op = "is_not"
	Contains       Op = "contains"
	StartsWith     Op = "starts_with"
	Greater        Op = "greater"
	GreaterOrEqual Op = "greater_or_equal"
	Less           Op = "less"
	LessOrEqual    Op = "less_or_equal"
	Between        Op = "between"
	OneOf          Op = "one_of"
	Within         Op = "within_folder"
	HostIs         Op = "host_is"
	ProgramIs      Op = "program_is"
	EveryProgram   Op = "every_program"
	DeletesOutside Op = "deletes_outside"
)

// Kind is how a value is read, or which kind of value a member had.
type Kind string

// The kinds. Rows read texts, numbers, yes or no, and lists of texts; the others are only found in calls.
const (
	KindText    Kind = "text"
	KindNumeral Kind = "numeral" // a text that reads as a number
	KindNumber  Kind = "number"
	KindBool    Kind = "bool"
	KindList    Kind = "list"
	KindObject  Kind = "object"
	KindNull    Kind = "null"
)

// Takes is how many values an operator takes.
type Takes int

// The numbers of values.
const (
	TakesOne Takes = iota + 1
	TakesTwo
	TakesMany // one or more
)

// Operator is one way to compare: an operator, and as what it reads its subject.
type Operator struct {
	Op    Op
	Kind  Kind
	Takes Takes
}

// Operators are all of them, in the order in which forms offer them.
func Operators() []Operator {
	return []Operator{
		{Is, KindText, TakesOne},
		{Is, KindNumber, TakesOne},
		{Is, KindBool, TakesOne},
		{IsNot, KindText, TakesOne},
		{IsNot, KindNumber, TakesOne},
		{IsNot, KindBool, TakesOne},
		{Contains, KindText, TakesOne},
		{Contains, KindList, TakesOne},
		{StartsWith, KindText, TakesOne},
		{Greater, KindNumber, TakesOne},
		{GreaterOrEqual, KindNumber, TakesOne},
		{Less, KindNumber, TakesOne},
		{LessOrEqual, KindNumber, TakesOne},
		{Between, KindNumber, TakesTwo},
		{OneOf, KindText, TakesMany},
		{Within, KindText, TakesOne},
		{HostIs, KindText, TakesOne},
		{ProgramIs, KindText, TakesOne},
		{EveryProgram, KindText, TakesMany},
		{DeletesOutside, KindText, TakesOne},
	}
}

// SubjectCommand is the command in an input, whichever member has it.
const SubjectCommand = "command"

// callTexts are the subjects that are texts of the call itself.
var callTexts = []string{varTool, varAgent, varOwner, varConversation, varKind}

// Subjects are what rows compare besides members of the input. The last two of the call are only the agent's word, so
// a rule that allows can't use them.
func Subjects() []string { return append([]string{SubjectCommand}, callTexts...) }

// Fits reports whether an operator makes sense for a subject that had values of this kind; no kind: that is not known.
func (o Operator) Fits(subject string, kind Kind) bool {
	ofCommand := o.Op == ProgramIs || o.Op == EveryProgram || o.Op == DeletesOutside
	switch {
	case subject == SubjectCommand:
		return ofCommand
	case slices.Contains(callTexts, subject):
		return o.Kind == KindText && !ofCommand && o.Op != Within && o.Op != HostIs
	case kind == "":
		return true
	case ofCommand:
		return kind == KindText || kind == KindList
	case o.Op == Within || o.Op == HostIs:
		return kind == KindText
	case kind == KindNumeral:
		return o.Kind == KindText || o.Kind == KindNumber
	}
	return o.Kind == kind
}

// MemberPath is the path of a member of the input as rows have it: input.a["b-c"].
func MemberPath(steps ...string) string {
	var b strings.Builder
	b.WriteString(varInput)
	for _, step := range steps {
		if plainStep.MatchString(step) && !slices.Contains(reserved, step) {
			b.WriteString("." + step)
		} else {
			b.WriteString("[" + strconv.Quote(step) + "]")
		}
	}
	return b.String()
}

var plainStep = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reserved are words that CEL does not take as names.
var reserved = []string{
	"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop", "namespace",
	"null", "package", "return", "true", "var", "void", "while",
}

// RowError is why a row can't be written as an expression.
type RowError struct {
	Row  int // counted over all groups, from 0
	Text string
}

// Error names the row as people count.
func (e *RowError) Error() string { return fmt.Sprintf("row %d %s", e.Row+1, e.Text) }

// CEL writes the condition as an expression, which Compile takes; no rows: an empty text. The error is a *RowError,
// or says that the whole is too long.
func (b Built) CEL() (string, error) {
	outer, inner := " && ", " || "
	if b.Any {
		outer, inner = inner, outer
	}
	row := 0
	var parts []string
	for _, group := range b.Groups {
		var rows []string
		for _, r := range group {
			text, mistake := r.cel()
			if mistake != "" {
				return "", &RowError{row, mistake}
			}
			rows = append(rows, text)
			row++
		}
		if text := strings.Join(rows, inner); len(rows) > 1 {
			parts = append(parts, "("+text+")")
		} else if text != "" {
			parts = append(parts, text)
		}
	}
	source := strings.Join(parts, outer)
	if len(source) > MaxSource {
		return "", fmt.Errorf("is longer than %d bytes as an expression", MaxSource)
	}
	return source, nil
}

// signs are the operators of decimals.
var signs = map[Op]struct{ sign, function string }{
	Is: {"==", operators.Equals}, IsNot: {"!=", operators.NotEquals},
	Greater: {">", operators.Greater}, GreaterOrEqual: {">=", operators.GreaterEquals},
	Less: {"<", operators.Less}, LessOrEqual: {"<=", operators.LessEquals},
}

// cel writes a row, or says its mistake.
func (r Row) cel() (source, mistake string) {
	if mistake := r.mistake(); mistake != "" {
		return "", mistake
	}
	m, texts := r.Subject, make([]string, len(r.Values))
	for i, value := range r.Values {
		texts[i] = strconv.Quote(value)
	}
	one, all := texts[0], "["+strings.Join(texts, ", ")+"]"
	line := "command(" + m + ")"
	if m == SubjectCommand {
		line = "command(input)"
	}
	switch r.Op {
	case Is, IsNot, Greater, GreaterOrEqual, Less, LessOrEqual:
		switch sign := " " + signs[r.Op].sign + " "; r.Kind { //nolint:exhaustive // the kinds were checked
		case KindNumber:
			return "decimal(" + m + ")" + sign + "decimal(" + one + ")", ""
		case KindBool:
			return m + sign + r.Values[0], ""
		default:
			return m + sign + one, ""
		}
	case Contains:
		if r.Kind == KindList {
			return one + " in " + m, ""
		}
		return m + ".contains(" + one + ")", ""
	case StartsWith:
		return m + ".startsWith(" + one + ")", ""
	case Between:
		return "decimal(" + m + ").between(" + one + ", " + texts[1] + ")", ""
	case OneOf:
		return m + " in " + all, ""
	case Within:
		return "path(" + m + ").within(" + one + ")", ""
	case HostIs:
		return "host(" + m + ") == " + one, ""
	case ProgramIs:
		return line + ".program == " + one, ""
	case EveryProgram:
		return line + ".all(c, c.program in " + all + ")", ""
	case DeletesOutside:
		return line + ".deletesOutside(" + one + ")", ""
	}
	return "", "has an operator that is not known"
}

// mistake is the mistake in a row, for a sentence that begins with the row.
func (r Row) mistake() string {
	i := slices.IndexFunc(Operators(), func(o Operator) bool { return o.Op == r.Op && o.Kind == r.Kind })
	if i < 0 {
		return "has an operator that is not known"
	}
	operator := Operators()[i]
	if !slices.Contains(Subjects(), r.Subject) && !isMember(r.Subject) {
		return "has no argument to compare"
	}
	if !operator.Fits(r.Subject, "") {
		return "compares in a way that is not possible for " + r.Subject
	}
	if n := len(r.Values); n == 0 || operator.Takes == TakesOne && n > 1 {
		return "needs a value"
	} else if operator.Takes == TakesTwo && n != 2 {
		return "needs two values"
	}
	for _, value := range r.Values {
		if !utf8.ValidString(value) {
			return "has a value that is not text"
		}
		if mistake := r.valueMistake(value); mistake != "" {
			return mistake
		}
	}
	if r.Op == Between {
		low, _ := readDecimal(r.Values[0])
		high, _ := readDecimal(r.Values[1])
		if low.compare(high) > 0 {
			return "needs the lower number first"
		}
	}
	return ""
}

func (r Row) valueMistake(value string) string {
	switch {
	case r.Kind == KindNumber && !ReadsAsNumber(value):
		return "needs a number, such as 100.50"
	case r.Kind == KindBool && value != "true" && value != "false":
		return "needs true or false"
	case r.Op == Within || r.Op == DeletesOutside:
		if _, why := absolute(value); why != "" {
			return "needs a folder that begins with /"
		}
	case r.Op == HostIs:
		address := value
		if strings.Contains(value, ":") {
			address = "[" + value + "]"
		}
		if host, why := hostIn("https://" + address + "/"); why != "" || host != value {
			return "needs a host in lower case, without port, such as example.com"
		}
	case value == "" && r.Op != Is && r.Op != IsNot && r.Op != OneOf:
		return "needs a value"
	}
	return ""
}

// isMember reports whether a subject is the path of a member, as MemberPath writes it.
func isMember(subject string) bool {
	expr, ok := parsed(subject)
	if !ok {
		return false
	}
	path, ok := memberOfInput(expr)
	return ok && path == subject
}
