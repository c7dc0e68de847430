// Package webhook has the command that receives an endpoint's events, to try one out: it verifies
// each, prints it and answers.
//
// Nothing is printed that is not signed, and nothing is kept.
package webhook
