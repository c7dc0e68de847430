package process_test

import (
	"os"
	"testing"

	"countersign/cmd/process"
)

func TestMain(m *testing.M) {
	if code, is := yardstickProcess(); is {
		os.Exit(code)
	}
	if code, is := emptyRootProcess(); is {
		os.Exit(code)
	}
	process.Main(m)
}
