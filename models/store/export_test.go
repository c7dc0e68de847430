package store

import "countersign/models"

// SeenBy is seenBy, for tests that hold it equal to models.Actor.Sees.
func SeenBy(actor models.Actor, name string) (text string, args []any) {
	p := seenBy(actor, name)
	return p.Text, p.Args
}

// TrustRemembered ends the comparison of what is remembered, for benchmarks.
func TrustRemembered() { checkRemembered, checkKnown = nil, nil }
