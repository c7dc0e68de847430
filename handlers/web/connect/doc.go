// Package connect shows how to connect an agent: the lines to paste, with a token that is made and
// shown in the same answer, and whether the agent's first request has come. Looking makes nothing
// (I15).
package connect
