// Package agent has the commands that run on an agent's machine with an agent's token: [Ask] waits for a decision,
// [Note] answers a reviewer's question, [Hook] runs before each call of a coding agent, [MCP] is a pipe to the server
// that asks again. The *fallback memory* is what `ask` keeps of the policy for when no server answers (I11).
//
// Each fails closed: a call that cannot be asked about does not run, and only a decision gives an exit code that lets
// something run.
package agent
