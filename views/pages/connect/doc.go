// Package connect is the page that connects an agent: the ways, for each the lines to paste with address and token
// filled in, and the requests that arrived from it.
//
// Each text to paste is a file below snippets with two gaps, @SERVER@ and @TOKEN@; tests run them as people would
// (cmd/connect/snippets_test.go, .ci/clients/connect.sh). A new way is a file there and a row in way.go. FreshToken is
// a token that was made just now, which is shown once, here and on the pages of agents and the inbox.
package connect
