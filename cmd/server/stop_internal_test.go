package server

import "time"

// StopIn gives requests under way another time to end at a stop: how fast a busy machine
// writes a thousand answers decides no test.
func (a *App) StopIn(d time.Duration) { a.stopIn = d }

// DrainUntil has a stop drain until it is told that it is over.
func (a *App) DrainUntil() (over func()) {
	a.drainFor, a.drainEnd = time.Hour, make(chan struct{})
	return func() { close(a.drainEnd) }
}
