package api

import (
	"errors"
	"strings"

	"countersign/models"
)

// toolFields are the members of this surface, by the names that the use cases
// have for them.
var toolFields = map[string]string{
	"toolUseId": "tool_use_id",
	"jobId":     "job_id",
	"toolName":  "tool_name",
	"input":     "tool_input",
	"sessionId": "session_id",
	"approved":  "decision",
}

// onToolRoute reports whether a route belongs to the tool approval surface.
func onToolRoute(route string) bool { return strings.HasPrefix(route, toolPath+"/") }

// inWords puts an error's fields into the names that a surface has for them.
func inWords(names map[string]string, err error) error {
	e, ok := errors.AsType[*models.Error](err)
	if !ok || len(e.Fields) == 0 || names == nil {
		return err
	}
	renamed := *e
	renamed.Fields = make(map[string]string, len(e.Fields))
	for path, text := range e.Fields {
		root, rest := path, ""
		if end := strings.IndexAny(path, ".["); end >= 0 {
			root, rest = path[:end], path[end:]
		}
		if name, ok := names[root]; ok {
			root = name
		}
		renamed.Fields[root+rest] = text
	}
	return &renamed
}

// standing is the request of a conflict, or of a budget that is spent, as the surface of a route shows it.
func (a *API) standing(route string, got *models.Approval) any {
	switch {
	case onToolRoute(route):
		return invocationOf(got, "")
	case onConversationRoute(route):
		return responseOf(a.kit, got)
	}
	return approvalOf(a.kit, got)
}
