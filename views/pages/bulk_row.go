package pages

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign/models"
)

// briefInput is where lists cut inputs, in characters: one as long as that may go
// on, so nobody has seen all of it.
const briefInput = 4096

// NotInBulk says why a request is decided by itself and never together with
// others; empty: it may be.
func NotInBulk(a *models.Approval) string {
	switch {
	case a.Kind == models.KindQuestion:
		return "A question is answered by itself."
	case a.Risk == models.RiskCritical:
		return "Critical requests are decided one by one."
	case a.UpstreamID != nil:
		return "What another system asks is decided by itself: it runs what it asks with."
	case a.HeldUntil != nil:
		return "A verdict on it is on its way already."
	case a.OpenNote != nil:
		return "It waits for an answer to what was asked back."
	case utf8.RuneCountInString(a.ToolInputJSON) >= briefInput || utf8.RuneCountInString(a.Content) >= briefInput || len(Folds(&a.Response)) > 0:
		return "Parts of it are folded: open it, and look at all of it first."
	}
	return ""
}

// capital writes the first letter large.
func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + strings.TrimPrefix(s, string(first))
}
