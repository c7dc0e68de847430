package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/models"
)

// describeOperation adds to the document the routes for those who run the server, which cmd registers.
func (a *API) describeOperation() {
	for _, op := range []struct{ id, path, token, kind, summary, text string }{
		{
			"health", "/healthz", noToken, "text/plain", "Check that the process answers",
			"Answers to any Host.",
		},
		{
			"ready", "/readyz", noToken, "text/plain", "Check that the server can work",
			"200 if the database can be written, the head of the ledger can be read and the schema is the program's own; otherwise 503, with a detail that names what is wrong. Answers to any Host.",
		},
		{
			"metrics", "/metrics", "an admin's token, or none on the server's own machine", "text/plain",
			"Read metrics, in the form of Prometheus",
			"Without a token, the request must come from the server's own machine for localhost, and past no proxy.",
		},
		{
			"document", "/openapi.json", noToken, "application/openapi+json", "Read this document", "",
		},
	} {
		a.operations++
		a.huma.OpenAPI().AddOperation(&huma.Operation{
			OperationID: op.id, Method: http.MethodGet, Path: op.path, Tags: []string{"Operation"}, Summary: op.summary,
			Description: op.text,
			Responses:   map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{op.kind: {}}}},
			Extensions:  map[string]any{extensionToken: op.token, extensionOrder: a.operations},
		})
	}
}

const noToken = "no token"

// operationRouteDocs are the routes of operation.
func operationRouteDocs() map[string]operationDoc {
	return map[string]operationDoc{
		"health": {answers: map[int]any{200: "ok\n"}},
		"ready":  {answers: map[int]any{200: "ready\n"}, problems: []models.Code{models.CodeUnavailable}},
		"metrics": {
			answers:  map[int]any{200: "# HELP countersign_approvals_pending Requests that wait for a decision.\n# TYPE countersign_approvals_pending gauge\ncountersign_approvals_pending 3\n"},
			problems: []models.Code{models.CodeUnauthenticated, models.CodeForbidden},
		},
		"document": {answers: map[int]any{200: map[string]any{
			"openapi": "3.1.0", "info": map[string]any{"title": "Countersign"},
		}}},
	}
}
