package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/handlers/api/wire"
	"countersign/models"
)

func exampleOpened() *wire.OpenedRun {
	run := exampleRun()
	run.Status, run.Pending, run.RunID, run.ParentRunID = wire.ConversationStatus(models.ConversationRunning), 0, new("nightly-7"), new("nightly")
	return &wire.OpenedRun{Conversation: run, Opened: true}
}

// runDocs are the operations of run events.
func runDocs() map[string]operationDoc {
	return map[string]operationDoc{
		"open-run": {
			requests: map[string]any{
				"run": &wire.OpenRequest{RunID: "nightly-7"},
				"sub_agent": &wire.OpenRequest{
					RunID: "nightly-7-tests", ParentRunID: "nightly-7", Title: "Run the tests", OnReject: models.OnRejectCascade,
				},
			},
			answers: map[int]any{200: exampleOpened()},
			problems: []models.Code{
				models.CodeKeyConflict, models.CodeIDTaken, models.CodeOtherAgent, models.CodeTooManyRequests,
			},
		},
		"report-events": {
			requests: map[string]any{"batch": []models.RunEvent{
				{ID: "m-1", Type: models.RunEventReply, Content: "I list the files and run the tests."},
				{
					Type: models.RunEventToolCall, ToolUseID: "toolu_01", ToolName: "bash", Input: jsontext.Value(`{"command":"ls"}`),
					BatchID: "m-1",
				},
				{
					Type: models.RunEventToolCall, ToolUseID: "toolu_02", ToolName: "bash",
					Input: jsontext.Value(`{"command":"make test"}`), BatchID: "m-1",
				},
				{
					Type: models.RunEventToolResult, ToolUseID: "toolu_01", Result: "main.go\n", At: new(exampleTime.Add(time.Second)),
				},
			}},
			lines: map[string]any{
				"end": `{"type":"tool_result","toolUseId":"toolu_02","result":"FAIL","isError":true}` + "\n" +
					`{"type":"status","id":"end","status":"completed"}` + "\n",
			},
			answers: map[int]any{200: &wire.ReportAnswer{Accepted: 2, Repeated: 1, Failed: 1, Results: []wire.RunEventResult{
				{Line: 1, ID: "m-1", Status: wire.RunEventRepeated, ResponseID: exampleID},
				{Line: 2, Status: wire.RunEventStored, ResponseID: "0198a5c2-7d10-7c33-a2f4-6d1f1f0b7d43"},
				{Line: 3, Status: wire.RunEventStored, ResponseID: "0198a5c2-7d10-7c33-a2f4-6d1f1f0b7d44"},
				{
					Line: 4, ID: "m-2", Status: wire.RunEventError,
					Error: "The request is not valid. (status: must be running, waiting_input, completed or failed)",
				},
			}}},
			problems: []models.Code{models.CodeNotFound, models.CodeOtherAgent, models.CodeTooManyRequests},
		},
	}
}
