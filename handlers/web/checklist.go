package web

import (
	"context"
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
func (s *Site) tickedFirst(ctx context.Context, actor models.Actor, a *models.Approval, checked []int) error {
	_, wrong := a.Ticks(checked)
	if wrong == nil {
		return nil
	}
	rights, err := s.store.Rights(ctx, actor, a)
	if err != nil || !rights[a.ID].MayApprove {
		return err
	}
	return wrong
}
