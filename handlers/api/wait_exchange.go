package api

import (
	"net/http"
	"strings"

	"countersign/handlers"
)

// route is one that may wait, as the router calls it.
type route struct{ method, path string }

func routeOf(method, path string) route {
	return route{method, strings.NewReplacer("{", ":", "}", "").Replace(path)}
}

// exchange is one request that may wait, and its answer.
type exchange struct {
	http.ResponseWriter

	waits    *waiting // nil: answered
	onAnswer func(status int)
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Deferred reports whether the answer comes later.
func (x *exchange) Deferred() bool { return x.waits != nil }

// OnAnswer registers fn, which is called with the status of the answer.
func (x *exchange) OnAnswer(fn func(status int)) { x.onAnswer = fn }

func (x *exchange) answered(status int) {
	if x.onAnswer != nil {
		x.onAnswer(status)
	}
}

// fewWaiters is how many may wait before the size of their stacks counts: until
// then they keep what they have grown, for growing a stack again is felt.
const fewWaiters = 1000

// aside runs fn so that the caller can sleep on a small stack.
func (a *API) aside(fn func()) { handlers.Aside(a.store.Waiters(), a.few, fn) }
