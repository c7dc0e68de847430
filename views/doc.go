// Package views holds what every page shares: the shell around it, the addresses
// of all pages, and how times and numbers are written. Screens are in pages,
// primitives in ui. It does no I/O and reads no clock.
package views
