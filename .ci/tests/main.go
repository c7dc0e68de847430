// Command tests runs all tests of the repository, each once: with the race detector where
// things are done at once, and without it, which takes less than half as long, where one thing is
// done after another, for there it finds nothing. Which is which it reads from their source.
//
//	tests packages … -- go test flags …   runs them
//	tests packages …                      lists how each runs, and why
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"syscall"
)

// split are the folders whose tests are told apart one by one. In the others all have the race
// detector if any needs it: to link another program takes as long as would be gained.
var split = []string{
	"cmd", // some read all documents by regular expressions
	"handlers/api", "handlers/web", "models/store",
	"workers/notify", // some count the messages of thousands of rounds
}

// How the tests of a folder run.
type way int

const (
	noTests way = iota
	allPlain
	eachByItself
	allWithDetector
)

func (f *folder) way(all []*folder) way {
	switch {
	case f.size == 0:
		return noTests
	case f.doesNothingAtOnce(all):
		return allPlain
	case slices.Contains(split, f.name()):
		return eachByItself
	}
	return allWithDetector
}

// A run is one call of go test.
type run struct {
	flags    []string
	packages []string
	takes    int64 // about, to begin with the longest
}

// plan says which calls of go test have each test run once. A split folder has calls of its own:
// the names of its tests are part of what Go's cache goes by, and a new one would have other
// folders' tests run again.
func plan(all []*folder) []run {
	race, plain := run{flags: []string{"-race", "-p=2"}}, run{flags: []string{"-p=2"}}
	var runs []run
	for _, f := range all {
		switch f.way(all) {
		case noTests:
		case allPlain:
			plain.packages, plain.takes = append(plain.packages, f.ImportPath), plain.takes+f.size
		case eachByItself:
			names := "^(" + strings.Join(f.tests.tests(false), "|") + ")$"
			runs = append(runs,
				run{[]string{"-race", "-skip=" + names}, []string{f.ImportPath}, 2 * f.size},
				run{[]string{"-run=" + names}, []string{f.ImportPath}, f.size})
		case allWithDetector:
			race.packages, race.takes = append(race.packages, f.ImportPath), race.takes+2*f.size
		}
	}
	for _, r := range []run{race, plain} {
		if len(r.packages) > 0 {
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(b.takes, a.takes) })
	return runs
}

// name is a folder as it is called in the repository.
func (f *folder) name() string { return path.Join(strings.Split(f.ImportPath, "/")[1:]...) }

func main() {
	patterns, goTest := os.Args[1:], []string(nil)
	if end := slices.Index(patterns, "--"); end >= 0 {
		patterns, goTest = patterns[:end], patterns[end+1:]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	all, err := folders(ctx, ".", patterns...)
	failed := err != nil
	switch {
	case failed:
		fmt.Fprintln(os.Stderr, err)
	case goTest == nil:
		list(all)
	default:
		failed = runAll(ctx, goTest, plan(all), os.Stdout)
	}
	stop()
	if failed {
		os.Exit(1)
	}
}

func list(all []*folder) {
	for _, f := range all {
		switch f.way(all) {
		case noTests:
		case allPlain:
			fmt.Printf("plain %s\n", f.name())
		case eachByItself:
			for _, test := range f.tests.tests(false) {
				fmt.Printf("plain %s %s\n", f.name(), test)
			}
			for _, test := range f.tests.tests(true) {
				fmt.Printf("race  %s %s: %s\n", f.name(), test, f.tests.why(test))
			}
		case allWithDetector:
			fmt.Printf("race  %s\n", f.name())
		}
	}
}
