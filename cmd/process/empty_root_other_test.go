//go:build !linux

package process_test

func emptyRootProcess() (code int, is bool) { return 0, false }
