// Package agent has the commands that run on an agent's machine with an agent's token: [Ask] waits
// for a decision, [Note] answers what a reviewer asks, [Hook] stands before each call of a coding agent,
// [MCP] is a pipe to the server that asks again. The *fallback memory* is what `ask` keeps of the policy
// for when no server answers (I11).
//
// Each fails closed: what cannot be asked does not run, and an exit code that lets something run is
// given by a decision alone.
package agent
