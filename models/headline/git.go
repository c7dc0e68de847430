package headline

import "strings"

// push says what one `git push` of one branch does. All other forms are told by their words:
// with several branches, without one, or with an option that is not known here.
func (h *Headline) push(words []string) bool {
	if len(words) < 4 || words[0] != "git" || words[1] != "push" {
		return false
	}
	force, remove, lease := false, false, false
	var args []string
	for _, w := range words[2:] {
		switch {
		case w == "--force" || w == "-f":
			force = true
		case w == "--force-with-lease":
			lease = true
		case w == "--delete" || w == "-d":
			remove = true
		case !isRef(strings.TrimPrefix(w, "+")) && !strings.Contains(w, ":"):
			return false
		default:
			args = append(args, w)
		}
	}
	if len(args) != 2 || !isRef(args[0]) {
		return false
	}
	remote, ref := args[0], args[1]
	if plus, ok := strings.CutPrefix(ref, "+"); ok {
		force, ref = true, plus
	}
	from, to, two := strings.Cut(ref, ":")
	switch {
	case remove && (force || lease || two) || two && !isRef(to) || from != "" && !isRef(from) || !two && from == "":
		return false
	case remove, two && from == "" && !lease:
		if two {
			ref = to
		}
		h.Lead, h.Rest, h.Tail = "Delete", ref, "on "+remote
		return true
	case from == "":
		return false
	}
	h.Lead, h.Rest, h.Tail = "Push", from, "to "+remote
	if two {
		h.Rest = from + " as " + to
	}
	if force || lease {
		h.Lead = "Force-push"
	}
	if lease && !force {
		h.Tail += " (with lease)"
	}
	return true
}

// maxRef is the longest name of a branch or remote that is shown in a sentence, in bytes.
const maxRef = 60

// isRef reports whether a word is the plain name of a branch or a remote.
func isRef(s string) bool {
	return s != "" && len(s) <= maxRef && s[0] != '-' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") == ""
}
