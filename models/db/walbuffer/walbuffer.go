// Package walbuffer has SQLite write its log in few pieces. SQLite hands the system a
// header and a page for each page that a commit changes, so that a commit is some thirty
// system calls; with this it is one or two, of the same bytes in the same order.
//
// It is a VFS, SQLite's layer of files (https://sqlite.org/vfs.html), in C because SQLite
// calls it in the middle of a commit, where a call into Go costs more than is saved. Only
// the connection that writes uses it; for every other, in this process or another, the
// files are what they are without it.
//
// SQLite itself comes with the driver, which the program must import: the C code is linked
// to it.
package walbuffer

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra -Werror
#cgo linux LDFLAGS: -Wl,--unresolved-symbols=ignore-in-object-files
#cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
#include "walbuffer.h"
*/
import "C"

import (
	"fmt"
	"sync"
)

// Name is the VFS that a DSN names.
const Name = "countersign-wal"

// Register makes the VFS known to SQLite, once for the process.
var Register = sync.OnceValue(func() error {
	if rc := C.walbuffer_register(); rc != 0 {
		return fmt.Errorf("register the VFS %s: SQLite's error %d", Name, int(rc))
	}
	return nil
})

// Written is how often a log of this process was written to.
func Written() int64 { return int64(C.walbuffer_written()) }
