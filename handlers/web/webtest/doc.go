// Package webtest is the world that tests of pages share: a server over a fresh store, with an owner
// and the owner's agent, a stranger and an admin (World); browsers without script (Person) and
// what they get (Page); streams, an upstream, a mail server and a receiver of events. LiveWorld
// runs under the real clock, with the agents' surface beside the pages.
//
// Tests of an area are in its folder, under the name of its package with _test. What one area's
// tests need is a function there; what two need is here.
package webtest
