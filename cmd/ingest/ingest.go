package ingest

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/remote"
	"countersign/cmd/terminal"
	"countersign/models"
)

// ingestOptions are what the flags and the environment say.
type ingestOptions struct {
	run, parent   string
	onReject      string // cascade or continue; empty: as the run has it, and cascade if it has nothing
	server, token string
	spool         string        // folder; empty: none was found
	drain         time.Duration // how long to go on handing over once the run has ended
}

// Command passes a coding agent's output on and reports the run in it.
func Command() *cobra.Command {
	var o ingestOptions
	c := &cobra.Command{
		Use:   "ingest --run-id RUN",
		Short: "Show a coding agent's run live, from the stream-json it prints",
		Long: "Read what a coding agent prints, pass it on unchanged, and report the run to the\n" +
			"server, where it is shown live:\n\n" +
			"    agent -p \"...\" --output-format stream-json --verbose | countersign ingest --run-id nightly-7\n\n" +
			"COUNTERSIGN_SERVER is the server's address and COUNTERSIGN_TOKEN an agent's token.\n\n" +
			"If the server is away, the agent goes on: events are kept in a file and sent when the\n" +
			"server is back, or by the next ingest of the same run:\n\n" +
			"    countersign ingest --run-id nightly-7 </dev/null\n\n" +
			"A signal does not stop it before the agent's output ends; a second one does.\n\n" +
			"It reads the stream-json of Claude Code, Gemini CLI and Cursor. Lines that it can't read\n" +
			"are counted, and shown on standard error and on the run.\n\n" +
			"Exit codes: 0 the whole run was reported; 3 no server answered, and the rest is\n" +
			"kept; 4 a part was lost or could not be read, or anything else; standard error says what.",
		Args:        cobra.NoArgs,
		Annotations: map[string]string{terminal.FailureCode: fmt.Sprint(remote.ExitOther)},
	}
	c.Flags().StringVar(&o.run, "run-id", "", "your name for the run; the same name is the same conversation")
	c.Flags().StringVar(&o.parent, "parent", "", "the run that started this one")
	c.Flags().StringVar(&o.onReject, "on-reject", "",
		"what a rejection does to the calls queued after it: cascade rejects them too, continue asks about each (default cascade, unless it was chosen before)")
	c.Flags().StringVar(&o.spool, "spool", "",
		"the folder in which to keep what could not be sent (default: in the user's cache folder)")
	c.Flags().DurationVar(&o.drain, "drain-timeout", 30*time.Second,
		"how long to try to send the rest once the agent's output has ended")
	remote.AddFlag(c.Flags(), &o.server)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := o.complete(); err != nil {
			return err
		}
		// Who reads the output may leave; the agent and its record do not end with it.
		signal.Ignore(syscall.SIGPIPE)
		return newIngesting(o, c.OutOrStdout(), c.ErrOrStderr()).run(c.Context(), c.InOrStdin())
	}
	return c
}

// complete takes from the environment what the flags leave open, and says all
// that is wrong at once.
func (o *ingestOptions) complete() error {
	var wrong []error
	if o.run == "" {
		wrong = append(wrong, errors.New("--run-id: must name the run"))
	} else if models.CheckKey("", o.run) != nil {
		wrong = append(wrong,
			fmt.Errorf("--run-id: must be at most %d bytes of text without control characters", models.MaxName))
	}
	if o.parent != "" && models.CheckKey("", o.parent) != nil {
		wrong = append(wrong,
			fmt.Errorf("--parent: must be at most %d bytes of text without control characters", models.MaxName))
	}
	switch o.onReject {
	case "", models.OnRejectCascade, models.OnRejectContinue:
	default:
		wrong = append(wrong, errors.New("--on-reject: must be cascade or continue"))
	}
	var err error
	if o.server, o.token, err = remote.Server(o.server); err != nil {
		wrong = append(wrong, err)
	}
	if o.drain <= 0 {
		wrong = append(wrong, errors.New("--drain-timeout: must be positive"))
	}
	if o.spool == "" {
		if cache, err := os.UserCacheDir(); err == nil {
			o.spool = filepath.Join(cache, "countersign", "runs")
		}
	}
	return errors.Join(wrong...)
}
