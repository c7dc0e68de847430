package ui

import (
	"context"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views/highlight"
)

// Address is a URL taken apart, so that its host is seen: the parts together are
// the URL as it was sent.
type Address struct {
	Scheme string // with the characters between it and the host
	User   string // the part before the host, with its @
	Host   string
	Port   string // with its colon
	Rest   string // path, query and fragment
	Notes  []string
}

// NewAddress takes a URL apart; false if it is not an absolute one with a host.
// What programs and people may read differently is refused too: it is shown as
// source.
func NewAddress(s string) (*Address, bool) {
	at := strings.Index(s, "://")
	if at < 1 || at > 20 || strings.ContainsAny(s, "\\ \t\r\n") || len(s) > 8<<10 {
		return nil, false
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return nil, false
	}
	a := &Address{Scheme: s[:at+3]}
	rest := s[at+3:]
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest, a.Rest = rest[:end], rest[end:]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		a.User, rest = rest[:i+1], rest[i+1:]
	}
	a.Host = rest
	if port := u.Port(); port != "" || strings.HasSuffix(rest, ":") {
		a.Host, a.Port = rest[:len(rest)-len(port)-1], ":"+port
	}
	a.note()
	a.compare(s)
	return a, true
}

func (a *Address) note() {
	scheme := strings.ToLower(strings.TrimSuffix(a.Scheme, "://"))
	if a.User != "" && (!slices.Contains(login[:], scheme) || !plainUser(a.User)) {
		a.Notes = append(a.Notes, "Contains a username before the host; only the part after @ is the address.")
	}
	if why, suspicious := models.LookAlike(a.Host); suspicious {
		a.Notes = append(a.Notes, "Check the host: "+why+".")
	}
	switch {
	case scheme == "http":
		a.Notes = append(a.Notes, "Not encrypted (http).")
	case slices.Contains(login[:], scheme):
	case slices.Contains([]string{"https", "git", "ws", "wss", "s3", "gs"}, scheme):
	default:
		a.Notes = append(a.Notes, "Unusual scheme.")
	}
}

// login are the schemes of databases, queues and remote shells: their addresses
// name an account before the host as a matter of course. On the web that is a trick.
var login = [...]string{
	"postgres", "postgresql", "mysql", "mariadb", "mssql", "sqlserver", "clickhouse", "cockroachdb", "mongodb",
	"mongodb+srv",
	"redis", "rediss", "amqp", "amqps", "mqtt", "mqtts", "nats", "ldap", "ldaps", "smtp", "smtps", "imap", "imaps",
	"ssh", "git+ssh", "ssh+git", "svn+ssh", "sftp", "ftp", "ftps", "rsync",
}

// plainUser reports whether the part before a host, with its @, is an ordinary account and nothing that may be read as
// a host: its name has no dot, and neither name nor password another @ or a character beyond those of addresses.
func plainUser(user string) bool {
	name, password, _ := strings.Cut(strings.TrimSuffix(user, "@"), ":")
	const safe = "-_~!$&'()*+,;="
	allowed := func(s, more string) bool {
		return strings.IndexFunc(s, func(r rune) bool {
			return r >= 0x80 || !letterOrDigit(byte(r)) && !strings.ContainsRune(safe+more, r)
		}) < 0
	}
	return allowed(name, "") && allowed(password, ".:%")
}

func letterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// Hosts are the hosts of the URLs in a text, and words with a dot that letters
// of other scripts make look like one: each once, at most most of them.
func Hosts(text string, most int) []string {
	var out []string
	add := func(host string) {
		if !slices.Contains(out, host) && len(out) < most {
			out = append(out, host)
		}
	}
	for at, tries := 0, 0; tries < 8*most; tries++ {
		i := strings.Index(text[at:], "://")
		if i < 0 {
			break
		}
		from, to := at+i, at+i+3
		for from > at && from > at+i-16 && schemeLetter(text[from-1]) {
			from--
		}
		to += len(text[to:min(len(text), to+1000)])
		if end := strings.IndexAny(text[at+i:to], " \t\r\n\"'<>|\\^{}`"); end >= 0 {
			to = at + i + end
		}
		if a, ok := NewAddress(strings.TrimRight(text[from:to], ".,;:)]")); ok {
			add(a.Host)
		}
		at += i + 3
	}
	for _, w := range disguised(text, most) {
		add(w)
	}
	return out
}

func schemeLetter(c byte) bool {
	return letterOrDigit(c) || c == '+' || c == '-' || c == '.'
}

// disguised are words with a dot that mix scripts or are coded.
func disguised(text string, most int) []string {
	var out []string
	letter, code := -1, -1 // where the next of each begins; looked for again only when it is passed
	for at := 0; at < len(text) && len(out) < most; {
		if letter < at {
			letter = at + found(text[at:], strings.IndexFunc(text[at:], func(r rune) bool { return r >= 0x80 }))
		}
		if code < at {
			code = at + found(text[at:], strings.Index(text[at:], "xn--"))
		}
		begin := min(letter, code)
		if begin == len(text) {
			break
		}
		from, to := begin, begin
		for from > at && (schemeLetter(text[from-1]) || text[from-1] >= 0x80) {
			from--
		}
		to += highlight.Run(text[to:min(len(text), to+255)],
			func(r rune) bool { return highlight.IsWord(r) || r == '.' || r == '-' })
		if to == begin {
			_, size := utf8.DecodeRuneInString(text[to:])
			at = to + size
			continue
		}
		w := strings.Trim(text[from:to], ".-")
		if _, mix := models.MixedScripts(w); strings.Contains(w, ".") && (mix || strings.Contains(w, "xn--")) {
			out = append(out, w)
		}
		at = to
	}
	return out
}

// found is a place in a text; its end where there is none.
func found(text string, at int) int {
	if at < 0 {
		return len(text)
	}
	return at
}

// addressText writes the URL as it was sent, its parts told apart.
func addressText(a Address) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		b.WriteString(`<pre class="address"><code>`)
		for _, part := range [...]highlight.Span{
			{Text: a.Scheme},
			{Text: a.User, Class: "address-user"},
			{Text: a.Host, Class: "address-host"},
			{Text: a.Port, Class: "address-port"},
			{Text: a.Rest},
		} {
			if part.Text != "" {
				drawSpans(&b, []highlight.Span{part})
			}
		}
		b.WriteString(`</code></pre>`)
		return write(w, b.String())
	})
}
