package api

import (
	"encoding/json"

	"countersign/models"
)

// inputOf is the input of a request as every surface tells it: what runs. Where
// another system asks with another input than its agent reported, the first is the
// other system's, and reported is the agent's; reported is nil elsewhere. An input that was removed
// is none: the mark in its place is nothing to run.
func inputOf(a *models.Approval) (input, reported json.RawMessage) {
	if a.IsRemoved() {
		return nil, nil
	}
	other, ok := a.OtherInput()
	if !ok {
		return rawOf(a.ToolInputJSON), nil
	}
	if _, err := models.CanonicalJSON("input", []byte(other)); err == nil {
		return json.RawMessage(other), rawOf(a.ToolInputJSON)
	}
	quote, err := json.Marshal(other) // kept cut, or JSON that may be read in two ways
	if err != nil {
		return nil, rawOf(a.ToolInputJSON)
	}
	return quote, rawOf(a.ToolInputJSON)
}
