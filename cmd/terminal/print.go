package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"countersign/models"
)

// Plain is untrusted text as a terminal may show it (I13).
func Plain(s string) string { return models.RevealString(s, true) }

// PrintTable writes rows under a header, every cell on one line.
func PrintTable(w io.Writer, header []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(header, "\t"))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = models.RevealName(cell)
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

// PrintList writes a list, for programs or as a table.
func PrintList(w io.Writer, asJSON bool, list any, header []string, rows [][]string) error {
	if asJSON {
		return PrintJSON(w, list)
	}
	return PrintTable(w, header, rows)
}

// PrintJSON writes v for programs: exact and indented.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// FormatTime is how lists show a time; "-" for none.
func FormatTime(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// TheirLines are what somebody else wrote, which must not pass for a line of ours.
func TheirLines(text string) string { return strings.ReplaceAll(Plain(text), "\n", "\n    ") }
