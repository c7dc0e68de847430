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

// signersSay reads back who must sign, as a form says it; empty: no one is named. Of its template's risk the form knows
// nothing.
func signersSay(form policy.Form) string {
	q := policy.Quorum{Any: form["any"] == "true", Stages: form["stages"] == "true"}
	for _, line := range lines(form["approvals"]) {
		if s, ok := policy.ReadSigners(line); ok {
			q.Approvals = append(q.Approvals, s)
		}
	}
	for _, who := range lines(form["break_glass"]) {
		if who != "" {
			q.BreakGlass = append(q.BreakGlass, who)
		}
	}
	return quorumSays(q, policy.SelfUnder(models.SelfApproval(form["self_approval"]), q, models.Risk(form["risk"])))
}

// quorumSays is who must sign, in words: “2 of finance and 1 of oncall, in this order; the agent's owner never counts”.
// Empty: no one is named.
func quorumSays(q policy.Quorum, self models.SelfApproval) string {
	if len(q.Approvals) == 0 {
		return ""
	}
	entries := make([]string, len(q.Approvals))
	for i, s := range q.Approvals {
		from := make([]string, len(s.From))
		for k, who := range s.From {
			from[k] = reviewerName(who)
		}
		if entries[i] = strconv.Itoa(s.Count) + " of " + strings.Join(from, ", "); s.Minutes > 0 {
			entries[i] += " within " + strconv.Itoa(s.Minutes) + " minutes"
		}
	}
	out := models.AllOf(entries)
	if q.Any {
		out = models.AnyOf(entries)
	}
	if q.Stages && len(entries) > 1 {
		out += ", in this order"
	}
	switch self {
	case models.SelfNever:
		out += "; the agent's owner never counts"
	case models.SelfNotAlone:
		out += "; the agent's owner never counts alone"
	case models.SelfAllowed:
	}
	if len(q.BreakGlass) > 0 {
		glass := make([]string, len(q.BreakGlass))
		for i, who := range q.BreakGlass {
			glass[i] = reviewerName(who)
		}
		out += "; in an emergency one of " + strings.Join(glass, ", ") + " alone"
	}
	return out
}
