package store_test

import (
	"errors"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// bench is a bench of storetest with what tests of the store do on it.
type bench struct{ *storetest.Bench }

func newBench(t *testing.T, opts ...storetest.Option) *bench {
	t.Helper()
	return &bench{storetest.NewBench(t, opts...)}
}

func wantCode(t *testing.T, err error, code models.Code) {
	t.Helper()
	if models.ErrorCode(err) != code {
		t.Fatalf("error = %v (code %q), want code %q", err, models.ErrorCode(err), code)
	}
}

// refusal is wantCode for those who look closer.
func refusal(t *testing.T, err error, code models.Code) *models.Error {
	t.Helper()
	wantCode(t, err, code)
	e, ok := errors.AsType[*models.Error](err)
	if !ok {
		t.Fatalf("error = %v, want a models.Error", err)
	}
	return e
}

// trace is a run of the owner's agent, which reports what it does.
type trace struct {
	*bench
	*storetest.Trace
}

func newTrace(t *testing.T, onReject string, opts ...storetest.Option) *trace {
	t.Helper()
	return newBench(t, opts...).open(t, models.RunInput{RunID: "run", OnReject: onReject})
}

func (b *bench) open(t *testing.T, in models.RunInput) *trace {
	t.Helper()
	return &trace{b, storetest.NewTrace(t, b.Bench, in)}
}

// outsideWorld is a bench with an upstream.
type outsideWorld struct {
	*bench
	*storetest.OutsideWorld
}

func newOutsideWorld(t *testing.T, opts ...storetest.Option) *outsideWorld {
	t.Helper()
	b := newBench(t, opts...)
	return &outsideWorld{b, storetest.NewOutsideWorld(t, b.Bench)}
}

// talk is a bench with a conversation of the agent's.
type talk struct {
	*bench
	*storetest.Talk
}

func newTalk(t *testing.T, opts ...storetest.Option) *talk {
	t.Helper()
	b := newBench(t, opts...)
	return &talk{b, storetest.NewTalk(b.Bench)}
}

// begun is a talk in which the agent has said something, with that budget.
func begun(t *testing.T, budget int64, opts ...storetest.Option) *talk {
	t.Helper()
	c := newTalk(t, opts...)
	c.Begun(t, budget)
	return c
}
