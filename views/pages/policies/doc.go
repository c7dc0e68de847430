// Package policies holds the pages of the policy: the active version and the others, the draft of an admin with its
// fields, rules, templates and switches, trying a call, replaying real calls, and the review before it takes effect.
//
// Its nouns are those of models/policy. fields.go names each member of the document once, with its label and help. A
// switch that lets calls run without a person is red on every page (I11).
package policies
