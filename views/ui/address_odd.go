package ui

import (
	"strings"

	"countersign/models"
)

var (
	// likeAddress is how an address begins that some program would follow.
	likeAddress = pattern(`(?i)^(?:[^\s:/\\?#]{1,20}://|(?:https?|wss?|ftp|javascript|vbscript|data):|[/\\]{2}[^/\\])`)
	// namesAddress is in the name of a member that holds one.
	namesAddress = pattern(`(?i)ur[il]|href|link|endpoint|webhook|callback|redirect|address|site`)
	ignored      = strings.NewReplacer("\t", "", "\n", "", "\r", "") // by browsers, anywhere
)

// ReadAddress takes a member's URL apart, and also text that is no URL by the letter but that some programs follow;
// false if it is neither.
func ReadAddress(name, s string) (*Address, bool) {
	if a, ok := NewAddress(s); ok {
		return a, true
	}
	bare := strings.TrimFunc(ignored.Replace(s), func(c rune) bool { return c <= ' ' })
	prose := strings.Contains(bare, " ") || strings.Count(strings.TrimSpace(s), "\n") > 1
	if !likeAddress().MatchString(bare) || strings.HasPrefix(strings.ToLower(bare), "file:///") ||
		prose && !namesAddress().MatchString(name) {
		return nil, false
	}
	return oddAddress(s)
}

// oddAddress is one that cannot be read by the letter: as source, with the host set apart in it, and what programs make
// of it.
func oddAddress(s string) (*Address, bool) {
	r := models.ReadHosts(s)
	a := &Address{Rest: s}
	switch hosts := r.Hosts(); {
	case r.Scheme == "javascript" || r.Scheme == "vbscript":
		a.Notes = append(a.Notes, "Browsers run this as a script.")
	case r.Scheme == "data":
		a.Notes = append(a.Notes, "Browsers show its content as a page.")
	case len(hosts) == 0:
		return nil, false
	default:
		a.Notes = append(a.Notes, "Not a valid address; programs may read it as "+strings.Join(hosts, " or ")+".")
		if differ := r.Differ(); differ != "" {
			a.Notes = append(a.Notes, differ+".")
		}
		if lower := strings.ToLower(s); len(lower) == len(s) {
			if i := strings.LastIndex(lower, hosts[0]); i >= 0 {
				end := i + len(hosts[0])
				a.Scheme, a.Host, a.Rest = s[:i], s[i:end], s[end:]
			}
		}
		if why, suspicious := models.LookAlike(hosts[0]); suspicious {
			a.Notes = append(a.Notes, "Check the host: "+why+".")
		}
	}
	return a, true
}

// compare notes where programs read another host than the written one.
func (a *Address) compare(s string) {
	r := models.ReadHosts(s)
	written := strings.ToLower(strings.Trim(a.Host, "[]"))
	if differ := r.Differ(); differ != "" {
		a.Notes = append(a.Notes, differ+".")
	} else if r.Browser != "" && r.Go != written && !strings.Contains(written, ":") {
		a.Notes = append(a.Notes, "Programs read the host as "+r.Browser+".")
	}
}

// OddAddresses says of each address in a text that could not be read, or that programs read differently, where it may
// lead; at most most of them. The text may be JSON: a backslash in it represents two.
func OddAddresses(text string, most int) []string {
	var out []string
	for _, found := range addressesIn(text, 8*most) {
		if len(out) == most {
			break
		}
		s := strings.TrimRight(unescaped(found), `.,;:)]\`)
		var why string
		if a, ok := NewAddress(s); ok {
			if why = models.ReadHosts(s).Differ(); why == "" || unknownHost(a.Host) {
				continue
			}
		} else if a, ok := oddAddress(s); !ok || bareScheme(s) || isPlain(s) && unknownHost(a.Host) {
			continue
		} else {
			why = strings.TrimSuffix(a.Notes[0], ".")
		}
		cut, length := Cut(s, 80)
		if length > 80 {
			cut += "…"
		}
		out = append(out, "“"+cut+"”: "+why)
	}
	return out
}

// addressesIn are the stretches of a text that may be addresses: each has "://" in it, or begins with a scheme of the
// web.
func addressesIn(text string, most int) []string {
	var out []string
	for at := 0; len(out) < most; {
		i := strings.IndexByte(text[at:], ':')
		if i < 0 {
			break
		}
		colon := at + i
		before := text[max(at, colon-20):colon]
		before = before[strings.LastIndexAny(before, " \t\r\n/\\?#\"'<>|`()[]{}=,;")+1:]
		at = colon + 1
		if before == "" || !strings.HasPrefix(text[at:], "//") && !webSchemes[strings.ToLower(before)] {
			continue
		}
		end := strings.IndexAny(text[at:], " \t\r\n\"'<>|`")
		if end < 0 {
			end = len(text) - at
		}
		if end > 0 {
			out = append(out, text[colon-len(before):at+end])
		}
		at += end
	}
	return out
}

var webSchemes = map[string]bool{"http": true, "https": true, "ws": true, "wss": true, "ftp": true}

// bareScheme reports whether a word only begins like an address: "http:get".
func bareScheme(s string) bool {
	_, rest, _ := strings.Cut(s, ":")
	return !strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, `\`) && !strings.ContainsAny(rest, "@.")
}

// unknownHost reports whether a host is a place for one: ${HOST}, {host}, %s.
func unknownHost(host string) bool { return strings.ContainsAny(host, "${}%*") }

func isPlain(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return c >= 0x80 }) < 0
}

// unescaped is the beginning of a text in JSON up to its first escape that is not
// that of a backslash.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			if i++; i == len(s) || s[i] != '\\' {
				break
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
