// Package policy has the commands that show, check, apply and import the policy, in a data folder or at a
// server. A *document* is a file, or a part that goes over the active one.
//
// Rules of the policy are of models/policy; here they are only read, sent and told of.
package policy
