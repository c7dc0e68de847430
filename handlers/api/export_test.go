package api

// AsIfManyWaited has every wait keep a small stack, as when thousands wait.
func (a *API) AsIfManyWaited() { a.few = 0 }
