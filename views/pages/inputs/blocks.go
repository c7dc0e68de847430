package inputs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views"
	"countersign/views/highlight"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

const (
	// LayoutMost is how long, in bytes, a member may be to get a block of its own.
	LayoutMost = highlight.MaxBytes
	// LayoutBlocks is how many members get one.
	LayoutBlocks = 8
)

// Members by what their value is, most telling first.
var (
	commands = [...]string{"command", "cmd", "script", "code", "sql", "query", "statement"}
	paths    = [...]string{"file_path", "path", "notebook_path", "filename", "target_file", "file"}
	contents = [...]string{"content", "contents", "file_text", "new_source", "insert_text"}
	patches  = [...]string{"patch", "diff", "input"}
)

// inputLayout picks the members of an input that read better in a block made for their
// kind. The whole input is shown as well, so that nothing can hide here.
type inputLayout struct {
	tool    string
	members map[string]json.RawMessage
	path    string
	done    map[string]bool // members that are in a block
	partly  bool            // some members in done may not be drawn
	named   bool            // a block is labelled with the path
	blocks  []ui.Block
}

// inputBlocksFor makes the blocks of a call's input: first the command, then its changes, then its addresses, then
// texts of several lines. all: the blocks show all of the input. With rest, the other members are in a tree below them.
func inputBlocksFor(tool string, input []byte, rest bool) (blocks []ui.Block, all bool) {
	members, ok := words.Object(input)
	if !ok {
		return nil, false
	}
	m := inputLayout{tool: strings.ToLower(tool), members: members, done: map[string]bool{}}
	if path := words.FirstText(members, paths[:]); len(path) <= LayoutMost {
		m.path = path
	}
	if rest {
		m.known(headline.Read(tool, input))
	}
	if len(m.blocks) == 0 {
		m.layout()
	}
	if rest {
		m.others()
	}
	return m.blocks, m.all()
}

// layout is that of any tool.
func (m *inputLayout) layout() {
	m.programs()
	m.edits()
	m.addresses()
	m.texts()
}

// all reports whether every member is drawn whole, in a block or as its label.
func (m *inputLayout) all() bool {
	for _, name := range m.rest() {
		if !m.isLabel(name) {
			return false
		}
	}
	return !m.partly && len(m.blocks) > 0
}

// text is a member that is a text, empty if it is none or too long.
func (m *inputLayout) text(name string) string {
	s, _ := words.Text(m.members[name])
	if len(s) > LayoutMost {
		return ""
	}
	return s
}

func (m *inputLayout) add(b ui.Block, members ...string) {
	for _, name := range members {
		m.done[name] = true
	}
	if len(m.blocks) == LayoutBlocks {
		m.partly = true
		return
	}
	b.ID = fmt.Sprintf("block-%d", len(m.blocks)+1)
	b.Part = b.ID
	b.Label = models.RevealString(b.Label, false)
	b.Numbers = true
	m.blocks = append(m.blocks, b)
}

func (m *inputLayout) programs() {
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

// editor reports whether a command is an editor's command for a file, and no program.
func editor(command string) bool {
	return slices.Contains([]string{"view", "create", "str_replace", "insert", "undo_edit"}, command)
}

// language is what a program is written in; empty where the tool and the input
// say different things, or nothing.
func (m *inputLayout) language(name, text string) string {
	tool := m.toolLanguage()
	switch name {
	case "sql", "statement":
		return "SQL"
	case "query":
		first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		if slices.Contains([]string{"select", "insert", "update", "delete", "with", "create", "drop", "alter", "truncate"},
			strings.ToLower(first)) {
			return "SQL"
		}
		return ""
	case "code":
		said := m.text("language")
		switch {
		case said == "" && tool == "":
			return highlight.LanguageOf(m.path)
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
func (m *inputLayout) toolLanguage() string {
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
	if len(raw) == 0 || len(raw) > LayoutMost || raw[0] != '[' || json.Unmarshal(raw, &words) != nil {
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
func (m *inputLayout) edits() {
	language := highlight.LanguageOf(m.path)
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
				if s := pairs[0][i]; s != "" && len(s) <= LayoutMost {
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
			if line := words.Scalar(m.members["insert_line"]); name == "insert_text" && line != "" {
				label = m.path + ", inserted after line " + line
			}
			if d := ui.NewDiff(language, [2]string{"", s}); d != nil && d.Lines() <= ui.MaxDiffLines {
				m.add(ui.Block{Code: ui.Code{Label: label, Text: s}, Diff: d}, name)
			} else {
				m.add(ui.Block{Code: ui.Code{Label: label, Text: s, Language: language}}, name)
			}
		}
	}
}

// editsOf are the replacements that an input asks for: the old text, and the new one; with the members that have them.
func editsOf(members map[string]json.RawMessage) (pairs [][2]string, names []string) {
	for _, n := range [...][2]string{
		{"old_string", "new_string"}, {"old_str", "new_str"}, {"old_text", "new_text"}, {"oldText", "newText"},
	} {
		before, had := words.Text(members[n[0]])
		after, has := words.Text(members[n[1]])
		if had && (has || members[n[1]] == nil) {
			return [][2]string{{before, after}}, n[:]
		}
	}
	var list []json.RawMessage
	if raw := members["edits"]; len(raw) == 0 || json.Unmarshal(raw, &list) != nil || len(list) > 200 {
		return nil, nil
	}
	for _, raw := range list {
		one, ok := words.Object(raw)
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

// addresses are URLs, wherever they are at the top.
func (m *inputLayout) addresses() {
	for _, name := range m.rest() {
		if a, ok := ui.ReadAddress(name, m.text(name)); ok {
			m.add(ui.Block{Code: ui.Code{Label: name, Text: m.text(name)}, Address: a}, name)
		}
	}
}

// texts are those of several lines.
func (m *inputLayout) texts() {
	for _, name := range m.rest() {
		if s := m.text(name); strings.Contains(s, "\n") {
			m.add(ui.Block{Code: ui.Code{Label: name, Text: s}}, name)
		}
	}
}

// rest are the members that are in no block yet, by name.
func (m *inputLayout) rest() []string {
	var out []string
	for name := range m.members {
		if !m.done[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// inputTree shows a call's input as a tree, for an input that has no blocks; says is
// why it has no tree either.
func inputTree(canonical []byte) (blocks []ui.Block, says string) {
	if len(canonical) <= 2 { // {} and []
		return nil, ""
	}
	if len(canonical) > LayoutMost {
		return nil, "too long to format; shown as source"
	}
	tree, tooMany := ui.NewTree(canonical)
	if tooMany {
		return nil, "more than " + views.Number(ui.MaxNodes) + " values; shown as source"
	}
	if tree == nil || len(tree.Root.Children) == 0 {
		return nil, ""
	}
	return []ui.Block{{Code: ui.Code{ID: "block-1", Part: "block-1", Label: "Input"}, Tree: tree}}, ""
}
