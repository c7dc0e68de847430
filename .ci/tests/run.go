package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// runAll runs two calls of go test at a time, prints the output of each in one piece, and at the
// end once more the lines that name what failed.
func runAll(ctx context.Context, goTest []string, runs []run, out io.Writer) (failed bool) {
	var (
		next    = make(chan run)
		workers sync.WaitGroup
		mu      sync.Mutex
		faults  []string
	)
	for range 2 {
		workers.Go(func() {
			for r := range next {
				said, err := call(ctx, slices.Concat(goTest, r.flags, r.packages))
				mu.Lock()
				_, _ = out.Write(said)
				if err != nil {
					faults = append(faults, fmt.Sprintf("go test %s: %v", strings.Join(r.packages, " "), err))
					faults = append(faults, failures.FindAllString(string(said), -1)...)
				}
				mu.Unlock()
			}
		})
	}
	for _, r := range runs {
		next <- r
	}
	close(next)
	workers.Wait()
	if len(faults) > 0 {
		fmt.Fprintf(out, "\nFailed, see above:\n%s\n", strings.Join(faults, "\n"))
	}
	return len(faults) > 0
}

// failures are the lines in which go test names a test or package that failed.
var failures = regexp.MustCompile(`(?m)^(\s*--- FAIL: .*|FAIL\t.*|WARNING: DATA RACE|panic: .*)$`)

// call runs a command. If it is to end early, so is all that it started: the tests, and their browsers.
func call(ctx context.Context, command []string) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // what the Makefile names
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	return said.Bytes(), err
}
