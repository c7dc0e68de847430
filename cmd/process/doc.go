// Package process is for tests only: the program as it runs. A *program* is a process of the built
// binary, a *world* a server in the test's own process with an admin and tokens, a *victim* a server
// that is killed and started again, a *patient* a folder that the doctor looks at.
//
// Its own tests are of what only the whole program does: being killed, filled, held and outlasted.
// Tests of one command are beside it, those of one story on all surfaces in cmd/scenario.
package process
