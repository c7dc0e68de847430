//go:build !linux

package cmd_test

func emptyRootProcess() (code int, is bool) { return 0, false }
