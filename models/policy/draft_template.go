package policy

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// Templates is how many templates there are.
func (d *Draft) Templates() int { return len(d.templates) }

// Template is what a form shows of a template; of one that is not there yet, that of a
// new one.
func (d *Draft) Template(i int) Form {
	if i < 0 || i >= len(d.templates) {
		return show(object{}, initialTemplate, templateFields)
	}
	return show(d.templates[i], initialTemplate, templateFields)
}

// initialTemplate is what a template's member says that is not written down.
var initialTemplate = object{
	{"substitutes", jsontext.Value("true")},
}

// PutTemplate takes what a form sent of a template, as PutRule does of a rule.
func (d *Draft) PutTemplate(i int, f Form) {
	if i < 0 || i >= len(d.templates) {
		i = len(d.templates)
		d.templates = append(d.templates, object{})
	}
	template := d.templates[i].clone()
	put(&template, initialTemplate, templateFields, f)
	d.templates[i] = template
}

// DuplicateTemplate puts a copy behind a template, under a name of its own.
func (d *Draft) DuplicateTemplate(i int) {
	d.templates = duplicated(d.templates, i, maxTemplateName, func(n int) string { return "-" + strconv.Itoa(n) })
}

// DeleteTemplate takes a template away. A rule that names it is faulted by Check.
func (d *Draft) DeleteTemplate(i int) { d.templates = slices.Delete(d.templates, i, i+1) }

// TemplateNames are the names of the templates, in their order, as far as they have one.
func (d *Draft) TemplateNames() []string {
	return slices.DeleteFunc(namesOf(d.templates), func(name string) bool { return name == "" })
}

// RulesOf are the places of the rules that name a template.
func (d *Draft) RulesOf(template string) []int {
	var out []int
	for i := range d.rules {
		if template != "" && d.Rule(i)["template"] == template {
			out = append(out, i)
		}
	}
	return out
}

// duplicated puts a copy behind one of a list, under the first name that is free of those
// with a suffix for a number.
func duplicated(list []object, i, longest int, suffix func(n int) string) []object {
	twin := list[i].clone()
	twin.set("name", quoted(unused(nameOf(list[i]), namesOf(list), longest, suffix)))
	return slices.Insert(list, i+1, twin)
}

// unused is a name that is none of the others: with a suffix for a number where it is one of them.
func unused(name string, others []string, longest int, suffix func(n int) string) string {
	fresh := models.Cut(name, longest)
	for n := 2; slices.Contains(others, fresh); n++ {
		fresh = models.Cut(name, longest-len(suffix(n))) + suffix(n)
	}
	return fresh
}

// nameOf is what a form shows of the name of a rule or template.
func nameOf(o object) string { return Field{Path: "name"}.text(o.get("name")) }

func namesOf(list []object) []string {
	out := make([]string, len(list))
	for i, o := range list {
		out[i] = nameOf(o)
	}
	return out
}

// objectsIn reads a member that is a list of objects; nil where there is none. CodeInvalid names the place of any other
// value.
func objectsIn(members object, name string) ([]object, error) {
	value := members.get(name)
	if value == nil {
		return nil, nil
	}
	list, err := readList(value)
	if err != nil {
		return nil, invalid(problems{name: "must be a list"})
	}
	var out []object
	for i, item := range list {
		o, err := readObject(item)
		if err != nil {
			return nil, invalid(problems{fmt.Sprintf("%s[%d]", name, i): "must be an object"})
		}
		out = append(out, o)
	}
	return out, nil
}

// setObjects writes a list of objects as a member, unless it is empty and was never there.
func (o *object) setObjects(name string, list []object) {
	if list == nil && o.get(name) == nil {
		return
	}
	values := make([]jsontext.Value, len(list))
	for i, item := range list {
		values[i] = item.value()
	}
	o.set(name, listOf(values))
}
