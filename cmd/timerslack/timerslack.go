// Package timerslack lets the system wake this process's threads for a timer a little
// later, together with what else is due, so that they wake less often. The program
// imports it for that; it exports nothing.
package timerslack
