package models

import (
	"fmt"
	"strings"
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
		return "it holds a character that looks like a dot or a slash and is none", true
	}
	for label := range strings.SplitSeq(host, ".") {
		shown, coded := label, false
		if code, ok := strings.CutPrefix(label, "xn--"); ok {
			if shown, ok = punycode(code); !ok {
				return fmt.Sprintf("%q claims to be coded and is not", label), true
			}
			coded = true
		}
		if isASCII(shown) && !coded {
			continue
		}
		scripts := scriptsOf(shown)
		name := "“" + shown + "”"
		if coded {
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
	if last == "" || strings.Contains(host, ":") || strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x") {
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

// punycode decodes a label without its prefix (RFC 3492); false if it is not
// well formed.
func punycode(code string) (string, bool) {
	const base, tMin, tMax, skew, damp = 36, 1, 26, 38, 700
	var out []rune
	if i := strings.LastIndexByte(code, '-'); i >= 0 {
		out, code = []rune(code[:i]), code[i+1:]
	}
	n, at, bias := rune(128), 0, 72
	for first := true; code != ""; first = false {
		old, weight := at, 1
		for k := base; ; k += base {
			if code == "" {
				return "", false
			}
			digit := strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789", code[0])
			code = code[1:]
			if at += digit * weight; digit < 0 || at > 1<<24 {
				return "", false
			}
			t := min(max(k-bias, tMin), tMax)
			if digit < t {
				break
			}
			if weight *= base - t; weight > 1<<24 {
				return "", false
			}
		}
		delta := at - old
		if first {
			delta /= damp
		} else {
			delta /= 2
		}
		length := len(out) + 1
		delta += delta / length
		k := 0
		for ; delta > (base-tMin)*tMax/2; k += base {
			delta /= base - tMin
		}
		bias = k + (base-tMin+1)*delta/(delta+skew)
		if n += rune(at / length); n > 0x10FFFF {
			return "", false
		}
		at %= length
		out = append(out[:at], append([]rune{n}, out[at:]...)...)
		at++
	}
	return string(out), true
}
