package condition

import (
	"net/url"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

const maxAddress = 8 << 10 // bytes

// hostOf is the host that an address leads to, in lower case and without port. It is known
// only where browsers (https://url.spec.whatwg.org) and Go's libraries read the same.
func hostOf(v ref.Val) ref.Val {
	text, ok := textOf(v)
	if !ok {
		return failure("an address must be a text")
	}
	host, why := hostIn(text)
	if why != "" {
		return failure(why)
	}
	return types.String(host)
}

func hostIn(text string) (host, why string) {
	const differ = "programs read the address differently, so it is not known where it leads"
	if len(text) > maxAddress {
		return "", "an address is too long to be read"
	}
	browser, err := whatwg.Parse(text)
	if err != nil {
		return "", "an address is incomplete, or not an address"
	}
	library, err := url.Parse(text)
	if err != nil || !strings.EqualFold(library.Scheme, strings.TrimSuffix(browser.Protocol(), ":")) {
		return "", differ
	}
	switch library.Scheme {
	case "http", "https", "ws", "wss", "ftp":
	default:
		return "", "the address is not one of a host that programs connect to"
	}
	one, other := bareHost(browser.Hostname()), bareHost(strings.ToLower(library.Hostname()))
	switch {
	case one != other:
		return "", differ
	case one == "":
		return "", "an address has no host"
	}
	return one, ""
}

// bareHost is a host without what is only notation.
func bareHost(host string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
}
