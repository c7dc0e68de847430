package policies

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"countersign/models/policy"
)

// shownMatches is how many tools a sentence names.
const shownMatches = 12

// NewToolMatches says of each line of a rule's tools which tools it matches that were seen.
func NewToolMatches(lines, effect string, seen policy.Usage) []string {
	var out []string
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if len(out) == shownMatches {
			return append(out, "Matches of the other lines are not shown.")
		}
		m, problem := policy.ToolMatches(line, effect == string(policy.EffectAllow), seen.Tools)
		if problem != "" {
			out = append(out, "“"+line+"” "+problem+".")
			continue
		}
		out = append(out, matchesSpoken(line, m))
	}
	return out
}

func matchesSpoken(line string, m policy.Matches) string {
	text := fmt.Sprintf("“%s” matches no tool seen in the last %d days", line, policy.UsageDays)
	switch n := len(m.Hit); {
	case n == 1:
		text = fmt.Sprintf("“%s” matches 1 tool seen in the last %d days: %s", line, policy.UsageDays, m.Hit[0])
	case n > 1:
		text = fmt.Sprintf("“%s” matches %d tools seen in the last %d days: %s", line, n, policy.UsageDays, listShort(m.Hit))
	}
	if len(m.Misses) > 0 {
		text += "; it narrowly misses " + listShort(m.Misses)
	}
	return text + "."
}

func listShort(names []string) string {
	shown := slices.Clone(names[:min(len(names), shownMatches)])
	if rest := len(names) - len(shown); rest > 0 {
		shown = append(shown, "and "+strconv.Itoa(rest)+" more")
	}
	return strings.Join(shown, ", ")
}
