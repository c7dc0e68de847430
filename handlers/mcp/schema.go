package mcp

import "strings"

// Parts of the schemas of tools.
const (
	schemaToolName = `"tool_name":{"type":"string","minLength":1,"maxLength":200,"description":"The name of the tool, or of the act, as in send_email."}`
	schemaInput    = `"input":{"type":"object","description":"What the tool is called with. A person sees exactly this."}`
	schemaAnyInput = `"input":{"type":["object","null"],"description":"What the tool is called with. A person sees exactly this. None is the same as {}."}`
	schemaCallID   = `"tool_use_id":{"type":"string","maxLength":200,"description":"Your own id of this call. The same id with the same input is the same request until the call has run."}`
	schemaTalk     = `"conversation_id":{"type":"string","format":"uuid","description":"The conversation that this belongs to, as in an earlier answer. Without it, your agent's own."}`
	schemaRequest  = `"approval_id":{"type":"string","format":"uuid","description":"The approval_id of an earlier answer."}`
)

// objectSchema is a schema of an object with these members and no others.
func objectSchema(required []string, properties ...string) string {
	return schemaOf(required, false, properties)
}

// openSchema is one of an object that may have members besides.
func openSchema(required []string, properties ...string) string {
	return schemaOf(required, true, properties)
}

func schemaOf(required []string, others bool, properties []string) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}`)
	if len(required) > 0 {
		b.WriteString(`,"required":["` + strings.Join(required, `","`) + `"]`)
	}
	if !others {
		b.WriteString(`,"additionalProperties":false`)
	}
	b.WriteString(`}`)
	return b.String()
}

// requestSchema describes an answer that tells of a request.
var requestSchema = openSchema([]string{"approval_id", "conversation_id", "status", "approved", "advice"},
	`"approval_id":{"type":"string","description":"The request: what check_approval takes."}`,
	`"conversation_id":{"type":"string"}`,
	`"kind":{"type":"string","enum":["reply","proposal","tool_call","question","budget"]}`,
	`"status":{"type":"string","enum":["pending","approved","rejected","expired","cancelled","resolved","ran"],"description":"Only approved is a yes. Pending: nobody has decided. Ran: its client ran it without an answer, which is no approval."}`,
	`"approved":{"type":"boolean"}`,
	`"requires_approval":{"type":"boolean","description":"False where no person was needed."}`,
	`"cause":{"type":"string","description":"Why it ended so."}`,
	`"reason":{"type":"string","description":"In words, by the reviewer."}`,
	`"input":{"type":"object","description":"When approved: what to run. A person may have changed it."}`,
	`"edited":{"type":"boolean","description":"The input differs from what was sent."}`,
	`"answer":{"type":"string","description":"To a question, in a person's words."}`,
	`"option":{"type":"string","description":"To a question: which of the options."}`,
	`"decided_by":{"type":"string"}`, `"decided_at":{"type":"string","format":"date-time"}`,
	`"timeout_at":{"type":"string","format":"date-time","description":"When it expires, if nobody decides."}`,
	`"question":{"type":"string","description":"What a reviewer asks about the request, before deciding."}`,
	`"reviewers":{"type":"array","items":{"type":"string"},"description":"Who may decide it, while it is pending."}`,
	`"waiting_for":{"type":"string","description":"What it waits for, in words, while it is pending."}`,
	`"signatures":{"type":"object","description":"While it is pending and several people must sign it: how many have, and of how many.","properties":{"have":{"type":"integer"},"need":{"type":"integer"}}}`,
	`"url":{"type":"string","description":"Where people decide it."}`,
	`"advice":{"type":"string","description":"What to do next."}`,
)
