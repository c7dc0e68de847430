package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

var (
	errNotAnObject = errors.New("not an object")
	errNotAList    = errors.New("not a list")
)

// Draft is a document that somebody is writing: JSON that need not say anything valid
// yet. What a form can't show of it is kept as it is.
type Draft struct {
	members   object   // but for the two lists
	rules     []object // in their order
	templates []object
}

// ReadDraft reads what somebody wrote, so that forms can show it: one JSON object whose
// rules are a list of objects. Else it fails with CodeInvalid and the place of the fault.
func ReadDraft(raw []byte) (*Draft, error) {
	if len(raw) > MaxDocument {
		return nil, invalid(problems{rootPath: tooLarge})
	}
	if err := oneValue(raw); err != nil {
		return nil, invalid(problems{rootPath: err.Error()})
	}
	members, err := readObject(raw)
	if err != nil {
		return nil, invalid(problems{rootPath: "must be one JSON object"})
	}
	d := &Draft{members: members}
	for _, name := range nested() {
		value := members.get(name)
		if kind := value.Kind(); kind != '{' && kind != 'n' && kind != invalidKind {
			return nil, invalid(problems{name: "must be an object"})
		}
	}
	if d.templates, err = objectsIn(members, templatesMember); err != nil {
		return nil, err
	}
	if d.rules, err = objectsIn(members, rulesMember); err != nil {
		return nil, err
	}
	return d, nil
}

// DraftOf is a draft that says what a document says.
func DraftOf(doc Document) (*Draft, error) {
	raw, err := doc.Marshal()
	if err != nil {
		return nil, err
	}
	return ReadDraft(raw)
}

// The members that are lists of objects.
const (
	rulesMember     = "rules"
	templatesMember = "templates"
)

// oneValue says where a text is no JSON value, in words for people.
func oneValue(raw []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	_, err := dec.ReadValue()
	if err == nil {
		if _, err = dec.ReadToken(); errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = errors.New("more than one")
		}
	}
	at := dec.InputOffset()
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Errorf("has %s twice", fieldPath(syntax.JSONPointer))
		}
		at = syntax.ByteOffset
	}
	before := raw[:min(int(at), len(raw))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(bytes.Runes(before[bytes.LastIndexByte(before, '\n')+1:])) + 1
	return fmt.Errorf("must be one JSON object in UTF-8: it goes wrong at line %d, column %d", line, column)
}

// Marshal writes the draft as JSON for storing and showing. CodeInvalid: it is too large.
func (d *Draft) Marshal() ([]byte, error) {
	all := d.members.clone()
	all.setObjects(templatesMember, d.templates)
	all.setObjects(rulesMember, d.rules)
	out := all.value()
	for _, opt := range []jsontext.Options{jsontext.WithIndent("  "), jsontext.Multiline(false)} {
		text := slices.Clone(out)
		if err := text.Format(opt); err != nil {
			return nil, fmt.Errorf("write the draft of the policy: %w", err)
		}
		if len(text) <= MaxDocument {
			return text, nil
		}
	}
	return nil, invalid(problems{rootPath: tooLarge})
}

// initial is what a member says that is not written down.
var initial = sync.OnceValues(func() (document, rule object) {
	document, rule = membersOf(Default()), membersOf(Rule{})
	document.set("time_zone", quoted(defaultZone))
	rule.set("substitutes", jsontext.Value("true"))
	for _, f := range settings {
		if f.Kind == FieldNumber && f.Empty == EmptyValue && lookup(document, f.Path) == nil {
			document.set(f.Path, jsontext.Value("0")) // zero is not written down
		}
	}
	return document, rule
})

func membersOf(v any) object {
	raw, err := json.Marshal(v)
	if err != nil {
		return object{}
	}
	o, err := readObject(raw)
	if err != nil {
		return object{}
	}
	return o
}

