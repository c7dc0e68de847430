package words

import (
	"strconv"

	"countersign/models"
	"countersign/views"
)

// KindTitle is what a request is called by its kind; empty: by its tool.
func KindTitle(k models.Kind) string {
	switch k {
	case models.KindQuestion:
		return "Question"
	case models.KindProposal:
		return "Proposal"
	case models.KindBudget:
		return "Budget request"
	case models.KindReply:
		return "Reply"
	case models.KindToolCall:
	}
	return ""
}

// Thousands writes a whole number by thousands; other text is returned unchanged.
func Thousands(n string) string {
	if i, err := strconv.ParseInt(n, 10, 64); err == nil {
		return views.Number(i)
	}
	return n
}
