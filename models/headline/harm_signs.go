package headline

import "strings"

// A text that can't be read with certainty is looked through for words that may harm. It may
// have 256 KiB and be made to be slow to read: each word is looked up once, with the little
// that follows it.

// mostFollows is how much behind a word is looked at, in bytes.
const mostFollows = 200

// sign is the harm of a word, from the text before and behind it in its line or statement.
type sign func(before, behind string) harm

func always(h harm) sign { return func(string, string) harm { return h } }

// followed is a sign only before another word.
func followed(h harm) sign {
	return func(_, behind string) harm {
		if strings.HasPrefix(behind, " ") || strings.HasPrefix(behind, "\t") {
			return h
		}
		return shows
	}
}

// called is what a program does with the words behind it.
func called(name string) sign {
	return func(_, behind string) harm {
		if !strings.HasPrefix(behind, " ") && !strings.HasPrefix(behind, "\t") {
			return shows
		}
		h := named(name, strings.Fields(behind))
		if h < reaches {
			return shows
		}
		return h
	}
}

// fromPipe is a shell that reads what it runs.
func fromPipe(before, _ string) harm {
	before = strings.TrimRight(before, "/abcdefghijklmnopqrstuvwxyz")
	before = strings.TrimRight(before, " \t")
	before = strings.TrimRight(strings.TrimSuffix(before, "sudo"), " \t")
	if strings.HasSuffix(before, "|") {
		return runsOther
	}
	return shows
}

func deletes(_, behind string) harm {
	if words := strings.Fields(behind); len(words) > 0 && strings.EqualFold(words[0], "from") {
		return empties
	}
	return shows
}

var signs = func() map[string]sign {
	out := map[string]sign{
		"drop": followed(destroys), "truncate": always(destroys), "shutdown": always(destroys), "mkfs": always(destroys),
		"shred":  always(destroys),
		"wipefs": always(destroys), "dropdb": always(destroys), "delete": deletes, "eval": always(runsOther),
		"alter": followed(reaches), "grant": followed(reaches), "revoke": followed(reaches), "rename": followed(reaches),
		"sudo": followed(reaches),
	}
	for _, program := range []string{"rm", "dd", "git", "terraform", "kubectl", "helm", "aws", "gcloud"} {
		out[program] = called(program)
	}
	for _, shell := range []string{"sh", "bash", "zsh", "dash", "ksh"} {
		out[shell] = fromPipe
	}
	return out
}()

// longestSign is the longest of these words, in bytes.
const longestSign = 9

// perhaps is the worst sign of harm in a text, and where it begins; shows: there is none.
func perhaps(text string) (at int, most harm) {
	for i := 0; i < len(text); i++ {
		if !isWord(text[i]) {
			continue
		}
		end := i
		for end < len(text) && isWord(text[end]) {
			end++
		}
		if end-i <= longestSign {
			if says := signs[strings.ToLower(text[i:end])]; says != nil {
				behind := text[end:min(end+mostFollows, len(text))]
				if n := strings.IndexAny(behind, "\n;|&"); n >= 0 {
					behind = behind[:n]
				}
				if h := says(text[max(0, i-mostFollows):i], behind); h > most {
					if at, most = i, h; h == destroys {
						return at, most
					}
				}
			}
		}
		i = end
	}
	return at, most
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
