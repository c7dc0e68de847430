package db

import (
	"regexp"
	"strings"
)

// Change is what a statement changes, as far as its text tells. The zero Change may be
// anything.
type Change struct {
	Table string
	New   bool // it only adds rows
}

// changed finds the table in a statement of ours, or of GORM's.
var changed = regexp.MustCompile("^(INSERT (?:OR IGNORE )?INTO|UPDATE(?: OR IGNORE)?|DELETE FROM) [`\"]?(\\w+)")

// changeOf reads a statement.
func changeOf(text string) Change {
	found := changed.FindStringSubmatch(text)
	if found == nil {
		return Change{}
	}
	return Change{Table: found[2], New: strings.HasPrefix(found[1], "INSERT") && !strings.Contains(text, "ON CONFLICT")}
}
