package webtest

import (
	"fmt"

	"countersign/models"
)

// Bash is a command that another system asks about.
func Bash(call, run, command string) models.OutsideItem {
	return models.OutsideItem{CallID: call, RunID: run, Name: "Bash", Arguments: []byte(`{"command":"` + command + `"}`)}
}

// Ten are ten queued calls, of which 2, 3, 6, 9 are bash and 7 is a file write.
func Ten() []models.RunEvent {
	var out []models.RunEvent
	for i, tool := range []string{"Read", "Bash", "Bash", "Read", "Read", "Bash", "Write", "Read", "Bash", "Read"} {
		out = append(out, Queued(fmt.Sprintf("u%d", i+1), tool, fmt.Sprintf(`{"command":"step %d"}`, i+1)))
	}
	return out
}
