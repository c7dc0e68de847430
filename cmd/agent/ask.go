package agent

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"countersign/cmd/remote"
	"countersign/cmd/terminal"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// The exit codes of `ask`; 0 is approved.
const (
	exitRejected    = 1
	exitLapsed      = 2 // expired, cancelled, or past its deadline while no server answered
	exitInterrupted = 130
)

// askOptions are what the flags and the environment say.
type askOptions struct {
	input, description, template, server, token string
	preview, previewFile                        string
	timeout, connect                            time.Duration
	asJSON                                      bool
}

// Ask is the command that asks for approval and waits for the decision.
func Ask() *cobra.Command {
	var o askOptions
	c := &cobra.Command{
		Use:   "ask TOOL",
		Short: "Ask for approval and wait until somebody has decided",
		Long: "Ask for approval and wait, through restarts of the server, until somebody has\n" +
			"decided:\n\n" +
			"    countersign ask deploy --description \"1.4 to production\" && ./deploy.sh\n\n" +
			"COUNTERSIGN_SERVER is the server's address and COUNTERSIGN_TOKEN an agent's token.\n\n" +
			"Exit codes: 0 approved; 1 rejected; 2 expired or cancelled; 3 no server answered;\n" +
			"4 anything else; standard error says what. Ctrl-C (130) leaves the request open.\n" +
			"Where the conversation's energy budget is spent, it waits for the request for more and\n" +
			"then asks again; if that is rejected (1) or expires (2), nothing was asked.\n" +
			"A reviewer's question is printed to standard error once: answer it with\n" +
			"`countersign note`. The command keeps waiting.\n" +
			"Only with --json can a reviewer approve another input, which it prints. Without it a\n" +
			"script would run the old one: a reviewer rejects and suggests the other (exit code 1).",
		Args:        cobra.ExactArgs(1),
		Annotations: map[string]string{terminal.FailureCode: fmt.Sprint(remote.ExitOther)},
	}
	c.Flags().StringVar(&o.input, "input", "{}", "what the tool is called with: JSON, @FILE, or - for standard input")
	c.Flags().StringVar(&o.description, "description", "", "what it is about, for the reviewer")
	c.Flags().StringVar(&o.preview, "preview", "",
		"what will happen, such as a plan, at most 16 KiB: the reviewer is shown it as your claim")
	c.Flags().StringVar(&o.previewFile, "preview-file", "", "the preview from a file, or - for standard input")
	c.Flags().StringVar(&o.template, "template", "",
		"a template of the policy, which can only make the request stricter: it waits for a person")
	c.Flags().DurationVar(&o.timeout, "timeout", 0,
		"how long to wait for a decision, such as 10m, unless a rule of the policy says (default: the policy's)")
	c.Flags().DurationVar(&o.connect, "connect-timeout", 30*time.Second,
		"how long to try a server that has not answered once")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print the outcome as JSON")
	remote.AddFlag(c.Flags(), &o.server)
	c.RunE = func(c *cobra.Command, args []string) error {
		req, err := o.request(c, args[0])
		if err != nil {
			return err
		}
		return newAsking(o, c.OutOrStdout(), c.ErrOrStderr()).run(c.Context(), req)
	}
	return c
}

// request completes the options from the environment and makes the request. It
// has a key of its own always, so that every repeat is the same request.
func (o *askOptions) request(c *cobra.Command, tool string) (wire.AskRequest, error) {
	var wrong []error
	var err error
	if o.server, o.token, err = remote.Server(o.server); err != nil {
		wrong = append(wrong, err)
	}
	if c.Flags().Changed("timeout") && o.timeout < time.Second {
		wrong = append(wrong, errors.New("--timeout: must be at least 1s"))
	}
	if o.connect <= 0 {
		wrong = append(wrong, errors.New("--connect-timeout: must be positive"))
	}
	if o.previewFile == "-" && o.input == "-" {
		return wire.AskRequest{}, errors.Join(append(wrong,
			errors.New("--preview-file: standard input is already used for --input"))...)
	}
	input, err := readInput(c.InOrStdin(), o.input)
	if err != nil {
		wrong = append(wrong, fmt.Errorf("--input: %w", err))
	}
	preview, err := o.readPreview(c.InOrStdin())
	if err != nil {
		wrong = append(wrong, err)
	}
	req := wire.AskRequest{
		ApprovalID: string(models.NewID[models.ResponseID]()),
		ToolName:   tool, Input: input, Explanation: wire.Explanation{Description: o.description, Preview: preview},
		Template:     o.template,
		AcceptsEdits: o.asJSON,
	}
	if o.timeout > 0 {
		seconds := int64((o.timeout + time.Second - 1) / time.Second)
		req.TimeoutSeconds = &seconds
	}
	return req, errors.Join(wrong...)
}

// readPreview is the preview as given, or from where the flag says.
func (o *askOptions) readPreview(stdin io.Reader) (string, error) {
	if o.previewFile == "" {
		return o.preview, checkPreview("--preview", o.preview)
	}
	if o.preview != "" {
		return "", errors.New("--preview-file: send one of --preview and --preview-file")
	}
	raw, err := terminal.ReadFile(stdin, o.previewFile, models.MaxPreview)
	if err != nil {
		return "", fmt.Errorf("--preview-file: %w", err)
	}
	return string(raw), checkPreview("--preview-file", string(raw))
}

func checkPreview(flag, text string) error {
	if len(text) > models.MaxPreview {
		return fmt.Errorf("%s: must have at most %d bytes", flag, models.MaxPreview)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s: must be valid UTF-8", flag)
	}
	return nil
}

// readInput takes JSON as given, from a file, or from standard input.
func readInput(stdin io.Reader, text string) ([]byte, error) {
	raw := []byte(text)
	if path, isFile := strings.CutPrefix(text, "@"); isFile || text == "-" {
		var err error
		if raw, err = terminal.ReadFile(stdin, path, models.MaxBody); err != nil {
			return nil, err
		}
	}
	if _, err := models.CanonicalJSON("--input", raw); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "The request is not valid. "))
	}
	return raw, nil
}
