package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"countersign/models"
	"countersign/models/store"
)

// The exit codes of `audit verify`.
const (
	exitBroken    = 1 // the chain is not what it was
	exitUnchecked = 2 // nothing can be said about it
)

func newAudit() *cobra.Command {
	c := &cobra.Command{Use: "audit", Short: "Check and export the ledger", Args: cobra.NoArgs}
	c.AddCommand(newAuditVerify(), newAuditExport())
	return c
}

func newAuditVerify() *cobra.Command {
	var head string
	c := &cobra.Command{
		Use:   "verify [--head SEQ:HASH]",
		Short: "Check that no entry of the ledger was changed, swapped or taken away",
		Long: "Check that no entry of the ledger was changed, swapped or taken away.\n\n" +
			"Whoever can write the file can make a whole new chain. To find that, keep the head\n" +
			"elsewhere (the server logs it each hour and when it stops, and this command prints\n" +
			"it) and give it with --head.\n\n" +
			"Exit codes: 0 the chain is whole, 1 it is not (the first bad entry is named),\n" +
			"2 it could not be checked.",
		Args:        cobra.NoArgs,
		Annotations: map[string]string{failureCode: fmt.Sprint(exitUnchecked)},
	}
	c.Flags().StringVar(&head, "head", "", "a head that was kept, as SEQ:HASH")
	return dataCommand(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		var kept *models.Head
		if head != "" {
			h, err := models.ParseHead(head)
			if err != nil {
				return err
			}
			kept = &h
		}
		at, err := s.VerifyLedger(c.Context(), kept)
		if broken, ok := errors.AsType[*models.ChainError](err); ok {
			return exitWith(exitBroken, broken)
		}
		if err != nil {
			return fmt.Errorf("the ledger could not be checked: %w", err)
		}
		fmt.Fprintf(c.OutOrStdout(), "the ledger is whole: %d entries, head %s\n", at.Seq, at)
		return nil
	})
}
