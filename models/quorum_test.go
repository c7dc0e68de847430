package models_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"countersign/models"
)

// counted is the oracle: the most signatures that can count for some entries, found by trying each assignment.
func counted(q *models.Quorum, entries []int, signers []models.Signer) int {
	room := make([]int, len(q.Entries))
	for _, e := range entries {
		room[e] = q.Entries[e].Count
	}
	var most func(rest []models.Signer) int
	most = func(rest []models.Signer) int {
		if len(rest) == 0 {
			return 0
		}
		best := most(rest[1:]) // this one counts for nothing
		for _, e := range entries {
			if room[e] == 0 || !takes(q.Entries[e], rest[0]) {
				continue
			}
			room[e]--
			best = max(best, 1+most(rest[1:]))
			room[e]++
		}
		return best
	}
	return most(signers)
}

func takes(e models.Signers, s models.Signer) bool {
	return slices.ContainsFunc(e.From, func(a models.Approver) bool {
		return a.Group != "" && slices.Contains(s.Groups, a.Group) || a.Group == "" && a.ID == s.ID
	})
}

func wanted(q *models.Quorum, entries []int) (out int) {
	for _, e := range entries {
		out += q.Entries[e].Count
	}
	return out
}

// oracle says whether a quorum is met, and how many signatures of those that count are there.
func oracle(q *models.Quorum, signers []models.Signer) (met bool, have int) {
	all := make([]int, len(q.Entries))
	for i := range all {
		all[i] = i
	}
	switch {
	case q.Any:
		lacks := -1
		for _, e := range all {
			of := counted(q, []int{e}, signers)
			if lack := q.Entries[e].Count - of; lacks < 0 || lack < lacks {
				lacks, have = lack, of
			}
		}
		met = lacks == 0
	default: // steps too: their order says who may sign next
		have = counted(q, all, signers)
		met = have == wanted(q, all)
	}
	if met && q.NotAlone {
		own := *q
		own.NotAlone = false
		if alone, _ := oracle(&own, slices.DeleteFunc(slices.Clone(signers), func(s models.Signer) bool { return !s.Self })); !alone {
			return met, have
		}
		met = slices.ContainsFunc(signers, func(s models.Signer) bool {
			return !s.Self && slices.ContainsFunc(q.Entries, func(e models.Signers) bool { return takes(e, s) })
		})
		if met {
			have++ // the owner's signatures suffice but for one of somebody else
		}
	}
	return met, have
}

func drawQuorum(t *rapid.T) *models.Quorum {
	q := &models.Quorum{NotAlone: rapid.Bool().Draw(t, "not alone")}
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 1:
		q.Any = true
	case 2:
		q.Stages = true
	}
	for range rapid.IntRange(1, 3).Draw(t, "entries") {
		e := models.Signers{Count: rapid.IntRange(1, 3).Draw(t, "count")}
		for range rapid.IntRange(1, 2).Draw(t, "from") {
			if rapid.Bool().Draw(t, "group") {
				e.From = append(e.From, models.Approver{Group: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")})
			} else {
				e.From = append(e.From, models.Approver{ID: models.UserID(rapid.SampledFrom([]string{"u0", "u1", "u2"}).Draw(t, "id"))})
			}
		}
		q.Entries = append(q.Entries, e)
	}
	return q
}

func drawSigners(t *rapid.T) []models.Signer {
	var out []models.Signer
	for i := range rapid.IntRange(0, 6).Draw(t, "signers") {
		id := models.UserID(fmt.Sprintf("u%d", i))
		out = append(out, models.Signer{
			Voter: models.Voter{ID: id, Groups: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(t, "groups")},
			By:    id, Self: rapid.Bool().Draw(t, "self"),
		})
	}
	return out
}

// A quorum is met exactly if some assignment of people to entries meets it, however they are listed; a signature that
// helps brings it nearer, and a quorum that enough people could meet is met by those who help, whoever comes first.
func TestAQuorumIsCountedAsByTryingAllAssignments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q, signers := drawQuorum(t), drawSigners(t)
		got := q.Count(signers)
		met, have := oracle(q, signers)
		if got.Met != met || got.Have != have {
			t.Fatalf("%+v of %+v: %+v, want met %v with %d", q, signers, got, met, have)
		}
		if got.Met && got.Have != got.Need || got.Have > got.Need {
			t.Fatalf("%+v", got)
		}
		turned := slices.Clone(signers)
		slices.Reverse(turned)
		if again := q.Count(turned); again.Met != got.Met || again.Have != got.Have {
			t.Fatalf("in another order: %+v, not %+v", again, got)
		}
		var signed []models.Signer
		for again := true; again; {
			again = false
			for _, s := range rapid.Permutation(signers).Draw(t, "come") {
				if !q.Helps(signed, s) {
					continue
				}
				signed, again = append(signed, s), true
			}
		}
		if q.Count(signed).Met != q.Meetable(signers) {
			t.Fatalf("those who help came to %+v of %+v, which all could meet: %v", q.Count(signed), signed, q.Meetable(signers))
		}
	})
}

// Nobody signs twice: neither in two people's names, nor after somebody has signed in theirs.
func TestNobodySignsThroughTwoHats(t *testing.T) {
	t.Parallel()
	q := &models.Quorum{Entries: []models.Signers{{From: []models.Approver{{Group: "a"}}, Count: 2}}}
	of := func(id, by models.UserID) models.Signer {
		return models.Signer{Voter: models.Voter{ID: id, Groups: []string{"a"}}, By: by}
	}
	ann := of("ann", "ann")
	for name, second := range map[string]models.Signer{
		"herself": ann, "for another": of("bo", "ann"), "another for her": of("ann", "bo"),
	} {
		if q.Helps([]models.Signer{ann}, second) || q.Meetable([]models.Signer{ann, second}) {
			t.Errorf("%s counts as a second person", name)
		}
	}
	if both := []models.Signer{ann, of("bo", "cy")}; !q.Helps(both[:1], both[1]) || !q.Meetable(both) {
		t.Error("two people do not count")
	}
}
