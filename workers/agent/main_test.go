package agent_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when an agent leaves a goroutine behind.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait")) // idle connections of the tests' endpoint
}
