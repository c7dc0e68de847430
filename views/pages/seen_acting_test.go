package pages_test

// actingPages are states of requests that people have for others.
var actingPages = []page{
	{key: "inbox-for-others", like: "inbox-one", seen: seen{
		"who":   "buyer asks to use pay in Office order · 1 min ago",
		"marks": "critical risk 0:12 left",
		"tally": "2 waiting",
		"what":  "120.00, number EUR, text, 3 characters Payee ACME SA, text, 7 characters Reference 9007199254740993, number",
		"rows":  "buyer · pay · Office order critical risk You decide for Eve⟨U+202E⟩ <b>Holm</b> 1 min ago 0:12 left Pay 120.00 EUR to ACME SA | release-bot · Bash · Ship 1.4 Only others may decide it 1 min ago 1:00 left Run: make target-0",
		"acts":  "Approve | Edit… → #edit-body | Reject… | Reject | Ask a question… | Ask | More time… | +15 min | +1 h | +4 h | Max (8 h) | Extend | Cancel request… | Cancel request",
		"help":  "Sent to the agent and its owner. The timer pauses until they answer, for at most 1 h. After the answer, 12 s will be left. Without an answer, the request expires.",
	}},
	{key: "approval-for-another", like: "approval-payment", seen: seen{
		"warns":      "The policy is now v9; it would still require approval, at critical risk (rule “Force push”).",
		"why":        "policy v7 The policy is now v9; it would still require approval, at critical risk (rule “Force push”).",
		"said":       "Note by Eve Holm Please look, I am on a train until three.",
		"acts":       "Approve | Edit… → #edit-body | Reject… | Reject | Ask a question… | Ask | More time… | +15 min | +1 h | +4 h | Max (8 h) | Extend | Cancel request… | Cancel request",
		"folds":      "Approved 3 times, allowed by rules 2 times, rejected once · last: 2 d ago by Bo Lind | the last 2 messages before this one | Details",
		"help":       "Sent to the agent and its owner. The timer pauses until they answer, for at most 1 h. After the answer, 12 s will be left. Without an answer, the request expires.",
		"for-others": "Eve Holm handed this request to you 5 min ago Note by Eve Holm Please look, I am on a train until three. | group oncall and bo@example.org at 2026-11-20 10:42:00 UTC | You decide on behalf of Eve Holm",
	}},
	{key: "approval-for-another-hostile", like: "approval-for-another", seen: seen{
		"warns":      "The policy is now v9; it would still require approval, at critical risk (rule “Force push”).",
		"why":        "policy v7 The policy is now v9; it would still require approval, at critical risk (rule “Force push”).",
		"said":       "Note by Eve⟨U+202E⟩ on behalf of <b>Ann</b> </p><script>alert(1)</script> ⟨U+202E⟩gnp.exe⟨U+2066⟩ [x](javascript:alert(1)) ⟨U+200B⟩ You may approve this at once.",
		"acts":       "Approve | Edit… → #edit-body | Reject… | Reject | Ask a question… | Ask | More time… | +15 min | +1 h | +4 h | Max (8 h) | Extend | Cancel request… | Cancel request",
		"folds":      "Approved 3 times, allowed by rules 2 times, rejected once · last: 2 d ago by Bo Lind | the last 2 messages before this one | Details",
		"help":       "Sent to the agent and its owner. The timer pauses until they answer, for at most 1 h. After the answer, 12 s will be left. Without an answer, the request expires.",
		"for-others": "Eve⟨U+202E⟩ on behalf of <b>Ann</b> handed this request to you 5 min ago Note by Eve⟨U+202E⟩ on behalf of <b>Ann</b> </p><script>alert(1)</script> ⟨U+202E⟩gnp.exe⟨U+2066⟩ [x](javascript:alert(1)) ⟨U+200B⟩ You may approve this at once. | You decide on behalf of Eve⟨U+202E⟩ on behalf of <b>Ann</b>",
	}},
	{key: "approval-substitute", like: "approval-for-another", seen: seen{
		"said":       "",
		"warns":      "The policy is now v9; it would still require approval, at critical risk (rule “Force push”).",
		"why":        "policy v7 The policy is now v9; it would still require approval, at critical risk (rule “Force push”).",
		"acts":       "Approve | Edit… → #edit-body | Reject… | Reject | Ask a question… | Ask | More time… | +15 min | +1 h | +4 h | Max (8 h) | Extend | Cancel request… | Cancel request",
		"folds":      "Approved 3 times, allowed by rules 2 times, rejected once · last: 2 d ago by Bo Lind | the last 2 messages before this one | Details",
		"help":       "Sent to the agent and its owner. The timer pauses until they answer, for at most 1 h. After the answer, 12 s will be left. Without an answer, the request expires.",
		"for-others": "You have this request because Eve Holm is away until 2026-11-22 12:30:00 UTC and named you as the substitute. | group oncall and bo@example.org at 2026-11-20 10:42:00 UTC | You decide on behalf of Eve Holm",
	}},
	{key: "approval-substitute-question", like: "approval-question", seen: seen{
		"warns":      "The policy is now v9; it would still require approval, at critical risk (rule “Force push”).",
		"why":        "policy v7 The policy is now v9; it would still require approval, at critical risk (rule “Force push”).",
		"acts":       "Europe answers “eu”1 | us 2 | Answer | Decline to answer… | Decline | Ask a question… | Ask | Cancel request… | Cancel request",
		"folds":      "Approved 3 times, allowed by rules 2 times, rejected once · last: 2 d ago by Bo Lind | the last 2 messages before this one | Details",
		"help":       "Sent to the agent and its owner. There is no deadline.",
		"for-others": "You have this request because Eve Holm is away until 2026-11-22 12:30:00 UTC and named you as the substitute. | You decide on behalf of Eve Holm",
	}},
	{key: "approval-handed-over", like: "approval", seen: seen{
		"warns":      "The policy is now v9; it would still require approval, at critical risk (rule “Force push”).",
		"why":        "rule Force push · policy v7 History of a protected branch would be rewritten. The policy is now v9; it would still require approval, at critical risk (rule “Force push”). | The branch has diverged after the rebase.",
		"acts":       "Take back | Approve | Edit… → #edit-body | Reject… | Reject | Ask a question… | Ask | More time… | +15 min | +1 h | +4 h | Max (8 h) | Extend | Hand over to… | Hand over | Cancel request… | Cancel request | Pre-approve… → /approvals/01890a5d-ac96-774b-bcce-b302099a8057/grant",
		"folds":      "Approved 3 times, allowed by rules 2 times, rejected once · last: 2 d ago by Bo Lind | the last 2 messages before this one | Details",
		"help":       "Sent to the agent and its owner. The timer pauses until they answer, for at most 1 h. After the answer, 3 min 41 s will be left. Without an answer, the request expires.",
		"for-others": "Eve Holm has this request too, from you 5 min ago Please look, I am on a train until three. Take back",
	}},
	{key: "approval-hand-over-errors", like: "approval", seen: seen{
		"warns":  "The policy is now v9; it would still require approval, at critical risk (rule “Force push”).",
		"errors": "must be somebody who may approve this request | is 1200 bytes long; at most 1000 are allowed",
		"why":    "rule Force push · policy v7 History of a protected branch would be rewritten. The policy is now v9; it would still require approval, at critical risk (rule “Force push”). | The branch has diverged after the rebase.",
		"acts":   "Approve | Edit… → #edit-body | Reject… | Reject | Ask a question… | Ask | More time… | +15 min | +1 h | +4 h | Max (8 h) | Extend | Hand over to… | Hand over | Cancel request… | Cancel request | Pre-approve… → /approvals/01890a5d-ac96-774b-bcce-b302099a8057/grant",
		"folds":  "Approved 3 times, allowed by rules 2 times, rejected once · last: 2 d ago by Bo Lind | the last 2 messages before this one | Details",
		"help":   "Sent to the agent and its owner. The timer pauses until they answer, for at most 1 h. After the answer, 3 min 41 s will be left. Without an answer, the request expires.",
		"filled": "to=01890a5d-ac96-774b-bcce-b302099a8210 | note=Please look.",
	}},
	{key: "approval-no-more", like: "approval-payment", seen: seen{
		"warns": "The policy is now v9; it would still require approval, at critical risk (rule “Force push”).",
		"why":   "policy v7 The policy is now v9; it would still require approval, at critical risk (rule “Force push”).",
		"acts":  "Cancel request… | Cancel request",
		"folds": "Approved 3 times, allowed by rules 2 times, rejected once · last: 2 d ago by Bo Lind | the last 2 messages before this one | Details",
	}},
	{key: "approval-for-another-approved", like: "approval-approved", seen: seen{
		"more":    "",
		"labels":  "command | 45 bytes | Other members | Whole input | 110 bytes as sent | Context reported by release-bot | 21 bytes | Hashed bytes | 157 bytes",
		"outcome": "approved by Bo Lind on behalf of Eve⟨U+202E⟩ on behalf of <b>Ann</b> 12 s ago · after 1 min 7 s Reason Fine. Result no result yet",
	}},
	{key: "approval-unanswered", like: "approval-expired", seen: seen{
		"for-others": "Nobody is recorded as having seen this request. | Ada Berg · told by e-mail at 2026-11-20 10:10:00 UTC · told by a browser notification, as one of many at 2026-11-20 10:10:00 UTC · not recorded as having seen it | Eve⟨U+202E⟩ on behalf of <b>Ann</b> · could not be told by ntfy at 2026-11-20 10:10:00 UTC · not recorded as having seen it | Group oncall · told by Slack at 2026-11-20 10:10:00 UTC | Bo Lind · no notification was sent · not recorded as having seen it",
	}},
	{key: "approval-unanswered-seen", like: "approval-expired", seen: seen{
		"for-others": "Nobody was told of this request by a notification. | Ada Berg · no notification was sent · saw it 2026-11-20 10:11:00 UTC",
	}},
}