// Settings is what a form shows of the members outside the rules.
func (d *Draft) Settings() Form {
	defaults, _ := initial()
	return show(d.members, defaults, settings)
}

// PutSettings takes a sent form. A field that came back as it was shown stays as it was written; members that are not
// fields of a form stay, and so do those that the form does not hold.
func (d *Draft) PutSettings(f Form) {
	defaults, _ := initial()
	put(&d.members, defaults, settings, f)
}

// Rules is how many there are.
func (d *Draft) Rules() int { return len(d.rules) }

// Rule is what a form shows of a rule; of one that is not there yet, that of a new one.
func (d *Draft) Rule(i int) Form {
	_, defaults := initial()
	if i < 0 || i >= len(d.rules) {
		return show(membersOf(initialRule()), defaults, ruleFields)
	}
	return show(d.rules[i], defaults, ruleFields)
}

// PutRule takes what a form sent of a rule, as PutSettings does; behind the last it
// adds one.
func (d *Draft) PutRule(i int, f Form) {
	_, defaults := initial()
	if i < 0 || i >= len(d.rules) {
		i = len(d.rules)
		d.rules = append(d.rules, object{})
	}
	rule := d.rules[i].clone()
	put(&rule, defaults, ruleFields, f)
	d.rules[i] = rule
}

// DuplicateRule puts a copy behind a rule, under a name of its own.
func (d *Draft) DuplicateRule(i int) {
	d.rules = duplicated(d.rules, i, models.MaxName, ruleSuffix)
}

func ruleSuffix(n int) string { return " (" + strconv.Itoa(n) + ")" }

// RuleNamed is the place of the rule with a name that is not disabled; -1: there is none.
func (d *Draft) RuleNamed(name string) int {
	return slices.IndexFunc(d.rules, func(r object) bool { return nameOf(r) == name && r.get("disabled").Kind() != 't' })
}

// AddRule puts a rule before the one with a name, or behind all where there is none, and returns its place. One with the
// same tools and condition stays as it is; a name that another rule has gets a number.
func (d *Draft) AddRule(r Rule, before string) int {
	_, defaults := initial()
	r.Name = unused(r.Name, namesOf(d.rules), models.MaxName, ruleSuffix)
	form := show(membersOf(r), defaults, ruleFields)
	for i := range d.rules {
		if have := d.Rule(i); have["tools"] == form["tools"] && have["when"] == form["when"] {
			return i
		}
	}
	at := d.RuleNamed(before)
	if at < 0 {
		at = len(d.rules)
	}
	d.rules = slices.Insert(d.rules, at, membersOf(r))
	return at
}

// DeleteRule takes a rule away.
func (d *Draft) DeleteRule(i int) { d.rules = slices.Delete(d.rules, i, i+1) }

// MoveRule puts a rule to another place among the others.
func (d *Draft) MoveRule(i, to int) {
	rule := d.rules[i]
	d.rules = slices.Delete(d.rules, i, i+1)
	d.rules = slices.Insert(d.rules, max(0, min(to, len(d.rules))), rule)
}

// SwitchRule disables a rule, or enables it again.
func (d *Draft) SwitchRule(i int, disabled bool) {
	rule := d.rules[i].clone()
	if disabled {
		rule.set("disabled", jsontext.Value("true"))
	} else {
		rule.remove("disabled")
	}
	d.rules[i] = rule
}

// Checked is what a draft comes to.
type Checked struct {
	// Document is the draft's document, without members whose JSON is not valid.
	Document Document
	// Problems map paths to the expected value; none: the document is valid.
	Problems map[string]string
}

