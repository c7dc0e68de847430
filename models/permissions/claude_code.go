package permissions

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
	"countersign/models/condition"
	"countersign/models/policy"
)

// MaxSettings is how many bytes a file of settings may have.
const MaxSettings = 1 << 20

// Folders are those that entries about files begin in; empty ones are not known.
type Folders struct {
	Project string // of the settings: /x, ./x and x
	Home    string // ~/x
}

// Draft is what settings mean as rules, and what of them no rule says as they do.
type Draft struct {
	Rules       []policy.Rule
	Differences []Difference
}

// Difference is an entry of the settings that has no equal, and what becomes of it.
type Difference struct {
	Entry string // such as allow: Task(Explore)
	Says  string
}

// settings are the members that are read.
type settings struct {
	Permissions map[string]jsontext.Value `json:"permissions"`
}

// ClaudeCode reads settings.json of Claude Code. Codes: invalid (it is no such file).
func ClaudeCode(raw []byte, in Folders) (Draft, error) {
	if len(raw) > MaxSettings {
		return Draft{}, models.Errorf(models.CodeInvalid, "The settings are longer than %d bytes.", MaxSettings)
	}
	var s settings
	if err := json.Unmarshal(raw, &s); err != nil {
		return Draft{}, models.Errorf(models.CodeInvalid, "The settings are no JSON object with permissions: %v", err)
	}
	if s.Permissions == nil {
		return Draft{}, models.Errorf(models.CodeInvalid, "The settings have no member permissions.")
	}
	lists := map[policy.Effect][]string{}
	m := maker{folders: in}
	for _, name := range slices.Sorted(maps.Keys(s.Permissions)) {
		effect, isList := map[string]policy.Effect{"deny": policy.EffectDeny, "ask": policy.EffectRequire, "allow": policy.EffectAllow}[name]
		if !isList {
			m.other(name, s.Permissions[name])
			continue
		}
		var list []string
		if err := json.Unmarshal(s.Permissions[name], &list); err != nil {
			return Draft{}, models.Errorf(models.CodeInvalid, "permissions.%s must be a list of texts.", name)
		}
		lists[effect] = list
	}
	m.stops(policy.EffectDeny, "deny", lists[policy.EffectDeny])
	m.stops(policy.EffectRequire, "ask", lists[policy.EffectRequire])
	m.allows(lists[policy.EffectAllow])
	return m.out, nil
}

// other is a member that is no list of entries.
func (m *maker) other(name string, value jsontext.Value) {
	says := "is not read: it has no equal in the policy"
	switch text := string(value); {
	case name == "defaultMode" && text == `"default"`:
		return
	case name == "defaultMode":
		says = "has no equal: what no rule names follows unmatched in the policy"
	case name == "additionalDirectories":
		says = "has no equal: write the folders into rules about files"
	}
	m.out.Differences = append(m.out.Differences, Difference{"permissions." + name, says})
}

// maker makes rules of entries.
type maker struct {
	folders Folders
	out     Draft
}

// entry is one of a list: a tool, and the text in brackets behind it.
type entry struct{ tool, of string }

const maxTool = 200 // bytes of the name of a tool

