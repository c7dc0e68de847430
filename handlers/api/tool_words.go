package api

import (
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

// The request of a conflict or of a spent budget, in the form of the route's surface.
func (a *API) currentAnswer(route string, got *models.Approval) any {
	switch {
	case onToolRoute(route):
		return invocationOf(got, "")
	case onConversationRoute(route):
		return responseOf(a.kit, got)
	}
	return approvalOf(a.kit, got)
}
