package api

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
)

// describeHooks adds to the document the route that answers coding agents, which handlers/hooks serves.
func (a *API) describeHooks() {
	schema := func(t reflect.Type) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{"application/json": {Schema: a.huma.OpenAPI().Components.Schemas.Schema(t, true, t.Name())}}
	}
	event := schema(reflect.TypeFor[wire.HookEvent]())
	a.huma.OpenAPI().Components.Schemas.Map()["HookEvent"].AdditionalProperties = true
	text := func(name, doc string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: doc, Schema: &huma.Schema{Type: "string"}}
	}
	a.operations++
	a.huma.OpenAPI().AddOperation(&huma.Operation{
		OperationID: "hook-claude-code", Method: http.MethodPost, Path: "/hooks/claude-code", Tags: []string{"Coding agents"},
		Summary: "Answer a hook of a coding agent",
		Description: "Takes what the agent sends to its hook, including members it does not know, and answers as a hook does. " +
			"Without wait the answer comes once somebody has decided, at the latest ten seconds before timeout, and whatever goes wrong is a denial with status 200. " +
			"With wait it is {\"answer\": …}, or 202 and {\"pending\": …}: send the same again. Errors are problems then.",
		Parameters: []*huma.Param{
			text("wait", "How long to wait for the outcome, as 50s; cut to 55s"),
			text("timeout", "Without wait: the hook's own timeout in seconds; 600 if left out"),
			text("approvalId", "Of a PermissionRequest: a UUID that makes a repeat the same request; required with wait"),
		},
		RequestBody: &huma.RequestBody{Required: true, Content: event},
		Responses: map[string]*huma.Response{
			"200": {Description: "OK", Content: schema(reflect.TypeFor[wire.HookAnswer]())},
			"202": {Description: "Pending", Content: schema(reflect.TypeFor[wire.HookResult]())},
		},
		Security:   []map[string][]string{{"bearer": {}}},
		Extensions: map[string]any{extensionToken: tokenWords[Agents], extensionOrder: a.operations},
	})
}

// hookDocs are examples and codes of the route for hooks.
func hookDocs() map[string]operationDoc {
	return map[string]operationDoc{
		"hook-claude-code": {
			requests: map[string]any{"beforeACall": map[string]any{
				"session_id": "5f3bdfca-bc78-4a8d-a4a2-078656ef9387", "cwd": "/srv/app", "permission_mode": "default",
				"hook_event_name": "PreToolUse",
				"tool_name":       "Bash", "tool_input": map[string]any{"command": "rm -rf build/"}, "tool_use_id": "toolu_01",
			}},
			answers: map[int]any{
				200: map[string]any{"hookSpecificOutput": map[string]any{
					"hookEventName": "PreToolUse", "permissionDecision": "deny",
					"permissionDecisionReason": "Rejected by Ann: Not on a Friday.",
				}},
				202: map[string]any{"pending": map[string]any{
					"approvalId": exampleID, "kind": "tool_call", "url": "https://countersign.example.com/approvals/" + exampleID,
				}},
			},
			problems: []models.Code{
				models.CodeUnauthenticated, models.CodeForbidden, models.CodeInvalid, models.CodeTooLarge, models.CodeKeyConflict,
				models.CodeIDTaken, models.CodeOtherAgent,
				models.CodeBudgetExhausted, models.CodeTooManyRequests, models.CodeTooManyPending, models.CodeDiskFull,
				models.CodeUnavailable,
			},
		},
	}
}
