package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/models"
	"countersign/models/store"
	"countersign/models/upkeep"
)

func newPurge() *cobra.Command {
	var before, conversation string
	var dryRun, vacuum, anyway bool
	c := &cobra.Command{
		Use:   "purge --before DATE [--conversation ID] [--dry-run]",
		Short: "Remove the contents of requests and runs that have ended, beside a running server too",
		Long: "Remove inputs, texts, answers, results, edits, reasons, notes, messages and titles of\n" +
			"requests and runs that ended before DATE, for good. A mark in their place says when and by\n" +
			"whom they were removed. Names, ids, times, outcomes and digests stay, and the ledger names each\n" +
			"row, so that `countersign audit verify --rows` still proves all that is left. What is pending\n" +
			"is not touched. It compares all rows with the ledger first, which takes about a minute for a\n" +
			"million requests, and removes nothing if one differs.\n\n" +
			"    countersign purge --before 2026-01-31 --dry-run\n\n" +
			"DATE is a day (2026-01-31, from midnight UTC) or a time (2026-01-31T14:00:00Z).\n\n" +
			"The contents are then gone from the database and its write-ahead log, but not from older\n" +
			"backups. The digest of a short text can be guessed: a reader who knows what it may have been can\n" +
			"try.\n\n" +
			"The file keeps its size. --vacuum rewrites it: nothing can be written meanwhile, and it\n" +
			"takes as much free disk as the database does. Do it once for a database that was filled by a\n" +
			"version before this command, which did not overwrite what it deleted.",
		Args: cobra.NoArgs,
	}
	c.Flags().StringVar(&before, "before", "", "remove contents of what ended before this day or time")
	c.Flags().StringVar(&conversation, "conversation", "", "only of this conversation")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be removed, and remove nothing")
	c.Flags().BoolVar(&vacuum, "vacuum", false, "rewrite the database file afterwards, so that it shrinks")
	c.Flags().BoolVar(&anyway, "anyway", false, "even if rows do not match the ledger, which removes evidence")
	return data.Command(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		q, err := purgeQuery(before, conversation, dryRun)
		if err != nil {
			return err
		}
		p, err := upkeep.New(s).NewPurge(c.Context(), data.Operator(), q)
		if err != nil {
			return plainField(err)
		}
		if !dryRun && !anyway {
			if err := wholeRows(c.Context(), s); err != nil {
				return err
			}
		}
		report, err := p.All(c.Context())
		if err != nil {
			return err
		}
		out := c.OutOrStdout()
		printPurged(out, report, q)
		if dryRun {
			return nil
		}
		return cleanFiles(c.Context(), out, s, before, vacuum)
	})
}

// wholeRows refuses to remove possible evidence: a purge also removes any sign that a row had been altered before.
func wholeRows(ctx context.Context, s *store.Store) error {
	found, err := upkeep.New(s).VerifyRows(ctx, nil)
	if err != nil {
		return fmt.Errorf("nothing was removed, since the rows could not be compared with the ledger: %w", err)
	}
	if found.Found > 0 {
		return fmt.Errorf("nothing was removed: %d rows or parts of the schema do not match the ledger, and a purge would remove evidence. Run `countersign audit verify --rows`, keep a copy of the file, then use --anyway", found.Found)
	}
	return nil
}

// purgeQuery reads the flags, all of them before anything is removed.
func purgeQuery(before, conversation string, dryRun bool) (models.PurgeQuery, error) {
	q := models.PurgeQuery{DryRun: dryRun}
	var errs []error
	var err error
	if q.Before, err = parseDay(before); err != nil {
		errs = append(errs, err)
	}
	if conversation != "" {
		if q.Conversation, err = models.ParseID[models.ConversationID]("conversation", conversation); err != nil {
			errs = append(errs,
				errors.New("--conversation: must be the id of a conversation, a UUID, as its page's address has it"))
		}
	}
	return q, errors.Join(errs...)
}

// parseDay reads a day, which begins at midnight UTC, or a time with its zone.
func parseDay(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, errors.New("--before is missing: give a day such as 2026-01-31")
	}
	for _, form := range [...]string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errors.New("--before must be a day such as 2026-01-31, or a time such as 2026-01-31T14:00:00Z")
}

// plainField is an error of a field in the words of the command line.
func plainField(err error) error {
	if e, ok := errors.AsType[*models.Error](err); ok && e.Fields["before"] != "" {
		return errors.New("--before " + e.Fields["before"])
	}
	return err
}

// purgedWords are the tables as people say them, in the order of the report.
var purgedWords = [...]struct{ table, word string }{
	{"responses", "requests and replies"},
	{"votes", "decisions"},
	{"withdrawals", "reasons of decisions that were undone"},
	{"notes", "notes"},
	{"handovers", "notes of hand-overs"},
	{"messages", "messages"},
	{"turns", "model calls of the built-in agent"},
	{"budget_steps", "reasons of budget changes"},
	{"early_results", "results without a call"},
	{"outside_approvals", "items of other systems"},
	{"deliveries", "errors of other systems"},
	{"grants", "pre-approvals that have ended"},
	{"conversations", "titles of conversations"},
}

func printPurged(w io.Writer, r *models.PurgeReport, q models.PurgeQuery) {
	var b strings.Builder
	verb := "removed"
	if q.DryRun {
		verb = "would be removed"
	}
	fmt.Fprintf(&b, "contents of %d rows from before %s %s\n", r.Rows(), terminal.FormatTime(&q.Before), verb)
	for _, t := range purgedWords {
		if n := r.Removed[t.table]; n > 0 {
			fmt.Fprintf(&b, "%8d  %s\n", n, t.word)
		}
	}
	if r.Rows() > 0 {
		fmt.Fprintf(&b, "the oldest is from %s, the newest from %s\n", terminal.FormatTime(&r.Oldest),
			terminal.FormatTime(&r.Newest))
	}
	if r.Kept > 0 {
		fmt.Fprintf(&b,
			"%d requests differ from their digest and keep their contents as evidence: run `countersign audit verify --rows`\n",
			r.Kept)
	}
	b.WriteString("what stays: names, ids, times, outcomes, digests, settings, the ledger, and everything that is pending or newer\n")
	fmt.Fprint(w, b.String())
}

// cleanFiles removes the deleted contents from the files too, and reports which files may still hold some.
func cleanFiles(ctx context.Context, w io.Writer, s *store.Store, before string, vacuum bool) error {
	if vacuum {
		if err := upkeep.New(s).Vacuum(ctx); err != nil {
			return err
		}
	}
	done, err := upkeep.New(s).TruncateLog(ctx)
	if err != nil {
		return err
	}
	if !done {
		return errors.New("the contents are removed, but the write-ahead log could not be emptied, because it is being read all the time: it keeps them until this command is run again or the server is stopped")
	}
	fmt.Fprintln(w, "the write-ahead log is empty")
	free, err := upkeep.New(s).FreeBytes(ctx)
	if err == nil && free > 0 {
		fmt.Fprintf(w, "%s of the file are free and used again; to shrink it: countersign purge --before %s --vacuum\n",
			terminal.FormatSize(uint64(free)), before)
	}
	return err
}
