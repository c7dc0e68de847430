// Package system is how the server fares, for admins, and the other systems that ask for approvals
// here. Keys of upstreams are taken and never shown.
package system
