// Package cmd is the command line: its root, and the commands of one file each by which people,
// groups, tokens, stops, upstreams and copies are kept. A command of more has a folder below; what
// several need is in terminal, config, data and remote, and the server itself in server.
//
// A command never knows another. The root knows all, and gives each error its exit code.
package cmd
