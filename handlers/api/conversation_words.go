package api

import (
	"strings"

	"countersign/models"
)

// onConversationRoute reports whether a route belongs to the conversations
// surface.
func onConversationRoute(route string) bool {
	return route == "/message" || strings.HasPrefix(route, "/conversations")
}

// The members of this surface, by the names that the use cases have for them,
// where they differ.
var (
	messageFields = map[string]string{
		"conversationId": "id",
		"approved":       "approvalResponse.approved", "responseId": "approvalResponse.responseId",
		"digest":    "approvalResponse.digest",
		"newBudget": "approvalResponse.newBudget", "budget": "approvalResponse.newBudget",
		"budgetChange": "approvalResponse.budgetChange", "delta": "approvalResponse.budgetChange",
		"feedback": "approvalResponse.feedback", "reason": "approvalResponse.feedback",
	}
	decisionFields = map[string]string{
		"reason": "feedback", "budget": "newBudget", "delta": "budgetChange", "conversationId": "requestId",
	}
	responseFields = map[string]string{"conversationId": "requestId"}
	runFields      = map[string]string{"conversationId": "id"}
	budgetFields   = map[string]string{"newBudget": "budget", "budgetChange": "delta", "conversationId": "requestId"}
)

// fieldsOf are the names of a route's members; nil where they are the use
// cases'.
func fieldsOf(route string) map[string]string {
	switch {
	case onToolRoute(route):
		return toolFields
	case route == "/message":
		return messageFields
	case route == approvePath, route == rejectPath:
		return decisionFields
	case route == responsesPath:
		return responseFields
	case route == runsPath:
		return runFields
	case route == budgetPath:
		return budgetFields
	}
	return nil
}

// conversationID reads the id of a path. A malformed id is answered with not_found.
func conversationID(s string) (models.ConversationID, error) {
	id, err := models.ParseID[models.ConversationID]("requestId", s)
	if err != nil {
		return "", models.Errorf(models.CodeNotFound, "No such conversation.")
	}
	return id, nil
}

// summaryOf is a response in one line: the text of a reply or proposal in full.
func summaryOf(a *models.Approval) string {
	switch a.Kind {
	case models.KindReply, models.KindProposal:
		return a.Content
	case models.KindToolCall:
		if other, ok := a.OtherInput(); ok {
			return line(a.ToolName + " " + other) // the agent describes what it reported
		}
		if a.Description != "" {
			return line(a.ToolName + ": " + a.Description)
		}
		return line(a.ToolName + " " + a.ToolInputJSON)
	case models.KindQuestion, models.KindBudget:
		return line(a.Description)
	}
	return line(a.Description)
}

// maxLine is how much of a summary is sent, in bytes.
const maxLine = 200

// line cuts a text to one line of bounded length.
func line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxLine {
		return s
	}
	return strings.ToValidUTF8(s[:maxLine], "") + "…"
}
