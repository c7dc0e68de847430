package models_test

import (
	"strings"
	"testing"

	"countersign/models"
)

// advised are the ends that a request can come to, each with what its advice
// has to tell the model.
var advised = []struct {
	status models.Status
	cause  models.Cause
	kind   models.Kind
	says   []string
}{
	{models.StatusPending, models.CauseNone, models.KindToolCall, []string{"same request again", "do not act"}},
	{models.StatusNone, models.CausePolicy, models.KindToolCall, []string{"policy allows", "go ahead"}},
	{models.StatusNone, models.CauseGrant, models.KindToolCall, []string{"pre-approved", "go ahead"}},
	{models.StatusNone, models.CauseGateOff, models.KindToolCall, []string{"switched off", "nobody looked"}},
	{models.StatusRan, models.CauseFallback, models.KindToolCall, []string{"no server", "nobody decided", "do not run it again"}},
	{models.StatusApproved, models.CauseReviewer, models.KindToolCall, []string{"approved", "decision.input", "decision.reason"}},
	{models.StatusPending, models.CauseNone, models.KindBudget, []string{"by its id", "send again"}},
	{models.StatusApproved, models.CauseReviewer, models.KindProposal, []string{"approved this proposal", "decision.reason"}},
	{models.StatusApproved, models.CauseReviewer, models.KindBudget, []string{"A person", "send again", "decision.reason"}},
	{models.StatusApproved, models.CausePolicy, models.KindBudget, []string{"policy", "without a person", "send again"}},
	{models.StatusRejected, models.CauseReviewer, models.KindProposal, []string{"do not carry it out", "decision.reason quotes"}},
	{models.StatusRejected, models.CauseReviewer, models.KindBudget, []string{"refused more budget", "until the budget changes or a person writes"}},
	{models.StatusResolved, models.CauseElsewhere, models.KindBudget, []string{"no longer needed", "send again"}},
	{models.StatusApproved, models.CauseReviewer, models.KindQuestion, []string{"decision.answer", "decision.option"}},
	{models.StatusRejected, models.CauseReviewer, models.KindToolCall, []string{"do not retry the same call unchanged", "decision.reason quotes"}},
	{models.StatusRejected, models.CauseReviewer, models.KindQuestion, []string{"declined", "decision.reason quotes"}},
	{models.StatusRejected, models.CausePolicy, models.KindToolCall, []string{"rule", "do not retry"}},
	{models.StatusRejected, models.CauseFallback, models.KindToolCall, []string{"ran while no server", "forbids", "do not run it again"}},
	{models.StatusRejected, models.CauseCascade, models.KindToolCall, []string{"earlier request", "rejected with it"}},
	{models.StatusRejected, models.CauseNoReviewer, models.KindToolCall, []string{"nobody who could decide", "do not retry"}},
	{models.StatusRejected, models.CauseUndelivered, models.KindToolCall, []string{"could not be delivered"}},
	{models.StatusExpired, models.CauseTimeout, models.KindToolCall, []string{"Nobody decided in time", "ask again", "go on without"}},
	{models.StatusCancelled, models.CauseCancelled, models.KindToolCall, []string{"The request was cancelled:"}},
	{models.StatusCancelled, models.CauseRunEnded, models.KindToolCall, []string{"run", "ended"}},
	{models.StatusCancelled, models.CauseStopped, models.KindToolCall, []string{"stopped this conversation"}},
	{models.StatusCancelled, models.CauseCascade, models.KindToolCall, []string{"earlier request", "cancelled with it"}},
	{models.StatusResolved, models.CauseElsewhere, models.KindToolCall, []string{"another system"}},
	{models.StatusResolved, models.CauseGone, models.KindToolCall, []string{"no longer knows"}},
}

func TestI10AdviceTellsCausesApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, end := range advised {
		name := strings.Join([]string{string(end.status), string(end.cause), string(end.kind)}, "/")
		got := models.Advice(end.status, end.cause, end.kind)
		for _, want := range end.says {
			if !strings.Contains(got, want) {
				t.Errorf("%s: advice %q does not say %q", name, got, want)
			}
		}
		if strings.Contains(strings.TrimSuffix(got, "."), ". ") || !strings.HasSuffix(got, ".") {
			t.Errorf("%s: advice %q is not one sentence", name, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%s has the same advice as %s: %q", name, other, got)
		}
		seen[got] = name
	}
}

func TestAdviceNeverReleasesWhatIsNotApproved(t *testing.T) {
	t.Parallel()
	for _, status := range append(models.Statuses(), "of the future") {
		if status == models.StatusApproved {
			continue
		}
		for _, cause := range append(models.Causes(), models.CauseNone, "of the future") {
			got := models.Advice(status, cause, models.KindToolCall)
			if got == "" || strings.Contains(got, "go ahead") {
				t.Errorf("%s/%s: advice %q", status, cause, got)
			}
		}
	}
}
