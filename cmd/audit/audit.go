package audit

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/models"
	"countersign/models/upkeep"
)

// The exit codes of `audit verify`.
const (
	exitBroken    = 1 // the chain is not what it was
	exitUnchecked = 2 // nothing can be said about it
)

// Command verifies and exports the ledger.
func Command() *cobra.Command {
	c := &cobra.Command{Use: "audit", Short: "Check and export the ledger", Args: cobra.NoArgs}
	c.AddCommand(newAuditVerify(), newAuditExport())
	return c
}

func newAuditVerify() *cobra.Command {
	var head string
	var rows, asJSON bool
	c := &cobra.Command{
		Use:   "verify [--head SEQ:HASH] [--rows]",
		Short: "Check that no entry of the ledger, and no row beside it, was changed or removed",
		Long: "Check that no entry of the ledger was changed, swapped or removed.\n\n" +
			"With --rows it also compares every request, vote, person, role, token, policy,\n" +
			"pre-approval and conversation with what the ledger says about it, and the schema with the migrations.\n" +
			"What entries of an older version cannot prove is counted as not covered.\n\n" +
			"A person who can write the file can make a whole new chain. To detect that, keep the head\n" +
			"elsewhere (the server logs it each hour and when it stops, and this command prints\n" +
			"it) and give it with --head.\n\n" +
			"It only reads, beside a running server or on a read-only volume.\n\n" +
			"Exit codes: 0 nothing was changed, 1 something was (the first bad entry, or each row, is\n" +
			"named), 2 it could not be checked.",
		Args:        cobra.NoArgs,
		Annotations: map[string]string{terminal.FailureCode: fmt.Sprint(exitUnchecked)},
	}
	c.Flags().StringVar(&head, "head", "", "a head that was kept, as SEQ:HASH")
	c.Flags().BoolVar(&rows, "rows", false, "compare all rows and the schema too")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return data.Inspect(c, func(c *cobra.Command, folder *upkeep.Inspection) error {
		var kept *models.Head
		if head != "" {
			h, err := models.ParseHead(head)
			if err != nil {
				return err
			}
			kept = &h
		}
		found, err := folder.Verify(c.Context(), kept, rows)
		if broken, ok := errors.AsType[*models.ChainError](err); ok {
			return terminal.Exit(exitBroken, broken)
		}
		if err != nil {
			return fmt.Errorf("the ledger could not be checked: %w", err)
		}
		if err := printVerified(c.OutOrStdout(), found, rows, asJSON); err != nil {
			return err
		}
		if found.Found > 0 {
			return terminal.Exit(exitBroken,
				fmt.Errorf("%d rows or parts of the schema do not match the ledger: keep this file as evidence, find out who could write it, and compare with a backup", found.Found))
		}
		return nil
	})
}
