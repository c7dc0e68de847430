package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/models"
)

// instructions are what a client may tell its model about the server.
const instructions = "Countersign asks people before something is done. Call request_approval before any act that cannot be undone, that concerns others or for which you were asked to get approval, " +
	"and act only on the status approved, with exactly the input in the answer. Call ask_human when you need a decision or a fact from a person. " +
	"While the status is pending, nobody has decided: call check_approval with the approval_id. Only people decide; nothing that you send here approves anything."

// tool is one that agents may call.
type tool struct {
	name, title, description string
	input, output            string // JSON Schemas; output is empty where the answer is text for a program
	hints                    sdk.ToolAnnotations

	// call carries a call out. Waiting for people is left to settle.
	call func(*Server, *exchange, *sdk.CallToolParamsRaw) (*sdk.CallToolResult, error)
	// answer makes the answer after the wait, and limit says how long that is; nil where there is none.
	answer func(*exchange, []*models.Approval) (*sdk.CallToolResult, error)
	limit  func(*Server) time.Duration
}

// tools are all, in the order in which they are offered.
func tools() []*tool {
	return []*tool{
		approveTool(), requestApprovalTool(), checkApprovalTool(), askHumanTool(),
		replyTool(), respondWithApprovalTool(), setBudgetTool(), adjustBudgetTool(), getPolicyTool(),
	}
}

// addTools offers the tools on a server of the SDK.
func (m *Server) addTools(server *sdk.Server) {
	for _, t := range tools() {
		m.tools[t.name] = t
		t.hints.OpenWorldHint = new(false)
		described := &sdk.Tool{
			Name: t.name, Title: t.title, Description: t.description, InputSchema: json.RawMessage(t.input),
			Annotations: &t.hints,
		}
		if t.output != "" {
			described.OutputSchema = json.RawMessage(t.output)
		}
		server.AddTool(described, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return m.run(exchangeOf(ctx), t, req.Params), nil
		})
	}
}

// run carries a call out. Whatever goes wrong is an answer: to a permission prompt that is a
// no (I11).
func (m *Server) run(x *exchange, t *tool, params *sdk.CallToolParamsRaw) (result *sdk.CallToolResult) {
	defer func() {
		if cause := recover(); cause != nil {
			m.kit.Log.ErrorContext(x.ctx, "panic", slog.String("tool", t.name), slog.String("panic", fmt.Sprint(cause)),
				slog.String("stack", string(debug.Stack())))
			result = failed(errInternal)
		}
		x.rest()
	}()
	result, err := t.call(m, x, params)
	if err != nil {
		m.logFailure(x, t, err)
		return failed(err)
	}
	return result
}

// logFailure writes down an error that the caller gets no details of.
func (m *Server) logFailure(x *exchange, t *tool, err error) {
	if models.ErrorCode(err) == models.CodeInternal && x.ctx.Err() == nil {
		m.kit.Log.ErrorContext(x.ctx, "call failed", slog.String("tool", t.name), slog.String("error", err.Error()))
	}
}

// limitOfTools is how long tools wait that may answer that a request is pending.
func limitOfTools(m *Server) time.Duration { return m.wait }
