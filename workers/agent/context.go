package agent

import (
	"countersign/models"
	"countersign/workers/llm"
)

// maxContext is how much of a conversation the model is shown, in bytes: the
// latest of it, whole entries. Each byte may be a token in the worst case, which
// is reserved: a longer memory would have small budgets run out early.
const maxContext = 64 << 10

const (
	earlierNote = "[Note from the system] Earlier messages and turns of this conversation were left out."
	goOnNote    = "[Note from the system] Something was decided since you last spoke: see the results of your calls above and what stands now below, and go on."
)

// request is what the model is shown next.
func request(c *models.RunContext) llm.Request {
	return llm.Request{
		System: systemText, Turns: turns(c, maxContext), Ephemeral: ephemeral(c), Tools: models.AgentTools(),
	}
}

// turns are the messages and turns of a run in the order in which the model met
// them, the latest that fit into limit bytes. A turn and the results of its calls
// are one entry: no call is ever shown without its result.
func turns(c *models.RunContext, limit int) []llm.Message {
	entries := entriesOf(c)
	from, size := len(entries), 0
	for from > 0 {
		size += sizeOf(entries[from-1])
		if size > limit && from < len(entries) {
			break
		}
		from--
	}
	var out []llm.Message
	if c.Earlier || from > 0 {
		out = append(out, llm.Message{Role: llm.RoleUser, Content: earlierNote})
	}
	for _, entry := range entries[from:] {
		out = append(out, entry...)
	}
	if len(out) > 0 && out[len(out)-1].Role == llm.RoleAssistant {
		out = append(out, llm.Message{Role: llm.RoleUser, Content: goOnNote})
	}
	return out
}

// entriesOf puts a message that came while the model spoke after that turn. The
// loop's own notices are for people.
func entriesOf(c *models.RunContext) [][]llm.Message {
	var entries [][]llm.Message
	said := c.Messages
	messagesUpTo := func(sequence int64) {
		for len(said) > 0 && said[0].Sequence <= sequence {
			if said[0].AuthorKind == models.ActorUser {
				entries = append(entries, []llm.Message{{Role: llm.RoleUser, Content: said[0].Content}})
			}
			said = said[1:]
		}
	}
	for i := range c.Turns {
		messagesUpTo(c.Turns[i].Read)
		if entry := turnEntry(c, &c.Turns[i]); entry != nil {
			entries = append(entries, entry)
		}
	}
	messagesUpTo(c.Read)
	return entries
}

// turnEntry is what the model said, and one result for each of its calls.
func turnEntry(c *models.RunContext, turn *models.Turn) []llm.Message {
	if turn.Empty() {
		return nil
	}
	said := llm.Message{Role: llm.RoleAssistant, Content: turn.Content}
	results := make([]llm.Message, 0, len(turn.Calls))
	for _, call := range turn.Calls {
		said.Calls = append(said.Calls, llm.Call{ID: call.ID, Name: call.Name, Arguments: call.Arguments})
		results = append(results, llm.Message{Role: llm.RoleTool, CallID: call.ID, Content: resultOf(c, call)})
	}
	return append([]llm.Message{said}, results...)
}

// resultOf is the immediate result of a call, or the current state of what it stored.
func resultOf(c *models.RunContext, call models.TurnCall) string {
	if call.Result != "" {
		return call.Result
	}
	a, ok := c.Responses[call.ResponseID]
	if !ok {
		return models.RefusedResult(models.Errorf(models.CodeInternal, "The result of this call is lost."))
	}
	var change *models.BudgetStep
	if step, ok := c.Granted[a.ID]; ok {
		change = &step
	}
	return models.OutcomeResult(a, change, c.Conversation.Budget())
}

func sizeOf(entry []llm.Message) int {
	n := 0
	for _, m := range entry {
		n += len(m.Content)
		for _, call := range m.Calls {
			n += len(call.Name) + len(call.Arguments)
		}
	}
	return n
}
