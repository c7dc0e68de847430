package condition

import (
	"path"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// pathOf reads a path by its letters alone: links are not followed. Only an absolute one
// without ".." is known.
func pathOf(v ref.Val) ref.Val {
	text, ok := textOf(v)
	if !ok {
		return failure("a path must be a text")
	}
	clean, why := absolute(text)
	if why != "" {
		return failure(why)
	}
	return opaque{pathType, clean}
}

// absolute is the shortest form of a path; why says why there is none.
func absolute(text string) (clean, why string) {
	switch {
	case !strings.HasPrefix(text, "/"):
		return "", "a path does not begin with /, so it depends on where the agent is"
	case slices.Contains(strings.Split(text, "/"), ".."):
		return "", "a path goes up with .., and what that leads to depends on links"
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == '\uFFFD' }):
		return "", "a path has characters that programs read differently"
	}
	lower := strings.ToLower(text)
	if strings.Contains(lower, "%2e") || strings.Contains(lower, "%2f") ||
		slices.ContainsFunc(components(text), func(c string) bool { return c != "." && c != strings.TrimRight(c, ". ") }) {
		return "", "a path has characters that programs read differently"
	}
	return path.Clean(text), ""
}

// components are the names in a path.
func components(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

const caseWhy = "a path differs from the folder only in letter case, which counts on some systems and not on others"

// pathWithin reports whether a path is a folder or in it.
func pathWithin(v, folder ref.Val) ref.Val {
	o, ok := v.(opaque)
	clean, isText := o.value.(string)
	dir, isFolder := textOf(folder)
	if !ok || !isText || !isFolder {
		return failure(otherType)
	}
	dir, why := absolute(dir)
	if why != "" {
		return failure(why)
	}
	parts, want := components(clean), components(dir)
	if len(parts) < len(want) {
		return types.False
	}
	same := slices.Equal(parts[:len(want)], want)
	if !same && slices.EqualFunc(parts[:len(want)], want, strings.EqualFold) {
		return failure(caseWhy)
	}
	return types.Bool(same)
}
