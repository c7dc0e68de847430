// Package passwords tells which passwords everybody guesses first. Its list is
// part of the program: nothing is asked of anybody.
package passwords

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed common.txt
var list string

var commonPasswords = sync.OnceValue(func() map[string]bool {
	out := make(map[string]bool, strings.Count(list, "\n"))
	for word := range strings.Lines(list) {
		out[strings.TrimSpace(word)] = true
	}
	return out
})

// Common reports whether a password is among those that are guessed first: a
// listed one, alone or with digits and punctuation around it or letters replaced
// by digits; one made of own, the words that are known of its owner; a few
// characters repeated; or a run such as abcdefghijkl.
func Common(password string, own ...string) bool {
	p := strings.ToLower(password)
	known := commonPasswords()
	for _, form := range []string{p, strings.Map(unleet, p)} {
		stem := strings.TrimFunc(form, notLetter)
		if known[form] || known[stem] {
			return true
		}
		for _, word := range own {
			if word = strings.ToLower(word); word != "" && (stem == word || stem == strings.TrimFunc(word, notLetter)) {
				return true
			}
		}
	}
	return repeated(p) || run(p)
}

func notLetter(r rune) bool { return r < 0x80 && (r < 'a' || r > 'z') }

// unleet undoes the usual replacements.
func unleet(r rune) rune {
	const from, to = "@4301!$57", "aaeoiisst"
	if i := strings.IndexRune(from, r); i >= 0 {
		return rune(to[i])
	}
	return r
}

// repeated reports whether a text is a short one over and over.
func repeated(p string) bool {
	const short = 8 // bytes
	for n := 1; n <= min(short, len(p)/2); n++ {
		if strings.HasPrefix(strings.Repeat(p[:n], len(p)/n+1), p) {
			return true
		}
	}
	return false
}

// run reports whether each character follows the one before it, up or down; 0
// comes after 9.
func run(p string) bool {
	for _, step := range []int{1, -1} {
		is := len(p) > 1
		for i := 1; i < len(p) && is; i++ {
			was, now := int(p[i-1]), int(p[i])
			digits := was >= '0' && was <= '9' && now >= '0' && now <= '9'
			is = now-was == step || digits && (now-was+10)%10 == (step+10)%10
		}
		if is {
			return true
		}
	}
	return false
}
