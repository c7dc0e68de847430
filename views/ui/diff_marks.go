package ui

import (
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"

	"countersign/views/highlight"
)

// markMost is how long a line may be, in bytes, to have its changed words marked.
const markMost = 1000

// markMany is how many lines against how many may be tried for counterparts.
const markMany = 64

// mark is a range of bytes of a line that differs from the line's counterpart.
type mark struct{ from, to int }

// marks are the changed words of each line, where lines replace others.
func (h Hunk) marks() [][]mark {
	out := make([][]mark, len(h.Lines))
	for i := 0; i < len(h.Lines); {
		end := i
		for end < len(h.Lines) && h.Lines[end].Sign == '-' {
			end++
		}
		removed := end - i
		for end < len(h.Lines) && h.Lines[end].Sign == '+' {
			end++
		}
		markWords(h.Lines[i:end], removed, out[i:end])
		i = max(end, i+1)
	}
	return out
}

// markWords marks what differs between lines and those in their place: the first
// are taken away, the rest added. Each is paired with the first one behind the
// last pair that has enough in common with it.
func markWords(lines []DiffLine, removed int, out [][]mark) {
	gone, fresh := lines[:removed], lines[removed:]
	next := 0
	for i := range gone {
		from, to := next, len(fresh)
		if len(gone)*len(fresh) > markMany {
			if len(gone) != len(fresh) {
				return
			}
			from, to = i, i+1
		}
		for j := from; j < to; j++ {
			if old, is, ok := markPair(gone[i].Text, fresh[j].Text); ok {
				out[i], out[removed+j], next = old, is, j+1
				break
			}
		}
	}
}

// markPair marks what differs between two lines; false if they have too little
// in common to be one changed.
func markPair(a, b string) (old, fresh []mark, ok bool) {
	was, is := strings.TrimRight(a, "\n"), strings.TrimRight(b, "\n")
	if len(was) > markMost || len(is) > markMost {
		return nil, nil, false
	}
	from, to := cutWords(was), cutWords(is)
	for _, c := range lcs.DiffLines(from, to) {
		old = addMark(old, from, c.Start, c.End)
		fresh = addMark(fresh, to, c.ReplStart, c.ReplEnd)
	}
	kept := len(was)
	for _, m := range old {
		kept -= m.to - m.from
	}
	kept -= len(was) - len(strings.TrimLeft(was, " \t"))
	if longer := max(len(strings.TrimSpace(was)), len(strings.TrimSpace(is))); kept <= 0 || kept*4 < longer {
		return nil, nil, false
	}
	return old, fresh, true
}

// addMark adds the byte range of the pieces from and to.
func addMark(marks []mark, pieces []string, from, to int) []mark {
	if from == to {
		return marks
	}
	at := 0
	for _, p := range pieces[:from] {
		at += len(p)
	}
	end := at
	for _, p := range pieces[from:to] {
		end += len(p)
	}
	return append(marks, mark{at, end})
}

// cutWords divides a line into words and single characters.
func cutWords(s string) []string {
	var out []string
	for len(s) > 0 {
		n := max(highlight.Run(s, highlight.IsWord), 1)
		for n < len(s) && s[n]&0xC0 == 0x80 { // not within a character
			n++
		}
		n += leadingMarks(s[n:]) // nor between a letter and its marks
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}
