package pages

import (
	"countersign/models"
	"countersign/views"
)

// removedText says that contents were removed, by the mark that stands in their
// place; empty where they were not.
func removedText(mark *string) string {
	if mark == nil {
		return ""
	}
	return "The contents were " + models.RevealString(*mark, false) + ". Names, times, the outcome and the digest are kept."
}

func removedNotes(mark *string) []CallNote {
	if mark == nil {
		return nil
	}
	return []CallNote{{views.ToneNeutral, removedText(mark)}}
}
