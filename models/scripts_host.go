package models

import (
	"fmt"
	"strings"

	"golang.org/x/net/idna"
)

// LookAlike reports whether a host name may be read as another one, and why in
// words: letters that look like others, names in punycode (which it decodes),
// numbers that are an address in disguise. The words hold parts of the name and
// go through Reveal like all that is untrusted.
func LookAlike(host string) (why string, suspicious bool) {
	host = strings.ToLower(strings.Trim(host, "[]"))
	if isASCII(host) && !strings.Contains(host, "xn--") {
		return numeric(host)
	}
	if i := strings.IndexAny(host, "。．｡․／⁄∕＃？"); i >= 0 {
		return "it contains a character that looks like a dot or a slash but is not one", true
	}
	for label := range strings.SplitSeq(host, ".") {
		shown, isCode := label, false
		if strings.HasPrefix(label, "xn--") {
			var err error
			if shown, err = idna.Punycode.ToUnicode(label); err != nil { // names that no registry takes are decoded, too
				return fmt.Sprintf("%q looks like an encoded name but is not one", label), true
			}
			isCode = true
		}
		if isASCII(shown) && !isCode {
			continue
		}
		scripts := scriptsOf(shown)
		name := "“" + shown + "”"
		if isCode {
			name += " (sent as " + label + ")"
		}
		if script, as := imitates(shown, scripts); as != "" {
			return fmt.Sprintf("%s looks like “%s” and is written in %s letters", name, as, script), true
		}
		if !mayMix(scripts) {
			return name + " mixes " + strings.Join(scripts, " and ") + " letters", true
		}
		if why == "" {
			why = name + " has letters beyond ASCII"
		}
	}
	return why, why != ""
}

// numeric finds addresses that are not written as four numbers.
func numeric(host string) (why string, suspicious bool) {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || strings.Contains(host, ":") ||
		strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x") {
		return "", false
	}
	parts := strings.Split(host, ".")
	plain := len(parts) == 4
	for _, p := range parts {
		plain = plain && strings.Trim(p, "0123456789") == "" && (p == "0" || !strings.HasPrefix(p, "0"))
	}
	if plain {
		return "", false
	}
	return "it is a numeric address in an unusual form", true
}
