package api

import (
	"net/http"
	"time"
)

// AsIfManyWaited has every wait keep a small stack, as when thousands wait.
func (a *API) AsIfManyWaited() { a.few = 0 }

// KeepAlive is how often a quiet stream shows that it is alive, and looks whether its reader may
// still hear it.
func (a *API) KeepAlive(every time.Duration) { a.keepAlive = every }

// MayWait reports whether a request is served as one that may wait.
func (a *API) MayWait(r *http.Request) bool { return a.mayWait(r) }
