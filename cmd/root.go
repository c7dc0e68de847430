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

	"countersign/cmd/agent"
	"countersign/cmd/audit"
	"countersign/cmd/connect"
	"countersign/cmd/data"
	"countersign/cmd/demo"
	"countersign/cmd/doctor"
	"countersign/cmd/ingest"
	"countersign/cmd/policy"
	"countersign/cmd/server"
	"countersign/cmd/terminal"
	"countersign/cmd/webhook"
)

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
	server.CollectRarely()
	root := newRoot()
	ran, err := root.ExecuteContextC(ctx)
	return report(ran, err)
}

// report prints the error of a command and picks the exit code.
func report(ran *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	var exit *terminal.ExitError
	if !errors.As(err, &exit) {
		exit = &terminal.ExitError{Code: 1, Err: err}
		if n, convErr := strconv.Atoi(ran.Annotations[terminal.FailureCode]); convErr == nil {
			exit.Code = n
		}
	}
	if exit.Err != nil {
		fmt.Fprintf(ran.ErrOrStderr(), "countersign: %s\n", terminal.Plain(exit.Err.Error()))
	}
	return exit.Code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "countersign",
		Short: "The second signature for what AI agents do",
		Long: "Countersign gives the second signature to what AI agents do: an agent asks,\n" +
			"a person looks and decides, and the agent goes on, or does not.",
		Version:           data.Version,
		Args:              cobra.NoArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.AddCommand(
		newServe(), demo.Command(), demo.Agent(), agent.Ask(), agent.MCP(), agent.Note(), ingest.Command(), agent.Hook(),
		connect.Command(), connect.Disconnect(),
		newUser(), newGroup(), newToken(), newRequest(), policy.Command(), newStop(), audit.Command(), newMigrate(),
		newUpstream(), webhook.Command(), newSetupLink(), newBackup(), newRestore(), newMove(), newPurge(), doctor.Command(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	refuseUnknownCommands(root)
	return root
}
