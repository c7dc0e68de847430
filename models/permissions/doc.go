// Package permissions reads what other programs let their agents do, and says it in rules of the policy.
//
// ClaudeCode reads the settings of Claude Code (https://code.claude.com/docs/en/permissions, as of November 2026). Its
// lists are judged in the order deny, ask, allow, and so are the rules made of them. Rules lean to one side: one that
// denies or asks looks for the text of an entry and covers more rather than less; one that allows covers what the entry
// does, read as the policy reads commands, paths and addresses, and leaves out the rest. An entry that no rule can say is
// a Difference: an allowed one is left out, so that a person is asked; a denied or asked one makes its whole tool ask.
package permissions
