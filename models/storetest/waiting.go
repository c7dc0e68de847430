package storetest

import "flag"

// ManyAtOnce has a package run six of its parallel tests at once instead of one for each
// processor, unless -parallel says otherwise: they wait most of their time, for processes,
// deadlines and leases. It is called in TestMain, before the tests run.
func ManyAtOnce() {
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
}
