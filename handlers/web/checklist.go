package web

import (
	"net/url"
	"strconv"

	"countersign/models"
	"countersign/views/pages"
)

// readTicks are the items of a checklist that were ticked; what is no number names none.
func readTicks(values url.Values) []int {
	var out []int
	for _, text := range values[pages.CheckedField] {
		if n, err := strconv.Atoi(text); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// tickedFirst refuses an approval before it is asked to be confirmed, where the checklist is
// not ticked. The store judges it again, and says who may not approve at all.
func tickedFirst(actor models.Actor, a *models.Approval, checked []int) error {
	if !a.MayApprove(actor.Voter()) {
		return nil
	}
	_, err := a.Ticks(checked)
	return err
}
