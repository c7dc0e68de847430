package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Offline are the files that the page loads which is shown where there is no network.
var Offline = []string{"css/app.css", "js/theme.js", "js/visit.js", "img/favicon.svg"}

// Worker is the service worker (js/sw.js) for a page at path, whose content is offline: it
// keeps that page and what it loads, and nothing else. Another content of any of them makes
// another worker, which replaces what the old one kept.
func Worker(path string, offline []byte) []byte {
	urls := make([]string, len(Offline))
	for i, name := range Offline {
		urls[i] = URL(name)
	}
	source := embedded("js/sw.js")
	sum := sha256.New()
	for _, part := range [][]byte{offline, source} {
		sum.Write(part)
	}
	fmt.Fprint(sum, urls) // they change with their content
	var b bytes.Buffer
	fmt.Fprintf(&b, "const VERSION = %s;\nconst OFFLINE = %s;\nconst FILES = %s;\n", quoted(hex.EncodeToString(sum.Sum(nil)[:8])), quoted(path), quoted(urls))
	b.Write(source)
	return b.Bytes()
}

// quoted is a value as a script has it.
func quoted(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("static: " + err.Error()) // strings always have a JSON form
	}
	return string(raw)
}
