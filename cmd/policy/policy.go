package policy

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/handlers/api/client"
	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/models/store"
)

// Command shows, checks and applies the policy.
func Command() *cobra.Command {
	c := &cobra.Command{Use: "policy", Short: "Show and change what needs approval", Args: cobra.NoArgs}
	c.AddCommand(newPolicyShow(), newPolicyApply(), newPolicyCheck(), newPolicyImport())
	return c
}

func newPolicyShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show",
		Short: "Print the active policy document",
		Args:  cobra.NoArgs,
	}
	return orOnServer(data.Command(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		v, err := s.CurrentPolicy(c.Context())
		if err != nil {
			return err
		}
		doc, err := v.Program.Document().Marshal()
		if err != nil {
			return err
		}
		fmt.Fprintf(c.ErrOrStderr(), "version %d, by %s, %s\n", v.Version, terminal.Plain(v.AuthorName),
			v.CreatedAt.UTC().Format(time.DateTime+"Z"))
		fmt.Fprintln(c.OutOrStdout(), string(doc))
		return nil
	}), showPolicyOf)
}

func newPolicyApply() *cobra.Command {
	var o policyDocument
	var alone string
	c := &cobra.Command{
		Use:   "apply [FILE]",
		Short: "Make a new version of the policy from a document (- reads standard input)",
		Long: "Make a new version of the policy from a document. Members that it leaves out stay as they\n" +
			"are; lists, such as rules, are taken whole. With --replace they get their default values.\n\n" +
			"    countersign policy apply policy.json --note \"payments need a person\"\n" +
			"    countersign policy apply --set unmatched=require --set undo_seconds='{\"high\":10}'",
	}
	c.Flags().StringVar(&o.note, "note", "", "why it is changed, shown with the version")
	c.Flags().StringVar(&alone, "alone", "", "why it is changed without the admins who should agree (policy_approvals); all are told")
	o.flags(c)
	return orOnServer(data.First(c, func(c *cobra.Command, args []string, s *store.Store) error {
		before, err := s.CurrentPolicy(c.Context())
		if err != nil {
			return err
		}
		raw, err := o.overActive(c, args, before)
		if err != nil {
			return err
		}
		if alone != "" && models.Letters(alone) < models.MinGlassReason {
			return fmt.Errorf("--alone must have at least %d letters: why can't it wait for the other admins?", models.MinGlassReason)
		}
		after, err := s.ApplyPolicyAnd(c.Context(), data.Operator(), store.PolicyChange{
			Document: raw, Note: o.note, Base: before.Version, Signed: signedAlone(before, alone),
		})
		if err != nil {
			return err
		}
		doc := after.Program.Document()
		usage, err := drafts.New(s).Usage(c.Context(), data.Operator())
		if err != nil {
			return err
		}
		return tellApplied(c, before.Version, after.Version, before.Program.Document(), doc, policy.LintIn(doc, usage))
	}), func(c *cobra.Command, args []string, server *client.Client) error {
		if alone != "" {
			return errors.New("--alone is for those who hold the data folder: without it, use the page Policy")
		}
		return applyPolicyTo(c, args, server, &o)
	})
}

// signedAlone is the operator's word where several admins should agree to a change.
func signedAlone(before store.PolicyVersion, why string) (s models.PolicySigned) {
	if why != "" && before.Program.Document().SavedBy() > 1 {
		s = models.PolicySigned{Admins: []models.PersonRef{{Name: data.Operator().Name}}, Alone: why}
	}
	return s
}

// tellApplied says what a new version changes, and what in it is perhaps not meant.
func tellApplied(c *cobra.Command, before, after int64, was, is policy.Document, warnings []policy.Warning) error {
	out := c.OutOrStdout()
	if after == before {
		fmt.Fprintf(out, "version %d already says the same\n", before)
		return nil
	}
	fmt.Fprintf(out, "version %d is active\n", after)
	for _, ch := range policy.Diff(was, is) {
		fmt.Fprintf(out, "  %s: %s -> %s\n", terminal.Plain(ch.Path), terminal.Plain(ch.Before), terminal.Plain(ch.After))
	}
	for _, w := range warnings {
		fmt.Fprintf(c.ErrOrStderr(), "warning: %s: %s\n", terminal.Plain(w.Path), terminal.Plain(w.Text))
	}
	return nil
}

func newPolicyCheck() *cobra.Command {
	var o policyDocument
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say what is wrong with a document, and what may be a mistake (- reads standard input)",
		Long: "Say what is wrong with a policy document, and what may be a mistake, given the tools that agents asked about in the last 90 days and the people who may sign in. " +
			"It is read as `policy apply` reads it. Nothing is changed. It fails if the document could not be applied.",
	}
	o.flags(c)
	return orOnServer(data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		active, err := s.CurrentPolicy(c.Context())
		if err != nil {
			return err
		}
		raw, err := o.overActive(c, args, active)
		if err != nil {
			return err
		}
		doc, err := s.CheckPolicy(c.Context(), raw)
		if err != nil {
			return err
		}
		usage, err := drafts.New(s).Usage(c.Context(), data.Operator())
		if err != nil {
			return err
		}
		tellChecked(c, policy.LintIn(doc, usage))
		return nil
	}), func(c *cobra.Command, args []string, server *client.Client) error {
		return checkPolicyOn(c, args, server, &o)
	})
}

func tellChecked(c *cobra.Command, warnings []policy.Warning) {
	out := c.OutOrStdout()
	for _, w := range warnings {
		fmt.Fprintf(out, "%s: %s\n", terminal.Plain(w.Path), terminal.Plain(w.Text))
	}
	if len(warnings) == 0 {
		fmt.Fprintln(out, "the document is valid, and nothing in it looks like a mistake")
	}
}

// readDocument reads a file that may be standard input, up to one byte more than
// a document may have.
func readDocument(c *cobra.Command, path string) ([]byte, error) {
	raw, err := terminal.ReadFile(c.InOrStdin(), path, policy.MaxDocument)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	return raw, nil
}
