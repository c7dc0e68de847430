package server

import (
	"context"
	"fmt"
	"log/slog"

	"countersign/models/upkeep"
)

// loggedFaults is how many rows that differ are named in the log; the command
// names all.
const loggedFaults = 20

// checkRows compares all rows with the ledger once a week.
func (a *App) checkRows(ctx context.Context) error {
	found, err := upkeep.New(a.store).CheckRowsIfDue(ctx)
	if err != nil {
		return fmt.Errorf("compare all rows with the ledger: %w", err)
	}
	if found == nil {
		return nil
	}
	if found.Found == 0 {
		a.log.InfoContext(ctx, "all rows match the ledger", slog.Int64("compared", found.Rows()),
			slog.Int64("not_covered", found.Uncovered()))
		return nil
	}
	for _, f := range found.Faults[:min(loggedFaults, len(found.Faults))] {
		a.log.ErrorContext(ctx, "a row does not match the ledger", slog.String("table", f.Table), slog.String("id", f.ID),
			slog.String("what", f.Text), slog.Int64("entry", f.Entry))
	}
	a.log.ErrorContext(ctx, "rows differ from the ledger: run `countersign audit verify --rows`",
		slog.Int64("found", found.Found))
	return nil
}
