// Package doctor examines an installation: a *check* looks at one thing and makes a *diagnosis* of
// it, with what to do. A check is a method of its own file, and a line in examine.
//
// It changes nothing, works on a read-only volume and beside a running server, and asks no other system.
package doctor
