package inputs

import (
	"countersign/models"
	"countersign/views"
)

// RemovedText says that contents were removed, by the mark in their place; empty where they were not.
func RemovedText(mark *string) string {
	if mark == nil {
		return ""
	}
	return "The contents were " + models.RevealString(*mark, false) +
		". Names, times, the outcome and the digest are kept."
}

// RemovedNotes says the same as a note; none where nothing was removed.
func RemovedNotes(mark *string) []Note {
	if mark == nil {
		return nil
	}
	return []Note{{views.ToneNeutral, RemovedText(mark)}}
}
