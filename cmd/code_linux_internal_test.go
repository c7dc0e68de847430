package cmd

import (
	"slices"
	"strings"
	"testing"
)

// Of the program's file only what can be read from it again: not what may be written to,
// nor what the loader has changed and protected, nor other files.
func TestOnlyUnchangedCodeIsGivenBack(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-00403000 r--p 00000000 fe:00 17                                 /opt/countersign
Size:                 12 kB
Rss:                  12 kB
Shared_Dirty:         12 kB
Anonymous:             0 kB
VmFlags: rd mr mw me
00403000-01a35000 r-xp 00003000 fe:00 17                                 /opt/countersign
Rss:               17160 kB
Private_Dirty:     17160 kB
Anonymous:             0 kB
Swap:                  0 kB
02fda000-02fdd000 r--p 02bda000 fe:00 17                                 /opt/countersign
Rss:                  12 kB
Anonymous:            12 kB
03000000-03001000 r--p 02c00000 fe:00 17                                 /opt/countersign
Anonymous:             0 kB
Swap:                  4 kB
02fdd000-030f3000 rw-p 02bdd000 fe:00 17                                 /opt/countersign
Anonymous:             0 kB
04000000-04001000 r--s 00000000 fe:00 17                                 /opt/countersign
Anonymous:             0 kB
7f0000000000-7f0000100000 r-xp 00000000 fe:00 18                         /usr/lib/libc.so.6
Anonymous:             0 kB
7f0000200000-7f0000300000 r--p 00000000 00:00 0
Anonymous:             0 kB
`
	found, err := unchangedIn(strings.NewReader(smaps), "/opt/countersign")
	if want := []memoryRange{{0x400000, 0x403000}, {0x403000, 0x1a35000}}; err != nil || !slices.Equal(found, want) {
		t.Errorf("found %x, %v; want %x", found, err, want)
	}
	if _, err := unchangedIn(strings.NewReader("no-address r--p 00000000 fe:00 17 /opt/countersign\n"), "/opt/countersign"); err == nil {
		t.Error("what is no address is taken for one")
	}
}
