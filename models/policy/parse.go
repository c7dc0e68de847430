package policy

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// rootPath names the document as a whole in Fields.
const rootPath = "document"

var (
	tooLarge = fmt.Sprintf("is too large; at most %d KiB are allowed", MaxDocument>>10)
	errNull  = errors.New("null where a value is required")
)

// Parse reads, checks and compiles a document. A field that it lacks has its value in Default. A mistake is a
// *models.Error with CodeInvalid whose Fields map paths such as "rules[2].tools[0]" to the expected value: all of them
// when the JSON has the right shape, else the first. Unknown members, members in another letter case, duplicates and
// null (but for timeouts and budget_per_agent) are refused.
func Parse(raw []byte) (*Policy, error) {
	return parse(raw, func(string) bool { return false })
}

// ParseStored is Parse for a document that was stored: members that were accepted then, and are refused now, keep their
// meaning. Lint reports them.
func ParseStored(raw []byte) (*Policy, error) { return parse(raw, always) }

// ParseChanged is Parse for a changed document: what the one before had is taken.
func ParseChanged(raw []byte, before Document) (*Policy, error) {
	return parse(raw, keptIn(before))
}

// keptIn reports whether a document has a pattern or condition already.
func keptIn(before Document) func(text string) bool {
	return func(text string) bool {
		return slices.Contains(before.RequiredApprovalTools, text) ||
			slices.ContainsFunc(before.Rules, func(r Rule) bool { return slices.Contains(r.Tools, text) || r.When == text })
	}
}

func always(string) bool { return true }

func parse(raw []byte, kept func(text string) bool) (*Policy, error) {
	doc, err := decode(raw)
	if err != nil {
		return nil, err
	}
	c := check(doc, kept)
	if len(c.problems) > 0 {
		return nil, invalid(c.problems)
	}
	return compile(doc, c.patterns), nil
}

// decode reads a document that has the right shape, and checks nothing else.
func decode(raw []byte) (Document, error) {
	if len(raw) > MaxDocument {
		return Document{}, invalid(problems{rootPath: tooLarge})
	}
	doc := Default()
	err := json.Unmarshal(raw, &doc,
		json.RejectUnknownMembers(true),
		json.MatchCaseInsensitiveNames(false),
		jsontext.AllowDuplicateNames(false),
		jsontext.AllowInvalidUTF8(false),
		json.WithUnmarshalers(json.UnmarshalFromFunc(beforeValue)),
	)
	if err != nil {
		return Document{}, invalid(shapeProblem(err))
	}
	if doc.TimeZone == defaultZone {
		doc.TimeZone = "" // so that it and absence are the same document
	}
	doc.ApprovalOffUntil, doc.FallbackUntil = utc(doc.ApprovalOffUntil), utc(doc.FallbackUntil)
	for i := range doc.Rules {
		r := &doc.Rules[i]
		r.Quorum = r.Quorum.withoutDefaults()
		r.Risk = readRisk(r.Risk)
		r.SelfApproval = selfOf(r.SelfApproval, doc.Resolved(*r))
		normalise(&r.Reviewers, &r.Readers, &r.RejectReasons, &r.Checklist)
		r.Escalate, r.Substitutes = withoutDefaults(r.Escalate, r.Substitutes)
	}
	if len(doc.Templates) == 0 {
		doc.Templates = nil
	}
	for i := range doc.Templates {
		t := &doc.Templates[i]
		t.Quorum = t.Quorum.withoutDefaults()
		t.SelfApproval = selfOf(t.SelfApproval, Rule{Risk: t.Risk, Quorum: t.Quorum})
		normalise(&t.Reviewers, &t.RejectReasons, &t.Checklist)
		t.Escalate, t.Substitutes = withoutDefaults(t.Escalate, t.Substitutes)
	}
	return doc, nil
}

// readRisk is a rule's risk behind what its document says.
func readRisk(said models.Risk) models.Risk {
	if said == riskUnsaid {
		return ""
	}
	return cmp.Or(said, riskEmpty)
}

// A rule that says no risk has that of its template, or medium; an empty one that is written
// is refused, as any word that is none.
const (
	riskUnsaid models.Risk = "\xff" // until the document says one: it is not UTF-8, so no document can have it
	riskEmpty  models.Risk = "empty"
)

// selfOf makes "allowed" and absence the same document, but where several people sign: there absence is never, at high
// and critical risk (SelfUnder).
func selfOf(said models.SelfApproval, resolved Rule) models.SelfApproval {
	if said == models.SelfAllowed && !resolved.quorate() {
		return ""
	}
	return said
}

// normalise makes [] and absence the same document.
func normalise(lists ...*[]string) {
	for _, list := range lists {
		if len(*list) == 0 {
			*list = nil
		}
	}
}

// withoutDefaults makes [] and absence, and true and absence, the same document.
func withoutDefaults(steps []Escalation, substitutes *bool) ([]Escalation, *bool) {
	if len(steps) == 0 {
		steps = nil
	}
	if !noSubstitutes(substitutes) {
		substitutes = nil
	}
	return steps, substitutes
}

// beforeValue runs before each value is read into v. It refuses null, which
// would otherwise silently become the zero value and so switch approval off, and
// gives a rule its initial values.
func beforeValue(dec *jsontext.Decoder, v any) error {
	if dec.PeekKind() == 'n' {
		switch v.(type) {
		case **int, **BudgetPerAgent:
		default:
			return errNull
		}
	}
	if r, ok := v.(*Rule); ok {
		*r = Rule{Risk: riskUnsaid}
	}
	return errors.ErrUnsupported
}

// shapeProblem turns an error of the JSON library into a path and a sentence
// that echoes nothing but member names.
func shapeProblem(err error) problems {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		path := fieldPath(semantic.JSONPointer)
		switch {
		case errors.Is(semantic.Err, json.ErrUnknownName):
			return problems{path: "is not a member of the policy; names are lower case with underscores"}
		case errors.Is(semantic.Err, errNull):
			return problems{path: "must not be null; leave it out for its initial value"}
		}
		return problems{path: "must be " + typeName(semantic.GoType)}
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return problems{fieldPath(syntax.JSONPointer): "appears twice"}
		}
		return problems{rootPath: fmt.Sprintf("must be one JSON object in UTF-8; wrong at byte %d", syntax.ByteOffset)}
	}
	return problems{rootPath: "must be one JSON object in UTF-8"}
}

// typeName names the JSON form of a Go type.
func typeName(t reflect.Type) string {
	if t == nil {
		return "of another type"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[time.Time]() {
		return "a time such as " + exampleTime
	}
	switch t.Kind() { //nolint:exhaustive // the document is made of these kinds only
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// fieldPath writes a JSON pointer the way people write paths: rules[2].tools[0].
// A member name that no document has is quoted, since it may hold anything.
func fieldPath(p jsontext.Pointer) string {
	var b strings.Builder
	inList := false
	for token := range p.Tokens() {
		switch {
		case inList:
			b.WriteString("[" + token + "]")
		case plainName(token):
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(token)
		default:
			b.WriteString("[" + strconv.QuoteToASCII(token[:min(len(token), maxShownName)]) + "]")
		}
		switch {
		case inList:
			inList = false
		default:
			inList = slices.Contains(lists, token)
		}
	}
	if b.Len() == 0 {
		return rootPath
	}
	return b.String()
}

// lists are the members that are lists.
var lists = []string{
	rulesMember, templatesMember, "tools", "reviewers", "reject_reasons", "checklist", "required_approval_tools",
	"escalate", "to",
}

const maxShownName = 64

func plainName(s string) bool {
	if s == "" || len(s) > maxShownName {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
