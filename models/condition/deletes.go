package condition

import (
	"path"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

const (
	overloadDeletes = "command_deletes_outside_string"
	funcDeletes     = "deletesOutside"
)

var (
	// deleters delete each of their operands, and nothing else.
	deleters = []string{"rm", "rmdir", "unlink", "shred"}
	// otherDeleters delete in their own ways.
	otherDeleters = []string{"srm", "wipe", "trash", "trash-put", "rimraf", "del", "erase", "rd", "remove-item"}
)

// deletesOutside reports whether a line deletes anything that is not in a folder. It knows the programs that delete by
// their names. There is no answer for those behind another program or in a nested shell, nor for a line that can't be
// read.
func deletesOutside(v, folder ref.Val) ref.Val {
	o, ok := v.(opaque)
	c, isCommand := o.value.(*command)
	dir, isText := textOf(folder)
	if !ok || !isCommand || !isText {
		return failure(otherType)
	}
	dir, why := absolute(dir)
	if why != "" {
		return failure(why)
	}
	why = c.unread
	for _, words := range c.each {
		outside, unclear := deletion(words, dir)
		if outside {
			return types.True
		}
		why = firstOf(why, unclear)
	}
	const elsewhere = "a program that deletes files is named in a part of the line that is not read"
	if slices.ContainsFunc(c.inner, isDeleter) || slices.ContainsFunc(c.wholes, holdsDeleter) {
		why = firstOf(why, elsewhere)
	}
	if len(c.each) == 0 {
		why = firstOf(why, "there is no command")
	}
	if why = firstOf(why, c.hidden); why != "" {
		return failure(why)
	}
	return types.False
}

func firstOf(one, other string) string {
	if one != "" {
		return one
	}
	return other
}

func isDeleter(word string) bool {
	name := programName(word)
	return slices.Contains(deleters, name) || slices.Contains(otherDeleters, name)
}

func holdsDeleter(word string) bool {
	return slices.ContainsFunc(slices.Concat(deleters, otherDeleters), func(name string) bool { return holdsWord(word, name) })
}

// deletion says what one command deletes: something outside of a folder, or why that is unclear. Neither: nothing.
func deletion(words []string, dir string) (outside bool, unclear string) {
	if len(words) == 0 {
		return false, ""
	}
	name, args := programName(words[0]), words[1:]
	const ownWay = "a program may delete files in a way that is not read"
	switch {
	case slices.Contains(deleters, name):
		if name == "rmdir" && slices.ContainsFunc(args, func(w string) bool { return carriesOne(w, []string{"p", "parents"}) }) {
			return false, "rmdir deletes the folders above as well"
		}
		return operandsOutside(operandsOf(args), dir)
	case name == "find" && slices.Contains(args, "-delete"):
		if slices.ContainsFunc(args, func(w string) bool { return w == "-L" || w == "-follow" || strings.HasPrefix(w, "-files0") }) {
			return false, "find may delete what links lead to"
		}
		return operandsOutside(startsOf(args), dir)
	case name == "git" && slices.ContainsFunc(args, func(w string) bool { return w == "rm" || w == "clean" || w == "remove" }):
		return false, "git deletes files of the folder that the agent is in"
	case useOf(words) == textualUse:
		return false, ""
	case slices.ContainsFunc(words, isDeleter):
		return false, "a program that deletes files is run by another one, or in its own way"
	case slices.ContainsFunc(args, func(w string) bool {
		name := strings.TrimLeft(w, "-")
		return name != w && (strings.HasPrefix(name, "delete") || strings.HasPrefix(name, "remove"))
	}):
		return false, ownWay
	}
	return false, ""
}

// operandsOf are the words of a command that are no options.
func operandsOf(args []string) []string {
	var out []string
	for i, w := range args {
		if w == "--" {
			return append(out, args[i+1:]...)
		}
		if !isOption(w) {
			out = append(out, w)
		}
	}
	return out
}

// startsOf are the folders in which find begins: those before its first condition; none: where the agent is.
func startsOf(args []string) []string {
	for len(args) > 0 && (args[0] == "-H" || args[0] == "-P") {
		args = args[1:]
	}
	n := slices.IndexFunc(args, func(w string) bool { return isOption(w) || w == "(" || w == "!" || w == "," })
	if n == 0 {
		return []string{"."}
	}
	return args[:n] // -delete itself is one
}

func operandsOutside(operands []string, dir string) (outside bool, unclear string) {
	for _, w := range operands {
		clean, why := absolute(w)
		if why != "" {
			unclear = firstOf(unclear, why)
			continue
		}
		within := pathWithin(opaque{pathType, clean}, types.String(dir))
		switch within {
		case types.True:
		case types.False:
			return true, ""
		default:
			unclear = firstOf(unclear, caseWhy)
		}
	}
	return false, unclear
}

// folderMistake is the mistake in the folder of deletesOutside(), in words.
func folderMistake(arg ast.Expr) string {
	if arg.Kind() == ast.LiteralKind {
		if text, _ := textOf(arg.AsLiteral()); path.IsAbs(text) {
			if _, why := absolute(text); why == "" {
				return ""
			}
		}
	}
	return `deletesOutside() needs a folder that begins with /, in quotation marks, as in deletesOutside("/tmp")`
}
