package headline

import (
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// FileEdit is a change of a file by replacements, in their order.
type FileEdit struct {
	drawn
	Path    string
	Changes []Replacement
	Lines   *models.LineCount // nil: it is too long to be compared
}

// Replacement is a text and what would come in its place.
type Replacement struct {
	Before, After string
	All           bool // every occurrence
}

// FileWrite is a file that would be written whole.
type FileWrite struct {
	drawn
	Path, Content string
}

var (
	pathNames   = []string{"file_path", "path", "filename"}
	beforeNames = []string{"old_string", "old_str", "old_text"}
	afterNames  = []string{"new_string", "new_str", "new_text"}
)

func replacement(f *fields) Replacement {
	return Replacement{Before: f.some(beforeNames...), After: f.some(afterNames...), All: f.flag("replace_all")}
}

func readEdit(members map[string]jsontext.Value) (Headline, bool) {
	f := newFields(members)
	path, name := f.text(pathNames...)
	e := &FileEdit{Path: path}
	if list, _ := f.ofKind("[", "edits"); list == nil {
		e.Changes = []Replacement{replacement(f)}
	} else if e.Changes = replacements(list); e.Changes == nil {
		return Headline{}, false
	}
	return e.headline(f, name)
}

// maxChanges is how many replacements one call may have.
const maxChanges = 200

// replacements are those of a list, nil if one is anything else.
func replacements(list jsontext.Value) []Replacement {
	values, ok := valuesOf(list)
	if !ok || len(values) == 0 || len(values) > maxChanges {
		return nil
	}
	out := make([]Replacement, len(values))
	for i, value := range values {
		in := readInput(string(value))
		f := newFields(in.members)
		out[i] = replacement(f)
		if _, ok := f.all(); !ok || !in.whole {
			return nil
		}
	}
	return out
}

// readEditor reads the commands of an editor that is one tool.
func readEditor(members map[string]jsontext.Value) (Headline, bool) {
	f := newFields(members)
	switch does, _ := f.text("command"); does {
	case "str_replace":
		path, name := f.text("path")
		return (&FileEdit{
			Path: path, Changes: []Replacement{{Before: f.some("old_str"), After: f.some("new_str")}},
		}).headline(f, name)
	case "create":
		path, named := f.text("path")
		return (&FileWrite{Path: path, Content: f.some("file_text")}).headline(f, named)
	}
	return Headline{}, false
}

func readWrite(members map[string]jsontext.Value) (Headline, bool) {
	f := newFields(members)
	path, name := f.text(pathNames...)
	return (&FileWrite{Path: path, Content: f.some("content", "contents")}).headline(f, name)
}

func (e *FileEdit) headline(f *fields, name string) (Headline, bool) {
	all, ok := f.all()
	if !ok {
		return Headline{}, false
	}
	e.drawn = all
	pairs, everywhere := make([][2]string, len(e.Changes)), false
	for i, c := range e.Changes {
		pairs[i], everywhere = [2]string{c.Before, c.After}, everywhere || c.All
	}
	says := "a long change"
	if count, ok := models.CountLines(pairs...); ok {
		e.Lines, says = &count, count.String()
	}
	if everywhere {
		says += ", every occurrence"
	}
	return Headline{
		Lead: "Edit", Rest: word(e.Path), Tail: "(" + says + ")", Hidden: without(all, name, "command"), Known: e,
	}, true
}

func (w *FileWrite) headline(f *fields, name string) (Headline, bool) {
	all, ok := f.all()
	if !ok {
		return Headline{}, false
	}
	w.drawn = all
	says := "empty"
	if w.Content != "" {
		says = countLines(w.Content)
	}
	return Headline{
		Lead: "Write", Rest: word(w.Path), Tail: "(" + says + ")", Hidden: without(all, name, "command"), Known: w,
	}, true
}
