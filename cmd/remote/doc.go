// Package remote is the server that a command of an agent's machine speaks to: its *address* and *token*, from a flag,
// the environment or the *credentials* that `connect` stored. A token goes to no other server than the one that it came
// with, and a file that others may read is refused.
//
// It makes no request itself: handlers/api/client does.
package remote
