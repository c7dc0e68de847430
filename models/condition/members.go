package condition

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of the members that are told of calls.
const (
	MaxMembers = 40

	memberDepth   = 3
	memberSamples = 3
	maxSample     = 200     // bytes
	maxFound      = 1 << 12 // members that are counted
)

// Member is a member of the inputs of calls: how many had it, and with which values. Name and samples are the agents'
// text.
type Member struct {
	Path    string // as rows and expressions have it: input.to.name
	Name    string // the same for people: to.name
	In      int    // how many calls had it
	Kinds   map[Kind]int
	Samples []string // of texts, numbers, yes and no: different ones, of the first calls; long ones are cut
}

func (m Member) isText() bool { return m.Kinds[KindText]+m.Kinds[KindNumeral] > 0 }

// Members are those of the inputs of calls, the most common first. Inputs that are not JSON objects have none.
func Members(inputs [][]byte) []Member {
	found := map[string]*Member{}
	for _, input := range inputs {
		w := memberWalk{jsontext.NewDecoder(bytes.NewReader(input)), found}
		if w.PeekKind() == '{' {
			_ = w.object(nil) // members before a mistake count
		}
	}
	out := make([]Member, 0, len(found))
	for _, m := range found {
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b Member) int { return cmp.Or(cmp.Compare(b.In, a.In), cmp.Compare(a.Path, b.Path)) })
	return out[:min(len(out), MaxMembers)]
}

// memberWalk walks one input.
type memberWalk struct {
	*jsontext.Decoder

	found map[string]*Member
}

func (w memberWalk) object(steps []string) error {
	if _, err := w.ReadToken(); err != nil {
		return err
	}
	for w.PeekKind() != '}' {
		name, err := w.ReadToken()
		if err != nil {
			return err
		}
		inside := append(slices.Clip(steps), name.String())
		kind, sample, err := w.value(inside)
		if err != nil {
			return err
		}
		w.add(MemberPath(inside...), kind, sample)
	}
	_, err := w.ReadToken()
	return err
}

// value reads one value, and the members in it.
func (w memberWalk) value(steps []string) (kind Kind, sample string, err error) {
	switch w.PeekKind() { //nolint:exhaustive // all others are one token
	case '{':
		if len(steps) < memberDepth {
			return KindObject, "", w.object(steps)
		}
		return KindObject, "", w.SkipValue()
	case '[':
		return KindList, "", w.SkipValue()
	}
	token, err := w.ReadToken()
	if err != nil {
		return "", "", err
	}
	text := token.String()
	switch token.Kind() { //nolint:exhaustive // the others were read above
	case '"':
		if ReadsAsNumber(text) {
			return KindNumeral, text, nil
		}
		return KindText, text, nil
	case '0':
		return KindNumber, text, nil
	case 't', 'f':
		return KindBool, text, nil
	}
	return KindNull, "", nil
}

func (w memberWalk) add(path string, kind Kind, sample string) {
	m := w.found[path]
	if m == nil {
		if len(w.found) == maxFound || len(path) > maxSample {
			return
		}
		m = &Member{Path: path, Name: memberName(path), Kinds: map[Kind]int{}}
		w.found[path] = m
	}
	m.In++
	m.Kinds[kind]++
	if sample == "" || len(m.Samples) == memberSamples {
		return
	}
	if len(sample) > maxSample {
		sample = sample[:maxSample]
		for !utf8.ValidString(sample) {
			sample = sample[:len(sample)-1]
		}
	}
	if !slices.Contains(m.Samples, sample) {
		m.Samples = append(m.Samples, strings.Clone(sample))
	}
}

func memberName(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, varInput), ".")
}

// OperatorsFor are those that make sense for a subject: of a member by the kinds of values that it had, and all that a
// member may have if it is none of these.
func OperatorsFor(subject string, members []Member) []Operator {
	kinds := []Kind{""}
	if i := slices.IndexFunc(members, func(m Member) bool { return m.Path == subject }); i >= 0 {
		kinds = kinds[:0]
		for kind := range members[i].Kinds {
			kinds = append(kinds, kind)
		}
	}
	return slices.DeleteFunc(Operators(), func(o Operator) bool {
		return !slices.ContainsFunc(kinds, func(k Kind) bool { return o.Fits(subject, k) })
	})
}

