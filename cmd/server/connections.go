package server

import "golang.org/x/sys/unix"

const (
	// maxConnections is how many there may be where the system allows more: each
	// takes some memory.
	maxConnections = 65_536
	// ownFiles are kept for the database, logs and requests to other systems.
	ownFiles = 256
)

// mostConnections is how many connections the limit on open files leaves room for.
func mostConnections() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > maxConnections {
		return maxConnections
	}
	n := int(limit.Cur)
	return max(n/2, n-ownFiles)
}
