package pages

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

const (
	// madeMost is how long a member may be to be shown a second time, made for its
	// kind.
	madeMost = ui.MaxHighlight
	// madeBlocks is how many members are.
	madeBlocks = 8
)

// Members by what their value is, most telling first.
var (
	commands = [...]string{"command", "cmd", "script", "code", "sql", "query", "statement"}
	paths    = [...]string{"file_path", "path", "notebook_path", "filename", "target_file", "file"}
	contents = [...]string{"content", "contents", "file_text", "new_source", "insert_text"}
	patches  = [...]string{"patch", "diff", "input"}
)

// making takes out of an input what reads better made for its kind. The whole
// input is shown besides, so nothing hides here.
type making struct {
	tool    string
	members map[string]json.RawMessage
	path    string
	done    map[string]bool // members that are in a block
	partly  bool            // some of what is done may not be drawn
	named   bool            // a block is labelled with the path
	blocks  []ui.Block
}

// made are the blocks of a call's input: what will run first, then what is
// changed, then where it goes, then texts of several lines. all: nothing of the
// input is left out of them.
func made(tool string, input []byte) (blocks []ui.Block, all bool) {
	members, ok := objectOf(input)
	if !ok {
		return nil, false
	}
	m := making{tool: strings.ToLower(tool), members: members, done: map[string]bool{}}
	if path := firstOf(members, paths[:]); len(path) <= madeMost {
		m.path = path
	}
	m.programs()
	m.edits()
	m.addresses()
	m.texts()
	return m.blocks, m.all()
}

// all reports whether every member is drawn whole, in a block or as its label.
func (m *making) all() bool {
	for _, name := range m.rest() {
		if s, ok := stringOf(m.members[name]); !ok || !m.named || s != m.path || !slices.Contains(paths[:], name) {
			return false
		}
	}
	return !m.partly && len(m.blocks) > 0
}

// text is a member that is a text, empty if it is none or too long.
func (m *making) text(name string) string {
	s, _ := stringOf(m.members[name])
	if len(s) > madeMost {
		return ""
	}
	return s
}

func (m *making) add(b ui.Block, members ...string) {
	for _, name := range members {
		m.done[name] = true
	}
	if len(m.blocks) == madeBlocks {
		m.partly = true
		return
	}
	b.ID = fmt.Sprintf("block-%d", len(m.blocks)+1)
	b.Part = b.ID
	b.Label = models.RevealString(b.Label, false)
	b.Numbers = true
	m.blocks = append(m.blocks, b)
}

func (m *making) programs() {
	for _, name := range commands {
		s, label := m.text(name), name
		if s == "" {
			s, label = quoted(m.members[name]), name+", a list, quoted"
		}
		if s == "" || name == "command" && m.path != "" && editor(s) {
			continue
		}
		m.add(ui.Block{Code: ui.Code{Label: label, Text: s, Language: m.language(name, s)}}, name)
	}
}

// editor reports whether a command is what an editor is told to do to a file,
// and no program.
func editor(command string) bool {
	return slices.Contains([]string{"view", "create", "str_replace", "insert", "undo_edit"}, command)
}

// language is what a program is written in; empty where the tool and the input
// say different things, or nothing.
func (m *making) language(name, text string) string {
	tool := m.toolLanguage()
	switch name {
	case "sql", "statement":
		return "SQL"
	case "query":
		first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		if slices.Contains([]string{"select", "insert", "update", "delete", "with", "create", "drop", "alter", "truncate"}, strings.ToLower(first)) {
			return "SQL"
		}
		return ""
	case "code":
		said := m.text("language")
		switch {
		case said == "" && tool == "":
			return ui.LanguageOf(m.path)
		case said == "" || strings.EqualFold(said, tool):
			return tool
		case tool == "" && len(said) < 32:
			return said
		}
		return ""
	case "script":
		return tool // it may be one of any language
	}
	if tool == "" {
		return "Bash"
	}
	return tool
}

// toolLanguage is the language that a tool's name tells.
func (m *making) toolLanguage() string {
	for _, known := range [...]string{"python", "javascript", "typescript", "ruby", "powershell", "sql", "bash"} {
		if strings.Contains(m.tool, known) {
			return known
		}
	}
	if strings.Contains(m.tool, "shell") || strings.Contains(m.tool, "terminal") {
		return "bash"
	}
	return ""
}

