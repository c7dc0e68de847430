// Package pages holds the screens. Each is a template, a view model made by a
// pure constructor from nouns and the time, and a test of both.
package pages
