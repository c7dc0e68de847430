package policies

import (
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/policy"
)

// SignersRow is one entry of those who must sign, as a form shows it.
type SignersRow struct{ Count, From, Minutes string }

// The fields of a row beside its names, which have the member's own name.
const (
	SignersCount   = "approvals_count"
	SignersMinutes = "approvals_minutes"
)

// spareSigners is how many empty rows there are for more entries.
const spareSigners = 2

// signersRows are the rows of what the draft says, with empty ones behind. A line that says nothing of the kind stays
// as it is.
func signersRows(in RuleInput) []SignersRow {
	var out []SignersRow
	for _, line := range lines(in.Form["approvals"]) {
		row := SignersRow{From: line}
		if s, ok := policy.ReadSigners(line); ok {
			row = SignersRow{Count: strconv.Itoa(s.Count), From: strings.Join(s.From, ", ")}
			if s.Minutes != 0 {
				row.Minutes = strconv.Itoa(s.Minutes)
			}
		}
		if line != "" {
			out = append(out, row)
		}
	}
	spare := spareSigners
	if in.MoreSigners {
		spare += spareSigners
	}
	for range spare {
		out = append(out, SignersRow{})
	}
	return out
}

// Line is the row as a line of the draft; empty: nothing was typed.
func (r SignersRow) Line() string {
	from := strings.TrimSpace(r.From)
	switch {
	case strings.TrimSpace(r.Count) == "" && strings.TrimSpace(r.Minutes) == "":
		return from
	case strings.TrimSpace(r.Minutes) == "":
		return strings.TrimSpace(r.Count) + ": " + from
	}
	return strings.TrimSpace(r.Count) + ": " + from + "; " + strings.TrimSpace(r.Minutes) + " minutes"
}

// signersSay reads back who must sign: “2 of finance and 1 of oncall, in this order; the agent's owner never counts”.
// Empty: no one is named.
func signersSay(form policy.Form) string {
	var entries []string
	for _, line := range lines(form["approvals"]) {
		s, ok := policy.ReadSigners(line)
		if !ok {
			continue
		}
		from := make([]string, len(s.From))
		for i, who := range s.From {
			from[i] = reviewerName(who)
		}
		text := strconv.Itoa(s.Count) + " of " + strings.Join(from, ", ")
		if s.Minutes > 0 {
			text += " within " + strconv.Itoa(s.Minutes) + " minutes"
		}
		entries = append(entries, text)
	}
	if len(entries) == 0 {
		return ""
	}
	word := " and "
	if form["any"] == "true" {
		word = " or "
	}
	last := len(entries) - 1
	out := entries[last]
	if last > 0 {
		out = strings.Join(entries[:last], ", ") + word + out
	}
	if form["stages"] == "true" && last > 0 {
		out += ", in this order"
	}
	switch models.SelfApproval(form["self_approval"]) {
	case models.SelfNever:
		out += "; the agent's owner never counts"
	case models.SelfNotAlone:
		out += "; the agent's owner never counts alone"
	case models.SelfAllowed:
	default:
		if models.Risk(form["risk"]).NeedsDigest() {
			out += "; the agent's owner never counts"
		}
	}
	return out
}
