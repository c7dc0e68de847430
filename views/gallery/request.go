package gallery

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views/pages/inputs"
	"countersign/views/pages/requests"
)

// Around is what stands around a request of the shell: a policy that has changed
// since, four calls before it, one of which was rejected, and reasons to reject.
func Around(a models.Approval) *models.Around {
	approve := func(ago time.Duration, by, input string) models.Approval {
		e := Settle(Call(a.ToolName, input), models.StatusApproved, models.CauseReviewer,
			&models.Vote{Verdict: models.VerdictApprove})
		e.Vote.UserName, e.ApprovalTimestamp, e.IsCompleted = by, new(Now.Add(-ago)), true
		e.ID = "01890a5d-ac96-774b-bcce-b302099a8070"
		return e
	}
	first, second := approve(2*24*time.Hour, "Bo Lind",
		`{"command":"git push origin main","timeout":60000}`), approve(3*24*time.Hour, "Ada Berg", `{"command":"make"}`)
	second.IsError = true
	no := Settle(Call(a.ToolName, `{"command":"git push --force origin release","timeout":120000}`), models.StatusRejected,
		models.CauseReviewer, &models.Vote{Verdict: models.VerdictReject, Reason: "Never on release."})
	no.ApprovalTimestamp, no.ID = new(Now.Add(-5*24*time.Hour)), "01890a5d-ac96-774b-bcce-b302099a8071"
	return &models.Around{
		PolicyChange: true,
		Now: models.PolicyResult{
			Effect: "require", Rule: "Force push", Risk: models.RiskCritical, Version: 9, Differs: true,
		},
		RejectReasons: []string{"Not on a Friday", "Wrong branch", "Ask the release manager"},
		Earlier:       Briefs(first, second, no), Counts: models.CallCounts{Approved: 3, ByRule: 2, Rejected: 1},
		EarlierCap:   true,
		LastApproved: &first, LastRejected: &no,
		MaxTimeout: 8 * time.Hour, MaxPause: time.Hour, GrantsEnabled: true, GrantMaxHours: 24, GrantMaxUses: 50,
	}
}

// whole gives a request all that its page shows around it.
func whole(in *requests.Input) {
	in.Around, in.Sees, in.Reader.ID = Around(in.Approval), true, UserID
}

// LongScript is a command of high risk that is longer than what is shown of it.
func LongScript() models.Approval {
	lines := make([]string, 90)
	for i := range lines {
		lines[i] = "echo step " + strings.Repeat("x", i%40)
	}
	return Call("Bash", `{"command":"`+strings.Join(lines, `\n`)+`"}`, func(a *models.Approval) {
		a.Risk, a.PolicyRule, a.Description = models.RiskHigh, "Shell", "Ninety steps, one after another."
	})
}

// HeldBy is a request with the approval of somebody, which can be taken back for
// eight seconds more.
func HeldBy(a models.Approval, id models.UserID, name string) models.Approval {
	until := Now.Add(8 * time.Second)
	a.HeldUntil = &until
	a.Vote = &models.Vote{
		Verdict: models.VerdictApprove, UserID: id, UserName: name, At: Now.Add(-2 * time.Second), UndoUntil: &until,
	}
	return a
}

// AskedBack is a request with a question that stops its clock.
func AskedBack(a models.Approval) (models.Approval, []models.Note) {
	note := models.Note{
		ID: "01890a5d-ac96-774b-bcce-b302099a8401", ResponseID: a.ID, Number: 3, AuthorKind: models.ActorUser,
		AuthorID: "01890a5d-ac96-774b-bcce-b302099a8202", AuthorName: "Bo Lind",
		Asks: true, Content: "Which branch has diverged,\nand since when?", At: Now.Add(-20 * time.Second),
	}
	first, answer := note, note
	first.ID, first.Number, first.Content, first.At = "01890a5d-ac96-774b-bcce-b302099a8402", 1, "Is the freeze over?", Now.Add(-50*time.Second)
	answer.ID, answer.Number, answer.Asks, answer.AuthorKind, answer.AuthorName = "01890a5d-ac96-774b-bcce-b302099a8403", 2, false, models.ActorAgent, a.AgentName
	answer.Content, answer.At = "Yes, since 09:00.", Now.Add(-40*time.Second)
	a.ApprovalTimeoutAt, a.PausedLeft, a.OpenNote, a.Note = Now.Add(59*time.Minute), new(int64(201)), &note.ID, &note
	return a, []models.Note{first, answer, note}
}

