package headline

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Programs by their names, or by their names and subcommands.
var (
	readers = strings.Fields(`[ basename cat cd column cut date df diff dirname du echo env exit expr false file find grep egrep fgrep head hostname id jq less ls
		nl printenv printf ps pwd read realpath return rg seq set shift sleep sort stat test tail tr true type umask uname uniq wait wc which whoami
		git-status git-log git-diff git-show git-fetch git-blame git-describe git-grep git-ls-files git-rev-parse git-remote
		go-vet go-list go-version npm-ls npm-view docker-ps docker-logs docker-images kubectl-get kubectl-describe kubectl-logs terraform-plan terraform-show`)
	changers = strings.Fields(`awk chmod chown cp curl declare export gunzip gzip install ln local make mkdir mv pushd popd sed tar tee touch unset unzip wget xz zip
		git-add git-commit git-checkout git-switch git-merge git-pull git-stash git-restore git-revert git-rm git-mv git-tag git-init git-clone git-cherry-pick git-worktree git-branch
		go-build go-test go-get go-generate go-mod go-run npm-ci npm-install npm-i npm-run npm-test yarn-install pnpm-install pip-install
		cargo-build cargo-test docker-build docker-pull apt-get-update`)
	senders = strings.Fields(`chgrp crontab doas ftp gh iptables kill killall mail pkill rm rmdir rsync scp sendmail sftp ssh sudo su systemctl unlink useradd usermod
		git-push git-rebase npm-publish pnpm-publish yarn-publish cargo-publish docker-push docker-rm docker-rmi docker-run kubectl-apply kubectl-scale kubectl-rollout
		terraform-apply helm-upgrade helm-install gcloud aws az`)
	destroyers = strings.Fields(`dropdb fdisk halt mkfs parted poweroff reboot shred shutdown truncate userdel wipefs git-filter-branch npm-unpublish terraform-destroy helm-uninstall`)
	shells     = strings.Fields(`bash dash fish ksh sh zsh python python3 perl ruby node php`)
	evaluators = strings.Fields(`. eval source`)
	prefixes   = strings.Fields(`builtin chroot command doas env exec ionice nice nohup setsid stdbuf su sudo time timeout watch xargs ssh find parallel`)
	// ending are subcommands that take something away for good, of whatever program.
	destroyWords = strings.Fields(`delete destroy drop flushall flushdb prune purge terminate uninstall unpublish`)
)

// mostBehind is how many words behind a prefix are looked at as what it runs.
const mostBehind = 64

// harmOfWords is what a command may do. An empty word is one that is not known as written.
func harmOfWords(words []string) harm {
	if len(words) == 0 {
		return shows
	}
	name, args := programName(words[0]), words[1:]
	most := named(name, args)
	if most >= unclear {
		for _, w := range args { // scripts and SQL, to be run by something
			if strings.ContainsAny(w, " \t\n") {
				_, found := perhaps(w)
				most = max(most, found)
			}
		}
	}
	if slices.Contains(prefixes, name) {
		for i, w := range args[:min(len(args), mostBehind)] {
			behind := programName(w)
			if !slices.Contains(prefixes, behind) && (i == 0 || named(behind, args[i+1:]) >= reaches) {
				most = max(most, harmOfWords(args[i:]))
			}
		}
	}
	return most
}

