package models_test

import (
	"iter"
	"strings"
	"testing"
	"time"

	"countersign/models"
)

func TestSpokenDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 seconds", time.Second: "1 second", 5 * time.Minute: "5 minutes", 90 * time.Second: "1 minute 30 seconds",
		time.Hour: "1 hour", 90 * time.Minute: "1 hour 30 minutes", 24 * time.Hour: "1 day", 49*time.Hour + 5*time.Minute: "2 days 1 hour",
	} {
		if got := models.SpokenDuration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestCheckToolName(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{"Bash", "mcp__fs__write", "ns.tool:v1/x@2-y", "send mail", "a", strings.Repeat("x", 200)} {
		if err := models.CheckToolName("toolName", ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"", " a", "a ", "a\n", "rm\u202e", "é", "a\x00", "a;b", strings.Repeat("x", 201)} {
		if err := models.CheckToolName("toolName", bad); models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	id := models.NewID[models.ResponseID]()
	if got, err := models.ParseID[models.ResponseID]("approvalId", strings.ToUpper(string(id))); err != nil || got != id {
		t.Errorf("read back %q, %v", got, err)
	}
	for _, bad := range []string{"", "x", "{" + string(id) + "}", "urn:uuid:" + string(id), strings.ReplaceAll(string(id), "-", ""), strings.Repeat("z", 36)} {
		if _, err := models.ParseID[models.ResponseID]("approvalId", bad); models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestI3AResponsePastItsDeadlineHasExpired(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pending, approved := models.StatusPending, models.StatusApproved
	held := asked.Add(time.Hour)
	for _, tt := range []struct {
		name string
		r    models.Response
		at   time.Duration
		want models.Status
	}{
		{"before", models.Response{ApprovalStatus: &pending, ApprovalTimeoutAt: asked.Add(time.Minute)}, time.Minute - 1, models.StatusPending},
		{"at the deadline", models.Response{ApprovalStatus: &pending, ApprovalTimeoutAt: asked.Add(time.Minute)}, time.Minute, models.StatusExpired},
		{"no deadline", models.Response{ApprovalStatus: &pending, ApprovalTimeoutAt: models.NoDeadline}, 1 << 60, models.StatusPending},
		{"settled", models.Response{ApprovalStatus: &approved, ApprovalTimeoutAt: asked}, time.Hour, models.StatusApproved},
		{"none needed", models.Response{ApprovalTimeoutAt: asked}, time.Hour, models.StatusNone},
		{"held by a vote in time", models.Response{ApprovalStatus: &pending, ApprovalTimeoutAt: asked.Add(time.Minute), HeldUntil: &held}, time.Hour, models.StatusPending},
	} {
		if got := tt.r.StateAt(asked.Add(tt.at)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := tt.r.At(asked.Add(tt.at)); got.Status() != tt.want {
			t.Errorf("%s: At gives %q, want %q", tt.name, got.Status(), tt.want)
		}
	}
}

func TestHeadsAreReadAsTheyArePrinted(t *testing.T) {
	t.Parallel()
	var e models.Entry
	head := models.Seal(models.Head{}, &e)
	if got, err := models.ParseHead(head.String()); err != nil || got.String() != head.String() || head.Seq != 1 {
		t.Errorf("read back %v, %v", got, err)
	}
	for _, bad := range []string{"", "1", "x:00", "1:zz", "1:00", "-1:" + strings.Repeat("0", 64)} {
		if _, err := models.ParseHead(bad); models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func chain(n int) []*models.Entry {
	var head models.Head
	var out []*models.Entry
	for range n {
		e := &models.Entry{At: "2026-01-01T00:00:00.000000Z", ActorKind: models.ActorUser, ActorName: "a", Action: "b", Data: "{}"}
		head = models.Seal(head, e)
		out = append(out, e)
	}
	return out
}

func walk(entries []*models.Entry) iter.Seq2[*models.Entry, error] {
	return func(yield func(*models.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestFieldsOfAnEntryCannotBeMovedIntoEachOther(t *testing.T) {
	t.Parallel()
	entries := chain(3)
	end := models.Head{Seq: 3, Hash: entries[2].Hash}
	if _, err := models.VerifyChain(walk(entries), end, nil); err != nil {
		t.Fatal(err)
	}
	entries[1].ActorName, entries[1].Action = "", "ab"
	if _, err := models.VerifyChain(walk(entries), end, nil); err == nil {
		t.Error("text that moved from one field to the next keeps its hash")
	}
}

func TestAnEmptyLedgerVerifies(t *testing.T) {
	t.Parallel()
	if head, err := models.VerifyChain(walk(nil), models.Head{}, nil); err != nil || head.Seq != 0 {
		t.Errorf("%v, %v", head, err)
	}
}

func TestI1AnApprovalBeginsAsNonePendingOrRejected(t *testing.T) {
	t.Parallel()
	for _, begin := range []struct {
		status models.Status
		cause  models.Cause
		ok     bool
	}{
		{models.StatusNone, models.CausePolicy, true},
		{models.StatusNone, models.CauseNone, true},
		{models.StatusPending, models.CauseNone, true},
		{models.StatusRejected, models.CausePolicy, true},
		{models.StatusRejected, models.CauseNoReviewer, true},
		{models.StatusRejected, models.CauseCascade, true},
		{models.StatusRejected, models.CauseFallback, true},
		{models.StatusRejected, models.CauseReviewer, false},
		{models.StatusApproved, models.CausePolicy, false},
		{models.StatusApproved, models.CauseReviewer, false},
		{models.StatusExpired, models.CauseTimeout, false},
		{models.StatusCancelled, models.CauseCancelled, false},
		{models.StatusResolved, models.CauseElsewhere, false},
	} {
		r := models.Response{Cause: begin.cause}
		if begin.status != models.StatusNone {
			r.ApprovalStatus = &begin.status
		}
		if err := r.CheckBegin(); (err == nil) != begin.ok {
			t.Errorf("%s by %q: %v, want ok: %v", begin.status, begin.cause, err, begin.ok)
		}
	}
}
