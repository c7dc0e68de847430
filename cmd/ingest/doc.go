// Package ingest passes a coding agent's output on, byte by byte, and reports the run in it to the server. A *tap*
// copies and reads along, a *spool* is the file of events that wait to be reported, a *sender* reports them in order,
// and a *conflict* is an event that contradicts the server's record.
//
// Readers of the output never wait for the server, and nothing is lost by a restart (I8).
package ingest
