package headline

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models/condition"
)

// Shell is a command line that would be run, or the words of a command.
type Shell struct {
	drawn
	Line        string
	Words       []string // in place of a line
	Directory   string   // empty: not said
	Timeout     string   // as sent; empty: not said
	Background  bool
	Description string // the agent's claim; empty: none
}

// maxScript is the longest command line that is read, in bytes. It is that of conditions.
const maxScript = 16 << 10

// shortScript is the longest of several commands that is shown whole, in characters: of longer
// ones the programs are named.
const shortScript = 80

func readShell(members map[string]jsontext.Value) (Headline, bool) {
	f := newFields(members)
	s := &Shell{
		Directory: f.maybe("cwd", "workdir", "working_directory", "dir"),
		Timeout:   f.number("timeout", "timeout_ms", "timeout_seconds"),
	}
	s.Background, s.Description = f.flag("run_in_background"), f.maybe("description")
	command, name := f.ofKind(`"[`, "command", "cmd")
	h := Headline{Known: s}
	if text, ok := textOf(command); ok {
		s.Line = text
		h.line(text)
	} else if s.Words, ok = textsOf(command); ok && len(s.Words) > 0 && s.Words[0] != "" {
		h.words(s.Words)
	} else {
		return Headline{}, false
	}
	all, ok := f.all()
	if !ok || strings.TrimSpace(s.Line) == "" && s.Words == nil {
		return Headline{}, false
	}
	s.drawn = all
	if h.Hidden = all; !h.partly {
		h.Hidden = without(all, name)
	}
	h.runs(s)
	h.endLead()
	return h, true
}

// runs says where a command would run, and that it runs in the background. A shell is given any words, so these come
// before them, or behind plain ones.
func (h *Headline) runs(s *Shell) {
	if s.Background {
		h.adds("in the background", "run_in_background")
	}
	if s.Directory != "" {
		where, cut := place(s.Directory)
		if h.adds("in "+where, "cwd", "workdir", "working_directory", "dir"); cut {
			h.Cut = true
		}
	}
}

// adds puts words into a headline where no text of an agent comes before them: these members
// are shown then.
func (h *Headline) adds(words string, members ...string) {
	lead, colon := strings.CutSuffix(h.Lead, ":")
	switch {
	case h.Tail != "":
		h.Tail += " " + words
	case colon:
		h.Lead = lead + " " + words + ":"
	default:
		h.Lead += " " + words
	}
	h.Hidden = without(h.Hidden, members...)
}

// place is where something is done: a folder, a database.
func place(s string) (shown string, cut bool) {
	s, cut = middle(s, mostOfAddress)
	if strings.Contains(s, ":") {
		return quote(s), cut
	}
	return word(s), cut
}

// words describes a command that runs without a shell.
func (h *Headline) words(words []string) {
	text := shellWords(words)
	if len(text) > maxScript {
		h.Lead, h.partly = "Run a command of "+counted(len(words), "word"), true
		h.suspects(text, MaxText)
		return
	}
	if simple := condition.SimpleWords(words); simple != nil {
		h.simple(simple)
		return
	}
	h.oneCommand(text)
}

// oneCommand is one that may run others: where it is too long to be shown, by what may harm in it.
func (h *Headline) oneCommand(text string) {
	h.Lead, h.Rest = "Run a command:", text
	h.suspects(text, MaxText)
}

// line says what a shell would be given. Only one simple command of literal words gets a verb;
// of all else the commands are counted, or at least the lines, and the most harmful is named.
func (h *Headline) line(text string) {
	if len(text) > maxScript {
		h.unread(text)
		return
	}
	script, ok := readScript(text)
	switch {
	case !ok || len(script.commands) == 0:
		h.unread(text)
	case len(script.commands) == 1:
		if words := condition.SimpleCommand(text); words != nil && !script.comments {
			h.simple(words)
			return
		}
		h.oneCommand(text)
	default:
		h.commands(text, script)
	}
}

// commands are several.
func (h *Headline) commands(text string, script script) {
	most := worst(script.parts)
	h.Lead = "Run " + counted(len(script.commands), "command") + ":"
	switch harm := script.parts[most].harm; {
	case utf8.RuneCountInString(text) <= shortScript:
		h.Rest = text
	case harm >= reaches:
		h.names(script.parts, most)
	case script.short != "":
		h.Rest, h.partly = script.short, true
	case utf8.RuneCountInString(text) > MaxText && harm > shows:
		h.names(script.parts, most)
	default:
		h.script(text, " ("+counted(len(script.commands), "command")+")")
	}
}

// unread is a script that can't be read, or is too long: what in it may harm is named.
func (h *Headline) unread(text string) {
	h.script(text, "")
	h.suspects(text, shortScript)
}

// script describes a script by its size alone.
func (h *Headline) script(text, commands string) {
	h.Lead = "Run a script of " + countLines(text) + commands
	if utf8.RuneCountInString(text) > MaxText {
		h.partly = true
		return
	}
	h.Lead, h.Rest = h.Lead+":", text
}

// simple is one command of literal words.
func (h *Headline) simple(words []string) {
	if !h.push(words) {
		h.Lead, h.Rest = "Run:", shellWords(words)
	}
}

// shellWords are words as a shell would want them.
func shellWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,") != "" {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