func requestStates(page func(name, note string, a models.Approval, mend ...func(*requests.Input)) State) []State {
	edited := `{"description":"Clean and publish","command":"rm -rf build/ && git push origin main","timeout":120000}`
	released := Settle(Shell(), models.StatusApproved, models.CauseReviewer,
		&models.Vote{Verdict: models.VerdictApprove, Reason: "Without the force.", Input: &edited, InputDigest: new("77aa")})
	released.IsCompleted = true
	asked, notes := AskedBack(Shell())
	withNotes := func(in *requests.Input) { in.Around.Notes = notes }
	again := Settle(Shell(), models.StatusRejected, models.CauseReviewer,
		&models.Vote{Verdict: models.VerdictReject, Reason: "Not before the freeze is over."})
	withdrawn := Settle(Shell(), models.StatusCancelled, models.CauseCancelled, nil)
	withdrawn.ApprovalFeedback = new("withdrawn by Ada Berg")
	next := Payment()
	previewed := Shell()
	previewed.Preview = "Would remove build/ (214 files)\nWould push main \u202Eto origin\n" +
		strings.Repeat("  deleted build/part.o\n", 60)
	claimed := Shell()
	claimed.ClaimedAt = new(Now.Add(-2 * time.Hour))
	return []State{
		page("whole", "All that stands around a request, and all that can be done", Shell(), whole),
		page("preview", "With what its agent claims that will happen", previewed, whole),
		page("twin", "It may be a duplicate of what was approved minutes ago", Payment(), whole, func(in *requests.Input) {
			in.Around.Twin = &models.Twin{
				ID: "01890a5d-ac96-774b-bcce-b302099a8071", By: "Bo\u202E Lind", At: Now.Add(-3 * time.Minute),
			}
			in.Around.Duplicates = []models.Duplicate{
				{ID: "01890a5d-ac96-774b-bcce-b302099a8072", CreatedAt: Now.Add(-time.Minute)},
				{ID: "01890a5d-ac96-774b-bcce-b302099a8073", CreatedAt: Now.Add(-2 * time.Minute)},
			}
		}),
		page("twin-before", "The same was approved long ago, and does little harm", Edit(), whole, func(in *requests.Input) {
			in.Around.Twin = &models.Twin{
				ID: "01890a5d-ac96-774b-bcce-b302099a8071", By: "Bo Lind", At: Now.Add(-50 * time.Hour),
			}
		}),
		page("whole-edit", "A change of a file, with what stands around it", Edit(), whole),
		page("folded", "High risk with a folded part: closed until it is opened", LongScript(), whole),
		page("opened", "The same, opened", LongScript(), whole,
			func(in *requests.Input) { in.Opened = inputs.Folds(&in.Approval.Response, "") }),
		page("question-whole", "A question: its options, more time, ask back", Question(), whole),
		page("held-mine", "Approved by the reader, who may take it back", HeldBy(Shell(), UserID, "Ada Berg"), whole),
		page("held-other", "Approved by somebody else a moment ago",
			HeldBy(Shell(), "01890a5d-ac96-774b-bcce-b302099a8202", "Bo Lind"), whole),
		page("asked-back", "A question that stops the clock, read by the owner", asked, whole, withNotes),
		page("waiting", "Its agent waits for the outcome, and its clock is wrong", claimed, whole,
			func(in *requests.Input) { in.Presence.Waiting = true }),
		page("left", "Its agent waits no more", Shell(), whole,
			func(in *requests.Input) { in.Presence.Left = Now.Add(-40 * time.Second) }),
		page("asked-again", "The very same was rejected before", Shell(), whole,
			func(in *requests.Input) { in.Around.ReaskOf = &again }),
		page("edit-errors", "An edit member by member, with errors at their fields", Shell(), whole, func(in *requests.Input) {
			in.Form = requests.DecideForm{
				Preset: "Wrong branch", Reason: "as agreed", Fields: map[int]string{1: "git push", 2: "soon"},
				Errors: map[string]string{"m2": "must be a number"},
			}
		}),
		page("more-errors", "Errors beside the verdict, at their fields", Shell(), whole, func(in *requests.Input) {
			in.Form = requests.DecideForm{
				Ask: " ", Minutes: "9999",
				Errors: map[string]string{"ask": "must not be empty", "minutes": "must be at most 480 from now"},
			}
		}),
		page("settled-edited", "Released as edited: both versions, how it went, and what waits next", released, whole, func(in *requests.Input) {
			in.Result, in.Next = &models.CallResult{
				Completed: true, Result: "Everything up-to-date", Bytes: 21,
			}, &models.Brief{Approval: next}
		}),
		page("withdrawn", "Withdrawn by its owner", withdrawn, whole,
			func(in *requests.Input) { in.Next = &models.Brief{Approval: next} }),
		page("hostile-whole", "Hostile, with all that stands around", Hidden(), whole, func(in *requests.Input) {
			in.Around.RejectReasons = []string{"No \u202e on", "<b>Not</b> this"}
			in.Around.Earlier[0].Vote.UserName = "Bo\u200b <i>Lind</i>"
		}),
	}
}
