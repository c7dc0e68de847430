package ui

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: that takes
// as long as all else that a short command does.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
