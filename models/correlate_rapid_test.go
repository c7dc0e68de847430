package models_test

import (
	"cmp"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"countersign/models"
)

// drawCalls draws the calls of a conversation, from few values so that they clash.
func drawCalls(t *rapid.T) []models.OpenCall {
	n := rapid.IntRange(0, 8).Draw(t, "calls")
	calls := make([]models.OpenCall, n)
	for i := range calls {
		calls[i] = models.OpenCall{
			ID:        models.ResponseID("r" + strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "id tail")) + strconv.Itoa(i)),
			ToolUseID: rapid.SampledFrom([]string{"", "u" + strconv.Itoa(i)}).Draw(t, "tool use id"),
			ToolName:  rapid.SampledFrom([]string{"a", "a", "b"}).Draw(t, "tool"),
			Digest:    rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, "digest"),
			Sequence:  int64(i) + 1,
			Completed: rapid.IntRange(0, 3).Draw(t, "completed") == 0,
			Status:    rapid.SampledFrom([]models.Status{"", "", "", models.StatusPending, models.StatusApproved, models.StatusRejected}).Draw(t, "status"),
			Cause:     rapid.SampledFrom([]models.Cause{"", "", "", models.CausePolicy}).Draw(t, "cause"),
		}
	}
	return calls
}

func drawOutside(t *rapid.T) models.OutsideCall {
	return models.OutsideCall{
		ToolName:  rapid.SampledFrom([]string{"a", "a", "b"}).Draw(t, "outside tool"),
		Digest:    rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "outside digest"),
		ToolUseID: rapid.SampledFrom([]string{"", "", "u0", "u1", "u2", "u9"}).Draw(t, "outside id"),
	}
}

// shuffled repeats some of the calls and changes their order.
func shuffled(t *rapid.T, calls []models.OpenCall) []models.OpenCall {
	more := slices.Clone(calls)
	for range rapid.IntRange(0, 3).Draw(t, "repeats") {
		if len(calls) > 0 {
			more = append(more, rapid.SampledFrom(calls).Draw(t, "repeated"))
		}
	}
	return rapid.Permutation(more).Draw(t, "order")
}

// naive ranks the calls as the rule is said and looks how many ranked.
func naive(o models.OutsideCall, calls []models.OpenCall) (models.Match, bool) {
	fits := map[models.ResponseID]models.OpenCall{}
	for _, c := range calls {
		if c.ToolName == o.ToolName && !c.Completed && c.Status == "" && c.Cause == "" {
			fits[c.ID] = c
		}
	}
	same := func(c models.OpenCall) bool { return c.Digest != "" && c.Digest == o.Digest }
	var order []models.OpenCall
	for _, c := range fits {
		if o.ToolUseID == "" || c.ToolUseID == o.ToolUseID {
			order = append(order, c)
		}
	}
	slices.SortFunc(order, func(a, b models.OpenCall) int {
		if same(a) != same(b) {
			if same(a) {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Sequence, b.Sequence)
	})
	if len(order) == 0 {
		return models.Match{}, false
	}
	m := models.Match{ID: order[0].ID, SameInput: same(order[0])}
	switch {
	case o.ToolUseID != "":
		m.By = models.MatchedByToolUseID
	case len(order) == 1:
		m.By = models.MatchedByOnly
	case m.SameInput:
		m.By = models.MatchedByInput
	default:
		m.By = models.MatchedByOrder
	}
	return m, true
}

// narrow is what the store passes: each from an index, however many calls there are.
func narrow(o models.OutsideCall, calls []models.OpenCall) []models.OpenCall {
	bySequence := slices.SortedFunc(slices.Values(calls), func(a, b models.OpenCall) int { return cmp.Compare(a.Sequence, b.Sequence) })
	var out []models.OpenCall
	fitting := 0
	sameFound := false
	for _, c := range bySequence {
		if o.ToolUseID != "" {
			if c.ToolUseID == o.ToolUseID {
				out = append(out, c)
			}
			continue
		}
		if c.ToolName != o.ToolName || c.Completed || c.Status != "" || c.Cause != "" {
			continue
		}
		if fitting < 2 {
			out = append(out, c)
			fitting++
		}
		if c.Digest == o.Digest && !sameFound {
			out = append(out, c)
			sameFound = true
		}
	}
	return out
}

func TestCorrelateIsTheRuleAsItIsSaid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		calls, o := drawCalls(t), drawOutside(t)
		want, fits := naive(o, calls)
		if got, ok := models.Correlate(o, shuffled(t, calls)); got != want || ok != fits {
			t.Fatalf("got %+v %t, want %+v %t\n%+v\n%+v", got, ok, want, fits, o, calls)
		}
	})
}

func TestFewCallsTellAsMuchAsAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		calls, o := drawCalls(t), drawOutside(t)
		want, fits := models.Correlate(o, calls)
		few := narrow(o, calls)
		if len(few) > 3 {
			t.Fatalf("%d calls are not few", len(few))
		}
		if got, ok := models.Correlate(o, shuffled(t, few)); got != want || ok != fits {
			t.Fatalf("got %+v %t of few, %+v %t of all\n%+v\n%+v", got, ok, want, fits, o, calls)
		}
	})
}

// Each approval takes the call it was matched with out of the others' way, so
// that as many are matched as there are calls, each with its own.
func TestNoCallIsMatchedTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		calls := drawCalls(t)
		open := 0
		for _, c := range calls {
			if !c.Completed && c.Status == "" && c.Cause == "" && c.ToolName == "a" {
				open++
			}
		}
		for n := 0; ; n++ {
			o := drawOutside(t)
			o.ToolName, o.ToolUseID = "a", ""
			m, ok := models.Correlate(o, calls)
			if !ok {
				if n != open {
					t.Fatalf("%d of %d open calls were matched", n, open)
				}
				return
			}
			i := slices.IndexFunc(calls, func(c models.OpenCall) bool { return c.ID == m.ID })
			if calls[i].Status != "" {
				t.Fatalf("%s is matched again", m.ID)
			}
			calls[i].Status = models.StatusPending
		}
	})
}

func TestTheFirstRunOfAFamilyWithAMatch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o, byName := drawOutside(t), rapid.Bool().Draw(t, "by name")
		runs := make([][]models.OpenCall, rapid.IntRange(0, 4).Draw(t, "runs"))
		var same, all []models.Match
		for i := range runs {
			runs[i] = drawCalls(t)
			for j := range runs[i] {
				runs[i][j].ID = models.ResponseID(strconv.Itoa(i)) + runs[i][j].ID
			}
			m, fits := naive(o, runs[i])
			if fits && m.SameInput {
				same = append(same, m)
			}
			if fits {
				all = append(all, m)
			}
		}
		want, by := same, models.MatchedByInput
		if len(want) == 0 && byName {
			want, by = all, models.MatchedByOrder
		}
		got, ok := models.CorrelateFamily(o, runs, byName)
		if ok != (len(want) > 0) || ok && got.ID != want[0].ID {
			t.Fatalf("got %+v %t, want the first of %+v", got, ok, want)
		}
		if ok && got.By != by && got.By != models.MatchedByToolUseID {
			t.Fatalf("got %+v, want it told by %s", got, by)
		}
	})
}
