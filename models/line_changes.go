package models

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// MaxCompared is how long two texts may be together, in bytes, to be compared.
const MaxCompared = 64 << 10

// NoLineFeed ends a last line that has no line feed where its counterpart has one. It
// cannot be in a line.
const NoLineFeed = "\n\n"

// LineChange is a run of lines that differs between two texts: lines Start to End of the old
// one give way to lines NewStart to NewEnd of the new one, each counted from 0 and without its
// end.
type LineChange struct{ Start, End, NewStart, NewEnd int }

// LineCount is how many lines a change adds and removes.
type LineCount struct{ Added, Removed int }

func (c LineCount) String() string { return fmt.Sprintf("+%d −%d", c.Added, c.Removed) }

// CountLines counts the lines that replacements add and remove, each a text and its replacement; not ok: they are too
// long to be compared.
func CountLines(edits ...[2]string) (count LineCount, ok bool) {
	size := 0
	for _, e := range edits {
		if size += len(e[0]) + len(e[1]); size > MaxCompared {
			return LineCount{}, false
		}
		before, after := LineSides(e[0], e[1])
		for _, c := range LineChanges(before, after) {
			count.Removed += c.End - c.Start
			count.Added += c.NewEnd - c.NewStart
		}
	}
	return count, true
}

// CutLines divides a text behind each line feed.
func CutLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n")
}

// LineSides are the lines of two texts. Where only one of them ends with a line feed, their
// last lines differ and one says so.
func LineSides(old, fresh string) (before, after []string) {
	before, after = CutLines(old), CutLines(fresh)
	if ends := strings.HasSuffix(old, "\n"); old != "" && fresh != "" && ends != strings.HasSuffix(fresh, "\n") {
		if ends {
			after[len(after)-1] += NoLineFeed
		} else {
			before[len(before)-1] += NoLineFeed
		}
	}
	return before, after
}

// LineChanges are the differences between two lists of lines, in their order. The search is
// bounded: two texts that have little in common are soon one removed and the other added.
func LineChanges(before, after []string) []LineChange {
	before, after = withoutLineFeeds(before), withoutLineFeeds(after)
	known := make(map[string]bool, len(before))
	for _, l := range before {
		known[l] = true
	}
	if slices.ContainsFunc(after, func(l string) bool { return known[l] }) {
		var out []LineChange
		for _, d := range lcs.DiffLines(before, after) {
			out = append(out, LineChange{d.Start, d.End, d.ReplStart, d.ReplEnd})
		}
		return out
	}
	if len(before)+len(after) == 0 { // two that have no line in common need no search
		return nil
	}
	return []LineChange{{End: len(before), NewEnd: len(after)}}
}

// withoutLineFeeds drops the line feeds of lines, since a missing one at the end of a
// text is no difference.
func withoutLineFeeds(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if out[i] = l; !strings.HasSuffix(l, NoLineFeed) {
			out[i] = strings.TrimSuffix(l, "\n")
		}
	}
	return out
}
