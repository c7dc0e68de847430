// Package notices makes messages to people and groups, and keeps how sending them went.
//
// The store writes a notice, in the same transaction, for each moment at which somebody is to hear of a request: a row
// with the recipient and when it is due. Take makes messages of those that are due, one row for each channel: not in
// quiet hours, not to people who look at the request, and one message where there are many. The sender asks for Due
// messages, begins a message (Begin notes the attempt and reads the current state) and ends it (End keeps it for
// another attempt, gives it up, or has the outcome follow).
//
// Backlog counts waiting and failing messages; Unanswered says of a request that expired who heard of it and who saw
// it.
//
// Only the holder of the lease takes, begins and ends. A message has no input, description, reason or title of a
// request.
package notices
