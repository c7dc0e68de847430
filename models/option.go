package models

import (
	"fmt"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// CheckOptions refuses options that a person could take for one another: two whose
// name or title reads the same but for spaces around it, case and compatible
// characters. So no button that reads "No" can release "yes". list is what an error calls them.
func CheckOptions(list string, options []Option) error {
	seen := make(map[string]int, 2*len(options))
	for i, o := range options {
		for _, label := range [...]struct{ field, text string }{{"name", o.Name}, {"title", o.Title}} {
			if label.text == "" {
				continue
			}
			reads := folded(label.text)
			if other, ok := seen[reads]; ok && other != i {
				return Invalid(fmt.Sprintf("%s[%d].%s", list, i, label.field),
					"reads like option %d; a person could not tell them apart", other)
			}
			seen[reads] = i
		}
	}
	return nil
}

// folded is what a label reads as: trimmed, NFKC, without case.
func folded(label string) string {
	return strings.TrimSpace(norm.NFKC.String(cases.Fold().String(norm.NFKC.String(label))))
}
