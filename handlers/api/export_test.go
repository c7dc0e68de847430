package api

import "net/http"

// AsIfManyWaited has every wait keep a small stack, as when thousands wait.
func (a *API) AsIfManyWaited() { a.few = 0 }

// MayWait reports whether a request is served as one that may wait.
func (a *API) MayWait(r *http.Request) bool { return a.mayWait(r) }
