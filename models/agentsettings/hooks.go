package agentsettings

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Hook is one command that an agent runs at a moment.
type Hook struct {
	Moment  string // such as PreToolUse
	Matcher string // of tools; empty: the moment has none
	Command string
	Timeout int  // seconds
	Blocks  bool // a hook that cannot run stops the call
}

// group is a hook as it is written.
type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []command `json:"hooks"`
}

type command struct {
	Type      string `json:"type"`
	Command   string `json:"command"`
	Timeout   int    `json:"timeout"`
	OnFailure string `json:"onFailure,omitempty"`
}

func (h *Hook) group() group {
	c := command{Type: "command", Command: h.Command, Timeout: h.Timeout}
	if h.Blocks {
		c.OnFailure = "block"
	}
	return group{h.Matcher, []command{c}}
}

// Off reports whether settings say that no hook runs; said tells whether they say anything
// about it. A value that is neither true nor false counts as true.
func Off(text []byte) (off, said bool, err error) {
	root, err := readAny(text)
	if err != nil || root == nil {
		return false, false, err
	}
	all := root.at("disableAllHooks")
	return isSet(all), all != nil, nil
}

// ManagedOff names the member of managed settings by which no hook of anybody else runs;
// empty: there is none.
func ManagedOff(text []byte) (member string, err error) {
	root, err := readAny(text)
	if err != nil || root == nil {
		return "", err
	}
	for _, name := range []string{"disableAllHooks", "allowManagedHooksOnly"} {
		if isSet(root.at(name)) {
			return name, nil
		}
	}
	const pluginOnly = "strictPluginOnlyCustomization"
	switch only := root.at(pluginOnly); {
	case only == nil:
	case only.kind != '[' && isSet(only):
		return pluginOnly, nil
	case only.kind == '[' && bytes.Contains(text[only.start:only.end], []byte(`"hooks"`)):
		return pluginOnly, nil
	}
	return "", nil
}

// readAny reads settings; nil: they are empty.
func readAny(text []byte) (*node, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	root, _, err := read(text)
	return root, err
}

// isSet reports whether a member is there and says neither false nor null.
func isSet(n *node) bool { return n != nil && n.kind != 'f' && n.kind != 'n' }