// quoted is a command that is given as a list of words, as a shell would want
// them; empty if it is none.
func quoted(raw json.RawMessage) string {
	var words []string
	if len(raw) == 0 || len(raw) > madeMost || raw[0] != '[' || json.Unmarshal(raw, &words) != nil {
		return ""
	}
	for i, w := range words {
		plain := w != "" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,") == ""
		if !plain {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// edits are changes of files.
func (m *making) edits() {
	language := ui.LanguageOf(m.path)
	pairs, names := editsOf(m.members)
	if len(pairs) > 0 {
		label := m.path
		if label == "" {
			label = strings.Join(names, " → ")
		}
		if string(m.members["replace_all"]) == "true" {
			label += ", every occurrence"
		}
		if d := ui.NewDiff(language, pairs...); d != nil && d.Lines() <= ui.MaxDiffLines {
			m.add(ui.Block{Code: ui.Code{Label: label}, Diff: d}, names...)
			m.named = m.named || m.path != ""
			m.partly = m.partly || names[0] == "edits" // may say more than its texts
		} else if len(pairs) == 1 {
			for i, name := range names[:2] {
				if s := pairs[0][i]; s != "" && len(s) <= madeMost {
					m.add(ui.Block{Code: ui.Code{Label: name, Text: s}}, name)
				}
			}
		}
	}
	for _, name := range patches {
		if s := m.text(name); s != "" {
			if d, ok := ui.NewPatch(s); ok && d.Lines() <= ui.MaxDiffLines {
				m.add(ui.Block{Code: ui.Code{Label: name, Text: s}, Diff: d}, name)
				m.partly = true // a patch may say more than its lines
			} else if name != "input" && strings.Contains(s, "\n") {
				m.add(ui.Block{Code: ui.Code{Label: name, Text: s, Language: "Diff"}}, name)
			}
		}
	}
	for _, name := range contents {
		if s := m.text(name); s != "" && m.path != "" {
			label, language := m.path+", "+name, language
			m.named = true
			if name == "insert_text" { // what it is put into may be an open comment
				language = ""
			}
			if line := scalar(m.members["insert_line"]); name == "insert_text" && line != "" {
				label = m.path + ", inserted behind line " + line
			}
			if d := ui.NewDiff(language, [2]string{"", s}); d != nil && d.Lines() <= ui.MaxDiffLines {
				m.add(ui.Block{Code: ui.Code{Label: label, Text: s}, Diff: d}, name)
			} else {
				m.add(ui.Block{Code: ui.Code{Label: label, Text: s, Language: language}}, name)
			}
		}
	}
}

// editsOf are the replacements that an input asks for: what is there, and what
// comes in its place; with the members that say so.
func editsOf(members map[string]json.RawMessage) (pairs [][2]string, names []string) {
	for _, n := range [...][2]string{{"old_string", "new_string"}, {"old_str", "new_str"}, {"old_text", "new_text"}, {"oldText", "newText"}} {
		before, had := stringOf(members[n[0]])
		after, has := stringOf(members[n[1]])
		if had && (has || members[n[1]] == nil) {
			return [][2]string{{before, after}}, n[:]
		}
	}
	var list []json.RawMessage
	if raw := members["edits"]; len(raw) == 0 || json.Unmarshal(raw, &list) != nil || len(list) > 200 {
		return nil, nil
	}
	for _, raw := range list {
		one, ok := objectOf(raw)
		if !ok || one["edits"] != nil {
			return nil, nil
		}
		pair, _ := editsOf(one)
		if len(pair) != 1 {
			return nil, nil
		}
		pairs = append(pairs, pair[0])
	}
	return pairs, []string{"edits"}
}

// addresses are URLs, wherever they stand at the top.
func (m *making) addresses() {
	for _, name := range m.rest() {
		if a, ok := ui.ReadAddress(name, m.text(name)); ok {
			m.add(ui.Block{Code: ui.Code{Label: name, Text: m.text(name)}, Address: a}, name)
		}
	}
}

// texts are those of several lines.
func (m *making) texts() {
	for _, name := range m.rest() {
		if s := m.text(name); strings.Contains(s, "\n") {
			m.add(ui.Block{Code: ui.Code{Label: name, Text: s}}, name)
		}
	}
}

// rest are the members that are in no block yet, by name.
func (m *making) rest() []string {
	var out []string
	for name := range m.members {
		if !m.done[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// laidOut is a call's input as a tree, where nothing else was made of it; says
// why there is none.
func laidOut(canonical []byte) (blocks []ui.Block, says string) {
	if len(canonical) <= 2 { // {} and []
		return nil, ""
	}
	if len(canonical) > madeMost {
		return nil, "too long to lay out, so only as source"
	}
	tree, tooMany := ui.NewTree(canonical)
	if tooMany {
		return nil, "more than " + views.Number(ui.MaxNodes) + " values, so only as source"
	}
	if tree == nil || len(tree.Root.Children) == 0 {
		return nil, ""
	}
	return []ui.Block{{Code: ui.Code{ID: "block-1", Part: "block-1", Label: "Input"}, Tree: tree}}, ""
}
