package api

import (
	"net/http"
	"strings"
)

// route is one that may wait, as the router calls it.
type route struct{ method, path string }

func routeOf(method, path string) route {
	return route{method, strings.NewReplacer("{", ":", "}", "").Replace(path)}
}

// exchange is one request that may wait, and its answer.
type exchange struct {
	http.ResponseWriter

	waits *waiting // nil: answered
	told  func(status int)
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Deferred reports whether the answer comes later.
func (x *exchange) Deferred() bool { return x.waits != nil }

// OnAnswer takes what is to hear of the answer's status.
func (x *exchange) OnAnswer(told func(status int)) { x.told = told }

func (x *exchange) tell(status int) {
	if x.told != nil {
		x.told(status)
	}
}

// fewWaiters is how many may wait before the size of their stacks counts: until
// then they keep what they have grown, for growing a stack anew is felt.
const fewWaiters = 1000

// aside runs fn on a goroutine of its own, once many wait, and returns when it
// has, with its panic if it had one: so the stack that fn needs is not the
// caller's to keep.
func (a *API) aside(fn func()) {
	if a.store.Waiters() < a.few {
		fn()
		return
	}
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		fn()
	}()
	if cause := <-done; cause != nil {
		panic(cause)
	}
}
