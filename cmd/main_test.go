package cmd_test

import (
	"testing"

	"countersign/cmd/process"
)

func TestMain(m *testing.M) { process.Main(m) }
