package audit

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/models"
)

// printVerified shows the report. Names and ids in it are others' words.
func printVerified(w io.Writer, found *models.RowReport, rows, asJSON bool) error {
	if asJSON {
		out := map[string]any{"ok": found.Found == 0, "entries": found.Head.Seq, "head": found.Head.String()}
		if rows {
			out["rows"] = found.Checked
			out["not_covered"] = found.NotCovered
			out["not_compared"] = found.NotCompared
			out["faults"] = append([]models.RowFault{}, found.Faults...)
			out["found"] = found.Found
		}
		return terminal.PrintJSON(w, out)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the ledger is whole: %d entries, head %s\n", found.Head.Seq, found.Head)
	if rows {
		fmt.Fprintf(&b, "%d rows and parts of the schema compared: %d differ, %d not covered\n", found.Rows(), found.Found,
			found.Uncovered())
		for _, what := range slices.Sorted(maps.Keys(found.NotCovered)) {
			fmt.Fprintf(&b, "not covered: %d %s\n", found.NotCovered[what], what)
		}
		for _, what := range slices.Sorted(maps.Keys(found.NotCompared)) {
			fmt.Fprintf(&b, "not compared: %d rows of %s\n", found.NotCompared[what], what)
		}
		b.WriteString(data.FaultLines(found, len(found.Faults)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
