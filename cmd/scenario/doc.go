// Package scenario is for tests only: one story told by every surface, the examples of the
// specification over HTTP, and each state as each surface tells it.
package scenario
