package main

import (
	"regexp"
	"strings"
)

// A place is where a rule applies: what people read, comments, all names that Go code declares, or those of its
// fields, parameters and variables alone.
type place int

const texts, comments, names, variables place = 1, 2, 4, 8

// A rule is a wording to avoid or, without advice, a phrase in which it is right. A space is any white space.
type rule struct {
	where  place
	is     *regexp.Regexp
	advice string
}

func avoid(where place, pattern, advice string) rule {
	return rule{where, regexp.MustCompile(`(?i)` + strings.ReplaceAll(pattern, " ", `\s+`)), advice}
}

var rules = []rule{
	avoid(texts|comments, `\bverdict checked\b|\bNobody says why\b|\bfull function grant group\b`, ""),                // columns of votes, keywords of SQL
	avoid(texts, `\bturn(s|ed|ing)? (it |them |this )?(on|off|into)\b|\bto grant a different\b|\bwithdrawn by\b`, ""), // verbs, a stored reason
	avoid(variables, `\b\w*(need|seed|feed|speed|embed|bed|red|string|thing|setting|warning|heading|padding|spacing|p?ring|meaning)\b`, ""),
	avoid(variables, `\b\w*(pending|approved|rejected|expired|cancelled|resolved|disabled|enabled)\b`, ""), // states in JSON and columns

	avoid(texts, `\bstands?\b|\bstood\b|\bholds\b`, "say what is true: is active, applies, appears, contains, has"),
	avoid(texts, `\bsaid why\b|\bwhy (it was |it is )?held\b`, "say agent's reason, why it needs approval, or why it was allowed"),
	avoid(texts|comments, `\bby (itself|themselves)\b`, "say alone, automatically, or can't be bulk-approved"),
	avoid(texts|comments, `\banew\b`, "say again"),
	avoid(texts, `\bof its own\b`, "say its own, or separate"),
	avoid(texts|comments, `\b(goes|went|gone) ahead\b`, "say was approved, was allowed, runs"),
	avoid(texts, `\bas it (is|says)\b`, "say unchanged, Agent's, Details, or leave it out"),
	avoid(texts, `\btold to\b|\bnot told\b`, "say sent to, shown to, not sent"),
	avoid(texts, `\bwithdr(aw|aws|ew|awn|awing|awal|awals)\b`, "say undo for one's own approval, cancel for a request"),
	avoid(texts, `\b(un)?fold(s|ed|ing)?\b`, "say section, or group"),
	avoid(texts, `\b(grant|turn|verdict)s?\b`, "say pre-approval, message or step, decision"),
	avoid(texts, `(^|[\d…}]) %([\s,;:)]|$)|%[dvs] %%`, "no space before the per cent sign"),
	avoid(texts, `\bis a no\b|\bin my own words\b|\blaid out\b`, "say expires and must not run, Other, or Preview"),
	avoid(texts, `\bagainst the last\b|\bjudged by\b|\bas asked\b`, "name the call or the version; say unchanged, or as requested"),
	avoid(texts, `\bno (answer came|open session)\b`, "say Connection lost, or Your session expired"),
	avoid(texts, `\bas far as may be\b|\bor minutes more\b`, "say Max, or Custom minutes"),
	avoid(texts, `\bnobody in time\b|\bat another place\b`, "say no decision in time, or decided elsewhere"),
	avoid(texts, `\btake it back\b|\btaken (back|away)\b|\btakes? away\b`, "say Undo, Subtract, or Remove"),
	avoid(texts, `\bmay allow further calls\b|\bask back\b|\banother sum\b`, "say can pre-approve similar calls, Ask a question, a different amount"),
	avoid(texts, `\bat the desk\b|\bby program\b`, "say Reviewer settings, in the inbox, or via API"),
	avoid(texts, `\bfor your eyes\b|\boutside of any run\b`, "say you don't have access, or single requests"),
	avoid(texts, `\bwhat is no\b`, "name the thing that is wrong"),

	avoid(comments, `\bwhat (is|was|has|waits|stands|comes)\b`, "name the thing: the request, the row, the text"),
	avoid(texts|comments, `\bwhoever\b`, "name the person or part: the caller, a reviewer"),
	avoid(comments, `\bwould else\b`, "say would otherwise"),
	avoid(comments, `\bof whom\b`, "say whose, or begin another sentence"),
	avoid(comments, `\bstand(s|ing)?\b`, "say is, exists, applies, or is current"),
	avoid(comments, `\bis (told|let)\b`, "say gets, learns, may, or is allowed"),
	avoid(comments, `\bnobody\b`, "say no one else, no caller, or turn the sentence round"),
	avoid(comments, `\bpass(es)? over\b`, "say skips"),

	avoid(names, `\b(judged|standing|taken|sooner|ahead|unsaid|left|begun|course|rests|alone|told|looked|given|shut|went|happening)\b`,
		"a name is a noun or verb of the domain"),
	avoid(variables, `\b\w+(ed|ing)\b`, "a field or variable is a noun: no participle"),
}
