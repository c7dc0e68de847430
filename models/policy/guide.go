package policy

import _ "embed" // the guide

// Guide explains the policy document to the people who write it, in Markdown, with
// examples that can be applied as they are.
//
//go:embed guide.md
var Guide string
