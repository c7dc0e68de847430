// Package server puts one server together: [App] is store, surfaces and workers. [New] opens and
// listens, Run serves until its context ends, Close leaves one file. Around it: the two routers
// (choose.go), the log, the limit on memory, the setup link of the first user.
//
// It is the only place that knows all rooms, surfaces and workers. It holds no rule of its own: what a
// server does is theirs, and what it is set up with is of package config.
package server
