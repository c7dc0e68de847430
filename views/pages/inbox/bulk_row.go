package inbox

import (
	"strings"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views/pages/inputs"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// PartInBulk is the part of a request that is opened inside the confirmation of
// several: all of its source.
const PartInBulk = "in-bulk"

// NotInBulk says why a verdict on a request is not given together with others;
// empty: it may be. Rejecting many does no harm and is not limited.
func NotInBulk(a *models.Approval, verdict models.Verdict) string {
	switch {
	case a.HeldUntil != nil:
		return "Another decision on it is being sent."
	case verdict == models.VerdictReject:
		return ""
	case a.Kind == models.KindQuestion:
		return "Questions can't be answered in bulk."
	case a.ChecklistJSON != "":
		return "Requests with a checklist can't be bulk-approved."
	case a.Risk.NeedsDigest():
		return words.Capitalize(string(a.Risk)) + "-risk requests can't be bulk-approved."
	case a.InputBytes != nil:
		return "Only the beginning of its input is kept, so it can only be rejected."
	case a.DrawnInPart():
		return "Its input is too long to be shown whole, so it is decided alone."
	case a.UpstreamID != nil:
		return "Requests from another system can't be bulk-approved."
	case a.OpenNote != nil:
		return "It is waiting for an answer to a question."
	}
	return ""
}

// LookFirst says why a request is left out of an approval of several until somebody
// has opened it there; none: its line says all.
func LookFirst(a *models.Approval, twin *models.Twin, asksAgain bool) []string {
	var out []string
	l := headline.Shown(&a.Response)
	if l.Cut {
		out = append(out, "Its summary is cut off.")
	}
	if len(l.Hidden) > 0 {
		names := make([]string, 0, len(l.Hidden))
		for _, name := range l.Hidden {
			names = append(names, models.RevealString(name, false))
		}
		text := "Its summary does not show " + strings.Join(names, ", ")
		if l.More > 0 {
			text += " and " + requestsOf(l.More, "more argument", "more arguments")
		}
		out = append(out, text+".")
	}
	if !l.Cut && !ui.PartsFit(l.Lead, l.Tail) {
		out = append(out, "It is cut off in the list.")
	}
	if len(inputs.Warnings(a, "", inputs.New(&a.Response, inputs.Folding{}))) > 0 || twin != nil && a.TwinWarns(*twin) ||
		asksAgain {
		out = append(out, "It has a warning.")
	}
	if len(inputs.Folds(&a.Response, "")) > 0 {
		out = append(out, "It is too long to show here.")
	}
	return out
}