var entryForm = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.*-]*)(?:\((.*)\))?$`)

func readEntry(text string) (entry, bool) {
	found := entryForm.FindStringSubmatch(strings.TrimSpace(text))
	if found == nil || !isPlain(text) || len(found[1]) > maxTool {
		return entry{}, false
	}
	e := entry{tool: found[1], of: strings.TrimSpace(found[2])}
	if e.of == "" && strings.Contains(text, "(") {
		return e, false // empty brackets are not documented
	}
	if e.tool == toolBash && (e.of == "*" || e.of == ":*") {
		e.of = ""
	}
	return e, true
}

// isPlain reports whether a text has printable ASCII alone: of no other it is certain what it matches.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// The tools of Claude Code whose entries say more than a name.
const (
	toolBash  = "Bash"
	toolRead  = "Read"
	toolEdit  = "Edit"
	toolFetch = "WebFetch"
)

// alike are the tools that an entry for one is for too.
var alike = map[string][]string{
	toolRead: {"Read", "Grep", "Glob", "LS", "NotebookRead"}, toolEdit: {"Edit", "MultiEdit", "Write", "NotebookEdit"},
	"Write": {"Edit", "MultiEdit", "Write", "NotebookEdit"}, "MultiEdit": {"Edit", "MultiEdit", "Write", "NotebookEdit"},
	"NotebookEdit": {"Edit", "MultiEdit", "Write", "NotebookEdit"}, "Grep": {"Read", "Grep", "Glob", "LS", "NotebookRead"},
	"Glob": {"Read", "Grep", "Glob", "LS", "NotebookRead"},
}

// patterns are the tools of an entry as a rule names them.
func (e entry) patterns(effect policy.Effect) []string {
	ofServer := "/^" + regexp.QuoteMeta(e.tool) + "__.*$/"
	switch stops, isMCP := effect != policy.EffectAllow, strings.HasPrefix(e.tool, "mcp__"); {
	case strings.Contains(e.tool, "*"):
		return []string{"/^" + strings.ReplaceAll(regexp.QuoteMeta(e.tool), `\*`, ".*") + "$/"}
	case isMCP && stops: // it is not certain whether it names a server or a tool
		return []string{e.tool, ofServer}
	case isMCP && strings.Count(e.tool, "__") == 1:
		return []string{ofServer}
	case stops && alike[e.tool] != nil:
		return alike[e.tool]
	}
	return []string{e.tool}
}

// stops makes the rules of a list that denies or asks.
func (m *maker) stops(effect policy.Effect, list string, entries []string) {
	for _, text := range entries {
		e, ok := readEntry(text)
		if e.tool == "" {
			m.differs(list, text, "is no entry that is known: look at what it was to stop")
			continue
		}
		when, sayable := m.finds(e)
		rule := policy.Rule{Tools: e.patterns(effect), When: when, Effect: effect, Reason: because(list, text)}
		if !ok || !sayable || !isSayable(when) {
			rule.When, rule.Effect = "", policy.EffectRequire
			m.differs(list, text, "has no equal: every call of "+e.tool+" asks in its place")
		}
		m.add(list+" "+text, rule)
	}
}

// because is the reason of a rule.
func because(list, text string) string {
	const most = 500
	if len(text) > most {
		text = text[:most] + "…"
	}
	return "Settings of Claude Code: " + list + " " + text + "."
}

// isSayable reports whether a condition is one: it may be too long.
func isSayable(when string) bool {
	if when == "" {
		return true
	}
	_, err := condition.Compile(when)
	return err == nil
}

// finds is a condition that is true of all that an entry stops; empty: it is of all calls of its tools.
func (m *maker) finds(e entry) (when string, ok bool) {
	switch {
	case e.of == "":
		return "", true
	case e.tool == toolBash:
		return found("command", commandText(e.of)), true
	case alike[e.tool] != nil && strings.Trim(e.of, "./*") == "": // all files of some folder
		return "", true
	case alike[e.tool] != nil:
		text, ok := m.pathText(e.of)
		return found("file_path", text) + " || " + found("path", text) + " || " + found("notebook_path", text), ok
	case e.tool == toolFetch && strings.HasPrefix(e.of, "domain:"):
		of := strings.TrimPrefix(strings.ToLower(strings.TrimPrefix(e.of, "domain:")), "*.")
		return "has(input.url) && (host(input.url) == " + quote(of) + " || host(input.url).endsWith(" + quote("."+of) + "))", !strings.Contains(of, "*")
	}
	return "", false
}

// found looks for a pattern in a member, in any letter case.
func found(member, pattern string) string {
	return fmt.Sprintf("has(input.%[1]s) && string(input.%[1]s).matches(%[2]s)", member, quote("(?is)"+pattern))
}

var endsInWord = regexp.MustCompile(`\w$`)

// commandText is a pattern for an entry about commands wherever it begins in a line.
func commandText(of string) string {
	of, isPrefix := strings.CutSuffix(of, ":*")
	words := strings.Fields(strings.ReplaceAll(of, "*", " * "))
	var b strings.Builder
	b.WriteString(`(^|[^\w.-])`)
	for i, w := range words {
		switch {
		case w == "*":
			b.WriteString(".*")
		case i > 0 && words[i-1] != "*":
			b.WriteString(`\s+` + regexp.QuoteMeta(w))
		default:
			b.WriteString(regexp.QuoteMeta(w))
		}
	}
	if isPrefix && endsInWord.MatchString(of) {
		b.WriteString(`(\W|$)`)
	}
	return b.String()
}

// slash is one in a path, as it may also be written.
const slash = `/(\.?/)*`

// pathText is a pattern for an entry about files, whatever folder is before it; one in a folder that is known begins
// with that.
func (m *maker) pathText(of string) (string, bool) {
	begins, of := `(^|/)`, strings.TrimSuffix(of, "/")
	switch {
	case strings.HasPrefix(of, "//"):
		begins, of = "^"+slash, of[2:]
	case strings.HasPrefix(of, "~/"):
		of = of[2:]
	default:
		of = strings.TrimPrefix(strings.TrimPrefix(of, "./"), "/")
	}
	if of == "" {
		return "", false
	}
	var b strings.Builder
	b.WriteString(begins)
	for of != "" {
		switch {
		case strings.HasPrefix(of, "**/"):
			b.WriteString(`(.*/)?`)
			of = of[3:]
		case of[0] == '/':
			b.WriteString(slash)
			of = of[1:]
		case strings.HasPrefix(of, "**"):
			b.WriteString(`.*`)
			of = of[2:]
		case of[0] == '*':
			b.WriteString(`[^/]*`)
			of = of[1:]
		case of[0] == '?':
			b.WriteString(`[^/]`)
			of = of[1:]
		case strings.ContainsRune(`[]!\`, rune(of[0])):
			return "", false
		default:
			b.WriteString(regexp.QuoteMeta(of[:1]))
			of = of[1:]
		}
	}
	b.WriteString(`(/|$)`)
	return b.String(), true
}

// globOfServer is a pattern for tools of one server, the only kind that Claude Code lets a list allow.
var globOfServer = regexp.MustCompile(`^mcp__[^*]+__[^*]*\*`)

// hostIs is a condition for an entry about addresses.
func hostIs(of string) string {
	name := strings.ToLower(strings.TrimPrefix(of, "domain:"))
	if rest, ok := strings.CutPrefix(name, "*."); ok {
		return "host(input.url).endsWith(" + quote("."+rest) + ")"
	}
	return "host(input.url) == " + quote(name)
}

// allows makes the rules of the list that allows. Those about commands are one, so that a line of several commands that
// are each allowed is allowed too.
func (m *maker) allows(entries []string) {
	const list = "allow"
	var commands []string
	for _, text := range entries {
		e, ok := readEntry(text)
		switch {
		case !ok:
			m.differs(list, text, "is no entry that is known, and is left out")
			continue
		case strings.Contains(e.tool, "*") && !globOfServer.MatchString(e.tool):
			m.differs(list, text, "is left out: Claude Code does not follow it either")
			continue
		case e.tool == toolBash && e.of != "":
			if c, ok := commandIs(e.of); ok && isSayable(joined([]string{c})[0]) {
				commands = append(commands, c)
			} else {
				m.differs(list, text, "has no equal and is left out: only plain words can be allowed, and one * at the end")
			}
			continue
		}
		rule := policy.Rule{Tools: e.patterns(policy.EffectAllow), Effect: policy.EffectAllow, Reason: because(list, text)}
		if rule.When, ok = m.lets(e); !ok || !isSayable(rule.When) {
			m.differs(list, text, "has no equal and is left out"+m.hint(e))
			continue
		}
		if len(alike[e.tool]) > 0 {
			m.differs(list, text, "allows "+e.tool+" alone, and no tool like it")
		}
		m.add(list+" "+text, rule)
	}
	for i, when := range joined(commands) {
		m.add(fmt.Sprintf("allow commands %d", i+1), policy.Rule{
			Tools: []string{toolBash}, When: when, Effect: policy.EffectAllow, Reason: "Settings of Claude Code: each command of the line is allowed.",
		})
	}
}

// lets is a condition that is true of nothing but what an entry allows; empty: of all calls of its tool.
func (m *maker) lets(e entry) (when string, ok bool) {
	switch {
	case e.of == "":
		return "", true
	case e.tool == toolFetch && strings.HasPrefix(e.of, "domain:"):
		return hostIs(e.of), true
	case e.tool == toolRead || e.tool == toolEdit:
		of, ok := m.absolute(e.of)
		folder, isFolder := strings.CutSuffix(of, "/**")
		switch {
		case !ok || strings.ContainsAny(folder, `*?[]!\`):
			return "", false
		case isFolder:
			return "path(input.file_path).within(" + quote(folder) + ")", true
		}
		return "input.file_path == " + quote(of), true
	}
	return "", false
}

// hint says what would let an entry about files be said.
func (m *maker) hint(e entry) string {
	switch {
	case e.tool != toolRead && e.tool != toolEdit:
		return ""
	case m.folders.Project == "" || m.folders.Home == "":
		return ": only a folder (x/**) or a file can be allowed; --project and --home say where it is"
	}
	return ": only a folder (x/**) or a file can be allowed"
}

// absolute is a path of an entry from the root.
func (m *maker) absolute(of string) (string, bool) {
	base, rest := m.folders.Project, of
	switch {
	case strings.HasPrefix(of, "//"):
		base, rest = "/", of[2:]
	case strings.HasPrefix(of, "~/"):
		base, rest = m.folders.Home, of[2:]
	case !strings.Contains(strings.TrimPrefix(of, "./"), "/"):
		if !strings.HasPrefix(of, "./") {
			return "", false // it is in any folder
		}
	}
	return path.Join(base, rest), path.IsAbs(base) && rest != ""
}

// commandIs is a condition on one command, c, for an entry that allows it.
func commandIs(of string) (string, bool) {
	of, isPrefix := strings.CutSuffix(of, ":*")
	var begins string
	switch text, isOpen := strings.CutSuffix(of, "*"); {
	case isPrefix || !isOpen:
	case strings.HasSuffix(text, " "):
		of, isPrefix = text, true
	default:
		i := strings.LastIndexByte(text, ' ')
		of, begins, isPrefix = text[:i+1], text[i+1:], true
	}
	words := strings.Fields(of)
	for _, w := range append(slices.Clone(words), begins) {
		if strings.ContainsAny(w, "*?[]{}()<>|&;$`'\"\\#~!") {
			return "", false
		}
	}
	if len(words) == 0 {
		return "", false
	}
	parts := []string{"c.program == " + quote(words[0])}
	args := words[1:]
	need, compare := len(args), "=="
	if isPrefix {
		compare = ">="
	}
	if begins != "" {
		need++
	}
	if need > 0 || !isPrefix {
		parts = append(parts, fmt.Sprintf("size(c.args) %s %d", compare, need))
	}
	for i, w := range args {
		parts = append(parts, fmt.Sprintf("c.args[%d] == %s", i, quote(w)))
	}
	if begins != "" {
		parts = append(parts, fmt.Sprintf("c.args[%d].startsWith(%s)", len(args), quote(begins)))
	}
	return strings.Join(parts, " && "), true
}

// joined are conditions on lines each of whose commands is one of some, as few as are short enough.
func joined(commands []string) (out []string) {
	const before, behind, or = "command(input).all(c, ", ")", " || "
	var open []string
	flush := func() {
		if len(open) > 0 {
			out = append(out, before+strings.Join(open, or)+behind)
		}
		open = nil
	}
	for _, c := range commands {
		if n := len(before) + len(strings.Join(append(slices.Clone(open), c), or)) + len(behind); n > condition.MaxSource {
			flush()
		}
		open = append(open, c)
	}
	flush()
	return out
}

// quote is a text in a condition. It has printable ASCII alone.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func (m *maker) differs(list, text, says string) {
	m.out.Differences = append(m.out.Differences, Difference{list + ": " + text, says})
}

// add gives a rule a name that no other has.
func (m *maker) add(name string, r policy.Rule) {
	const most = 80
	if len(name) > most {
		name = name[:most]
	}
	r.Name = name
	for n := 2; slices.ContainsFunc(m.out.Rules, func(other policy.Rule) bool { return other.Name == r.Name }); n++ {
		r.Name = fmt.Sprintf("%s (%d)", name, n)
	}
	m.out.Rules = append(m.out.Rules, r)
}
