package data

import (
	"fmt"
	"strings"
	"time"

	"countersign/cmd/terminal"
	"countersign/models"
)

// What helps where a folder has another key file than the one that its secrets were sealed with.
const (
	SetKeyAnew = "copy " + models.KeyFile +
		" from the data folder that it was made in, or run `countersign upstream set-key NAME` for each"
	AddChannelAgain = "copy " + models.KeyFile +
		" from the data folder that it was made in, or have the channels removed and added again"
)

// FaultLines names the first faults, one a line.
func FaultLines(found *models.RowReport, most int) string {
	var b strings.Builder
	for _, f := range found.Faults[:min(most, len(found.Faults))] {
		b.WriteString(terminal.Plain(f.String()) + "\n")
	}
	if more := found.Found - int64(min(most, len(found.Faults))); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String()
}

// ClockSlack is how far two looks at one clock may seem apart.
const ClockSlack = time.Minute