// programName is a program without its folder; empty: it is not known.
func programName(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToLower(path.Base(strings.TrimPrefix(word, `\`)))
}

// named is what a program does by its name, its first words and its options.
func named(name string, args []string) harm {
	first := ""
	for _, a := range args {
		if a != "" && a[0] != '-' {
			first = a
			break
		}
	}
	switch both := name + "-" + first; {
	case name == "":
	case removesMuch(name, first, args), slices.Contains(destroyers, name), slices.Contains(destroyers, both),
		strings.HasPrefix(name, "mkfs."):
		return destroys
	case slices.Contains(evaluators, name), slices.Contains(shells, name) && len(args) > 0 && runsText(args):
		return runsOther
	case slices.Contains(senders, name), slices.Contains(senders, both), name == "curl" && sends(args):
		return reaches
	case slices.Contains(readers, name), slices.Contains(readers, both):
		return shows
	case slices.Contains(changers, name), slices.Contains(changers, both):
		return changes
	}
	return unclear
}

// removesMuch reports whether a command takes away what can't be had again.
func removesMuch(name, first string, args []string) bool {
	switch name {
	case "rm":
		return slices.ContainsFunc(args, func(a string) bool {
			return a == "--recursive" || a == "--force" || isShort(a) && strings.ContainsAny(a, "rRf")
		})
	case "dd":
		return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "of=") })
	case "find":
		return slices.Contains(args, "-delete")
	case "git":
		switch first {
		case "push":
			return slices.ContainsFunc(args, func(a string) bool {
				return strings.HasPrefix(a, "--force") || a == "--delete" || a == "--mirror" || a == "--prune" ||
					strings.HasPrefix(a, "+") || strings.HasPrefix(a, ":") ||
					isShort(a) && strings.ContainsAny(a, "fd")
			})
		case "reset":
			return slices.Contains(args, "--hard")
		case "clean":
			return slices.ContainsFunc(args,
				func(a string) bool { return a == "--force" || isShort(a) && strings.Contains(a, "f") })
		case "branch", "tag":
			return slices.ContainsFunc(args, func(a string) bool { return a == "-D" || a == "-d" || a == "--delete" })
		}
		return false
	}
	if slices.Contains(readers, name) || slices.Contains(changers, name) {
		return false
	}
	plain := 0 // the first words say the act: aws s3 rm, gh repo delete, kubectl delete
	for _, a := range args {
		if a == "" || a[0] == '-' {
			continue
		}
		word := strings.ToLower(a)
		verb, _, _ := strings.Cut(word, "-")
		if slices.Contains(destroyWords, word) || slices.Contains(destroyWords, verb) ||
			plain > 0 && (word == "rm" || word == "rb") {
			return true
		}
		if plain++; plain == 3 {
			break
		}
	}
	return false
}

func isShort(option string) bool {
	return len(option) > 1 && option[0] == '-' && option[1] != '-'
}

// runsText reports whether an interpreter is given what to run among its words.
func runsText(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return isShort(a) && strings.ContainsAny(a, "ce") })
}

// sends reports whether curl sends more than a question.
func sends(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "-d") || strings.HasPrefix(a, "-X") || strings.HasPrefix(a, "-T") ||
			strings.HasPrefix(a, "-F") || strings.HasPrefix(a, "--data") ||
			a == "--request" || a == "--upload-file" || a == "--form" || a == "--json"
	})
}

// wholes are the texts of calls that do more than their own words say, by where these begin: a
// shell that reads from a pipe, and a command that writes into a file.
type wholes map[uint]part

// note takes in what a node says of the call in it.
func (w wholes) note(s script, node syntax.Node) {
	switch node := node.(type) {
	case *syntax.BinaryCmd:
		call, ok := node.Y.Cmd.(*syntax.CallExpr)
		if ok && len(call.Args) > 0 && (node.Op == syntax.Pipe || node.Op == syntax.PipeAll) &&
			slices.ContainsFunc(literalWords(call.Args), func(word string) bool {
				return slices.Contains(shells, path.Base(word))
			}) {
			w[call.Pos().Offset()] = part{s.source(node), runsOther}
		}
	case *syntax.Stmt:
		if call, ok := node.Cmd.(*syntax.CallExpr); ok && slices.ContainsFunc(node.Redirs, writes) {
			if _, known := w[call.Pos().Offset()]; !known {
				w[call.Pos().Offset()] = part{s.source(node), changes}
			}
		}
	}
}

// writes reports whether a redirection writes into a file.
func writes(r *syntax.Redirect) bool {
	switch r.Op { //nolint:exhaustive // all others read, or write to what is open
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.RdrAllClob, syntax.AppAll,
		syntax.AppAllClob:
		return r.Word == nil || r.Word.Lit() != "/dev/null"
	}
	return false
}

// call is a command with what it may do.
func (w wholes) call(s script, call *syntax.CallExpr) part {
	p := part{s.source(call), harmOfWords(literalWords(call.Args))}
	if whole, ok := w[call.Pos().Offset()]; ok {
		p.text, p.harm = whole.text, max(p.harm, whole.harm)
	}
	return p
}

// literalWords are words as their program gets them; an empty one is not known.
func literalWords(args []*syntax.Word) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = literalParts(arg.Parts)
	}
	return out
}

func literalParts(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			b.WriteString(literalParts(p.Parts))
		default:
			return ""
		}
	}
	return b.String()
}
