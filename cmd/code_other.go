//go:build !linux

package cmd

// giveBackCode is for systems that count the program's file as memory of the process.
func giveBackCode() error { return nil }
