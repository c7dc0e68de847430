package api

import _ "embed" // the texts

// The texts of the surfaces, in Markdown: the OpenAPI document carries them as
// descriptions, and the page of the API shows them. They say what no single
// operation can; what an operation takes and answers is described beside its types.
var (
	//go:embed guide/api.md
	apiGuide string
	//go:embed guide/approvals.md
	approvalsGuide string
	//go:embed guide/tool_approval.md
	toolGuide string
	//go:embed guide/function_calls.md
	functionCallsGuide string
	//go:embed guide/policy.md
	policyGuide string
	//go:embed guide/conversations.md
	conversationsGuide string
	//go:embed guide/run_events.md
	runEventsGuide string
	//go:embed guide/mcp.md
	mcpGuide string
	//go:embed guide/hooks.md
	hooksGuide string
	//go:embed guide/streams.md
	streamsGuide string
)
