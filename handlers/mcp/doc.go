// Package mcp is the surface for clients of the Model Context Protocol: the permission
// prompt of coding agents, and tools to ask people and to change a budget. It translates
// between the protocol and the use cases of the store; the SDK speaks the protocol.
//
// No session is kept. The id of a session proves itself, and the id of an event says for
// which requests its stream waits, so a client that was cut off by a restart goes on with
// the next process:
//
//	client                              server
//
//	POST tools/call "approve"  ------>  Ask, pending: id of the event, retry: 10000
//	                           <------  progress every 15 s
//	           (the server restarts)
//	GET, Last-Event-ID         ------>  the rows that the id names, as far as the token
//	                                    may see them: wait for them again
//	                           <------  the answer to the call
package mcp
