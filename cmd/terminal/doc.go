// Package terminal is what a command has at its other end: a person, or a script. A *text* is shown
// so that a terminal does nothing by it, a *table* is for people and JSON for programs, a *secret* is
// typed or piped in and never an argument, and an *exit code* says how a command ended.
//
// It knows no setting, no folder and no server. What it prints is a promise to scripts: a change here
// changes every command.
package terminal