// Check finds everything that keeps the draft from being a policy. What before had is
// taken, as by ParseChanged.
func (d *Draft) Check(before Document) Checked {
	found := problems{}
	fit := &Draft{members: withoutMisfits(d.members, settings, "", found)}
	for i, r := range d.rules {
		fit.rules = append(fit.rules, withoutMisfits(r, ruleFields, fmt.Sprintf("rules[%d].", i), found))
	}
	for i, t := range d.templates {
		fit.templates = append(fit.templates, withoutMisfits(t, templateFields, fmt.Sprintf("templates[%d].", i), found))
	}
	raw, err := fit.Marshal()
	if err != nil {
		found[rootPath] = tooLarge
		return Checked{Document: before, Problems: found}
	}
	doc, err := decode(raw)
	if e, ok := errors.AsType[*models.Error](err); ok {
		maps.Copy(found, e.Fields)
		return Checked{Document: before, Problems: found}
	}
	for path, text := range check(doc, keptIn(before)).problems {
		if _, there := found[path]; !there && !within(found, path) {
			found[path] = text
		}
	}
	return Checked{Document: doc, Problems: found}
}

// within reports whether a part of what a path names is known to be wrong, which was
// left out and would be missed only for that.
func within(found problems, path string) bool {
	for other := range found {
		if strings.HasPrefix(other, path+"[") || strings.HasPrefix(other, path+".") {
			return true
		}
	}
	return false
}

// withoutMisfits leaves out what a document can't hold, and notes where it stood.
func withoutMisfits(o object, fields []Field, at string, found problems) object {
	known := map[string]bool{rulesMember: at == "", templatesMember: at == ""}
	out := o.clone()
	for _, f := range fields {
		parent, child, deep := strings.Cut(f.Path, ".")
		known[parent] = true
		value := lookup(o, f.Path)
		if value == nil {
			continue
		}
		path, text := f.misfit(value)
		if text == "" {
			continue
		}
		found[at+path] = text
		if !deep {
			out.remove(parent)
			continue
		}
		if inner, err := readObject(out.get(parent)); err == nil {
			inner.remove(child)
			out.set(parent, inner.value())
		}
	}
	for _, m := range o {
		if !known[m.name] {
			found[at+plainPath(m.name)] = "is not a member of the policy; names are lower case with underscores"
			out.remove(m.name)
		}
	}
	return out
}

func plainPath(name string) string {
	return fieldPath(jsontext.Pointer("").AppendToken(name))
}

// lookup is the value at a path; nil where there is none.
func lookup(o object, path string) jsontext.Value {
	parent, child, deep := strings.Cut(path, ".")
	value := o.get(parent)
	if !deep {
		return value
	}
	inner, err := readObject(value)
	if err != nil {
		return nil
	}
	return inner.get(child)
}

func show(o, defaults object, fields []Field) Form {
	out := Form{}
	for _, f := range fields {
		value := lookup(o, f.Path)
		if value == nil {
			value = lookup(defaults, f.Path)
		}
		out[f.Path] = f.text(value)
	}
	return out
}

func put(o *object, defaults object, fields []Field, sent Form) {
	shown := show(*o, defaults, fields)
	for _, f := range fields {
		text, there := sent[f.Path]
		if !there || sameText(shown[f.Path], text) {
			continue
		}
		set(o, defaults, f.Path, f.value(text))
	}
}

func set(o *object, defaults object, path string, value jsontext.Value) {
	parent, child, deep := strings.Cut(path, ".")
	if !deep {
		if value == nil {
			o.remove(parent)
			return
		}
		o.set(parent, value)
		return
	}
	inner, err := readObject(o.get(parent))
	if err != nil {
		if inner, err = readObject(defaults.get(parent)); err != nil {
			inner = object{}
		}
	}
	inner.set(child, value)
	for _, m := range inner {
		if m.value.Kind() != 'n' {
			o.set(parent, inner.value())
			return
		}
	}
	o.set(parent, jsontext.Value("null"))
}

// nested are the members that are objects.
func nested() []string {
	var out []string
	for _, f := range settings {
		if parent, _, deep := strings.Cut(f.Path, "."); deep && !slices.Contains(out, parent) {
			out = append(out, parent)
		}
	}
	return out
}
