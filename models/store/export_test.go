package store

import (
	"time"

	"countersign/models"
	"countersign/models/requests"
)

// In tests nobody reads again by chance: who is not told is not told.
func init() { rereadEvery = time.Hour }

// SeenBy is seenBy, for tests that hold it equal to models.Actor.Sees.
func SeenBy(actor models.Actor, name string) (text string, args []any) {
	p := requests.SeenBy(actor, name)
	return p.Text, p.Args
}
