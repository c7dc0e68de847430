package ui

import (
	"strconv"
	"strings"

	"countersign/models"
)

// hunkHead is the place of a unified patch's hunk on both sides.
var hunkHead = pattern(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@`)

// patch is one that is being read.
type patch struct {
	diff         Diff
	hunk         *Hunk
	title        []string // lines since the last hunk
	oldAt, newAt int
	oldEnd       int // where the hunk says that it ends; unified patches only
	newEnd       int
}

// NewPatch reads a patch, unified or as coding agents write them. Lines outside of hunks are titles: nothing of it is
// left out. It has no language: a hunk may begin within a comment or a text. False: it is not a patch, its hunks are
// not as long as they say, or it is too long.
func NewPatch(text string) (*Diff, bool) {
	if len(text) > MaxDiff {
		return nil, false
	}
	p := patch{}
	lines := models.CutLines(text)
	read := p.unified
	if len(lines) > 0 && strings.TrimSpace(lines[0]) == "*** Begin Patch" {
		read = p.loose
	}
	for _, line := range lines {
		if !read(line) {
			return nil, false
		}
	}
	if p.oldAt != p.oldEnd || p.newAt != p.newEnd || len(p.diff.Hunks) == 0 {
		return nil, false
	}
	if len(p.title) > 0 {
		p.begin("")
	}
	p.diff.count()
	return &p.diff, p.diff.Added+p.diff.Removed > 0
}

// begin begins a hunk under what stood before it.
func (p *patch) begin(head string) {
	if head != "" {
		p.title = append(p.title, head)
	}
	p.diff.Hunks = append(p.diff.Hunks, Hunk{Title: strings.Join(p.title, "\n")})
	p.hunk, p.title = &p.diff.Hunks[len(p.diff.Hunks)-1], nil
}

// add takes a line of a hunk, false if it is none.
func (p *patch) add(line string) bool {
	l := DiffLine{Sign: ' ', Text: line}
	if line != "" && line != "\n" { // editors take the space off an empty line
		l = DiffLine{Sign: line[0], Text: line[1:]}
	}
	if l.Sign == ' ' || l.Sign == '-' {
		p.oldAt++
		l.Old = p.oldAt
	}
	if l.Sign == ' ' || l.Sign == '+' {
		p.newAt++
		l.New = p.newAt
	}
	p.hunk.Lines = append(p.hunk.Lines, l)
	return l.Sign == ' ' || l.Sign == '-' || l.Sign == '+'
}

func (p *patch) unified(line string) bool {
	if p.oldAt < p.oldEnd || p.newAt < p.newEnd {
		if strings.HasPrefix(line, `\`) {
			return p.lastLine()
		}
		return p.add(line) && p.oldAt <= p.oldEnd && p.newAt <= p.newEnd
	}
	bare := strings.TrimSuffix(line, "\n")
	switch m := hunkHead().FindStringSubmatch(line); {
	case m != nil:
		p.begin(bare)
		p.oldAt, p.oldEnd = place(m[1], m[2])
		p.newAt, p.newEnd = place(m[3], m[4])
	case strings.HasPrefix(line, `\`) && p.hunk != nil && len(p.title) == 0:
		return p.lastLine()
	default:
		p.title = append(p.title, bare)
	}
	return true
}

// lastLine takes note that the line before it is a file's last and has no line feed.
func (p *patch) lastLine() bool {
	n := len(p.hunk.Lines)
	if n > 0 {
		p.hunk.Lines[n-1].Text = strings.TrimRight(p.hunk.Lines[n-1].Text, "\n") + models.NoLineFeed
	}
	return n > 0
}

// place is the number of the line before a hunk, and of its last one.
func place(start, length string) (before, last int) {
	first, n := atoi(start), 1
	if length != "" {
		n = atoi(length)
	}
	if n > 0 {
		first--
	}
	return first, first + n
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// loose reads a patch that tells files and lines and no numbers.
func (p *patch) loose(line string) bool {
	bare := strings.TrimSuffix(line, "\n")
	switch {
	case strings.HasPrefix(line, "*** "):
		p.hunk = nil
		p.title = append(p.title, bare)
	case strings.HasPrefix(line, "@@"):
		p.begin(bare)
	default:
		if p.hunk == nil {
			p.begin("")
		}
		ok := p.add(line)
		last := &p.hunk.Lines[len(p.hunk.Lines)-1]
		last.Old, last.New = 0, 0
		p.oldAt, p.newAt = 0, 0
		return ok
	}
	return true
}
