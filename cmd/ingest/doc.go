// Package ingest passes a coding agent's output on, byte by byte, and reports the run in it to the
// server. A *tap* copies and reads along, a *spool* is the file of what was not reported yet, a *sender*
// reports it in order, and a *conflict* is an event that the server knows otherwise.
//
// What reads the output never waits for the server, and nothing is lost by a restart (I8).
package ingest
