// Package gcpercent sets how much may be allocated before the collector runs, and sets it
// before other packages begin: with Go's own setting it ran twice while they did, which
// was a quarter of the time of a short command.
//
// Go begins the packages whose imports have begun in the order of their paths. So this one
// imports little, and its path comes before that of nearly all libraries.
package gcpercent

import (
	"os"
	"runtime/debug"
)

// percent lets the little that lives between requests be collected rarely. What the server
// takes is limited otherwise (cmd/memory.go).
const percent = 400

func init() {
	if !SetOutside() {
		debug.SetGCPercent(percent)
	}
}

// SetOutside reports whether GOGC or GOMEMLIMIT is set, which go before what we choose.
func SetOutside() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }
