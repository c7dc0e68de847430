package condition

import (
	"path"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

const maxLine = 16 << 10 // bytes of a command line, and of the words of a list

// command is a command line as far as it can be read.
type command struct {
	program string
	args    []string
	unclear string   // why program and args are not known; empty: they are
	doubt   string   // why the program may run another one; empty: it does not
	byName  bool     // despite doubt, program and args apply to conditions that name the program
	names   []string // that the condition names

	words  []string // of all commands in the line, with the names of their programs
	inner  []string // those of commands in nested shells
	wholes []string // words that may hold another one
	unread string   // why a part of the line can't be read; empty: all was
	hidden string   // why words of the line may hold commands that were not read; empty: they do not

	each     [][]string // the words of each command in the line, as they are written in it
	usesFile bool       // the line has an input or an output that is a file

	size int // in bytes, of the line
}

// commandOf reads the command of a tool's input: the input itself, or its member command
// or cmd, as a line of a shell or a list of words.
func commandOf(v ref.Val) ref.Val {
	input, ok := v.(inputValue)
	if !ok {
		return readCommand(v)
	}
	if input.call.command == nil {
		input.call.command = readCommand(v)
	}
	return input.call.command
}

func readCommand(v ref.Val) ref.Val {
	if m, ok := v.(traits.Mapper); ok {
		member, why := commandMember(m)
		if why != "" {
			return failure(why)
		}
		v = member
	}
	line := lineOf(v)
	switch {
	case line == nil:
		return failure("the command is neither a text nor a list of texts")
	case line.size() > maxLine:
		return failure("the command is too long to be read")
	}
	c := &command{size: line.size()}
	if line.words != nil {
		c.readWords(line.words)
	} else {
		c.readLine(line.text)
	}
	return opaque{commandType, c}
}

func commandMember(m traits.Mapper) (ref.Val, string) {
	one, hasOne := m.Find(types.String("command"))
	other, hasOther := m.Find(types.String("cmd"))
	for _, name := range [...]string{"args", "arguments", "argv"} {
		if _, has := m.Find(types.String(name)); has {
			return nil, "the input has " + name + " beside the command"
		}
	}
	switch {
	case hasOne && hasOther:
		return nil, "the input has both command and cmd"
	case hasOne:
		return one, ""
	case hasOther:
		return other, ""
	}
	return nil, "the input has no member command"
}

// commandLine is a command as a tool takes it: a text, or words.
type commandLine struct {
	text  string
	words []string
}

func (l *commandLine) size() int {
	n := len(l.text)
	for _, w := range l.words {
		n += len(w) + 1
	}
	return n
}

// lineOf reads a text or a list of texts; nil: it is neither.
func lineOf(v ref.Val) *commandLine {
	if text, ok := textOf(v); ok {
		return &commandLine{text: text}
	}
	list, ok := v.(traits.Lister)
	if !ok {
		return nil
	}
	n, ok := list.Size().(types.Int)
	if !ok || n == 0 || n > maxLine {
		return nil
	}
	line := &commandLine{}
	for i := range n {
		word, ok := textOf(list.Get(i))
		if !ok {
			return nil
		}
		line.words = append(line.words, word)
	}
	return line
}

// commandHas reports whether any command in a line runs a program of this name, or has
// this word among its arguments.
func commandHas(v, word ref.Val) ref.Val {
	o, ok := v.(opaque)
	c, isCommand := o.value.(*command)
	name, isText := textOf(word)
	if !ok || !isCommand || !isText {
		return failure(otherType)
	}
	maybe := c.unread
	if maybe == "" {
		maybe = c.hidden
	}
	for _, w := range c.words {
		switch wordIs(w, name) {
		case wordSame:
			return types.True
		case wordUnclear:
			maybe = "a program is named in another way than by the path that the condition looks for"
		}
	}
	for _, w := range c.wholes {
		if holdsWord(w, name) {
			return types.True
		}
	}
	if maybe != "" {
		return failure(maybe)
	}
	return types.False
}

// How a word compares with one that is looked for.
const (
	wordOther = iota
	wordSame
	wordUnclear // it may name the same file
)

// wordIs compares a word of a command with one that is looked for: itself, or as the name
// of a program in some folder. Letter case counts only in options, for there are file systems
// on which RM runs rm. A program that is looked for by its path may be named in another way.
func wordIs(word, name string) int {
	if strings.HasPrefix(name, "-") {
		if word == name {
			return wordSame
		}
		return wordOther
	}
	if !strings.Contains(name, "/") {
		word = word[strings.LastIndexByte(word, '/')+1:]
	}
	switch {
	case strings.EqualFold(word, name):
		return wordSame
	case !strings.Contains(name, "/") || !strings.EqualFold(path.Base(word), path.Base(name)):
		return wordOther
	}
	one, oneWhy := absolute(word)
	other, otherWhy := absolute(name)
	switch {
	case oneWhy != "" || otherWhy != "":
		return wordUnclear
	case strings.EqualFold(one, other):
		return wordSame
	}
	return wordOther
}