// Add puts hooks behind those of the settings. Settings that are empty become an object.
func Add(text []byte, hooks []Hook) ([]byte, error) {
	out := text
	if len(bytes.TrimSpace(text)) == 0 {
		out = []byte("{}\n")
	}
	for i := range hooks {
		var err error
		if out, err = add(out, &hooks[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func add(text []byte, h *Hook) ([]byte, error) {
	root, _, err := read(text)
	if err != nil {
		return nil, err
	}
	l := layoutOf(text, root)
	all := root.at("hooks")
	if all == nil {
		return l.insert(text, root, 1, "hooks", map[string][]group{h.Moment: {h.group()}})
	}
	if all.kind != '{' {
		return nil, fmt.Errorf("line %d: hooks: must be an object", lineAt(text, int64(all.start)))
	}
	moment := all.at(h.Moment)
	if moment == nil {
		return l.insert(text, all, 2, h.Moment, []group{h.group()})
	}
	if moment.kind != '[' {
		return nil, fmt.Errorf("line %d: hooks.%s: must be an array", lineAt(text, int64(moment.start)), h.Moment)
	}
	return l.insert(text, moment, 3, "", h.group())
}

// space is what JSON takes for white space.
const space = " \t\r\n"

// layout is how the settings are laid out.
type layout struct{ unit, line string }

func layoutOf(text []byte, root *node) layout {
	l := layout{"  ", "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		l.line = "\r\n"
	}
	if len(root.members) > 0 {
		start := root.members[0].start
		indent := text[bytes.LastIndexByte(text[:start], '\n')+1 : start]
		if len(indent) > 0 && len(bytes.Trim(indent, " \t")) == 0 {
			l.unit = string(indent)
		}
	}
	return l
}

// insert puts a value at the end of an object or array at a depth.
func (l layout) insert(text []byte, into *node, depth int, name string, v any) ([]byte, error) {
	indent := bytes.Repeat([]byte(l.unit), depth)
	value, err := json.Marshal(v, jsontext.WithIndentPrefix(string(indent)), jsontext.WithIndent(l.unit))
	if err != nil {
		return nil, fmt.Errorf("write hooks: %w", err)
	}
	if name != "" {
		quote, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			return nil, fmt.Errorf("write hooks: %w", err)
		}
		value = append(append(quote, ": "...), value...)
	}
	value = bytes.ReplaceAll(value, []byte("\n"), []byte(l.line))
	place, before := into.start+1, ""
	switch {
	case len(into.members) > 0:
		place, before = into.members[len(into.members)-1].value.end, ","
	case len(into.items) > 0:
		place, before = into.items[len(into.items)-1].end, ","
	}
	var out bytes.Buffer
	out.Write(text[:place])
	out.WriteString(before + l.line)
	out.Write(indent)
	out.Write(value)
	if before == "" {
		out.WriteString(l.line)
		out.Write(indent[:len(indent)-len(l.unit)])
		place = into.end - 1 - len(bytes.TrimLeft(text[place:into.end-1], space))
	}
	out.Write(text[place:])
	return out.Bytes(), nil
}

// Remove takes away the commands that ours names, and what they leave empty, and returns
// how many they were.
func Remove(text []byte, ours func(command string) bool) ([]byte, int, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, 0, nil
	}
	out, count := text, 0
	for {
		root, blank, err := read(out)
		if err != nil {
			return nil, 0, err
		}
		found, is := find(root, out, blank, ours)
		if !is {
			break
		}
		out = found.list.without(out, blank, found.i)
		count++
	}
	if count == 0 {
		return text, 0, nil
	}
	if err := sameBut(text, out, ours); err != nil {
		return nil, 0, err
	}
	return out, count, nil
}

// place is an item or member of a list.
type place struct {
	list *node
	i    int
}

// find is the outermost place that holds nothing but one of our commands: no other hook,
// and no comment, unless that is within the command itself.
func find(root *node, text, blank []byte, ours func(string) bool) (place, bool) {
	all := root.at("hooks")
	if all == nil || all.kind != '{' {
		return place{}, false
	}
	for m := range all.members {
		moment := &all.members[m].value
		for g := range moment.items {
			hooks := moment.items[g].at("hooks")
			if hooks == nil {
				continue
			}
			for c := range hooks.items {
				command := hooks.items[c].at("command")
				if command == nil || command.kind != '"' || !ours(command.text) {
					continue
				}
				found := place{hooks, c}
				for _, outer := range [...]place{{moment, g}, {all, m}, {root, root.index("hooks")}} {
					start, end := outer.list.span(outer.i)
					if found.list.len() > 1 || !bytes.Equal(text[start:end], blank[start:end]) {
						break
					}
					found = outer
				}
				return found, true
			}
		}
	}
	return place{}, false
}

// span is where item or member i is written.
func (n *node) span(i int) (start, end int) {
	if n.kind == '{' {
		return n.members[i].start, n.members[i].value.end
	}
	return n.items[i].start, n.items[i].end
}

// without cuts item or member i out of a text, with its comma and the white space before
// it.
func (n *node) without(text, blank []byte, i int) []byte {
	start, end := n.span(i)
	last := n.len() - 1
	comma := -1
	switch {
	case i > 0:
		_, before := n.span(i - 1)
		comma = before + bytes.IndexByte(blank[before:start], ',')
	case i < last:
		comma = end + bytes.IndexByte(blank[end:], ',')
	}
	if before := len(bytes.TrimRight(text[:start], space)); before > 0 && text[before-1] == blank[before-1] {
		start = before // a comment before it keeps its line break
	}
	if last == 0 {
		end = n.end - 1 - len(bytes.TrimLeft(text[end:n.end-1], space))
	}
	var out []byte
	for at, b := range text {
		if at == comma || at >= start && at < end {
			continue
		}
		out = append(out, b)
	}
	return out
}

// sameBut checks that nothing is missing from after but our commands.
func sameBut(before, after []byte, ours func(string) bool) error {
	was, err := values(before)
	if err != nil {
		return err
	}
	is, err := values(after)
	if err != nil {
		return fmt.Errorf("removing the hooks would break the file: %w", err)
	}
	if !reflect.DeepEqual(prune(was, ours), prune(is, func(string) bool { return false })) {
		return fmt.Errorf("removing the hooks would change more than the hooks")
	}
	return nil
}

func values(text []byte) (map[string]any, error) {
	_, blank, err := read(text)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(blank, &out)
}

// prune takes our commands out of settings that were read, and what they leave empty.
func prune(settings map[string]any, ours func(string) bool) map[string]any {
	all, ok := settings["hooks"].(map[string]any)
	if !ok {
		return settings
	}
	for moment, groups := range all {
		list, ok := groups.([]any)
		if !ok {
			continue
		}
		var kept []any
		for _, g := range list {
			if g = pruneGroup(g, ours); g != nil {
				kept = append(kept, g)
			}
		}
		if all[moment] = kept; len(kept) == 0 {
			delete(all, moment)
		}
	}
	if len(all) == 0 {
		delete(settings, "hooks")
	}
	return settings
}

func pruneGroup(g any, ours func(string) bool) any {
	object, ok := g.(map[string]any)
	if !ok {
		return g
	}
	list, ok := object["hooks"].([]any)
	if !ok {
		return g
	}
	var kept []any
	for _, h := range list {
		one, _ := h.(map[string]any)
		if text, ok := one["command"].(string); ok && ours(text) {
			continue
		}
		kept = append(kept, h)
	}
	if len(kept) == 0 && len(list) > 0 {
		return nil
	}
	object["hooks"] = kept
	return object
}
