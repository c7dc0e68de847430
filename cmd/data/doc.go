// Package data opens the data folder for commands. [Command] makes a command of one that is there,
// [First] one that may begin an installation, [Inspect] one that only looks; [Open] is the way of the
// server too. The *operator* is who works at the command line.
//
// Commands write through the rooms below models and by nothing else.
package data
