package pages_test

var formPages = []page{
	{key: "conversation-new", seen: seen{
		"title": "New conversation",
		"acts":  "Begin",
	}},
	{key: "policy", seen: seen{
		"title":  "Policy",
		"rows":   "1 Force push Bash require high risk waits 15 minutes; offers reasons to reject: Rebase first, Ask in the channel; costs at least 1,500 energy; also asks bo@example.org; “History of a protected branch would be rewritten.” | 2 ReadingHarmless /read_.*/ ls allow | 3 Never /^drop_/ deny “Not here.” | v7 active 1 d 2 h ago Ada Berg Ask Bo about force pushes | v6 3 d 8 h ago operator root",
		"acts":   "Review changes",
		"filled": "approval_enabled=true | required_approval_tools=Bash\n/^git_/ | default_timeout_minutes=5 | retention_days=0",
		"says":   "v7 is active. Pending requests keep the version they arrived under. | A tool that no rule and no list here names runs without approval, unless its agent asks for approval itself (unmatched: allow). | How the policy works",
	}},
	{key: "policy-review", seen: seen{
		"title": "Policy",
		"warns": "The gate goes off: no tool call is held any more. What is pending stays pending. | Fallback goes on: clients run calls without asking anyone when no server answers.",
		"rows":  "approval_enabled true false | required_approval_tools nothing deploy | 1 Force push Bash require high risk waits 15 minutes; offers reasons to reject: Rebase first, Ask in the channel; costs at least 1,500 energy; also asks bo@example.org; “History of a protected branch would be rewritten.” | 2 ReadingHarmless /read_.*/ ls allow | 3 Never /^drop_/ deny “Not here.” | v7 active 1 d 2 h ago Ada Berg Ask Bo about force pushes | v6 3 d 8 h ago operator root",
		"acts":  "Save as new version | Back to the form",
		"says":  "v7 is active. Pending requests keep the version they arrived under. | A tool that no rule and no list here names runs without approval, unless its agent asks for approval itself (unmatched: allow). | How the policy works",
	}},
	{key: "policy-stale", like: "policy", seen: seen{
		"warns":  "Version 7 was saved while you were editing. Look at it below, then review your changes again: nothing of yours was saved.",
		"filled": "required_approval_tools=Bash\n/^git_/\ndeploy | default_timeout_minutes=10 | fallback_auto_approve=true",
	}},
	{key: "policy-hostile", like: "policy", seen: seen{
		"rows": "1 unbrokenunbrokenunbrokenunbrokenunbrokenunbrokenunbrokenun … unbrokenunbrokenunbrokenunbrokenunbroken (12859 bytes, 2ac2b9243827430c)",
	}},
	{key: "policy-guide", seen: seen{
		"title": "How the policy works",
	}},
	{key: "grant-form-anything", seen: seen{
		"title":  "Allow this for…",
		"warns":  "The same grant is live already: revoke it first to make it anew. | No argument must match: any call of this tool by this agent is allowed, whatever is in “command”, “description”, “timeout”.",
		"errors": "must name members that the input has | must be from 1 to 24 | must be from 1 to 50",
		"acts":   "Allow, and approve this one | Allow | Preview",
		"filled": "hours=48",
		"says":   "Further calls like this one are allowed without asking anybody, until the time or the number is used up. Rules that deny come first, and calls of critical risk always need approval.",
	}},
	{key: "grant-form-closed", seen: seen{
		"title": "Allow this for…",
		"warns": "Calls of critical risk are always decided one by one.",
		"acts":  "Back to the request → /approvals/01890a5d-ac96-774b-bcce-b302099a8059",
		"says":  "Further calls like this one are allowed without asking anybody, until the time or the number is used up. Rules that deny come first, and calls of critical risk always need approval.",
	}},
	{key: "grant-form-hostile", like: "grant-form-anything", seen: seen{
		"warns":  "Contains hidden characters. They are shown as codes in the input (1 direction control, 1 zero-width character), in the agent's name (1 direction control).",
		"errors": "",
		"filled": "keep=0 | keep=1 | keep=2 | keep=3 | keep=4 | keep=5 | keep=6 …  | keep=98 | keep=99 | hours=1 | uses=10 (1007 bytes, cf9a7f8323330050)",
	}},
	{key: "signin", seen: seen{
		"title": "Sign in",
		"acts":  "Sign in",
		"says":  "Countersign holds what agents want to do until a person has looked at it.",
	}},
	{key: "signin-wrong", like: "signin", seen: seen{
		"warns":  "E-mail and password do not match an account that may sign in.",
		"filled": "email=ada@example.org",
	}},
	{key: "signin-wait", like: "signin", seen: seen{
		"warns":  "Too many attempts failed. Try again in 11 minutes.",
		"filled": "email=ada@example.org",
	}},
	{key: "setup", seen: seen{
		"title": "Set up Countersign",
		"acts":  "Create the account",
		"says":  "This makes the first account, an admin. The link you followed works once.",
	}},
	{key: "join", seen: seen{
		"title":  "Join Countersign",
		"acts":   "Create the account",
		"filled": "username=new@example.org",
		"says":   "You were invited as reviewer. You will sign in as new@example.org. The link works once.",
	}},
	{key: "failure-401", seen: seen{
		"title": "Sign in first",
		"acts":  "Sign in → /signin",
		"says":  "401 | Request req-3",
	}},
	{key: "failure-403", seen: seen{
		"title": "You may not do this",
		"acts":  "Go to the inbox → /",
		"says":  "403 | Only an admin may do this. | Ask an admin, or sign in with another account. | Request req-4",
	}},
	{key: "failure-409", seen: seen{
		"title": "It changed meanwhile",
		"acts":  "Go to the inbox → /",
		"says":  "409 | Version 8 was saved meanwhile. | Go back, reload the page and look at the current state. | Request req-5",
	}},
	{key: "failure-413", seen: seen{
		"title": "That did not work",
		"acts":  "Go to the inbox → /",
		"says":  "413 | At most 512 KiB are taken. | Go back, correct it, and send it again. | Request req-6",
	}},
	{key: "failure-429", seen: seen{
		"title": "Too many requests",
		"acts":  "Go to the inbox → /",
		"says":  "429 | Wait 12 seconds. | Wait a moment, then try again. | Request req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-req-",
	}},
	{key: "failure-503", seen: seen{
		"title": "Not available just now",
		"acts":  "Go to the inbox → /",
		"says":  "503 | The server is starting or stopping. Nothing is lost; try again in a moment. | Request req-7",
	}},
	{key: "failure-500", seen: seen{
		"title": "Something broke here",
		"acts":  "Go to the inbox → /",
		"says":  "500 | Nothing was decided by it. Try again; if it stays, the log has the request's number. | Request req-2",
	}},
}
