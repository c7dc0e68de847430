// Package demo is the server to try things out: [Command] starts one with an admin and an agent that
// asks, which is a process of its own ([Agent]). The *tour* is what the agent asks for, the *folder* is
// marked, and no other is touched.
//
// Everything that it shows a server does as well: it holds no other way to decide.
package demo
