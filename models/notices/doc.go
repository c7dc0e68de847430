// Package notices makes messages of what people and groups are to be told, and keeps how
// sending them went.
//
// The store writes a notice, in the same transaction, for each moment at which somebody is to
// be told of a request: a row with the recipient and when it is due. Take makes messages of
// those that are due, one row for each channel: not in quiet hours, not to who looks at the
// request, and one message where there are many. Whoever sends asks for what is Due, begins a
// message (Begin notes the attempt and says how things are then) and ends it (End keeps it for
// another attempt, gives it up, or has the outcome follow).
//
// Backlog is what waits to be sent and what fails; Unanswered says of a request that expired who
// was told of it and who saw it.
//
// Only who holds the lease takes, begins and ends. A message has nothing of what a request is
// about: no input, description, reason or title.
package notices
