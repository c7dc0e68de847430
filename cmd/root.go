// Package cmd is the command line, and the only place where the parts of
// Countersign are put together.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set when the binary is built.
var version = "dev"

// failureCode is the annotation that names a command's exit code for errors that
// bring none of their own; where it is missing that is 1.
const failureCode = "failure-code"

// exitError is an error that knows the exit code of the process.
type exitError struct {
	code int
	err  error // nil: what there was to say has been said
}

func (e *exitError) Error() string {
	if e.err == nil {
		return "exit " + strconv.Itoa(e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitWith is err with an exit code.
func exitWith(code int, err error) error { return &exitError{code, err} }

// Execute runs the command line of the process and returns its exit code. The
// first SIGINT, SIGTERM or SIGHUP ends the command's context, a second one kills.
func Execute() int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	context.AfterFunc(ctx, stop)
	collectRarely()
	root := newRoot()
	ran, err := root.ExecuteContextC(ctx)
	return report(ran, err)
}

// report prints the error of a command and picks the exit code.
func report(ran *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{code: 1, err: err}
		if n, convErr := strconv.Atoi(ran.Annotations[failureCode]); convErr == nil {
			exit.code = n
		}
	}
	if exit.err != nil {
		fmt.Fprintf(ran.ErrOrStderr(), "countersign: %s\n", plain(exit.err.Error()))
	}
	return exit.code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "countersign",
		Short: "The second signature for what AI agents do",
		Long: "Countersign gives the second signature to what AI agents do: an agent asks,\n" +
			"a person looks and decides, and the agent goes on, or does not.",
		Version:           version,
		Args:              cobra.NoArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.AddCommand(
		newServe(), newDemo(), newDemoAgent(), newAsk(), newMCP(), newNote(), newIngest(), newHook(), newConnect(), newDisconnect(),
		newUser(), newGroup(), newToken(), newRequest(), newPolicy(), newStop(), newAudit(), newMigrate(), newUpstream(), newWebhook(), newSetupLink(), newBackup(), newRestore(), newPurge(), newDoctor(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	refuseUnknownCommands(root)
	return root
}
