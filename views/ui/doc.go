// Package ui holds the primitives that screens are made of: buttons, badges,
// fields, tables, code and the one renderer of untrusted text.
package ui
