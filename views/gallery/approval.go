package gallery

import (
	"slices"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views/pages/requests"
)

// approvalPage is the page of a request after two others of its conversation.
func approvalPage(a models.Approval, mend ...func(*requests.Input)) templ.Component {
	in := requests.Input{Approval: a, Substitution: models.ActingPage{Right: Own}, Turns: Turns(a)}
	for _, m := range mend {
		m(&in)
	}
	v := requests.New(in, Now)
	return requests.Page(Frame(v.Title, v.URL), v)
}

func approvalStates() []State {
	page := func(name, note string, a models.Approval, mend ...func(*requests.Input)) State {
		return State{Page: "approval", Name: name, Note: note, Component: approvalPage(a, mend...)}
	}
	edited := `{"command":"rm -rf build/","timeout":120000}`
	outside, cut := outsideRequests()
	return append([]State{
		page(Usual, "A command of high risk, and why it is held", Shell()),
		page("edit-file", "A change to a file", Edit()),
		page("payment", "Critical, with little time left and a large number", Payment()),
		page("question", "A question with options", Question()),
		page("hidden", "Hostile: directions, zero widths, tags, look-alikes, markup", Hidden()),
		page("right-to-left", "Hostile: letters that run from right to left", Reordered()),
		page("marks", "Hostile: marks that climb, and characters drawn as nothing", Climbing()),
		page("empty-input", "No input", Call("deploy", `{}`)),
		page("deep", "Nested as deep as is taken", Call("deep", DeepInput())),
		page("long-command", "Folded, with its true length", Call("Bash", LongCommand())),
		page("expired", "Nobody decided in time",
			Call("deploy", `{}`, func(a *models.Approval) { a.ApprovalTimeoutAt = Now })),
		page("approved", "With an edited input, both shown",
			Settle(Shell(), models.StatusApproved, models.CauseReviewer,
				&models.Vote{Verdict: models.VerdictApprove, Reason: "Fine now.", Input: &edited, InputDigest: new("77aa")})),
		page("rejected-late", "Decided elsewhere while open",
			Settle(Shell(), models.StatusRejected, models.CauseReviewer,
				&models.Vote{
					Verdict: models.VerdictReject, Reason: "Not on a Friday.",
				}), func(in *requests.Input) { in.Late = models.VerdictApprove }),
		page("answered", "An answer of several lines",
			Settle(Question(), models.StatusApproved, models.CauseReviewer,
				&models.Vote{Verdict: models.VerdictAnswer, Option: new("eu"), Answer: new("Europe first,\nthen the rest.")})),
		page("errors", "Errors at their fields, which keep what was sent", Shell(), func(in *requests.Input) {
			in.Form = requests.DecideForm{
				Reason: "because", Input: new("{"),
				Errors: map[string]string{"input": "must be one JSON value", "reason": "is too long"},
			}
		}),
		page("not-mine", "Seen by somebody who may not decide", Shell(),
			func(in *requests.Input) { in.Substitution.Right = models.Right{} }),
		{
			Page: "approval", Name: "outside", Note: "Asked by another system, with another input",
			Component: requests.Page(Frame("Bash", "/x"), outside),
		},
		{
			Page: "approval", Name: "outside-refused",
			Note:      "The other system refused the approval, in hostile words, and an admin withdrew one before",
			Component: requests.Page(Frame("Bash", "/x"), outsideRefused()),
		},
		{
			Page: "approval", Name: "outside-held", Note: "An admin may withdraw the decision that cannot be told",
			Component: requests.Page(Frame("Bash", "/x"), outsideHeld()),
		},
		{
			Page: "approval", Name: "outside-cut", Note: "Asked by another system, its input too large to be kept",
			Component: requests.Page(Frame("Bash", "/x"), cut),
		},
	}, slices.Concat(requestStates(page), cardStates(page), checklistStates(page), functionCallStates(page),
		actingStates(page), quorumStates(page))...)
}
