package policy

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"countersign/cmd/remote"
	"countersign/cmd/terminal"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models/policy"
)

// orOnServer lets a command that works on the data folder speak to a server instead, with
// --server.
func orOnServer(
	c *cobra.Command, do func(c *cobra.Command, args []string, server *client.Client) error,
) *cobra.Command {
	var server string
	c.Flags().StringVar(&server, "server", "",
		"use the server at this address, with the admin's token in COUNTERSIGN_TOKEN, instead of a data folder")
	local := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if server == "" {
			return local(c, args)
		}
		if c.Flags().Changed("data") {
			return errors.New("--server: can't be combined with --data")
		}
		address, token, err := remote.Server(server)
		if err != nil {
			return err
		}
		return remote.AnswerText(do(c, args, client.New(address, token)))
	}
	return c
}

func showPolicyOf(c *cobra.Command, _ []string, server *client.Client) error {
	v, err := server.Policy(c.Context())
	if err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "version %d, by %s, %s\n", v.Version, terminal.Plain(v.Author),
		v.SavedAt.UTC().Format(time.DateTime+"Z"))
	document := v.Document.Clone()
	if err := document.Format(jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("read the policy: %w", err)
	}
	fmt.Fprintln(c.OutOrStdout(), string(document))
	return nil
}

// applyPolicyTo makes a document the next version of a server's policy.
func applyPolicyTo(c *cobra.Command, args []string, server *client.Client, o *policyDocument) error {
	before, err := server.Policy(c.Context())
	if err != nil {
		return err
	}
	raw, err := o.over(c, args, before.Document)
	if err != nil {
		return err
	}
	after, err := server.ChangePolicy(c.Context(), before.Version, wire.PolicyChange{Document: raw, Note: o.note})
	if err != nil {
		return err
	}
	if after.Version == before.Version {
		return tellApplied(c, before.Version, after.Version, policy.Document{}, policy.Document{}, nil)
	}
	was, err := policy.ParseStored(before.Document)
	if err != nil {
		return fmt.Errorf("read the policy: %w", err)
	}
	is, err := policy.ParseStored(after.Document)
	if err != nil {
		return fmt.Errorf("read the policy: %w", err)
	}
	lint, err := server.LintPolicy(c.Context(), wire.PolicyDocument{Document: after.Document})
	if err != nil {
		return err
	}
	return tellApplied(c, before.Version, after.Version, was.Document(), is.Document(), warningsOf(lint))
}

func checkPolicyOn(c *cobra.Command, args []string, server *client.Client, o *policyDocument) error {
	active, err := server.Policy(c.Context())
	if err != nil {
		return err
	}
	raw, err := o.over(c, args, active.Document)
	if err != nil {
		return err
	}
	lint, err := server.LintPolicy(c.Context(), wire.PolicyDocument{Document: raw})
	if err != nil {
		return err
	}
	for _, p := range lint.Problems {
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", terminal.Plain(p.Path), terminal.Plain(p.Text))
	}
	if len(lint.Problems) > 0 {
		return errors.New("the document is not valid")
	}
	tellChecked(c, warningsOf(lint))
	return nil
}

func warningsOf(lint *wire.PolicyLinted) []policy.Warning {
	var out []policy.Warning
	for _, w := range lint.Warnings {
		out = append(out, policy.Warning{Path: w.Path, Text: w.Text})
	}
	return out
}