// Reads are the paths of the members that an expression reads, and SubjectCommand if it reads the command of the input,
// each once. There are none of an expression that can't be read.
func Reads(source string) []string {
	env, err := environment()
	if err != nil || len(source) > MaxSource {
		return nil
	}
	tree, issues := env.Parse(source)
	if issues.Err() != nil {
		return nil
	}
	var out []string
	add := func(path string) {
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	inner := map[int64]bool{} // parts of paths that were added
	ast.PreOrderVisit(tree.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if isCall(e, "command", 1) {
			if arg := e.AsCall().Args()[0]; arg.Kind() == ast.IdentKind && arg.AsIdent() == varInput {
				add(SubjectCommand)
			}
		}
		steps, operand, isPath := pathIn(e)
		if isPath && len(steps) > 0 && !inner[e.ID()] {
			add(MemberPath(steps...))
		}
		if isPath && operand != nil {
			inner[operand.ID()] = true
		}
	}))
	return out
}

// pathIn are the names on the way from the input to a member, also one that may be missing, and what the last of them
// is read of.
func pathIn(expr ast.Expr) (steps []string, operand ast.Expr, ok bool) {
	var step string
	switch {
	case expr.Kind() == ast.IdentKind:
		return nil, nil, expr.AsIdent() == varInput
	case expr.Kind() == ast.SelectKind:
		operand, step = expr.AsSelect().Operand(), expr.AsSelect().FieldName()
	case isCall(expr, operators.Index, 2), isCall(expr, operators.OptIndex, 2), isCall(expr, operators.OptSelect, 2):
		args := expr.AsCall().Args()
		if step, ok = textIn(args[1]); !ok {
			return nil, nil, false
		}
		operand = args[0]
	default:
		return nil, nil, false
	}
	steps, _, ok = pathIn(operand)
	return append(steps, step), operand, ok
}

// Unseen says which members an expression reads that no call had, in one sentence; empty: there are none, or too little
// is known. The calls are of these tools, in words: of shell.run. Between ` and ` are names, which agents chose.
func Unseen(source, calls string, members []Member) string {
	if len(members) == 0 || len(members) >= MaxMembers {
		return ""
	}
	has := func(path string) bool {
		return slices.ContainsFunc(members, func(m Member) bool { return m.Path == path })
	}
	var missing []string
	parent := varInput
	for _, path := range Reads(source) {
		switch expr, _ := parsed(path); {
		case path == SubjectCommand:
			if !has(MemberPath("command")) && !has(MemberPath("cmd")) {
				missing = append(missing, "command")
			}
		case has(path):
		default:
			steps, ok := stepsOf(expr)
			if !ok || len(steps) > memberDepth {
				continue
			}
			if n := len(steps) - 1; len(missing) == 0 && n > 0 && has(MemberPath(steps[:n]...)) {
				parent = MemberPath(steps[:n]...)
			}
			missing = append(missing, memberName(path))
		}
	}
	if len(missing) == 0 {
		return ""
	}
	text := "No call " + calls + " had " + codes(missing, " or ")
	if known := membersIn(parent, members); len(known) > 0 {
		text += "; they have " + codes(known, ", ")
	}
	return text + "."
}

// membersIn are the names of the members that are directly in an object, the most common first.
func membersIn(parent string, members []Member) []string {
	const shown = 8
	var out []string
	for _, m := range members {
		if expr, ok := parsed(m.Path); ok {
			if steps, _ := stepsOf(expr); len(out) < shown && len(steps) > 0 && MemberPath(steps[:len(steps)-1]...) == parent {
				out = append(out, m.Name)
			}
		}
	}
	return out
}

func codes(names []string, between string) string {
	return "`" + strings.Join(names, "`"+between+"`") + "`"
}
