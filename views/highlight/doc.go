// Package highlight says which words of a source have which colour.
//
// Colour divides a text into spans by what its language makes of them. A drawn text must never
// mislead: behind the first place that programs read in different ways, a text has no colour.
// So our own lexers (lexer.go) read a text once, from its beginning, by one table a language
// (lexicons.go), and stop where they are in doubt (lexer_doubt.go). HTML, XML and diffs have the
// lexers of the library (lexers/), bounded in size and time (markup.go).
//
// It draws nothing: views/ui writes spans through the renderer of untrusted text.
package highlight
