package gallery

import (
	"fmt"
	"strings"
	"time"

	"countersign/models"
	"countersign/views/pages/conversations"
)

// BatchAt is the sequence of the first call of a batch.
const BatchAt = 20

// BatchCall is one call of a batch of ten.
func BatchCall(place int, tool, input string) (models.Approval, models.CallDetail) {
	a := Call(tool, input)
	a.ID = models.ResponseID(fmt.Sprintf("01890a5d-ac96-774b-bcce-b302099a90%02d", place))
	a.ConversationID, a.Sequence, a.BatchID, a.ApprovalStatus, a.ApprovalRequestedAt, a.AgentName = ConversationID, int64(BatchAt+place-1), new("b"), nil, nil, "release-bot"
	a.Description = ""
	at := Now.Add(-3 * time.Minute)
	a.CreatedAt, a.ReportedAt = at, &at
	return a, models.CallDetail{
		ID: a.ID, Sequence: a.Sequence, BatchID: "b", Place: place, Of: 10, ReportedAt: &at, OpenSince: &at,
	}
}

// WorkedCase is the batch of ten of which 2, 3, 6, 9 and 7 need approval, when 6
// waits.
func WorkedCase(mend func(place int, a *models.Approval, d *models.CallDetail)) conversations.Input {
	in := ConversationInput()
	in.Conversation.AgentName, in.Conversation.BuiltIn, in.Conversation.RunID, in.Conversation.NextSequence = "release-bot", false, new("run-7"), BatchAt+11
	in.History.Entries = in.History.Entries[:1]
	in.Around.Run = conversations.RunAround{
		Calls: map[models.ResponseID]models.CallDetail{}, Origins: map[models.ResponseID]models.Origin{},
	}
	for place := 1; place <= 10; place++ {
		tool, input := "Read", fmt.Sprintf(`{"file_path":"/srv/app/%d.go"}`, place)
		switch place {
		case 2, 3, 6, 9:
			tool, input = "Bash", fmt.Sprintf(`{"command":"make step-%d"}`, place)
		case 7:
			tool, input = "Write", `{"file_path":"/srv/app/out.txt","content":"x"}`
		}
		a, d := BatchCall(place, tool, input)
		if place < 6 {
			done := Now.Add(-time.Duration(180-20*place) * time.Second)
			d.Completed, d.CompletedAt, d.OpenSince, d.Result, d.ResultBytes = true, &done, nil, "ok\n", 3
			if place == 2 || place == 3 {
				a = Settle(a, models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove})
				a.UpstreamID, a.ApprovalTimestamp = new("u"), new(Now.Add(-170*time.Second))
			}
		}
		if place == 6 {
			waits := models.StatusPending
			a.ApprovalStatus, a.ApprovalRequestedAt, a.UpstreamID = &waits, new(Now.Add(-time.Minute)), new("u")
			a.ApprovalTimeoutAt = models.NoDeadline
			in.Around.Run.Origins[a.ID] = models.Origin{UpstreamName: "night-shift", MatchedBy: models.MatchedByInput}
		}
		if mend != nil {
			mend(place, &a, &d)
		}
		in.Around.Run.Calls[a.ID] = d
		in.History.Entries = append(in.History.Entries, ResponseEntry(a))
	}
	in.History.After = BatchAt + 9
	in.Parent = &models.RunLink{
		ID: ConversationID, RunID: "run-1", Title: "Ship\u202E it", Status: models.ConversationRunning,
		AgentName: "release-bot",
	}
	in.Children = []models.RunLink{{
		ID: ConversationID, RunID: "run-8", Status: models.ConversationCompleted, AgentName: "helper",
	}, {ID: ConversationID, RunID: "<b>9", Status: models.ConversationFailed, AgentName: "helper"}}
	return able(in)
}

// Cascaded is the same after 6 was rejected.
func Cascaded() conversations.Input {
	return WorkedCase(func(place int, a *models.Approval, d *models.CallDetail) {
		switch {
		case place == 6:
			*a = Settle(*a, models.StatusRejected, models.CauseReviewer,
				&models.Vote{Verdict: models.VerdictReject, Reason: "Not on a Friday."})
		case place > 6:
			*a = Settle(*a, models.StatusRejected, models.CauseCascade, nil)
			a.ApprovalFeedback = new("Not on a Friday.")
			d.CascadedFrom = &models.CallPlace{ID: "01890a5d-ac96-774b-bcce-b302099a9006", Sequence: BatchAt + 5, Place: 6}
		}
		if place == 9 {
			d.Completed, d.CompletedAt, d.Result, d.ResultBytes, d.Contradiction = true, new(Now), "done anyway", 11, "The agent reported a result although the call was rejected."
		}
	})
}

// Odd has every other state, with hostile names and texts.
func Odd() conversations.Input {
	evil := "</pre><script>alert(1)</script>\u202E\u200B"
	return WorkedCase(func(place int, a *models.Approval, d *models.CallDetail) {
		long := Now.Add(-14 * time.Minute)
		a.AgentName = "rele\u200Base-bot"
		if place < 4 {
			d.CompletedAt = &long
		}
		switch place {
		case 1:
			d.IsError, d.Result, d.ResultBytes = true, evil, 300_000
		case 2:
			d.Closed, a.ToolName = models.ClosedByOwner, "<i>odd\u202E "+strings.Repeat("long", 30)
		case 3:
			d.Closed, d.MatchedBy = models.ClosedByRun, models.MatchedByOrder
		case 4:
			d.Completed, d.CompletedAt, d.ReportedAt, a.ReportedAt, a.CreatedAt, d.ParentToolUseID = false, nil, &long, &long, long, "task"
		case 5:
			d.Completed, d.CompletedAt, d.Result = false, nil, ""
		case 6:
			a.HeldUntil = new(Now.Add(time.Minute))
		case 7:
			d.Result = ""
			a.ToolInputJSON = `{"file_path":` + `"` + strings.Repeat("deep/", 60) + `"}`
		case 8:
			*a = Settle(*a, models.StatusResolved, models.CauseElsewhere, nil)
		case 9:
			*a = Settle(*a, models.StatusExpired, models.CauseUndelivered, nil)
		}
	})
}
