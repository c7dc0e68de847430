// Package hooks answers the hooks of coding agents: before a call it says whether the call may run, waiting for a
// person where the policy wants one, and after it it takes the result. It only translates: the use cases are those of
// every other surface.
//
// Most agents allow a call if their hook hears nothing. So a hook that waits here for a whole answer (no `wait` in the
// address) is denied, with status 200 and a reason, whatever goes wrong from here on, if the body says what it is
// about; our own client (`countersign hook`) fails closed anyway and gets the error.
package hooks
