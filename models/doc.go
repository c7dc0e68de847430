// Package models holds the nouns of Countersign, their states and the pure rules
// that move them. It does no I/O and reads no clock: every rule that needs the
// time takes it as a parameter.
package models
