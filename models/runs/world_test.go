package runs_test

import (
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// trace is a bench with a run of the owner's agent, which reports what it does.
type trace struct {
	*storetest.Bench
	*storetest.Trace
}

func open(t *testing.T, b *storetest.Bench, in models.RunInput) *trace {
	t.Helper()
	return &trace{b, storetest.NewTrace(t, b, in)}
}

func newTrace(t *testing.T, onReject string, opts ...storetest.Option) *trace {
	t.Helper()
	return open(t, storetest.NewBench(t, opts...), models.RunInput{RunID: "run", OnReject: onReject})
}

// talk is a bench with a conversation of the agent's.
type talk struct {
	*storetest.Bench
	*storetest.Talk
}

func newTalk(t *testing.T, opts ...storetest.Option) *talk {
	t.Helper()
	b := storetest.NewBench(t, opts...)
	return &talk{b, storetest.NewTalk(b)}
}

// begun is a talk in which the agent has said something, with a budget of 50.
func begun(t *testing.T) *talk {
	t.Helper()
	c := newTalk(t)
	c.Begun(t, 50)
	return c
}
